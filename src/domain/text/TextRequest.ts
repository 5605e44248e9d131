/**
 * What a client may write in a chat or embeddings request, and how many tokens it is taken to be
 * before the vendor has counted. Everything is handed on; only what the gateway relies on is
 * looked at.
 */
import { Predicate, Schema } from "effect"
import { MediaUrl } from "../mediaUrls.ts"
import { MetadataField } from "../money/metadata.ts"
import { resemblances } from "../nearest.ts"
import {
  anyFields,
  fieldCheck,
  optional,
  optionalBoolean,
  optionalWholeNumber
} from "../requestFields.ts"
import {
  type OwnFields,
  otherFields,
  otherSpellings,
  ownFields,
  unpricedTextWork
} from "../unpricedWork.ts"
import type { TokenCounts } from "./TextQuote.ts"
import { bytesIn, bytesOf, contentSize, fieldBytes, partFields } from "./textSize.ts"

/** Output tokens held where the client sets no bound; what the vendor writes beyond is charged. */
export const DEFAULT_OUTPUT_TOKENS = 4096
const MAX_OUTPUT_TOKENS = 10_000_000
const MAX_CHOICES = 128

/** An object within a body: it is handed on with all its fields, each of its own in one spelling. */
const openObject = <Fields extends Schema.Struct.Fields>(
  fields: Fields,
  others: Iterable<string> = []
) => {
  const own = ownFields([...Object.keys(fields), ...others])
  return Schema.StructWithRest(Schema.Struct(fields), anyFields).check(
    fieldCheck((value: object) => otherSpellings(value, own))
  )
}

const Address = Schema.Union([MediaUrl, openObject({ url: MediaUrl })])
const address = optional(Address, "an http, https or data URL, or {url}").annotate({
  description: "http, https or data URL, or an object with such a `url`; handed on, never fetched",
  examples: [{ url: "https://media.example/lighthouse.png" }]
})

/** Addresses are handed on and never fetched. */
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

const wholeUpTo = (maximum: number) =>
  optionalWholeNumber(`a whole number from 1 to ${maximum}`, { minimum: 1, maximum })

const tokenBound = (description: string) =>
  wholeUpTo(MAX_OUTPUT_TOKENS).annotate({ description, examples: [256] })

const Model = Schema.NonEmptyString.annotate({
  description: "Name of the model in the catalog",
  examples: ["talk-1"]
})

const ChatFields = Schema.Struct({
  model: Model,
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

/** Fields in which any name may stand: a client's own words, the forms of its tools, and schemas. */
const wordFields = [
  ...["tool_choice", "functions", "function_call", "response_format", "prediction"],
  ...["logit_bias", "user", "stop"],
  ...["guided_json", "guided_regex", "guided_grammar", "guided_choice", "structured_outputs"],
  ...["json_schema", "format", "grammar"]
]
const chatFields = ownFields(Object.keys(ChatFields.fields), wordFields)

const pricedWork = (own: OwnFields) =>
  fieldCheck((body: Readonly<Record<string, unknown>>) => unpricedTextWork(body, own))

/**
 * Body of `POST /v1/chat/completions`. Fields not named here belong to the vendor, but for those
 * that ask it for work which no price covers, and those that resemble one named here.
 */
export const ChatBody = Schema.StructWithRest(ChatFields, anyFields).check(pricedWork(chatFields))
/** Without the vendor's fields, so that only what has its one spelling can be read by name. */
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
  model: Model,
  input: EmbeddingInput.annotate({
    description: "A text or a list of tokens, or an array of either",
    examples: ["a lighthouse at dusk"]
  }),
  metadata: MetadataField
})
const embeddingFields = ownFields(Object.keys(EmbeddingFields.fields), ["user"])

/** Body of `POST /v1/embeddings`. Fields not named here belong to the vendor. */
export const EmbeddingBody = Schema.StructWithRest(EmbeddingFields, anyFields).check(
  pricedWork(embeddingFields)
)
export type EmbeddingBody = typeof EmbeddingFields.Type

const BYTES_PER_TOKEN = 3
/** What every message costs beside its text: its role and its borders. */
const TOKENS_PER_MESSAGE = 4
/** What an image, or another file in a content part, is taken to be: its bytes are no text. */
const TOKENS_PER_MEDIUM = 1500

/** Beside those of the gateway, what is set by a number or a word and is no text for the model. */
const settingFields: ReadonlySet<string> = new Set([
  ...chatFields.names,
  ...["temperature", "top_p", "top_k", "min_p", "seed", "logprobs", "top_logprobs", "modalities"],
  ...["frequency_penalty", "presence_penalty", "repetition_penalty", "parallel_tool_calls"],
  ...["reasoning_effort", "verbosity", "service_tier", "store", "enable_thinking"],
  ...["thinking_budget", "encoding_format", "dimensions"]
])

const roles: ReadonlySet<string> = new Set([
  ...["system", "developer", "user", "assistant", "tool", "function"]
])

/** Other names of bounds of the output; a vendor may keep to any of them. */
const isBound = resemblances(
  [
    ...["max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens"],
    ...["max_gen_tokens", "max_generation_tokens", "max_tokens_to_sample", "max_response_tokens"],
    ...["max_length", "num_predict", "n_predict"],
    ...["min_tokens", "min_new_tokens", "min_output_tokens", "min_completion_tokens", "min_length"]
  ].map((name) => [name, true] as const)
)
/** What may be thought beside the answer; vendors bill it as output. */
const isThought = resemblances(
  ["thinking_budget", "budget_tokens", "reasoning_budget", "max_thinking_tokens"].map(
    (name) => [name, true] as const
  )
)

/** Tokens of a text by its size: one for each 3 bytes of UTF-8, begun ones count. */
export const tokensOfBytes = (bytes: number): bigint => BigInt(Math.ceil(bytes / BYTES_PER_TOKEN))

const messageTokens = (message: ChatBody["messages"][number]): bigint => {
  const { content, role, ...rest } = message
  const { bytes, media } = contentSize(content)
  return (
    BigInt(TOKENS_PER_MESSAGE + media * TOKENS_PER_MEDIUM) +
    tokensOfBytes(bytes + (roles.has(role) ? 0 : bytesOf(role)) + fieldBytes(rest))
  )
}

/** Bytes of all that is sent beside `model` and the messages or the input. */
const otherBytes = (body: object): number =>
  Object.entries(body).reduce((sum, [name, value]) => {
    if (name === "model" || name === "messages" || name === "input") return sum
    const isObject = Predicate.isObjectOrArray(value)
    if (name === "stream_options" && isObject) {
      return sum + fieldBytes(value, (field) => field === "include_usage")
    }
    if (!settingFields.has(name)) return sum + bytesOf(name) + bytesIn(value)
    return isObject || typeof value === "string" ? sum + bytesIn(value) : sum
  }, 0)

/** A number of tokens, also where it is written as a text; 0 for anything else. */
const tokenNumber = (value: unknown): number => {
  const tokens = typeof value === "number" || typeof value === "string" ? Number(value) : 0
  return tokens > 0 ? Math.ceil(Math.min(tokens, MAX_OUTPUT_TOKENS)) : 0
}

/** All bounds are handed on and a vendor may keep to any, so the largest one counts. */
const expectedOutput = (body: ChatBody): bigint => {
  let bound = Math.max(body.max_tokens ?? 0, body.max_completion_tokens ?? 0)
  if (bound === 0) bound = DEFAULT_OUTPUT_TOKENS
  let thoughts = 0
  for (const { key, value } of otherFields(body, chatFields.names)) {
    if (isBound(key) === true) bound = Math.max(bound, tokenNumber(value))
    if (isThought(key) === true) thoughts = Math.max(thoughts, tokenNumber(value))
  }
  return BigInt(bound + thoughts) * BigInt(body.n ?? 1)
}

/**
 * The tokens a chat request is held for. Input, by size: one token for 3 bytes of UTF-8 of all text
 * in it (of the fields the gateway does not know with their names, numbers and the like), 4 for
 * each message, and 1500 for each image or other file in a content part, whatever its size, beside
 * the text that stands with it. Output: all the client allows, by the largest of its bounds and what
 * may be thought beside the answer, for every choice.
 */
export const estimateChat = (body: ChatBody): TokenCounts => ({
  inputTokens:
    body.messages.reduce((sum, message) => sum + messageTokens(message), 0n) +
    tokensOfBytes(otherBytes(body)),
  outputTokens: expectedOutput(body)
})

const inputTokens = (input: EmbeddingBody["input"]): bigint => {
  if (typeof input === "string") return tokensOfBytes(bytesOf(input))
  let tokens = 0n
  for (const item of input) {
    if (typeof item === "string") tokens += tokensOfBytes(bytesOf(item))
    else tokens += typeof item === "number" ? 1n : BigInt(item.length)
  }
  return tokens
}

/**
 * Texts and other fields by their size as in `estimateChat`, tokens by their number; there is no
 * output.
 */
export const estimateEmbedding = (body: EmbeddingBody): TokenCounts => ({
  inputTokens: inputTokens(body.input) + tokensOfBytes(otherBytes(body)),
  outputTokens: 0n
})
