/** A vendor's answer as it is read: bounded, decoded, with long texts left as they came. */
import { createHash } from "node:crypto"
import type { RawAnswer } from "../../domain/RawAnswer.ts"
import { markOf } from "../../hiding/patterns.ts"
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
  /** Set where the answer is large and its long texts were not decoded: they stand in the body as marks. */
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
  /** Whether the long texts of a large answer are left as they came, where that pays. */
  readonly keepsLongTexts?: boolean
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

/** A backslash, and the control characters that a broken writer leaves in a text. */
const NOT_PLAIN = [0x5c, 0x00, 0x09, 0x0a, 0x0d]

/** There is no need to look at what is large for other reasons than its texts. */
const MAX_REST = 256 * 1024

/**
 * The JSON in the pieces, with a mark for each long text; null when it has none, is no JSON, or must be
 * decoded whole to be known.
 */
export const outlineOf = (chunks: ReadonlyArray<Uint8Array>, bounds: JsonBounds): unknown => {
  const pieces = chunks.map((chunk) =>
    Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  )
  const walk = walkJson({ ...bounds, otherBytes: MAX_REST })
  if (pieces.some((piece) => walk.push(piece) !== null)) return null
  if (walk.media.length === 0) return null
  const { kept, cut } = cutMedia(pieces, walk.media, ({ from, to }) => markOf(to - from))
  const isPlain = (part: Buffer) => NOT_PLAIN.every((code) => !part.includes(code))
  if (!cut.every((parts) => parts.every(isPlain))) return null
  try {
    return JSON.parse(Buffer.concat(kept).toString())
  } catch {
    return null
  }
}

/** Smaller answers are decoded in less time than it takes to look at them. */
const LARGE_BYTES = 64 * 1024

/** What is read of an answer that came whole. */
export const readBody = (
  raw: RawAnswer,
  options: SendOptions
): Pick<VendorAnswer, "body" | "bytes" | "digest" | "large"> => {
  const bounds = boundsOf(options)
  const decode = (): unknown => {
    const body = parseBody(Buffer.concat(raw.chunks), bounds)
    raw.letGo()
    return body
  }
  const isLarge = options.keepsLongTexts === true && raw.bytes > LARGE_BYTES
  const body = isLarge ? outlineOf(raw.chunks, bounds) : null
  const read = { bytes: raw.bytes, digest: digestOf(raw) }
  return body === null ? { ...read, body: decode() } : { ...read, body, large: { raw, decode } }
}

/** The same answer with everything in it decoded. */
export const decodedWhole = ({ large, ...answer }: VendorAnswer): VendorAnswer =>
  large === undefined ? answer : { ...answer, body: large.decode() }

/** What stands in a list; nothing where it is none. */
export const listOf = (value: unknown): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value : []
