/**
 * The request body of `POST /v1/messages`, in the form of Anthropic's Messages API. It is closed: a
 * field that is not listed could not be translated to a chat, so it is refused by its name.
 */
import { Schema } from "effect"
import { MediaUrl } from "../mediaUrls.ts"
import { MetadataField } from "../money/metadata.ts"
import { optional, optionalBoolean } from "../requestFields.ts"
import { MAX_OUTPUT_TOKENS, ModelName } from "../text/TextRequest.ts"

const words = (description: string) => Schema.String.annotate({ description })
const kind = <Kind extends string>(type: Kind) =>
  Schema.Literal(type).annotate({ description: `Always \`${type}\`` })
const expects = (expected: string) => ({ expected, message: `Expected ${expected}` })
const AnyObject = Schema.Record(Schema.String, Schema.Unknown)

/** A field of the standard that no chat has: it may only be null. */
const untranslated = (reason: string) =>
  Schema.optionalKey(
    Schema.Null.annotate({
      description: `Not served: ${reason}`,
      expected: `it to be left out, as ${reason}`
    })
  )

const cacheControl = {
  cache_control: optional(AnyObject, "an object").annotate({
    description: "No effect: a vendor that caches does so by itself"
  })
}

// Content blocks

const noCitations = optional(
  Schema.Array(Schema.Unknown).check(
    Schema.isMaxLength(0, { expected: "no citations, as a chat has none" })
  ),
  "no citations, as a chat has none"
).annotate({ description: "Not served: a chat has no citations" })

const TextBlock = Schema.Struct({
  type: kind("text"),
  text: words("The text"),
  citations: noCitations,
  ...cacheControl
})

const imageTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const

const ImageSource = Schema.Union([
  Schema.Struct({
    type: kind("base64"),
    media_type: Schema.Literals(imageTypes).annotate({ description: "The image's format" }),
    data: Schema.NonEmptyString.annotate({ description: "The image in base64" })
  }),
  Schema.Struct({ type: kind("url"), url: MediaUrl })
]).annotate({
  description: "The image in base64, or its URL",
  ...expects("a source of type base64 or url, as files of a vendor are not shared")
})

const ImageBlock = Schema.Struct({ type: kind("image"), source: ImageSource, ...cacheControl })

const DocumentSource = Schema.Union([
  Schema.Struct({
    type: kind("base64"),
    media_type: kind("application/pdf"),
    data: Schema.NonEmptyString.annotate({ description: "The document in base64" })
  }),
  Schema.Struct({
    type: kind("text"),
    media_type: kind("text/plain"),
    data: words("The document's text")
  })
]).annotate({
  description: "A PDF in base64, or a text",
  ...expects("a source of type base64 or text, as no documents are loaded from addresses")
})

const DocumentBlock = Schema.Struct({
  type: kind("document"),
  source: DocumentSource,
  title: optional(Schema.String, "a text").annotate({ description: "The document's name" }),
  context: untranslated("a file of a chat has no context"),
  citations: optional(
    Schema.Struct({
      enabled: optional(Schema.Literal(false), "false, as a chat has no citations").annotate({
        description: "Only false"
      })
    }),
    "an object"
  ).annotate({ description: "`enabled` may only be false: a chat has no citations" }),
  ...cacheControl
})

const callId = words("The id by which a call and its result belong together")

const ToolUseBlock = Schema.Struct({
  type: kind("tool_use"),
  id: callId,
  name: words("The tool's name"),
  input: AnyObject.annotate({ description: "The arguments" }),
  ...cacheControl
})

const ResultBlock = Schema.Union([TextBlock, ImageBlock, DocumentBlock]).annotate(
  expects("a block of type text, image or document")
)
export type ResultBlock = typeof ResultBlock.Type

const ToolResultBlock = Schema.Struct({
  type: kind("tool_result"),
  tool_use_id: callId,
  content: optional(
    Schema.Union([Schema.String, Schema.Array(ResultBlock)]),
    "a text or an array of blocks"
  ).annotate({ description: "A text, or blocks" }),
  is_error: optionalBoolean.annotate({
    description: "Whether the tool failed; the model reads it from the content alone"
  }),
  ...cacheControl
})

const ThinkingBlock = Schema.Struct({
  type: kind("thinking"),
  thinking: words("The model's earlier thoughts, which are not sent to the vendor"),
  signature: words("No effect")
})

const RedactedThinkingBlock = Schema.Struct({
  type: kind("redacted_thinking"),
  data: words("No effect")
})

const Block = Schema.Union([
  TextBlock,
  ImageBlock,
  DocumentBlock,
  ToolUseBlock,
  ToolResultBlock,
  ThinkingBlock,
  RedactedThinkingBlock
]).annotate({
  identifier: "MessageBlock",
  description: "A part of a message: text, an image, a document, a call of a tool or its result",
  ...expects(
    "a block of type text, image, document, tool_use, tool_result, thinking or redacted_thinking"
  )
})
export type Block = typeof Block.Type

const InputMessage = Schema.Struct({
  role: Schema.Literals(["user", "assistant"]).annotate({ description: "Who speaks" }),
  content: Schema.Union([Schema.String, Schema.NonEmptyArray(Block)]).annotate({
    description: "A text, or its blocks",
    expected: "a text or an array of blocks"
  })
})
export type InputMessage = typeof InputMessage.Type

// Tools and settings

const Tool = Schema.Struct({
  type: optional(Schema.Literal("custom"), "custom, as tools are run by the client").annotate({
    description: "`custom`, or left out: the client runs the tool"
  }),
  name: Schema.NonEmptyString.annotate({ description: "The tool's name" }),
  description: optional(Schema.String, "a text").annotate({
    description: "What it is for, as the model is told"
  }),
  input_schema: AnyObject.annotate({ description: "JSON Schema of the arguments" }),
  strict: optionalBoolean.annotate({ description: "Whether the schema is kept strictly" }),
  eager_input_streaming: optionalBoolean.annotate({
    description: "No effect: arguments are streamed as the vendor writes them"
  }),
  ...cacheControl
})
export type Tool = typeof Tool.Type

const disableParallel = {
  disable_parallel_tool_use: optionalBoolean.annotate({
    description: "Whether the model may call one tool alone in a turn"
  })
}
const toolChoices = "a choice of type auto, any, tool or none"
const ToolChoice = Schema.Union([
  Schema.Struct({ type: kind("auto"), ...disableParallel }),
  Schema.Struct({ type: kind("any"), ...disableParallel }),
  Schema.Struct({
    type: kind("tool"),
    name: Schema.NonEmptyString.annotate({ description: "The tool's name" }),
    ...disableParallel
  }),
  Schema.Struct({ type: kind("none") })
]).annotate(expects(toolChoices))
export type ToolChoice = typeof ToolChoice.Type

const display = {
  display: optional(Schema.Literals(["summarized", "omitted"]), "summarized or omitted").annotate({
    description: "Whether the answer has the thoughts"
  })
}
const thinkings = "an object of type enabled, adaptive or disabled"
const Thinking = Schema.Union([
  Schema.Struct({
    type: kind("enabled"),
    budget_tokens: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)).annotate({
      description: "About how much it thinks: chats have three efforts instead"
    }),
    ...display
  }),
  Schema.Struct({ type: kind("adaptive"), ...display }),
  Schema.Struct({ type: kind("disabled") })
]).annotate(expects(thinkings))
export type Thinking = typeof Thinking.Type

const outputFormat = "an object of type json_schema"
const OutputConfig = Schema.Struct({
  effort: optional(
    Schema.Literals(["low", "medium", "high", "xhigh", "max"]),
    "low, medium, high, xhigh or max"
  ).annotate({ description: "How much the model thinks; the two above `high` are `high`" }),
  format: optional(
    Schema.Struct({
      type: kind("json_schema"),
      schema: AnyObject.annotate({ description: "JSON Schema of the answer" })
    }),
    outputFormat
  ).annotate({ description: "Format of the answer" })
})
export type OutputConfig = typeof OutputConfig.Type

const share = (description: string) =>
  optional(
    Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: 1 })),
    "a number from 0 to 1"
  ).annotate({ description })

/** The body of `POST /v1/messages`, which is decoded without further fields. */
export const MessagesBody = Schema.Struct({
  model: ModelName,
  max_tokens: Schema.Int.check(
    Schema.isBetween(
      { minimum: 1, maximum: MAX_OUTPUT_TOKENS },
      { expected: `a whole number from 1 to ${MAX_OUTPUT_TOKENS}` }
    )
  ).annotate({
    description: "Most output tokens, those of its thoughts among them",
    examples: [256]
  }),
  messages: Schema.NonEmptyArray(InputMessage).annotate({
    description: "The conversation so far",
    examples: [[{ role: "user", content: "a lighthouse at dusk" }]]
  }),
  system: optional(
    Schema.Union([Schema.String, Schema.Array(TextBlock)]),
    "a text or an array of blocks of type text"
  ).annotate({ description: "What the model is told first", examples: ["Be brief"] }),
  stream: optionalBoolean.annotate({ description: "Answer as server-sent events" }),
  stop_sequences: optional(Schema.Array(Schema.NonEmptyString), "an array of texts").annotate({
    description: "Texts at which the answer ends"
  }),
  temperature: share("Sampling temperature"),
  top_p: share("Nucleus sampling"),
  tools: optional(Schema.Array(Tool), "an array of tools").annotate({
    description: "Tools that the client runs"
  }),
  tool_choice: optional(ToolChoice, toolChoices).annotate({
    description: "Whether the model calls tools, and which"
  }),
  thinking: optional(Thinking, thinkings).annotate({
    description: "Whether the model thinks first, and the answer has its thoughts"
  }),
  output_config: optional(OutputConfig, "an object").annotate({
    description: "`effort` of the model, and `format` of the answer"
  }),
  service_tier: optional(
    Schema.Literals(["auto", "standard_only"]),
    "auto or standard_only"
  ).annotate({ description: "No effect: orders are billed at the standard tier" }),
  metadata: MetadataField,
  ...cacheControl,
  top_k: untranslated("a chat has temperature and top_p alone"),
  container: untranslated("tools are run by the client"),
  mcp_servers: untranslated("tools are run by the client"),
  context_management: untranslated("a conversation is not shortened"),
  inference_geo: untranslated("the catalog decides where a model runs"),
  output_format: untranslated("output_config.format is the field for this"),
  speed: optional(Schema.Literal("standard"), "standard").annotate({
    description: "`standard`, which is what is billed"
  })
})
export type MessagesBody = typeof MessagesBody.Type
