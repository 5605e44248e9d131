/**
 * Sends a request to a vendor and separates requests that never left from answers that were lost.
 */
import { type Duration, Effect, Schema } from "effect"
import { type VendorLost, VendorUnreachable } from "../../domain/VendorOutcome.ts"
import { asVendorTime } from "../../services/ProtocolAdapter.ts"
import { recordCall } from "./recordCall.ts"
import type { PartialAnswer, VendorWire, WireAnswer, WireFault, WireLate } from "./VendorWire.ts"
import {
  headOf,
  partialAnswer,
  readBody,
  type SendOptions,
  type VendorAnswer
} from "./vendorAnswer.ts"
import { lostConnection, oversizedAnswer, timeoutFailure } from "./vendorFailures.ts"
import type { VendorRequest } from "./vendorRequest.ts"

// The system calls that precede a connection. They prove that nothing was sent, whereas error codes
// such as EHOSTUNREACH also occur on open connections.
const connectCalls: ReadonlySet<string> = new Set(["connect", "getaddrinfo"])

/** Error codes that mean that the request was invalid or that no connection was established. */
const unsentCodes: ReadonlySet<string> = new Set([
  "ERR_INVALID_URL",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_INVALID_ARG"
])

/** Error codes of a failed TLS handshake, which precedes the request. */
const insecureCodes: ReadonlySet<string> = new Set([
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

const isInsecure = (cause: unknown): boolean =>
  isFault(cause) && insecureCodes.has(cause.code ?? "")

const unreachable = (cause: unknown) =>
  isInsecure(cause)
    ? new VendorUnreachable({
        message: "No secure connection to the vendor came about",
        isInsecure: true
      })
    : new VendorUnreachable({ message: "The vendor could not be reached" })

/**
 * Whether the fault proves that no byte of the request reached the vendor. A host with several
 * addresses fails with one error per address, and each of these must prove it.
 */
const isBeforeSending = (cause: unknown): boolean => {
  if (cause instanceof AggregateError) {
    return cause.errors.length > 0 && cause.errors.every((one: unknown) => isBeforeSending(one))
  }
  return (
    isInsecure(cause) ||
    (isFault(cause) && (connectCalls.has(cause.syscall ?? "") || unsentCodes.has(cause.code ?? "")))
  )
}

/** Decodes the body of an answer that was read to its end; fails if the answer was too long. */
export const completeAnswer = (
  answer: WireAnswer,
  requestBody: VendorAnswer["requestBody"],
  options: SendOptions
): Effect.Effect<VendorAnswer, VendorLost> =>
  answer.isComplete
    ? Effect.mapEager(readBody(answer.raw, options), (fields) => ({
        ...headOf(answer),
        requestBody,
        ...fields
      }))
    : Effect.fail(oversizedAnswer(headOf(answer), answer.raw.bytes))

/**
 * Distinguishes an unreachable vendor from a lost answer. `receivedByReader` is the part of the
 * answer that the reader of a stream has.
 */
export const toVendorFailure =
  (timeout: Duration.Duration, receivedByReader: PartialAnswer | null = null) =>
  (failure: WireFault | WireLate): Effect.Effect<never, VendorLost | VendorUnreachable> => {
    const receivedBytes = failure.partial ?? receivedByReader
    const partial =
      receivedBytes === null
        ? undefined
        : partialAnswer(headOf(receivedBytes.head), null, receivedBytes.bytes)
    if (failure._tag === "WireLate") return Effect.fail(timeoutFailure(timeout, partial))
    // The same error code may also end an open connection after the request was sent.
    const isUnsent =
      partial === undefined && failure.isSent !== true && isBeforeSending(failure.cause)
    return Effect.fail(isUnsent ? unreachable(failure.cause) : lostConnection(partial))
  }

/**
 * Sends one request and reads the whole answer, with any status. Fails with `VendorUnreachable` if
 * nothing was sent, and with `VendorLost` if the answer did not arrive, was cut off or exceeded
 * `maxBytes`. Redirects are not followed.
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
        onFailure: toVendorFailure(options.timeout),
        onSuccess: (answer) => completeAnswer(answer, request.body, options)
      }),
      asVendorTime
    )
  )
