/** A vendor's answer as it is read: bounded, decoded, with long texts left as they came. */
import { createHash } from "node:crypto"
import { Effect } from "effect"
import type { RawAnswer } from "../../domain/RawAnswer.ts"
import { markOf } from "../../redaction/patterns.ts"
import { pruneJson } from "../../runtime/texts/jsonPrune.ts"
import { cutMedia, isWithin, type JsonBounds, walkJson } from "../../runtime/texts/jsonWalk.ts"
import type { WireHead, WireLimits } from "./VendorWire.ts"

export interface VendorAnswer extends AnswerHead {
  /** The body it answers; null where there was none, or the answer is known in part alone. */
  readonly sent: object | null
  /**
   * Decoded JSON; the text itself where it is not JSON; null where it is nested deeper or has more
   * values than anything we look for.
   */
  readonly body: unknown
  /** Length of the body, as it came. */
  readonly bytes: number
  /** SHA-256 of the body as it came, in hex; null where it is too long, or not all of it was kept. */
  readonly digest: () => string | null
  /**
   * Set where the answer is large and not all of it was decoded: its long texts stand in the body as
   * marks, and fields that were passed over as null.
   */
  readonly large?: {
    /** The answer as it came. */
    readonly raw: RawAnswer
    /** The body with everything in it decoded. */
    readonly decode: () => unknown
  }
}

/** An answer of whose bytes not all were kept. */
export const partOf = (head: AnswerHead, body: unknown, bytes: number): VendorAnswer => ({
  ...head,
  sent: null,
  body,
  bytes,
  digest: () => null
})

/** What an answer begins with. */
export interface AnswerHead {
  readonly status: number
  readonly retryAfterSeconds: number | null
  /** The vendor's own name of the request, where it tells one. */
  readonly requestId: string | null
  readonly headers: WireHead["headers"]
}

/** How an error begins that comes as an event, as the answer it would have been by itself. */
export const eventHead: AnswerHead = {
  status: 200,
  requestId: null,
  retryAfterSeconds: null,
  headers: {}
}

export interface SendOptions extends WireLimits {
  /** Most numbers in arrays, which vectors have many of; they are not walked over one by one. */
  readonly arrayNumbers?: number
  /** Most values of every kind; `MAX_VALUES` when left out. */
  readonly values?: number
  /** Longer texts of a large answer are left as they came, where that pays. */
  readonly longTextBytes?: number
  /**
   * Fields of a large answer whose values are left as they came, since nothing is charged by them: they
   * stand in the body as null.
   */
  readonly passesOver?: ReadonlySet<string>
}

/** Everything that walks over an answer goes one call deeper for each level. */
const MAX_LEVELS = 64
/** An answer about a job, images or a text has some hundreds of values, or thousands with its tokens. */
const MAX_VALUES = 100_000

/** What is decoded of an answer: to walk over more would hold up everything. */
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

/** A vendor that asks for more patience than this is asked again sooner. */
const MAX_RETRY_AFTER_SECONDS = 3600

/** Seconds only: a date would need the vendor's clock to agree with ours. */
const parseRetryAfter = (header: WireHead["headers"][string]): number | null =>
  typeof header === "string" && /^\d{1,9}$/.test(header)
    ? Math.min(Number(header), MAX_RETRY_AFTER_SECONDS)
    : null

/** Where vendors tell how they call a request. */
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

/** The JSON of a body that is not too large to be looked at; its text where it is no JSON. */
export const parseBody = (bytes: Buffer, bounds: JsonBounds): unknown => {
  if (!isWithin(bytes, bounds)) return null
  const text = decoder.decode(bytes)
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Longer bodies would hold everything up while they are digested. */
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

/** A backslash, and the control characters that a broken writer leaves in a text. */
const NOT_PLAIN = [0x5c, 0x00, 0x09, 0x0a, 0x0d]

/** There is no need to look at what is large for other reasons than its texts. */
const MAX_REST = 256 * 1024

/**
 * The JSON in the pieces, with a mark for each long text; null when it has none, is no JSON, or must be
 * decoded whole to be known.
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

/** Smaller answers are decoded in less time than it takes to look at them. */
export const LARGE_BYTES = 64 * 1024

/** Bytes that are looked at before others have their turn. */
const TURN_BYTES = 4 * 1024 * 1024

/** The JSON of a text without the fields that are passed over; null where it is none, or too much. */
export const prunedText = (
  text: string,
  names: ReadonlySet<string>,
  bounds: JsonBounds
): unknown => {
  const pruned = pruneJson(names)
  pruned.push(Buffer.from(text))
  const body = parseBody(pruned.result(), bounds)
  return typeof body === "string" ? null : body
}

/** The same of an answer that came in pieces; others have their turns meanwhile. */
const prunedOf = Effect.fnUntraced(function* (
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

/** What is read of an answer that came whole. */
export const readBody = Effect.fnUntraced(function* (
  raw: RawAnswer,
  options: SendOptions
): Effect.fn.Return<Pick<VendorAnswer, "body" | "bytes" | "digest" | "large">> {
  const { longTextBytes, passesOver } = options
  const bounds = boundsOf(options)
  const decode = (): unknown => {
    // What was passed over is not counted: it is decoded where nothing else will do.
    const whole = passesOver === undefined ? bounds : { ...bounds, values: Number.MAX_SAFE_INTEGER }
    const body = parseBody(Buffer.concat(raw.chunks), whole)
    raw.letGo()
    return body
  }
  const read = { bytes: raw.bytes, digest: digestOf(raw) }
  if (raw.bytes <= LARGE_BYTES) return { ...read, body: decode() }
  if (passesOver !== undefined) {
    const body = yield* prunedOf(raw.chunks, passesOver, bounds)
    if (body !== null) return { ...read, body, large: { raw, decode } }
    raw.letGo()
    return { ...read, body }
  }
  const body = longTextBytes === undefined ? null : outlineOf(raw.chunks, bounds, longTextBytes)
  return body === null ? { ...read, body: decode() } : { ...read, body, large: { raw, decode } }
})

/** The same answer with everything in it decoded. */
export const decodedWhole = ({ large, ...answer }: VendorAnswer): VendorAnswer =>
  large === undefined ? answer : { ...answer, body: large.decode() }

/** What stands in a list; nothing where it is none. */
export const listOf = (value: unknown): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value : []
