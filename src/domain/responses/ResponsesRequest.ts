/**
 * The request body of `POST /v1/responses`. Only fields that the gateway relies on are checked;
 * fields that are not listed are handed on to the vendor.
 */
import { Schema } from "effect"
import { MediaUrl } from "../mediaUrls.ts"
import { MetadataField } from "../money/metadata.ts"
import {
  anyFields,
  type FieldFault,
  fieldCheck,
  nameList,
  optional,
  optionalBoolean
} from "../requestFields.ts"
import {
  MAX_OUTPUT_TOKENS,
  ModelName,
  openObject,
  pricedWork,
  wholeUpTo
} from "../text/TextRequest.ts"
import { gatewayFieldsOf } from "../unpricedWork.ts"

// Items

const words = (description: string) => Schema.String.annotate({ description })
const kind = <Kind extends string>(type: Kind) =>
  Schema.Literal(type).annotate({ description: `Always \`${type}\`` })
/** The words of errors, which would otherwise name the schema's identifier. */
const expects = (expected: string) => ({ expected, message: `Expected ${expected}` })
const itemId = optional(Schema.String, "the id of an item").annotate({
  description: "The item's id, by which a later request can refer to it"
})
const callId = words("The id by which the call and its output belong together")
const toolName = words("The tool's name")

const InputText = openObject({ type: kind("input_text"), text: words("The text") })

const fileId = optional(Schema.String, "the id of a file of a vendor's account").annotate({
  description: "Not served: files of a vendor's account are not shared"
})

const isAbsent = (value: unknown): boolean => (value ?? null) === null

/** The fault of a file of a vendor's account, which belongs to no client of the gateway. */
const accountFile = (field: string, file_id: unknown): ReadonlyArray<FieldFault> =>
  isAbsent(file_id)
    ? []
    : [{ path: "file_id", message: `Expected ${field}, as vendors' own files are not shared` }]

const InputImage = openObject({
  type: kind("input_image"),
  image_url: optional(MediaUrl, "an http, https or data URL"),
  file_id: fileId,
  detail: optional(Schema.String, "low, high or auto").annotate({
    description: "How closely the model looks: `low`, `high` or `auto`"
  })
}).check(
  fieldCheck(({ image_url, file_id }) => [
    ...accountFile("image_url", file_id),
    ...(isAbsent(image_url) && isAbsent(file_id)
      ? [{ path: "image_url", message: "This field is required" }]
      : [])
  ])
)

const InputFile = openObject({
  type: kind("input_file"),
  file_data: optional(Schema.String, "a data URL").annotate({
    description: "The file as a data URL; either this or `file_url`"
  }),
  file_url: optional(MediaUrl, "an http or https URL"),
  file_id: fileId,
  filename: optional(Schema.String, "the name of a file").annotate({
    description: "The file's name"
  })
}).check(
  fieldCheck(({ file_data, file_url, file_id }) => [
    ...accountFile("file_data", file_id),
    ...(isAbsent(file_id) && isAbsent(file_data) === isAbsent(file_url)
      ? [{ path: "file_data", message: "Expected either file_data or file_url" }]
      : [])
  ])
)

const OutputText = openObject({ type: kind("output_text"), text: words("The text") })
const Refusal = openObject({
  type: kind("refusal"),
  refusal: words("What the model said instead of an answer")
})

const Part = Schema.Union([InputText, InputImage, InputFile, OutputText, Refusal]).annotate({
  identifier: "ResponsePart",
  description: "A part of a message, or of the output of a tool",
  ...expects("a part of type input_text, input_image, input_file, output_text or refusal")
})
export type Part = typeof Part.Type

const Content = Schema.Union([Schema.String, Schema.Array(Part)]).annotate({
  description: "A text, or its parts",
  expected: "a text or an array of parts"
})

const roles = ["user", "assistant", "system", "developer"] as const

const Message = openObject({
  type: Schema.optionalKey(kind("message")),
  id: itemId,
  role: Schema.Literals(roles).annotate({ description: "Who speaks" }),
  content: Content
})
export type Message = typeof Message.Type

const FunctionCall = openObject({
  type: kind("function_call"),
  id: itemId,
  call_id: callId,
  name: toolName,
  arguments: words("The arguments, as JSON in a text")
})

const CustomCall = openObject({
  type: kind("custom_tool_call"),
  id: itemId,
  call_id: callId,
  name: toolName,
  input: words("The input, as a text")
})

const outputFields = {
  id: itemId,
  call_id: callId,
  output: Content
}
const FunctionOutput = openObject({
  type: kind("function_call_output"),
  ...outputFields
})
const CustomOutput = openObject({
  type: kind("custom_tool_call_output"),
  ...outputFields
})

const Reasoning = openObject({ type: kind("reasoning"), id: itemId })

const ItemReference = openObject({
  type: Schema.optionalKey(
    Schema.NullOr(Schema.Literal("item_reference")).annotate({
      description: "`item_reference`, or left out"
    })
  ),
  id: words("The id of an item of a stored response")
})
export type ItemReference = typeof ItemReference.Type

const itemTypes = nameList(`
  message function_call function_call_output custom_tool_call custom_tool_call_output reasoning
  item_reference
`)
const anyItem = `an item of type ${itemTypes.join(", ")}`

/** An item that says something itself, so that it can be part of a conversation. */
export const Item = Schema.Union([
  Message,
  FunctionCall,
  FunctionOutput,
  CustomCall,
  CustomOutput,
  Reasoning
]).annotate({ expected: anyItem })
export type Item = typeof Item.Type

const InputItem = Schema.Union([...Item.members, ItemReference]).annotate({
  identifier: "ResponseInputItem",
  description: "A message, a call of a tool or its output, reasoning, or a reference to an item",
  ...expects(anyItem)
})
export type InputItem = typeof InputItem.Type

// Tools and formats

const description = optional(Schema.String, "a text").annotate({
  description: "What it is for, as the model is told"
})
const strict = optionalBoolean.annotate({ description: "Whether the schema is kept strictly" })
const NonEmptyName = Schema.NonEmptyString.annotate({ description: "The tool's name" })

const FunctionTool = openObject({
  type: kind("function"),
  name: NonEmptyName,
  description,
  parameters: optional(Schema.Record(Schema.String, Schema.Unknown), "a JSON Schema").annotate({
    description: "JSON Schema of the arguments"
  }),
  strict
})

const CustomTool = openObject({
  type: kind("custom"),
  name: NonEmptyName,
  description,
  format: optional(
    openObject({ type: words("`text` or `grammar`") }),
    "a format of an input"
  ).annotate({ description: "Format of the input" })
})

const Tool = Schema.Union([FunctionTool, CustomTool]).annotate({
  identifier: "ResponseTool",
  description: "A tool that the client runs",
  ...expects("a tool of type function or custom, which the client runs")
})
export type Tool = typeof Tool.Type

const NamedTool = openObject({
  type: Schema.Literals(["function", "custom"]).annotate({
    description: "`function` or `custom`"
  }),
  name: NonEmptyName
})
const AllowedTools = openObject({
  type: kind("allowed_tools"),
  mode: Schema.Literals(["auto", "required"]).annotate({
    description: "Whether the model has to call one of them"
  }),
  tools: Schema.Array(NamedTool).annotate({ description: "The tools that may be called" })
})
const ToolChoice = Schema.Union([
  Schema.Literals(["none", "auto", "required"]),
  NamedTool,
  AllowedTools
]).annotate({
  expected: "none, auto, required, or an object of type function, custom or allowed_tools"
})
export type ToolChoice = typeof ToolChoice.Type

const formatTypes = "a format of type text, json_object or json_schema"
const TextFormat = Schema.Union([
  openObject({
    type: Schema.Literals(["text", "json_object"]).annotate({
      description: "`text` or `json_object`"
    })
  }),
  openObject({
    type: kind("json_schema"),
    name: words("The format's name"),
    schema: Schema.Record(Schema.String, Schema.Unknown).annotate({
      description: "JSON Schema of the answer"
    }),
    description,
    strict
  })
]).annotate({ expected: formatTypes })
export type TextFormat = typeof TextFormat.Type

// The body

const numberBetween = (minimum: number, maximum: number) =>
  optional(
    Schema.Number.check(Schema.isBetween({ minimum, maximum })),
    `a number from ${minimum} to ${maximum}`
  )

const includable = [
  "reasoning.encrypted_content",
  "message.output_text.logprobs",
  "message.input_image.image_url"
] as const

const ResponsesFields = Schema.Struct({
  model: ModelName,
  input: Schema.Union([Schema.NonEmptyString, Schema.NonEmptyArray(InputItem)]).annotate({
    expected: "a text or an array of items",
    description: "A text of the user, or the items of the conversation that are new",
    examples: ["a lighthouse at dusk"]
  }),
  instructions: optional(Schema.String, "a text").annotate({
    description: "What the model is told first, in this request alone",
    examples: ["Answer in one sentence"]
  }),
  previous_response_id: optional(Schema.NonEmptyString, "the id of a stored response").annotate({
    description: "The stored response that this one continues"
  }),
  store: optionalBoolean.annotate({
    description:
      "Whether the gateway keeps the response for GATEWAY_RESPONSE_HOURS; true when left out"
  }),
  stream: optionalBoolean.annotate({ description: "Answer as server-sent events" }),
  stream_options: optional(
    openObject({ include_obfuscation: optionalBoolean.annotate({ description: "No effect" }) }),
    "an object"
  ).annotate({ description: "`include_obfuscation`, which is not needed: events have none" }),
  max_output_tokens: wholeUpTo(MAX_OUTPUT_TOKENS).annotate({
    description: "Most output tokens, those of its reasoning among them",
    examples: [256]
  }),
  tools: optional(Schema.Array(Tool), "an array of tools").annotate({
    description: "Tools that the client runs, each of type function or custom",
    examples: [[{ type: "function", name: "look_up", parameters: { type: "object" } }]]
  }),
  tool_choice: optional(
    ToolChoice,
    "none, auto, required, or an object of type function, custom or allowed_tools"
  ).annotate({ description: "Whether the model calls tools, and which" }),
  parallel_tool_calls: optionalBoolean.annotate({
    description: "Whether the model may call several tools in one turn"
  }),
  text: optional(
    openObject({
      format: optional(TextFormat, formatTypes).annotate({ description: "Format of the answer" }),
      verbosity: optional(
        Schema.Literals(["low", "medium", "high"]),
        "low, medium or high"
      ).annotate({ description: "How long the answer is" })
    }),
    "an object"
  ).annotate({ description: "`format` of the answer, and its `verbosity`" }),
  reasoning: optional(
    openObject({
      effort: optional(Schema.String, "an effort such as low").annotate({
        description: "How much the model thinks, such as `low`"
      }),
      summary: optional(Schema.String, "auto, concise or detailed").annotate({
        description: "Which summary of the reasoning the answer has"
      }),
      generate_summary: optional(Schema.String, "auto, concise or detailed").annotate({
        description: "The older name of `summary`"
      })
    }),
    "an object"
  ).annotate({ description: "`effort` and `summary` of the model's reasoning" }),
  include: optional(
    Schema.Array(Schema.Literals(includable)),
    `an array of ${includable.join(", ")}`
  ).annotate({ description: "What else the answer has" }),
  temperature: numberBetween(0, 2).annotate({ description: "Sampling temperature" }),
  top_p: numberBetween(0, 1).annotate({ description: "Nucleus sampling" }),
  top_logprobs: optional(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 })),
    "a whole number from 0 to 20"
  ).annotate({ description: "Log probabilities of that many alternatives to each token" }),
  truncation: optional(
    Schema.Literal("disabled"),
    "disabled, as a conversation that is too long is refused"
  ).annotate({ description: "`disabled`: a conversation that is too long is refused" }),
  user: optional(Schema.String, "a text").annotate({ description: "Handed on to the vendor" }),
  safety_identifier: optional(Schema.String, "a text").annotate({
    description: "Handed on to the vendor"
  }),
  prompt_cache_key: optional(Schema.String, "a text").annotate({
    description: "Handed on to the vendor"
  }),
  metadata: MetadataField
})

/**
 * Fields of the standard that the gateway does not serve, each with what is left to do, and fields
 * of chats, whose place here is another: a vendor may read both.
 */
const closedFields: ReadonlyMap<string, string> = new Map([
  ["background", "Expected false, as a response is answered in its request"],
  ["conversation", "Expected previous_response_id, as conversations are not kept"],
  ["prompt", "Expected input and instructions, as prompts of the vendor's account are not shared"],
  ["context_management", "Expected it to be left out, as a conversation is not shortened"],
  ["moderation", "Expected it to be left out, as moderation has no price"],
  ["max_tool_calls", "Expected it to be left out, as it counts tools that the vendor runs"],
  ["messages", "Expected input, as messages is the field of chats"],
  ["max_tokens", "Expected max_output_tokens, as max_tokens is the field of chats"],
  [
    "max_completion_tokens",
    "Expected max_output_tokens, as max_completion_tokens is the field of chats"
  ],
  ["response_format", "Expected text.format, as response_format is the field of chats"],
  ["reasoning_effort", "Expected reasoning.effort, as reasoning_effort is the field of chats"],
  ["verbosity", "Expected text.verbosity, as verbosity is the field of chats"],
  ["logprobs", "Expected top_logprobs, as logprobs is the field of chats"],
  ["functions", "Expected tools, as functions is the field of chats"],
  ["function_call", "Expected tool_choice, as function_call is the field of chats"]
])

const closedFaults = (body: Readonly<Record<string, unknown>>): ReadonlyArray<FieldFault> =>
  [...closedFields].flatMap(([path, message]) =>
    (body[path] ?? false) === false ? [] : [{ path, message }]
  )

/** Fields in which a client writes anything: its own words, and schemas. */
const openFields = nameList("input instructions tool_choice text user")
const responsesFields = gatewayFieldsOf(Object.keys(ResponsesFields.fields), [
  ...openFields,
  ...closedFields.keys()
])

/**
 * The body of `POST /v1/responses`. Fields that order work without a price, that the gateway does
 * not serve or that resemble a listed one are refused.
 */
export const ResponsesBody = Schema.StructWithRest(ResponsesFields, anyFields).check(
  fieldCheck(closedFaults),
  pricedWork(responsesFields)
)
export type ResponsesBody = typeof ResponsesFields.Type
