/**
 * The request bodies of chat and embeddings. All fields are forwarded; only those that the gateway
 * relies on are checked.
 */
import { Schema } from "effect"
import { MediaUrl } from "../mediaUrls.ts"
import { MetadataField } from "../money/metadata.ts"
import {
  anyFields,
  fieldCheck,
  nameList,
  optional,
  optionalBoolean,
  optionalWholeNumber
} from "../requestFields.ts"
import {
  type GatewayFields,
  gatewayFieldsOf,
  otherSpellings,
  unpricedTextWork
} from "../unpricedWork.ts"
import { partFields } from "./textSize.ts"

export const MAX_OUTPUT_TOKENS = 10_000_000
const MAX_CHOICES = 128

/**
 * An object within a body. The object is forwarded with all its fields. A known field must have its
 * exact name: fields with similar names are refused.
 */
export const openObject = <Fields extends Schema.Struct.Fields>(
  fields: Fields,
  others: Iterable<string> = []
) => {
  const gatewayFields = gatewayFieldsOf([...Object.keys(fields), ...others])
  return Schema.StructWithRest(Schema.Struct(fields), anyFields).check(
    fieldCheck((value: object) => otherSpellings(value, gatewayFields))
  )
}

const Address = Schema.Union([MediaUrl, openObject({ url: MediaUrl })])
const address = optional(Address, "an http, https or data URL, or {url}").annotate({
  description: "http, https or data URL, or an object with such a `url`; handed on, never fetched",
  examples: [{ url: "https://media.example/lighthouse.png" }]
})

/** A content part. Its URLs are forwarded and never fetched by the gateway. */
const ContentPart = openObject(
  {
    type: Schema.String.annotate({
      description: "`text`, `image_url` or another of the vendor's",
      examples: ["text"]
    }),
    image_url: address,
    video_url: address,
    audio_url: address
  },
  partFields
)

const Message = openObject({
  role: Schema.NonEmptyString.annotate({ description: "Who speaks", examples: ["user"] }),
  content: optional(
    Schema.Union([Schema.String, Schema.Array(ContentPart)]),
    "a text or an array of content parts"
  ).annotate({
    description: "A text, or content parts; models of modality vlm also take images",
    examples: ["a lighthouse at dusk"]
  })
})

export const wholeUpTo = (maximum: number) =>
  optionalWholeNumber(`a whole number from 1 to ${maximum}`, { minimum: 1, maximum })

const tokenBound = (description: string) =>
  wholeUpTo(MAX_OUTPUT_TOKENS).annotate({ description, examples: [256] })

export const ModelName = Schema.NonEmptyString.annotate({
  description: "Name of the model in the catalog",
  examples: ["talk-1"]
})

const ChatFields = Schema.Struct({
  model: ModelName,
  messages: Schema.NonEmptyArray(Message).annotate({
    description: "The conversation so far",
    examples: [[{ role: "user", content: "a lighthouse at dusk" }]]
  }),
  stream: optionalBoolean.annotate({
    description: "Answer as server-sent events while the text is written",
    examples: [true]
  }),
  stream_options: optional(
    openObject({
      include_usage: optionalBoolean.annotate({
        description: "Whether the stream ends with its usage"
      })
    }),
    "an object"
  ).annotate({
    description: "`include_usage` ends a stream with the tokens it used",
    examples: [{ include_usage: true }]
  }),
  max_tokens: tokenBound("Most output tokens of one choice"),
  max_completion_tokens: tokenBound("The same; of the two, the larger is held"),
  n: wholeUpTo(MAX_CHOICES).annotate({
    description: "Number of choices; 1 when left out",
    examples: [1]
  }),
  tools: optional(Schema.Array(Schema.Unknown), "an array of tools").annotate({
    description: "Tools that the client runs, each of type function or custom",
    examples: [[{ type: "function", function: { name: "look_up" } }]]
  }),
  store: optionalBoolean.annotate({
    description: "Whether the vendor keeps the answer; with true it also gets the metadata",
    examples: [false]
  }),
  metadata: MetadataField
})

/**
 * Fields that may contain any names: a client's own text, the parameters of its tools, and schemas.
 */
const wordFields = nameList(`
  tool_choice functions function_call response_format prediction logit_bias user stop guided_json
  guided_regex guided_grammar guided_choice structured_outputs json_schema format grammar
`)
export const chatFields = gatewayFieldsOf(Object.keys(ChatFields.fields), wordFields)

export const pricedWork = (own: GatewayFields) =>
  fieldCheck((body: Readonly<Record<string, unknown>>) => unpricedTextWork(body, own))

/**
 * The body of `POST /v1/chat/completions`. Fields that are not listed are forwarded to the vendor,
 * but fields that order work without a price and fields that resemble a listed one are refused.
 */
export const ChatBody = Schema.StructWithRest(ChatFields, anyFields).check(pricedWork(chatFields))
/**
 * The type of a body without the vendor's fields, so that code reads by name only fields whose
 * spelling is checked.
 */
export type ChatBody = typeof ChatFields.Type

const Token = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

const EmbeddingInput = Schema.Union([
  Schema.NonEmptyString,
  Schema.NonEmptyArray(Schema.NonEmptyString),
  Schema.NonEmptyArray(Token),
  Schema.NonEmptyArray(Schema.NonEmptyArray(Token))
]).annotate({
  expected: "a text, an array of texts, an array of tokens or an array of arrays of tokens"
})

const EmbeddingFields = Schema.Struct({
  model: ModelName,
  input: EmbeddingInput.annotate({
    description: "A text or a list of tokens, or an array of either",
    examples: ["a lighthouse at dusk"]
  }),
  encoding_format: optional(Schema.String, "a text").annotate({
    description: "Whether vectors come as numbers (`float`) or in `base64`",
    examples: ["float"]
  }),
  metadata: MetadataField
})
export const embeddingFields = gatewayFieldsOf(Object.keys(EmbeddingFields.fields), ["user"])

/** The body of `POST /v1/embeddings`. Fields that are not listed belong to the vendor. */
export const EmbeddingBody = Schema.StructWithRest(EmbeddingFields, anyFields).check(
  pricedWork(embeddingFields)
)
export type EmbeddingBody = typeof EmbeddingFields.Type
