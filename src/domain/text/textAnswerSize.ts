/**
 * The maximum size of the answer to a text order, computed from the same token counts as its price.
 * An order whose answer could exceed the size limit or the time-out is refused before a hold is
 * taken.
 */
import { Result } from "effect"
import type { InvalidRequest } from "../Errors.ts"
import { fieldKey } from "../nearest.ts"
import { type FieldFault, withoutFaults } from "../requestFields.ts"
import { otherFields } from "../unpricedWork.ts"
import type { TokenCounts } from "./TextQuote.ts"
import { type ChatBody, chatFields, type EmbeddingBody, embeddingFields } from "./TextRequest.ts"
import type { ChatOutput } from "./textEstimate.ts"

/** The limits of an answer: its size and its duration. */
export interface AnswerBounds {
  readonly maxAnswerBytes: number
  /** The time-out, in seconds, of an answer that is not streamed. */
  readonly wholeTextSeconds: number
  /** The assumed minimum speed of a vendor's output. */
  readonly textTokensPerHour: number
}

/** A field whose value allows too large an answer. */
interface Excess extends FieldFault {
  /** The maximum accepted value of the field. */
  readonly maximum: number
}

export interface TextSize {
  readonly bytes: number
  /** The field to reduce if the answer may have at most `maxBytes` bytes. */
  readonly excess: (maxBytes: number) => Excess
}

/** The maximum number of bytes of an answer outside its tokens or vectors. */
const FRAME_BYTES = 64 * 1024
/** The maximum number of bytes per token: a long word with all its characters escaped. */
const TOKEN_BYTES = 64
/**
 * The maximum number of bytes of an alternative token, with its log probability and its bytes as
 * numbers.
 */
const CANDIDATE_BYTES = 160

const likelihoodKeys: ReadonlySet<string> = new Set(["logprobs", "top_logprobs"].map(fieldKey))
const inputLikelihoodKeys: ReadonlySet<string> = new Set(["prompt_logprobs"].map(fieldKey))
/** The field names by which vendors accept the number of dimensions of a vector. */
const dimensionKeys: ReadonlySet<string> = new Set(
  ["dimensions", "dimension", "output_dimension", "output_dimensionality"].map(fieldKey)
)

/** An upper bound for every number that is read here from a request. */
const MANY = 1_000_000_000

/** Reads a number, also from a string; `true` counts as 1. */
const numberOf = (value: unknown): number => {
  if (value === true) return 1
  const number = typeof value === "number" || typeof value === "string" ? Number(value) : 0
  return number > 0 ? Math.min(MANY, Math.ceil(number)) : 0
}

const mebibytes = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024)} MiB`

/**
 * The maximum size of a chat answer: each choice consists of its tokens and, for each token, its
 * alternatives.
 */
export const chatAnswerSize = (
  body: ChatBody,
  { tokens, choices, boundBy }: ChatOutput,
  inputTokens = 0n
): TextSize => {
  let candidates = 0
  let inputCandidates = 0
  for (const { key, value } of otherFields(body, chatFields.names)) {
    if (likelihoodKeys.has(key)) candidates = Math.max(candidates, numberOf(value) + 1)
    if (inputLikelihoodKeys.has(key))
      inputCandidates = Math.max(inputCandidates, numberOf(value) + 1)
  }
  const perToken = TOKEN_BYTES + candidates * CANDIDATE_BYTES
  const fixedBytes = FRAME_BYTES + Number(inputTokens) * inputCandidates * CANDIDATE_BYTES
  return {
    bytes: fixedBytes + tokens * choices * perToken,
    excess: (maxBytes) => {
      const remainingBytes = Math.max(0, maxBytes - fixedBytes)
      const limit = `as an answer of up to ${mebibytes(maxBytes)} is read`
      const maximum = Math.floor(remainingBytes / (tokens * perToken))
      if (choices > 1 && maximum > 0) {
        const message = `Expected at most ${maximum} for ${tokens} tokens each, ${limit}`
        return { path: "n", message, maximum }
      }
      if (remainingBytes === 0)
        return { path: "prompt_logprobs", message: `Expected less, ${limit}`, maximum: 0 }
      const each = Math.floor(remainingBytes / (choices * perToken))
      const message = `Expected at most ${each}, ${limit}`
      return { path: boundBy ?? "max_tokens", message, maximum: each }
    }
  }
}

/** The assumed number of dimensions of a vector if the order does not state one. */
const USUAL_DIMENSIONS = 4096
/** The maximum number of bytes of a number with its comma. */
const NUMBER_BYTES = 24
/** The number of bytes of a 4-byte number in base64. */
const PACKED_BYTES = 6
/** The maximum number of bytes of a vector outside its numbers. */
const VECTOR_BYTES = 256

const inputsOf = (input: EmbeddingBody["input"]): number =>
  typeof input === "string" || typeof input[0] === "number" ? 1 : input.length

export const embeddingAnswerSize = (body: EmbeddingBody): TextSize => {
  let dimensions = 0
  for (const { key, value } of otherFields(body, embeddingFields.names)) {
    if (dimensionKeys.has(key)) dimensions = Math.max(dimensions, numberOf(value))
  }
  if (dimensions === 0) dimensions = USUAL_DIMENSIONS
  const perNumber = body.encoding_format === "base64" ? PACKED_BYTES : NUMBER_BYTES
  const perVector = VECTOR_BYTES + dimensions * perNumber
  return {
    bytes: FRAME_BYTES + inputsOf(body.input) * perVector,
    excess: (maxBytes) => {
      const limit = `as an answer of up to ${mebibytes(maxBytes)} is read`
      const maximum = Math.floor((maxBytes - FRAME_BYTES) / perVector)
      if (maximum > 0) {
        const message = `Expected at most ${maximum} texts at a time for ${dimensions} dimensions, ${limit}`
        return { path: "input", message, maximum }
      }
      const each = Math.floor((maxBytes - FRAME_BYTES) / perNumber)
      return { path: "dimensions", message: `Expected at most ${each}, ${limit}`, maximum: each }
    }
  }
}

const SECONDS_PER_HOUR = 3600

/**
 * The field to reduce if an answer without streaming may take longer than the time-out; null if the
 * answer is in time, or if the order sets no token limit.
 */
const lateExcess = (
  { tokens, boundBy }: ChatOutput,
  { wholeTextSeconds, textTokensPerHour }: AnswerBounds
): Excess | null => {
  const maximum = Math.floor((wholeTextSeconds * textTokensPerHour) / SECONDS_PER_HOUR)
  if (boundBy === null || tokens <= maximum) return null
  const message =
    `Expected at most ${maximum}, or stream: true: ${tokens} tokens may take longer than the ` +
    `${Math.floor(wholeTextSeconds)} seconds that a whole answer is waited for`
  return { path: boundBy, message, maximum }
}

const largeExcess = ({ bytes, excess }: TextSize, maxBytes: number): Excess | null =>
  bytes > maxBytes ? excess(maxBytes) : null

/** One fault per field, the one with the smallest maximum. */
const faultsOf = (...excesses: ReadonlyArray<Excess | null>): ReadonlyArray<FieldFault> => {
  const least = new Map<string, FieldFault>()
  const bounds = excesses
    .filter((bound) => bound !== null)
    .toSorted((one, other) => one.maximum - other.maximum)
  for (const { path, message } of bounds) {
    if (!least.has(path)) least.set(path, { path, message })
  }
  return [...least.values()]
}

/**
 * Refuses a chat whose answer may be too late or too long. A stream is proxied event by event and
 * is not checked.
 */
export const checkChatAnswer = (
  body: ChatBody,
  output: ChatOutput,
  expected: TokenCounts,
  bounds: AnswerBounds
): Result.Result<void, InvalidRequest> => {
  if (body.stream === true) return Result.succeed(undefined)
  const size = chatAnswerSize(body, output, expected.inputTokens)
  const lateAnswer = lateExcess(output, bounds)
  return withoutFaults(faultsOf(largeExcess(size, bounds.maxAnswerBytes), lateAnswer))
}

export const checkEmbeddingAnswer = (
  body: EmbeddingBody,
  { maxAnswerBytes }: AnswerBounds
): Result.Result<void, InvalidRequest> =>
  withoutFaults(faultsOf(largeExcess(embeddingAnswerSize(body), maxAnswerBytes)))
