/** The one way to a vendor: send, wait, and tell what never reached it from what was lost. */
import { type Duration, Effect, Schema } from "effect"
import { type VendorLost, VendorUnreachable } from "../../domain/VendorOutcome.ts"
import { asVendorTime } from "../../services/ProtocolAdapter.ts"
import { recordCall } from "./recordCall.ts"
import type { BegunAnswer, VendorWire, WireAnswer, WireFault, WireLate } from "./VendorWire.ts"
import { headOf, partOf, readBody, type SendOptions, type VendorAnswer } from "./vendorAnswer.ts"
import { connectionLost, timedOut, tooLarge } from "./vendorFailures.ts"
import type { VendorRequest } from "./vendorRequest.ts"

// Network codes such as EHOSTUNREACH also end running connections: the system call tells.
const connecting: ReadonlySet<string> = new Set(["connect", "getaddrinfo"])

/** The request was not valid, or no connection came about. */
const notSent: ReadonlySet<string> = new Set([
  "ERR_INVALID_URL",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_INVALID_ARG"
])

/** The handshake failed that comes before the request. */
const insecure: ReadonlySet<string> = new Set([
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

const isFault = Schema.is(
  Schema.Struct({
    code: Schema.optional(Schema.String),
    syscall: Schema.optional(Schema.String)
  })
)

const isInsecure = (cause: unknown): boolean => isFault(cause) && insecure.has(cause.code ?? "")

const unreachable = (cause: unknown) =>
  isInsecure(cause)
    ? new VendorUnreachable({
        message: "No secure connection to the vendor came about",
        isInsecure: true
      })
    : new VendorUnreachable({ message: "The vendor could not be reached" })

/**
 * True when the fault proves that no byte of the request reached the vendor. A host with several
 * addresses fails with one error for each.
 */
const beforeSending = (cause: unknown): boolean => {
  if (cause instanceof AggregateError) {
    return cause.errors.length > 0 && cause.errors.every((one: unknown) => beforeSending(one))
  }
  return (
    isInsecure(cause) ||
    (isFault(cause) && (connecting.has(cause.syscall ?? "") || notSent.has(cause.code ?? "")))
  )
}

/** The answer with its body decoded, when it came whole. */
export const wholeAnswer = (
  answer: WireAnswer,
  sent: VendorAnswer["sent"],
  options: SendOptions
): Effect.Effect<VendorAnswer, VendorLost> =>
  answer.whole
    ? Effect.map(readBody(answer.raw, options), (read) => ({ ...headOf(answer), sent, ...read }))
    : Effect.fail(tooLarge(headOf(answer), answer.raw.bytes))

/** Tells what never reached the vendor from what was lost. `seen` is what its reader has of an answer. */
export const lostOnTheWay =
  (timeout: Duration.Duration, seen: BegunAnswer | null = null) =>
  (failure: WireFault | WireLate): Effect.Effect<never, VendorLost | VendorUnreachable> => {
    const begun = failure.begun ?? seen
    const part = begun === null ? undefined : partOf(headOf(begun.head), null, begun.bytes)
    if (failure._tag === "WireLate") return Effect.fail(timedOut(timeout, part))
    // The same code may end a connection that stood, after the request had left by it.
    const isUnsent = part === undefined && failure.isSent !== true && beforeSending(failure.cause)
    return Effect.fail(isUnsent ? unreachable(failure.cause) : connectionLost(part))
  }

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
  recordCall(
    request,
    wire.exchange(request, options).pipe(
      Effect.matchEffect({
        onFailure: lostOnTheWay(options.timeout),
        onSuccess: (answer) => wholeAnswer(answer, request.body, options)
      }),
      asVendorTime
    )
  )
