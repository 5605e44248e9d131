/**
 * How many tokens an order of text is held for, and what a vendor may count of it at least and at most. It
 * stands apart from the bodies, which clients read as well.
 */
import { Predicate } from "effect"
import { type Limits, usualLimits } from "../catalog/ModelLimits.ts"
import { similarNames } from "../nearest.ts"
import { otherFields } from "../unpricedWork.ts"
import type { ExpectedTokens } from "./TextQuote.ts"
import { type ChatBody, chatFields, type EmbeddingBody, MAX_OUTPUT_TOKENS } from "./TextRequest.ts"
import { bytesIn, bytesOf, contentSize, fieldBytes } from "./textSize.ts"
import { leastTokensOf, MOST_BYTES_PER_TOKEN, tokensOfBytes } from "./tokenSize.ts"

/** What every message costs beside its text: its role and its borders. */
const TOKENS_PER_MESSAGE = 4
/** The most that a vendor counts for one image. */
const MOST_TOKENS_PER_IMAGE = 16_384
/** What a vendor may put before a request: a template, or how its tools are called. */
const VENDOR_TOKENS = 1024
/** What a vendor may add to each message, and to each choice. */
const VENDOR_TOKENS_EACH = 16
/** Where the client sets no bound, vendors go on to their model's own, which is 128k at most today. */
const UNBOUNDED_TIMES = 32

/** Fields whose value is a setting and no text for the model. */
const settingFields: ReadonlySet<string> = new Set([
  ...chatFields.names,
  "temperature",
  "top_p",
  "top_k",
  "min_p",
  "seed",
  "logprobs",
  "top_logprobs",
  "modalities",
  "frequency_penalty",
  "presence_penalty",
  "repetition_penalty",
  "parallel_tool_calls",
  "reasoning_effort",
  "verbosity",
  "service_tier",
  "store",
  "enable_thinking",
  "thinking_budget",
  "encoding_format",
  "dimensions"
])

const roles: ReadonlySet<string> = new Set([
  "system",
  "developer",
  "user",
  "assistant",
  "tool",
  "function"
])

/** Other names of bounds of the output; a vendor may keep to any of them. */
const outputBound = similarNames([
  "max_tokens",
  "max_completion_tokens",
  "max_output_tokens",
  "max_new_tokens",
  "max_gen_tokens",
  "max_generation_tokens",
  "max_tokens_to_sample",
  "max_response_tokens",
  "max_length",
  "num_predict",
  "n_predict",
  "min_tokens",
  "min_new_tokens",
  "min_output_tokens",
  "min_completion_tokens",
  "min_length"
])
/** What may be thought beside the answer; vendors bill it as output. */
const thoughtBound = similarNames([
  "thinking_budget",
  "budget_tokens",
  "reasoning_budget",
  "max_thinking_tokens"
])

interface InputSize {
  /** Tokens that are held for, without media of unknown size. */
  readonly tokens: bigint
  /** The most that a vendor may count, without media of unknown size. */
  readonly mostTokens: number
  readonly plainBytes: number
  readonly unsized: number
}

const messageSize = (message: ChatBody["messages"][number], imageTokens: number): InputSize => {
  const { content, role, ...messageFields } = message
  const { bytes, plainBytes, media, inlineBytes, unsized } = contentSize(content)
  const allBytes = bytes + (roles.has(role) ? 0 : bytesOf(role)) + fieldBytes(messageFields)
  const tokens = TOKENS_PER_MESSAGE + media * imageTokens + inlineBytes
  return {
    tokens: BigInt(tokens) + tokensOfBytes(allBytes),
    mostTokens:
      VENDOR_TOKENS_EACH +
      allBytes +
      inlineBytes +
      media * Math.max(MOST_TOKENS_PER_IMAGE, imageTokens),
    plainBytes,
    unsized
  }
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

/** How much a vendor may write for a chat. */
export interface ChatOutput {
  /** Output tokens of one choice, with the thoughts beside it. */
  readonly tokens: number
  readonly choices: number
  /** The field that allows the most of it; null where the client sets no bound. */
  readonly boundBy: string | null
  /** Whether a bound of the answer came, and not of the thoughts alone. */
  readonly isBounded: boolean
}

/** The larger of the two bounds that the gateway knows; no field where there is none. */
const namedBound = (body: ChatBody) => {
  const { max_tokens: maxTokens, max_completion_tokens: maxCompletionTokens } = body
  const tokens = Math.max(maxTokens ?? 0, maxCompletionTokens ?? 0)
  const field = tokens === maxTokens ? "max_tokens" : "max_completion_tokens"
  return { tokens, field: tokens === 0 ? null : field }
}

/** All bounds are handed on and a vendor may keep to any, so the largest one counts. */
export const chatOutput = (body: ChatBody, limits: Limits = usualLimits): ChatOutput => {
  const named = namedBound(body)
  let isBounded = named.tokens > 0
  let bound = isBounded ? named.tokens : limits.output_tokens
  let boundBy: string | null = named.field
  let thoughts = 0
  for (const { key, path, value } of otherFields(body, chatFields.names)) {
    const isOutput = outputBound(key) !== undefined
    const tokens = isOutput || thoughtBound(key) !== undefined ? tokenNumber(value) : 0
    if (tokens === 0) continue
    if (isOutput) {
      isBounded = true
      if (tokens < bound) continue
      bound = tokens
      boundBy = path
    } else if (tokens > thoughts) {
      thoughts = tokens
      boundBy ??= path
    }
  }
  return { tokens: bound + thoughts, choices: body.n ?? 1, boundBy, isBounded }
}

const largest = (one: bigint, maxCompletionTokens: bigint): bigint =>
  one > maxCompletionTokens ? one : maxCompletionTokens

/** What is held for the output, and the most of it that a vendor may count. */
const expectedOutput = (
  { tokens, choices, isBounded }: ChatOutput,
  { thought_tokens }: Limits
): Pick<ExpectedTokens, "outputTokens" | "mostOutput"> => {
  const heldTokens = tokens * choices
  const writtenTokens = isBounded
    ? heldTokens + VENDOR_TOKENS_EACH * choices
    : heldTokens * UNBOUNDED_TIMES
  const maxTokens = writtenTokens + thought_tokens * choices
  return { outputTokens: BigInt(heldTokens), mostOutput: BigInt(maxTokens) }
}

/**
 * The tokens a chat request is held for. Input, by size: one token for 3 bytes of UTF-8 of all text
 * in it (of the fields the gateway does not know with their names, numbers and the like), 4 for
 * each message, and 1500 for each image in a content part, whatever its size, beside the text that
 * stands with it. Other files count their bytes as well, as far as the model's largest input; where
 * they are not in the request, that is what is held. Output: all the client allows, by the largest of
 * its bounds and what may be thought beside the answer, for every choice.
 */
export const estimateChat = (body: ChatBody, limits: Limits = usualLimits): ExpectedTokens => {
  const otherFieldBytes = otherBytes(body)
  let tokens = tokensOfBytes(otherFieldBytes)
  let maxTokens = VENDOR_TOKENS + otherFieldBytes
  let [plainBytes, unsized] = [0, 0]
  for (const message of body.messages) {
    const size = messageSize(message, limits.image_tokens)
    tokens += size.tokens
    maxTokens += size.mostTokens
    plainBytes += size.plainBytes
    unsized += size.unsized
  }
  const largestInput = BigInt(limits.input_tokens)
  const inputTokens = unsized === 0 ? tokens : largest(tokens, largestInput)
  return {
    inputTokens,
    leastInput: leastTokensOf(plainBytes),
    mostInput:
      unsized === 0 ? mostInputOf(BigInt(maxTokens), inputTokens, largestInput) : inputTokens,
    ...expectedOutput(chatOutput(body, limits), limits)
  }
}

/** No vendor reads more than the model's largest input, as far as the gateway knows that rightly. */
const mostInputOf = (maxTokens: bigint, heldTokens: bigint, largestInput: bigint): bigint =>
  maxTokens < largestInput ? maxTokens : largest(heldTokens, largestInput)

const inputSize = (input: EmbeddingBody["input"]): InputSize => {
  const sizeOf = (tokens: bigint, textBytes: number, mostTokens: number): InputSize => ({
    tokens,
    plainBytes: textBytes,
    mostTokens,
    unsized: 0
  })
  const ofText = (text: string) => {
    const bytes = bytesOf(text)
    return sizeOf(tokensOfBytes(bytes), bytes, bytes + VENDOR_TOKENS_EACH)
  }
  const ofTokens = (count: number) =>
    // As many tokens are no fewer than half of them, also where another model counts.
    sizeOf(BigInt(count), (count * MOST_BYTES_PER_TOKEN) / 2, 2 * count + VENDOR_TOKENS_EACH)
  if (typeof input === "string") return ofText(input)
  let [tokens, plainBytes, mostTokens] = [0n, 0, 0]
  for (const item of input) {
    const size =
      typeof item === "string" ? ofText(item) : ofTokens(typeof item === "number" ? 1 : item.length)
    tokens += size.tokens
    plainBytes += size.plainBytes
    mostTokens += size.mostTokens
  }
  return sizeOf(tokens, plainBytes, mostTokens)
}

/**
 * Texts and other fields by their size as in `estimateChat`, tokens by their number; there is no
 * output.
 */
export const estimateEmbedding = (
  body: EmbeddingBody,
  limits: Limits = usualLimits
): ExpectedTokens => {
  const { tokens, mostTokens, plainBytes } = inputSize(body.input)
  const otherFieldBytes = otherBytes(body)
  const inputTokens = tokens + tokensOfBytes(otherFieldBytes)
  const maxTokens = BigInt(VENDOR_TOKENS + mostTokens + otherFieldBytes)
  // Of a list, each text may be as large as the model takes.
  const texts = Array.isArray(body.input) ? BigInt(body.input.length) : 1n
  return {
    inputTokens,
    leastInput: leastTokensOf(plainBytes),
    mostInput: mostInputOf(maxTokens, inputTokens, texts * BigInt(limits.input_tokens)),
    outputTokens: 0n,
    mostOutput: 0n
  }
}
