/** Reads a vendor's answer: bounded and decoded, except for long texts. */
import { createHash } from "node:crypto"
import { Effect } from "effect"
import type { RawAnswer } from "../../domain/RawAnswer.ts"
import { markOf } from "../../redaction/patterns.ts"
import { pruneJson } from "../../runtime/texts/jsonPrune.ts"
import { cutMedia, isWithin, type JsonBounds, walkJson } from "../../runtime/texts/jsonWalk.ts"
import type { WireHead, WireLimits } from "./VendorWire.ts"

export interface VendorAnswer extends AnswerHead {
  /** The body of the request; null where it had none, or where only a part of the answer is known. */
  readonly requestBody: object | null
  /**
   * Decoded JSON; the text itself where it is not JSON; null where it exceeds the limits of depth or of
   * the number of values.
   */
  readonly body: unknown
  /** Length of the body as received. */
  readonly bytes: number
  /** SHA-256 of the body as received, in hex; null where it is too long or was not read to its end. */
  readonly digest: () => string | null
  /**
   * Set where a large answer was not decoded fully: in `body`, long texts are marks and skipped fields
   * are null.
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
  digest: () => null
})

/** Status and headers of an answer. */
export interface AnswerHead {
  readonly status: number
  readonly retryAfterSeconds: number | null
  /** The vendor's id of the request, where it gives one. */
  readonly requestId: string | null
  readonly headers: WireHead["headers"]
}

/** The head under which an error in an event is judged like a whole answer. */
export const eventHead: AnswerHead = {
  status: 200,
  requestId: null,
  retryAfterSeconds: null,
  headers: {}
}

export interface SendOptions extends WireLimits {
  /** Most numbers in arrays, such as vectors; nothing walks over them one by one. */
  readonly arrayNumbers?: number
  /** Most values of every kind; `MAX_VALUES` when left out. */
  readonly values?: number
  /** Longer texts of a large answer are not decoded, where that saves time. */
  readonly longTextBytes?: number
  /**
   * Fields of a large answer that do not affect the charge: they are not decoded and are null in the
   * body.
   */
  readonly skippedFields?: ReadonlySet<string>
}

/** Functions that walk over an answer recurse once for each level. */
const MAX_LEVELS = 64
/** An answer about a job, images or a text has some hundreds of values, or thousands with its tokens. */
const MAX_VALUES = 100_000

/** Limits of what is decoded of an answer: a walk over more would block the process. */
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

/** The longest `Retry-After` that is respected. */
const MAX_RETRY_AFTER_SECONDS = 3600

/** Seconds only: a date would need the vendor's clock to agree with ours. */
const parseRetryAfter = (header: WireHead["headers"][string]): number | null =>
  typeof header === "string" && /^\d{1,9}$/.test(header)
    ? Math.min(Number(header), MAX_RETRY_AFTER_SECONDS)
    : null

/** Headers in which vendors give their id of the request. */
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

/** The JSON of a body within the bounds; its text where it is no JSON; null where it exceeds the bounds. */
export const parseBody = (bytes: Buffer, bounds: JsonBounds): unknown => {
  if (!isWithin(bytes, bounds)) return null
  const text = decoder.decode(bytes)
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Hashing a longer body would block the process. */
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

/** A backslash, and control characters that a broken encoder leaves in a text. */
const NOT_PLAIN = [0x5c, 0x00, 0x09, 0x0a, 0x0d]

/** An answer with more bytes besides its long texts is decoded fully instead. */
const MAX_REST = 256 * 1024

/**
 * The JSON in the pieces with a mark for each long text; null where it has no long text, is no JSON, or
 * has escapes in a long text.
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

/** Smaller answers are decoded faster than their long texts are found. */
export const LARGE_BYTES = 64 * 1024

/** Bytes that are scanned before other fibers may run. */
const TURN_BYTES = 4 * 1024 * 1024

/** The JSON of a text without the skipped fields; null where it is no JSON or exceeds the bounds. */
export const parsePruned = (
  text: string,
  names: ReadonlySet<string>,
  bounds: JsonBounds
): unknown => {
  const pruned = pruneJson(names)
  pruned.push(Buffer.from(text))
  const body = parseBody(pruned.result(), bounds)
  return typeof body === "string" ? null : body
}

/** Does the same for an answer in chunks, so that other fibers run in between. */
const parsePrunedChunks = Effect.fnUntraced(function* (
  chunks: ReadonlyArray<Uint8Array>,
  names: ReadonlySet<string>,
  bounds: JsonBounds
) {
  const pruned = pruneJson(names)
  let sinceTurn = 0
  for (const chunk of chunks) {
    pruned.push(bufferOf(chunk))
    sinceTurn += chunk.byteLength
    if (sinceTurn < TURN_BYTES) continue
    sinceTurn = 0
    yield* Effect.yieldNow
  }
  const body = parseBody(pruned.result(), bounds)
  return typeof body === "string" ? null : body
})

/** Decodes an answer that was read to its end. */
export const readBody = Effect.fnUntraced(function* (
  raw: RawAnswer,
  options: SendOptions
): Effect.fn.Return<Pick<VendorAnswer, "body" | "bytes" | "digest" | "large">> {
  const { longTextBytes, skippedFields: passesOver } = options
  const bounds = boundsOf(options)
  const decode = (): unknown => {
    // Skipped fields were not counted against the bounds, so a full decode has no bound of values.
    const decodeBounds =
      passesOver === undefined ? bounds : { ...bounds, values: Number.MAX_SAFE_INTEGER }
    const body = parseBody(Buffer.concat(raw.chunks), decodeBounds)
    raw.release()
    return body
  }
  const digested = { bytes: raw.bytes, digest: digestOf(raw) }
  if (raw.bytes <= LARGE_BYTES) return { ...digested, body: decode() }
  if (passesOver !== undefined) {
    const body = yield* parsePrunedChunks(raw.chunks, passesOver, bounds)
    if (body !== null) return { ...digested, body, large: { raw, decode } }
    raw.release()
    return { ...digested, body }
  }
  const body = longTextBytes === undefined ? null : outlineOf(raw.chunks, bounds, longTextBytes)
  return body === null
    ? { ...digested, body: decode() }
    : { ...digested, body, large: { raw, decode } }
})

/** Decodes the whole answer, also its long texts and skipped fields. */
export const decodeFully = ({ large, ...answer }: VendorAnswer): VendorAnswer =>
  large === undefined ? answer : { ...answer, body: large.decode() }

/** The items of a list; none where the value is no list. */
export const listOf = (value: unknown): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value : []
