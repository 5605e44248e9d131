/** A vendor's answer as it is read: bounded, decoded, with long texts left as they came. */
import { createHash } from "node:crypto"
import type { RawAnswer } from "../../domain/RawAnswer.ts"
import { isWithin, type JsonBounds } from "../../runtime/jsonWalk.ts"
import { outlineOf } from "./longTexts.ts"
import type { WireHead, WireLimits } from "./VendorWire.ts"

export interface VendorAnswer extends AnswerHead {
  /** The body it answers; null where there was none. */
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
    /** Decodes everything in it. */
    readonly decode: () => DecodedBody
  }
}

/** What is read of a body. */
type DecodedBody = Pick<VendorAnswer, "body" | "bytes" | "digest">

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
}

export interface SendOptions extends WireLimits {
  /** Most numbers in arrays, which vectors have many of; they are not walked over one by one. */
  readonly arrayNumbers?: number
  /** Most values of every kind; `MAX_VALUES` when left out. */
  readonly values?: number
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
    requestId: requestIdHeaders.map((name) => headers[name]).find(isPlainId) ?? null
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

const wholeOf = ({ chunks }: RawAnswer): Buffer => {
  const [only = new Uint8Array()] = chunks
  return chunks.length > 1
    ? Buffer.concat(chunks)
    : Buffer.from(only.buffer, only.byteOffset, only.byteLength)
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

export const bodyOf = (raw: RawAnswer, bounds: JsonBounds): DecodedBody => {
  const body = parseBody(wholeOf(raw), bounds)
  raw.letGo()
  return { body, bytes: raw.bytes, digest: digestOf(raw) }
}

/** Smaller answers are decoded in less time than it takes to look at them. */
const LARGE_BYTES = 64 * 1024

/** The body with long texts left as they came, where that pays. */
export const outlinedBodyOf = (
  raw: RawAnswer,
  bounds: JsonBounds
): DecodedBody & Pick<VendorAnswer, "large"> => {
  const body = raw.bytes > LARGE_BYTES ? outlineOf(raw.chunks, bounds) : null
  if (body === null) return bodyOf(raw, bounds)
  const large = { raw, decode: () => bodyOf(raw, bounds) }
  return { body, bytes: raw.bytes, digest: digestOf(raw), large }
}

/** The same answer with everything in it decoded. */
export const decodedWhole = ({ large, ...answer }: VendorAnswer): VendorAnswer =>
  large === undefined ? answer : { ...answer, ...large.decode() }
