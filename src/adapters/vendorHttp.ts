/** The one way to a vendor: send, wait, and tell a refusal from a loss. */
import { Duration, Effect, Schema } from "effect"
import { PassedAnswer } from "../domain/PassedAnswer.ts"
import { VendorLost, VendorRefused, VendorUnreachable } from "../domain/VendorOutcome.ts"
import type { ChannelAccount } from "../services/ProtocolAdapter.ts"
import { asVendorTime } from "../services/VendorTime.ts"
import { messageOf, saysError } from "./errorText.ts"
import { outlineOf } from "./longTexts.ts"
import { recordCall } from "./recordCall.ts"
import { scrub, scrubText } from "./scrub.ts"
import type { VendorWire, WireAnswer, WireFault, WireHead, WireLimits } from "./VendorWire.ts"
import type { VendorRequest } from "./vendorRequest.ts"

export interface VendorAnswer {
  readonly status: number
  /** Decoded JSON; the text itself where it is not JSON. */
  readonly body: unknown
  /** Of the body, as it came. */
  readonly bytes: number
  /**
   * Set where the answer is large and its long texts were not decoded: they stand in the body as
   * marks, and the answer as it came is here.
   */
  readonly passed?: PassedAnswer
  readonly retryAfterSeconds: number | null
}

export type SendOptions = WireLimits

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

/** An answer as far as it is told with an error. */
type Told = Omit<VendorAnswer, "bytes">

const lost = (reason: VendorLost["reason"], message: string, answer?: Told) =>
  new VendorLost({
    reason,
    message,
    status: answer?.status ?? null,
    body: answer?.body ?? null,
    retryAfterSeconds: answer?.retryAfterSeconds ?? null
  })

const connectionLost = () =>
  lost("connection_lost", "The connection to the vendor was lost before its answer was complete")

/** The answer did not come in the time we give it. */
export const timedOut = (limit: Duration.Duration) =>
  lost("timeout", `The vendor did not answer within ${Duration.toSeconds(limit)} seconds`)

/** More was said than we read. */
export const tooLarge = (head: Omit<Told, "body">) =>
  lost("broken_answer", "The vendor's answer is too large", { ...head, body: null })

/** Seconds only: a date would need the vendor's clock to agree with ours. */
const parseRetryAfter = (header: WireHead["headers"][string]): number | null =>
  typeof header === "string" && /^\d{1,9}$/.test(header) ? Number(header) : null

const decoder = new TextDecoder()

const parseBody = (chunks: ReadonlyArray<Uint8Array>): unknown => {
  const [first = new Uint8Array()] = chunks
  const text = decoder.decode(chunks.length > 1 ? Buffer.concat(chunks) : first)
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** What an answer begins with. */
export const headOf = ({ status, headers }: WireHead) => ({
  status,
  retryAfterSeconds: parseRetryAfter(headers["retry-after"])
})

type WireBody = Pick<WireAnswer, "chunks" | "letGo">

const bodyOf = ({ chunks, letGo }: WireBody) => {
  const body = parseBody(chunks)
  letGo?.()
  return { body, bytes: chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0) }
}

/** Smaller answers are decoded in less time than it takes to look at them. */
const LARGE_BYTES = 64 * 1024

/** The body with long texts left as they came, where that pays. */
const outlinedBodyOf = (answer: WireBody) => {
  const passed = new PassedAnswer(answer.chunks, answer.letGo)
  const outline = passed.bytes > LARGE_BYTES ? outlineOf(answer.chunks) : null
  if (outline === null) return bodyOf(answer)
  const { value: body, isShortened } = outline
  if (isShortened) return { body, bytes: passed.bytes, passed }
  passed.letGo()
  return { body, bytes: passed.bytes }
}

/** The same answer with everything in it decoded. */
export const decodedWhole = ({ passed, ...answer }: VendorAnswer): VendorAnswer =>
  passed === undefined ? answer : { ...answer, ...bodyOf(passed) }

/** The answer with its body decoded, when it came whole. */
export const wholeAnswer = (
  answer: WireAnswer,
  body: typeof outlinedBodyOf = bodyOf
): Effect.Effect<VendorAnswer, VendorLost> =>
  answer.whole
    ? Effect.succeed({ ...headOf(answer), ...body(answer) })
    : Effect.fail(tooLarge(headOf(answer)))

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
      onSuccess: (answer) => wholeAnswer(answer, body)
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
}

/** A proxy before the vendor gave up waiting; 524 is a content network's own word for it. */
const proxyTimeouts: ReadonlySet<number> = new Set([504, 524])

/**
 * A vendor's error answer, body unchanged but for our own credentials. An error in an HTTP 200
 * counts as a bad gateway. A time-out on the vendor's side proves nothing about the job, so it
 * counts as lost.
 */
export const refusal = (
  account: ChannelAccount,
  answer: Told,
  text: RefusalText = {}
): VendorRefused | VendorLost => {
  const said = text.message ?? messageOf(answer.body)
  const message = scrubText(account, said ?? `The vendor answered HTTP ${answer.status}`)
  const body = scrub(account, answer.body)
  const effectiveStatus = text.effectiveStatus ?? (answer.status >= 300 ? answer.status : 502)
  return proxyTimeouts.has(effectiveStatus) || proxyTimeouts.has(answer.status)
    ? lost("timeout", message, { ...answer, body })
    : new VendorRefused({
        effectiveStatus,
        status: answer.status,
        body,
        message,
        retryAfterSeconds: answer.retryAfterSeconds
      })
}

/** A 2xx that does not say what it must: the job may exist all the same. */
export const brokenAnswer = (account: ChannelAccount, answer: Told) =>
  lost("broken_answer", "The vendor's answer could not be read", {
    ...answer,
    body: scrub(account, answer.body)
  })

/** Why an answer is of no use: refused when it names an error, lost when it cannot be read. */
export const unusable = (account: ChannelAccount, answer: Told): VendorRefused | VendorLost =>
  answer.status >= 300 || saysError(answer.body)
    ? refusal(account, answer)
    : brokenAnswer(account, answer)

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
