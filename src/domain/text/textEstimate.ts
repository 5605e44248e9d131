/**
 * Estimates the tokens for which a text order is held, and the range in which the vendor's count
 * must lie. This file is separate from the request bodies, because client code imports the bodies
 * as well.
 */
import { BigInt as BigIntOps, Predicate } from "effect"
import { type Limits, usualLimits } from "../catalog/ModelLimits.ts"
import { fieldKey, similarNames } from "../nearest.ts"
import { otherFields } from "../unpricedWork.ts"
import type { ExpectedTokens } from "./TextQuote.ts"
import { type ChatBody, chatFields, type EmbeddingBody, MAX_OUTPUT_TOKENS } from "./TextRequest.ts"
import { bytesIn, bytesOf, contentSize, fieldBytes, mayHaveSound } from "./textSize.ts"
import { leastTokensOf, MOST_BYTES_PER_TOKEN, tokensOfBytes } from "./tokenSize.ts"

/** The tokens of a message in addition to its text: the role and the delimiters. */
const TOKENS_PER_MESSAGE = 4
/** The maximum number of tokens that a vendor counts for one image. */
const MOST_TOKENS_PER_IMAGE = 16_384
/**
 * The maximum number of tokens that a vendor may add to a request, such as a template or
 * instructions for tools.
 */
export const VENDOR_TOKENS = 1024
/** The maximum number of tokens that a vendor may add to each message and to each choice. */
export const VENDOR_TOKENS_EACH = 16
/**
 * The maximum ratio of output to held tokens if the client sets no limit. A vendor then stops at
 * the model's own limit, which is 128k at most.
 */
const UNBOUNDED_TIMES = 32

/** Fields whose value is a setting, not text for the model. */
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

/** The names of output limits; a vendor may follow any of them. */
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
/**
 * The names of limits for reasoning tokens, which come in addition to the answer; vendors bill them
 * as output.
 */
const thoughtBound = similarNames([
  "thinking_budget",
  "budget_tokens",
  "reasoning_budget",
  "max_thinking_tokens"
])

interface InputSize {
  /** The tokens for which the order is held, without media of unknown size. */
  readonly tokens: bigint
  /** The maximum number of tokens that a vendor may count, without media of unknown size. */
  readonly mostTokens: number
  readonly plainBytes: number
  readonly unsized: number
  /** Whether audio can be in the input. */
  readonly hasAudio: boolean
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
    unsized,
    hasAudio:
      inlineBytes + unsized > 0 ||
      Object.hasOwn(messageFields, "audio") ||
      (Array.isArray(content) && content.some(mayHaveSound))
  }
}

/** The number of bytes of all fields except `model`, the messages and the input. */
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

/** Reads a number of tokens, also from a string; 0 for any other value. */
const tokenNumber = (value: unknown): number => {
  const tokens = typeof value === "number" || typeof value === "string" ? Number(value) : 0
  return tokens > 0 ? Math.ceil(Math.min(tokens, MAX_OUTPUT_TOKENS)) : 0
}

/** The maximum output of a chat. */
export interface ChatOutput {
  /** The output tokens of one choice, including separate reasoning tokens. */
  readonly tokens: number
  readonly choices: number
  /** The field with the largest limit; null if the client sets no limit. */
  readonly boundBy: string | null
  /** Whether the client limits the answer itself, not only its reasoning tokens. */
  readonly isBounded: boolean
}

/**
 * The larger of the two limits that the gateway knows; the field is null if the client set neither.
 */
const namedBound = (body: ChatBody) => {
  const { max_tokens: maxTokens, max_completion_tokens: maxCompletionTokens } = body
  const tokens = Math.max(maxTokens ?? 0, maxCompletionTokens ?? 0)
  const field = tokens === maxTokens ? "max_tokens" : "max_completion_tokens"
  return { tokens, field: tokens === 0 ? null : field }
}

/**
 * The maximum output of a chat. All limits are forwarded and a vendor may follow any of them, so
 * the largest counts.
 */
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

/** Whether a field requests audio in the answer, such as `modalities: ["text", "audio"]`. */
const requestsAudio = ([name, value]: readonly [string, unknown]): boolean => {
  const key = fieldKey(name)
  if (key === "audio") return Predicate.isObject(value)
  return key.includes("modalit") && JSON.stringify(value).toLowerCase().includes("audio")
}

/** The output tokens to hold, and the maximum that a vendor may count. */
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
 * The tokens for which a chat request is held.
 * Input, by size: one token per 3 bytes of UTF-8 of all text (including the names, numbers and
 * other values of fields that the gateway does not know), 4 tokens for each message, and 1500 (or
 * the model's limit) for each image in a content part, whatever its size, in addition to the text
 * in the same part. Other files in the request count by their bytes; if a file is not in the
 * request, the model's largest input is held.
 * Output: all that the client allows, by the largest of its limits plus separate reasoning tokens,
 * for every choice.
 */
export const estimateChat = (body: ChatBody, limits: Limits = usualLimits): ExpectedTokens => {
  const otherFieldBytes = otherBytes(body)
  let tokens = tokensOfBytes(otherFieldBytes)
  let maxTokens = VENDOR_TOKENS + otherFieldBytes
  let [plainBytes, unsized, hasAudioInput] = [0, 0, false]
  for (const message of body.messages) {
    const size = messageSize(message, limits.image_tokens)
    tokens += size.tokens
    maxTokens += size.mostTokens
    plainBytes += size.plainBytes
    unsized += size.unsized
    hasAudioInput ||= size.hasAudio
  }
  const hasAudioOutput = Object.entries(body).some(requestsAudio)
  const largestInput = BigInt(limits.input_tokens)
  const inputTokens = unsized === 0 ? tokens : BigIntOps.max(tokens, largestInput)
  return {
    inputTokens,
    leastInput: leastTokensOf(plainBytes),
    mostInput:
      unsized === 0 ? mostInputOf(BigInt(maxTokens), inputTokens, largestInput) : inputTokens,
    ...expectedOutput(chatOutput(body, limits), limits),
    ...(hasAudioInput || hasAudioOutput ? { audio: { hasAudioInput, hasAudioOutput } } : {})
  }
}

/**
 * The plausible maximum of input tokens. A vendor cannot read more than the model's largest input,
 * provided that the catalog states this limit correctly.
 */
export const mostInputOf = (maxTokens: bigint, heldTokens: bigint, largestInput: bigint): bigint =>
  maxTokens < largestInput ? maxTokens : BigIntOps.max(heldTokens, largestInput)

const inputSize = (input: EmbeddingBody["input"]): InputSize => {
  const sizeOf = (tokens: bigint, textBytes: number, mostTokens: number): InputSize => ({
    tokens,
    plainBytes: textBytes,
    mostTokens,
    unsized: 0,
    hasAudio: false
  })
  const ofText = (text: string) => {
    const bytes = bytesOf(text)
    return sizeOf(tokensOfBytes(bytes), bytes, bytes + VENDOR_TOKENS_EACH)
  }
  const ofTokens = (count: number) =>
    // The tokens may come from another model's tokenizer: this model is assumed to count between
    // half and twice as many.
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
 * The tokens for which an embeddings request is held: texts and other fields by their size as in
 * `estimateChat`, token arrays by their length. There is no output.
 */
export const estimateEmbedding = (
  body: EmbeddingBody,
  limits: Limits = usualLimits
): ExpectedTokens => {
  const { tokens, mostTokens, plainBytes } = inputSize(body.input)
  const otherFieldBytes = otherBytes(body)
  const inputTokens = tokens + tokensOfBytes(otherFieldBytes)
  const maxTokens = BigInt(VENDOR_TOKENS + mostTokens + otherFieldBytes)
  // The model's input limit applies to each text of a list, not to the whole list.
  const texts = Array.isArray(body.input) ? BigInt(body.input.length) : 1n
  return {
    inputTokens,
    leastInput: leastTokensOf(plainBytes),
    mostInput: mostInputOf(maxTokens, inputTokens, texts * BigInt(limits.input_tokens)),
    outputTokens: 0n,
    mostOutput: 0n
  }
}
