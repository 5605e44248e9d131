/** Reads a vendor's answer: limits its size and decodes it, except for long texts. */
import { createHash } from "node:crypto"
import { Effect } from "effect"
import type { RawAnswer } from "../../domain/RawAnswer.ts"
import { markOf } from "../../redaction/patterns.ts"
import { pruneJson } from "../../runtime/texts/jsonPrune.ts"
import { cutMedia, isWithin, type JsonBounds, walkJson } from "../../runtime/texts/jsonWalk.ts"
import type { WireHead, WireLimits } from "./VendorWire.ts"

export interface VendorAnswer extends AnswerHead {
  /** The body of the request; null if there was none, or if only a part of the answer is known. */
  readonly requestBody: object | null
  /**
   * The decoded JSON; the text itself if it is not JSON; null if it exceeds the limits of depth or
   * of the number of values.
   */
  readonly body: unknown
  /** The length of the body as received, in bytes. */
  readonly bytes: number
  /**
   * The SHA-256 of the body as received, in hex; null if it is too long or was not read to its end.
   */
  readonly digest: () => string | null
  /** The body as received, as text; empty if it was not read to its end. */
  readonly text: () => string
  /**
   * Set if a large answer was not decoded fully: in `body`, long texts are replaced by marks and
   * skipped fields are null.
   */
  readonly large?: {
    /** The answer as received. */
    readonly raw: RawAnswer
    /** Decodes the whole body. */
    readonly decode: () => unknown
  }
}

/** An answer that was not read to its end. */
export const partialAnswer = (head: AnswerHead, body: unknown, bytes: number): VendorAnswer => ({
  ...head,
  requestBody: null,
  body,
  bytes,
  digest: () => null,
  text: () => ""
})

/** Status and headers of an answer. */
export interface AnswerHead {
  readonly status: number
  readonly retryAfterSeconds: number | null
  /** The vendor's id of the request, if the answer has one. */
  readonly requestId: string | null
  readonly headers: WireHead["headers"]
}

/** The head of an error in an event, with which the error can be judged like a whole answer. */
export const eventHead: AnswerHead = {
  status: 200,
  requestId: null,
  retryAfterSeconds: null,
  headers: {}
}

export interface SendOptions extends WireLimits {
  /**
   * The maximum number of numbers in arrays such as vectors, in addition to `values`. It may be
   * large, because no code walks over these numbers one by one.
   */
  readonly arrayNumbers?: number
  /** The maximum number of values of every kind; `MAX_VALUES` if missing. */
  readonly values?: number
  /** The length above which texts of a large answer are not decoded, if that saves time. */
  readonly longTextBytes?: number
  /**
   * Fields of a large answer that do not affect the charge: they are not decoded and are null in
   * the body.
   */
  readonly skippedFields?: ReadonlySet<string>
}

/**
 * The maximum depth of an answer. The depth is limited because recursive functions walk over
 * answers.
 */
const MAX_LEVELS = 64
/**
 * The maximum number of values. An answer about a job, images or a text has some hundreds of
 * values, or thousands with its tokens.
 */
const MAX_VALUES = 100_000

/** The limits of decoding an answer: a walk over more values would block the process. */
export const boundsOf = ({
  maxBytes,
  arrayNumbers = 0,
  values = MAX_VALUES
}: SendOptions): JsonBounds => ({
  levels: MAX_LEVELS,
  values,
  arrayNumbers,
  otherBytes: maxBytes
})

/** The maximum `Retry-After` that is respected. */
const MAX_RETRY_AFTER_SECONDS = 3600

/**
 * Reads a `Retry-After` in seconds; a date would require the vendor's clock to agree with the
 * gateway's.
 */
const parseRetryAfter = (header: WireHead["headers"][string]): number | null =>
  typeof header === "string" && /^\d{1,9}$/.test(header)
    ? Math.min(Number(header), MAX_RETRY_AFTER_SECONDS)
    : null

/** The headers that contain the vendor's id of the request. */
const requestIdHeaders = ["x-request-id", "request-id", "x-tt-logid", "x-dashscope-request-id"]
const plainId = /^[\x21-\x7e]{1,200}$/

export const headOf = ({ status, headers }: WireHead): AnswerHead => {
  const isPlainId = (id: unknown): id is string => typeof id === "string" && plainId.test(id)
  return {
    status,
    retryAfterSeconds: parseRetryAfter(headers["retry-after"]),
    requestId: requestIdHeaders.map((name) => headers[name]).find(isPlainId) ?? null,
    headers
  }
}

const decoder = new TextDecoder()

/**
 * The JSON of a body within the bounds; the text if it is not JSON; null if it exceeds the bounds.
 */
export const parseBody = (bytes: Buffer, bounds: JsonBounds): unknown => {
  if (!isWithin(bytes, bounds)) return null
  const text = decoder.decode(bytes)
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The maximum number of bytes of a body to hash; hashing a longer one would block the process. */
const MAX_DIGESTED_BYTES = 16 * 1024 * 1024

const digestOf =
  ({ bytes, chunks }: RawAnswer) =>
  (): string | null => {
    if (bytes > MAX_DIGESTED_BYTES) return null
    const hash = createHash("sha256")
    for (const chunk of chunks) hash.update(chunk)
    return hash.digest("hex")
  }

const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)

/** The bytes of the chunks; a single chunk is not copied. */
const joinChunks = (chunks: ReadonlyArray<Uint8Array>): Buffer => {
  const [first] = chunks
  return chunks.length === 1 && first !== undefined ? bufferOf(first) : Buffer.concat(chunks)
}

/**
 * Characters that need decoding: a backslash, and control characters that a broken encoder leaves
 * in a text.
 */
const NOT_PLAIN = [0x5c, 0x00, 0x09, 0x0a, 0x0d]

/** The maximum number of bytes outside long texts; an answer with more is decoded fully. */
const MAX_REST = 256 * 1024

/**
 * The JSON of the chunks with a mark in place of each long text; null if the chunks contain no long
 * text or are not JSON, or if a long text contains escapes.
 */
export const outlineOf = (
  chunks: ReadonlyArray<Uint8Array>,
  bounds: JsonBounds,
  longTextBytes?: number
): unknown => {
  const pieces = chunks.map(bufferOf)
  const walk = walkJson({ ...bounds, otherBytes: MAX_REST }, longTextBytes)
  if (pieces.some((piece) => walk.push(piece) !== null)) return null
  if (walk.media.length === 0) return null
  const { outline, media } = cutMedia(pieces, walk.media, ({ from, to }) => markOf(to - from))
  const isPlain = (part: Buffer) => NOT_PLAIN.every((code) => !part.includes(code))
  if (!media.every((parts) => parts.every(isPlain))) return null
  try {
    return JSON.parse(Buffer.concat(outline).toString())
  } catch {
    return null
  }
}

/**
 * The size above which an answer is large. Smaller answers are decoded fully, because that is
 * faster than finding their long texts.
 */
export const LARGE_BYTES = 64 * 1024

/** The number of bytes that are scanned before other fibers may run. */
const TURN_BYTES = 4 * 1024 * 1024

/** The JSON of a body without the skipped fields; null if it is not JSON or exceeds the bounds. */
export const parsePruned = (
  bytes: Buffer,
  names: ReadonlySet<string>,
  bounds: JsonBounds
): unknown => {
  const prunedBody = pruneJson(names)
  prunedBody.push(bytes)
  const body = parseBody(prunedBody.result(), bounds)
  return typeof body === "string" ? null : body
}

/** Like `parsePruned`, for an answer in chunks, so that other fibers can run in between. */
const parsePrunedChunks = Effect.fnUntraced(function* (
  chunks: ReadonlyArray<Uint8Array>,
  names: ReadonlySet<string>,
  bounds: JsonBounds
) {
  const prunedBody = pruneJson(names)
  let sinceTurn = 0
  for (const chunk of chunks) {
    prunedBody.push(bufferOf(chunk))
    sinceTurn += chunk.byteLength
    if (sinceTurn < TURN_BYTES) continue
    sinceTurn = 0
    yield* Effect.yieldNow
  }
  const body = parseBody(prunedBody.result(), bounds)
  return typeof body === "string" ? null : body
})

/** Decodes an answer that was read to its end. */
export const readBody = (
  raw: RawAnswer,
  options: SendOptions
): Effect.Effect<Pick<VendorAnswer, "body" | "bytes" | "digest" | "text" | "large">> => {
  const { longTextBytes, skippedFields } = options
  const bounds = boundsOf(options)
  const decode = (): unknown => {
    // Skipped fields were not counted against the bounds, so a full decode has no bound of values.
    const decodeBounds =
      skippedFields === undefined ? bounds : { ...bounds, values: Number.MAX_SAFE_INTEGER }
    const body = parseBody(joinChunks(raw.chunks), decodeBounds)
    raw.release()
    return body
  }
  const digestedBody = {
    bytes: raw.bytes,
    digest: digestOf(raw),
    text: () => decoder.decode(joinChunks(raw.chunks))
  }
  if (raw.bytes <= LARGE_BYTES) return Effect.succeed({ ...digestedBody, body: decode() })
  if (skippedFields !== undefined) {
    return Effect.map(parsePrunedChunks(raw.chunks, skippedFields, bounds), (body) => {
      if (body !== null) return { ...digestedBody, body, large: { raw, decode } }
      raw.release()
      return { ...digestedBody, body }
    })
  }
  const body = longTextBytes === undefined ? null : outlineOf(raw.chunks, bounds, longTextBytes)
  return Effect.succeed(
    body === null
      ? { ...digestedBody, body: decode() }
      : { ...digestedBody, body, large: { raw, decode } }
  )
}

/** Decodes the whole answer, including its long texts and skipped fields. */
export const decodeFully = ({ large, ...answer }: VendorAnswer): VendorAnswer =>
  large === undefined ? answer : { ...answer, body: large.decode() }

/** The items of a list; empty if the value is not a list. */
export const listOf = (value: unknown): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value : []
