/** The one way to a vendor: send, wait, and tell a refusal from a loss. */
import { createHash } from "node:crypto"
import { Duration, Effect, Schema } from "effect"
import { withoutEchoes } from "../domain/echoes.ts"
import { isWithin, type JsonBounds } from "../domain/jsonBounds.ts"
import { PassedAnswer } from "../domain/PassedAnswer.ts"
import {
  type AnswerTrace,
  timeouts,
  VendorLost,
  VendorRefused,
  VendorUnreachable
} from "../domain/VendorOutcome.ts"
import type { ChannelAccount } from "../services/ProtocolAdapter.ts"
import { asVendorTime } from "../services/VendorTime.ts"
import { messageOf, saysError } from "./errorText.ts"
import { outlineOf } from "./longTexts.ts"
import { holdsProduct, idIn } from "./products.ts"
import { recordCall } from "./recordCall.ts"
import { scrub, scrubText } from "./scrub.ts"
import type { VendorWire, WireAnswer, WireFault, WireHead, WireLimits } from "./VendorWire.ts"
import type { VendorRequest } from "./vendorRequest.ts"

export interface VendorAnswer extends AnswerHead {
  /** The body it answers; null where there was none. */
  readonly sent: object | null
  /**
   * Decoded JSON; the text itself where it is not JSON; null where it is nested deeper or has more
   * values than anything we look for.
   */
  readonly body: unknown
  /** Of the body, as it came. */
  readonly bytes: number
  /** SHA-256 of the body as it came, in hex; null where not all of it was kept. */
  readonly digest: () => string | null
  /**
   * Set where the answer is large and its long texts were not decoded: they stand in the body as
   * marks, and the answer as it came is here.
   */
  readonly passed?: PassedAnswer
}

/** What an answer begins with. */
export interface AnswerHead {
  readonly status: number
  readonly retryAfterSeconds: number | null
  /** The vendor's own name of the request, where it tells one. */
  readonly requestId: string | null
}

export interface SendOptions extends WireLimits {
  /** An answer of more JSON values is not looked at: walking over them would hold up everything. */
  readonly maxValues: number
}

/** Everything that walks over an answer goes one call deeper for each level. */
const MAX_LEVELS = 64

/** What is decoded of an answer. */
export const boundsOf = ({ maxValues }: Pick<SendOptions, "maxValues">): JsonBounds => ({
  levels: MAX_LEVELS,
  values: maxValues
})

// Network codes such as EHOSTUNREACH also end running connections: the system call tells.
const connecting: ReadonlySet<string> = new Set(["connect", "getaddrinfo"])

/** The request was not valid, or the handshake failed that comes before it. */
const notSent: ReadonlySet<string> = new Set([
  "ERR_INVALID_URL",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_INVALID_ARG",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "CERT_REVOKED",
  "CERT_UNTRUSTED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "ERR_SSL_PACKET_LENGTH_TOO_LONG",
  "ERR_SSL_UNSUPPORTED_PROTOCOL",
  "ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE",
  "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION",
  "ERR_SSL_TLSV1_UNRECOGNIZED_NAME"
])

const Fault = Schema.Struct({
  code: Schema.optional(Schema.String),
  syscall: Schema.optional(Schema.String)
})
const isFault = Schema.is(Fault)

/**
 * True when the fault proves that no byte of the request reached the vendor. A host with several
 * addresses fails with one error for each.
 */
const beforeSending = (cause: unknown): boolean => {
  if (cause instanceof AggregateError) {
    return cause.errors.length > 0 && cause.errors.every((one: unknown) => beforeSending(one))
  }
  return isFault(cause) && (connecting.has(cause.syscall ?? "") || notSent.has(cause.code ?? ""))
}

const traceOf = (answer: VendorAnswer): AnswerTrace => ({
  status: answer.status,
  bytes: answer.bytes,
  sha256: answer.digest(),
  requestId: answer.requestId
})

const lost = (reason: VendorLost["reason"], message: string, answer?: VendorAnswer) => {
  const upstreamId = answer === undefined ? null : idIn(answer.body)
  return new VendorLost({
    reason,
    message,
    status: answer?.status ?? null,
    retryAfterSeconds: answer?.retryAfterSeconds ?? null,
    ...(answer === undefined ? {} : { answer: traceOf(answer) }),
    ...(upstreamId === null ? {} : { upstreamId })
  })
}

const connectionLost = () =>
  lost("connection_lost", "The connection to the vendor was lost before its answer was complete")

/** The answer did not come in the time we give it. */
export const timedOut = (limit: Duration.Duration) =>
  lost("timeout", `The vendor did not answer within ${Duration.toSeconds(limit)} seconds`)

/** More was said than we read; `bytes` is how much was read. */
export const tooLarge = (head: AnswerHead, bytes: number) =>
  lost("broken_answer", "The vendor's answer is too large", {
    ...head,
    sent: null,
    body: null,
    bytes,
    digest: () => null
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
  const told = requestIdHeaders.map((name) => headers[name])
  const requestId = told.find((id) => typeof id === "string" && plainId.test(id))
  return {
    status,
    retryAfterSeconds: parseRetryAfter(headers["retry-after"]),
    requestId: typeof requestId === "string" ? requestId : null
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

const wholeOf = (chunks: ReadonlyArray<Uint8Array>): Buffer => {
  const [only = new Uint8Array()] = chunks
  return chunks.length > 1
    ? Buffer.concat(chunks)
    : Buffer.from(only.buffer, only.byteOffset, only.byteLength)
}

const digestOf = (chunks: ReadonlyArray<Uint8Array>) => (): string => {
  const hash = createHash("sha256")
  for (const chunk of chunks) hash.update(chunk)
  return hash.digest("hex")
}

type WireBody = Pick<WireAnswer, "chunks" | "letGo">

const bodyOf = ({ chunks, letGo }: WireBody, bounds: JsonBounds) => {
  const body = parseBody(wholeOf(chunks), bounds)
  letGo?.()
  return {
    body,
    bytes: chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0),
    digest: digestOf(chunks)
  }
}

/** Smaller answers are decoded in less time than it takes to look at them. */
const LARGE_BYTES = 64 * 1024

/** The body with long texts left as they came, where that pays. */
const outlinedBodyOf = (answer: WireBody, bounds: JsonBounds) => {
  const passed = new PassedAnswer(answer.chunks, answer.letGo)
  const outline = passed.bytes > LARGE_BYTES ? outlineOf(answer.chunks, bounds) : null
  if (outline === null) return bodyOf(answer, bounds)
  const { value: body, isShortened } = outline
  const outlined = { body, bytes: passed.bytes, digest: digestOf(answer.chunks) }
  if (isShortened) return { ...outlined, passed }
  passed.letGo()
  return outlined
}

/** The same answer with everything in it decoded. */
export const decodedWhole = (
  { passed, ...answer }: VendorAnswer,
  options: SendOptions
): VendorAnswer =>
  passed === undefined ? answer : { ...answer, ...bodyOf(passed, boundsOf(options)) }

/** The answer with its body decoded, when it came whole. */
export const wholeAnswer = (
  answer: WireAnswer,
  sent: VendorAnswer["sent"],
  options: SendOptions,
  body: typeof outlinedBodyOf = bodyOf
): Effect.Effect<VendorAnswer, VendorLost> =>
  answer.whole
    ? Effect.succeed({ ...headOf(answer), sent, ...body(answer, boundsOf(options)) })
    : Effect.fail(
        tooLarge(
          headOf(answer),
          answer.chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0)
        )
      )

/** Tells what never reached the vendor from what was lost. */
export const lostOnTheWay = ({
  cause
}: WireFault): Effect.Effect<never, VendorLost | VendorUnreachable> =>
  Effect.fail(
    beforeSending(cause)
      ? new VendorUnreachable({ message: "The vendor could not be reached" })
      : connectionLost()
  )

const exchange = (
  wire: VendorWire["Service"],
  request: VendorRequest,
  options: SendOptions,
  body: typeof outlinedBodyOf
) =>
  wire.exchange(request, options).pipe(
    Effect.matchEffect({
      onFailure: (failure) =>
        failure._tag === "WireLate"
          ? Effect.fail(timedOut(options.timeout))
          : lostOnTheWay(failure),
      onSuccess: (answer) => wholeAnswer(answer, request.body, options, body)
    }),
    asVendorTime
  )

/**
 * Sends one request and reads the whole answer, whatever its status. Fails with
 * `VendorUnreachable` when nothing was sent, and with `VendorLost` when the answer did not come,
 * was cut or outgrew `maxBytes`. Redirects are not followed.
 */
export const send = (
  wire: VendorWire["Service"],
  request: VendorRequest,
  options: SendOptions
): Effect.Effect<VendorAnswer, VendorLost | VendorUnreachable> =>
  recordCall(request, exchange(wire, request, options, bodyOf))

/** The same, with the long texts of a large answer left as they came. */
export const sendOutlined = (
  wire: VendorWire["Service"],
  request: VendorRequest,
  options: SendOptions
): Effect.Effect<VendorAnswer, VendorLost | VendorUnreachable> =>
  recordCall(request, exchange(wire, request, options, outlinedBodyOf))

export interface RefusalText {
  /** Where it stands in no usual place of the body. */
  readonly message?: string | null
  /** Status the vendor's own code stands for, where it differs from the HTTP status. */
  readonly effectiveStatus?: number | null
  /** Said of the job itself: it failed. */
  readonly isVerdict?: true
}

/** Longer errors explain nothing that a client could use. */
const MAX_REFUSAL_BYTES = 64 * 1024

/** The body as the client gets it: nothing of an answer of success, and no credential of ours. */
const passedBody = (account: ChannelAccount, answer: VendorAnswer): unknown =>
  answer.status < 300 || answer.bytes > MAX_REFUSAL_BYTES ? null : scrub(account, answer.body)

/** The vendor's words: as they are in a refusal, and only so far as they are words in a success. */
const passedWords = (account: ChannelAccount, answer: VendorAnswer, said: string): string =>
  scrubText(account, answer.status < 300 ? withoutEchoes(said, []) : said)

/**
 * A vendor's error answer, body unchanged but for our own credentials. An error in an HTTP 200
 * counts as a bad gateway. An error that carries what was ordered proves that it was made, so it
 * counts as lost.
 */
export const refusal = (
  account: ChannelAccount,
  answer: VendorAnswer,
  text: RefusalText = {}
): VendorRefused | VendorLost => {
  const said = text.message ?? messageOf(answer.body)
  const message = passedWords(account, answer, said ?? `The vendor answered HTTP ${answer.status}`)
  // A proxy that stopped waiting speaks for itself, whatever code it found in the vendor's words.
  const byCode = timeouts.has(answer.status) ? null : text.effectiveStatus
  const effectiveStatus = byCode ?? (answer.status >= 300 ? answer.status : 502)
  if (answer.status >= 300 && holdsProduct(answer.body, answer.sent)) return brokenAnswer(answer)
  return new VendorRefused({
    effectiveStatus,
    status: answer.status,
    body: passedBody(account, answer),
    message,
    retryAfterSeconds: answer.retryAfterSeconds,
    answer: traceOf(answer),
    ...(text.isVerdict === undefined ? {} : { isVerdict: text.isVerdict })
  })
}

/** An answer that does not say what it must: the job may exist all the same. */
export const brokenAnswer = (answer: VendorAnswer) =>
  lost("broken_answer", "The vendor's answer could not be read", answer)

/** Why an answer is of no use: refused when it names an error, lost when it cannot be read. */
export const unusable = (
  account: ChannelAccount,
  answer: VendorAnswer
): VendorRefused | VendorLost =>
  answer.status >= 300 || saysError(answer.body) ? refusal(account, answer) : brokenAnswer(answer)

/**
 * The refusal a vendor gives for an input its interface has no field for. Leaving the input out
 * would sell another video than the one ordered, so nothing is sent.
 */
export const refusedUnsent = (body: {
  readonly message: string
  readonly [field: string]: unknown
}): VendorRefused =>
  new VendorRefused({
    effectiveStatus: 400,
    status: 400,
    body,
    message: body.message,
    retryAfterSeconds: null
  })
