/**
 * What a client may write in a chat or embeddings request, and how many tokens it is taken to be
 * before the vendor has counted. Everything is handed on; only what the gateway relies on is
 * looked at.
 */
import { Schema } from "effect"
import { optional } from "./optional.ts"
import { anyFields, shallow } from "./passedOn.ts"
import type { TokenCounts } from "./TokenPricing.ts"
import { MediaUrl } from "./VideoRequest.ts"
import { wholeNumber } from "./wholeNumber.ts"

/** Output tokens held where the client sets no bound; what the vendor writes beyond is charged. */
export const DEFAULT_OUTPUT_TOKENS = 4096
const MAX_OUTPUT_TOKENS = 10_000_000
const MAX_CHOICES = 128

const Address = Schema.Union([
  MediaUrl,
  Schema.StructWithRest(Schema.Struct({ url: MediaUrl }), anyFields)
])
const address = optional(Address, "an http, https or data URL, or {url}").annotate({
  description: "http, https or data URL, or an object with such a `url`; handed on, never fetched",
  examples: [{ url: "https://media.example/lighthouse.png" }]
})

/** Addresses are handed on and never fetched. */
const ContentPart = Schema.StructWithRest(
  Schema.Struct({
    type: Schema.String.annotate({
      description: "`text`, `image_url` or another of the vendor's",
      examples: ["text"]
    }),
    image_url: address,
    video_url: address,
    audio_url: address
  }),
  anyFields
)

const Message = Schema.StructWithRest(
  Schema.Struct({
    role: Schema.NonEmptyString.annotate({ description: "Who speaks", examples: ["user"] }),
    content: optional(
      Schema.Union([Schema.String, Schema.Array(ContentPart)]),
      "a text or an array of content parts"
    ).annotate({
      description: "A text, or content parts; models of modality vlm also take images",
      examples: ["a lighthouse at dusk"]
    })
  }),
  anyFields
)

const wholeUpTo = (maximum: number) => {
  const expected = `a whole number from 1 to ${maximum}`
  const bounds = Schema.isBetween({ minimum: 1, maximum }, { expected })
  return optional(wholeNumber(expected).check(bounds), expected)
}

const tokenBound = (description: string) =>
  wholeUpTo(MAX_OUTPUT_TOKENS).annotate({ description, examples: [256] })

const Model = Schema.NonEmptyString.annotate({
  description: "Name of the model in the catalog",
  examples: ["talk-1"]
})

/** Body of `POST /v1/chat/completions`. Fields not named here belong to the vendor. */
export const ChatBody = Schema.StructWithRest(
  Schema.Struct({
    model: Model,
    messages: Schema.NonEmptyArray(Message).annotate({
      description: "The conversation so far",
      examples: [[{ role: "user", content: "a lighthouse at dusk" }]]
    }),
    stream: optional(Schema.Boolean, "true or false").annotate({
      description: "Answer as server-sent events while the text is written",
      examples: [true]
    }),
    stream_options: optional(
      Schema.StructWithRest(
        Schema.Struct({
          include_usage: optional(Schema.Boolean, "true or false").annotate({
            description: "Whether the stream ends with its usage"
          })
        }),
        anyFields
      ),
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
    })
  }),
  anyFields
).check(shallow)
export type ChatBody = typeof ChatBody.Type

const Token = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

const EmbeddingInput = Schema.Union([
  Schema.NonEmptyString,
  Schema.NonEmptyArray(Schema.NonEmptyString),
  Schema.NonEmptyArray(Token),
  Schema.NonEmptyArray(Schema.NonEmptyArray(Token))
]).annotate({
  expected: "a text, an array of texts, an array of tokens or an array of arrays of tokens"
})

/** Body of `POST /v1/embeddings`. Fields not named here belong to the vendor. */
export const EmbeddingBody = Schema.StructWithRest(
  Schema.Struct({
    model: Model,
    input: EmbeddingInput.annotate({
      description: "A text or a list of tokens, or an array of either",
      examples: ["a lighthouse at dusk"]
    })
  }),
  anyFields
).check(shallow)
export type EmbeddingBody = typeof EmbeddingBody.Type

const BYTES_PER_TOKEN = 3
/** What every message costs beside its text: its role and its borders. */
const TOKENS_PER_MESSAGE = 4
/** What an image, or another file in a content part, is taken to be: its bytes are no text. */
const TOKENS_PER_MEDIUM = 1500

/** Content parts that carry a file have it under one of these. */
const mediaFields: ReadonlySet<string> = new Set([
  "image_url",
  "video_url",
  "audio_url",
  "input_audio",
  "image",
  "video",
  "file"
])

/** Fields of a chat body that are no text for the model. */
const settingFields: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "stream",
  "stream_options",
  "user",
  "metadata"
])

const bytesOf = (text: string): number => Buffer.byteLength(text, "utf8")

/** Tokens of a text by its size: one for each 3 bytes of UTF-8, begun ones count. */
export const tokensOfBytes = (bytes: number): bigint => BigInt(Math.ceil(bytes / BYTES_PER_TOKEN))

/** Bytes of all texts in a value and, where `names` is set, of the names of its fields. */
const textBytes = (value: unknown, names: boolean): number => {
  if (typeof value === "string") return bytesOf(value)
  if (typeof value !== "object" || value === null) return 0
  if (Array.isArray(value)) {
    return value.reduce<number>((sum, item) => sum + textBytes(item, names), 0)
  }
  return Object.entries(value).reduce(
    (sum, [name, inner]) => sum + (names ? bytesOf(name) : 0) + textBytes(inner, names),
    0
  )
}

const isMedium = (part: unknown): boolean =>
  typeof part === "object" &&
  part !== null &&
  Object.entries(part).some(
    ([name, value]) => mediaFields.has(name) && value !== null && value !== undefined
  )

/** The kind of a content part is no text. */
const withoutType = (part: unknown): unknown => {
  if (typeof part !== "object" || part === null) return part
  return Object.fromEntries(Object.entries(part).filter(([name]) => name !== "type"))
}

const messageTokens = (message: ChatBody["messages"][number]): bigint => {
  const { content, role: _, ...rest } = message
  const parts: ReadonlyArray<unknown> = Array.isArray(content) ? content : [content]
  const media = parts.filter(isMedium).length
  const texts = parts.filter((part) => !isMedium(part)).map(withoutType)
  return (
    BigInt(TOKENS_PER_MESSAGE + media * TOKENS_PER_MEDIUM) +
    tokensOfBytes(textBytes(texts, false) + textBytes(rest, true))
  )
}

/** Both bounds are handed on and a vendor may keep to either, so the larger one counts. */
const expectedOutput = ({ max_tokens, max_completion_tokens, n }: ChatBody): bigint => {
  const most = Math.max(max_tokens ?? 0, max_completion_tokens ?? 0)
  return BigInt(most === 0 ? DEFAULT_OUTPUT_TOKENS : most) * BigInt(n ?? 1)
}

/**
 * The tokens a chat request is held for. Input, by size: one token for 3 bytes of UTF-8 of its
 * texts (messages, tools and other JSON with the names of their fields), 4 for each message, and
 * 1500 for each image or other file in it, whatever its size. Output: all the client allows, by the
 * larger of its bounds, for every choice.
 */
export const estimateChat = (body: ChatBody): TokenCounts => {
  const other = Object.entries(body).filter(([name]) => !settingFields.has(name))
  return {
    inputTokens:
      body.messages.reduce((sum, message) => sum + messageTokens(message), 0n) +
      tokensOfBytes(other.reduce((sum, [, value]) => sum + textBytes(value, true), 0)),
    outputTokens: expectedOutput(body)
  }
}

const inputTokens = (input: EmbeddingBody["input"]): bigint => {
  if (typeof input === "string") return tokensOfBytes(bytesOf(input))
  let tokens = 0n
  for (const item of input) {
    if (typeof item === "string") tokens += tokensOfBytes(bytesOf(item))
    else tokens += typeof item === "number" ? 1n : BigInt(item.length)
  }
  return tokens
}

/** Texts by their size as in `estimateChat`, tokens by their number; there is no output. */
export const estimateEmbedding = (body: EmbeddingBody): TokenCounts => ({
  inputTokens: inputTokens(body.input),
  outputTokens: 0n
})

/** What a model wrote is found under any name here but these, which name or number the text. */
const silentFields: ReadonlySet<string> = new Set(["role", "type", "id", "index"])

/** Bytes of text in a message, or in a piece of one, that a model wrote. */
export const writtenBytes = (message: unknown): number => {
  if (typeof message === "string") return bytesOf(message)
  if (typeof message !== "object" || message === null) return 0
  if (Array.isArray(message)) {
    return message.reduce<number>((sum, item) => sum + writtenBytes(item), 0)
  }
  return Object.entries(message).reduce(
    (sum, [name, inner]) => (silentFields.has(name) ? sum : sum + writtenBytes(inner)),
    0
  )
}
