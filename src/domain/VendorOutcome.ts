/**
 * The ways in which a call to a vendor can end without a usable answer, and the error that the
 * client gets. The three failures differ in what may have happened at the vendor, which decides
 * whether a charge and a retry are safe.
 */
import { Schema } from "effect"
import { UpstreamError } from "./Errors.ts"

const retryAfterSeconds = Schema.NullOr(Schema.Int)

/**
 * The facts about a vendor answer that did not reach the client; an operator needs them to file a
 * claim with the vendor. `sha256` is the digest of the body's bytes, or null if the body was not
 * read to its end.
 */
export const AnswerTrace = Schema.Struct({
  status: Schema.Int,
  bytes: Schema.Int,
  sha256: Schema.NullOr(Schema.String),
  /** The vendor's request id, if the answer has one. */
  requestId: Schema.NullOr(Schema.String)
})
export type AnswerTrace = typeof AnswerTrace.Type

const traceFields = {
  /** The job's id at the vendor, if an answer contained one. */
  upstreamId: Schema.optionalKey(Schema.String),
  answer: Schema.optionalKey(AnswerTrace)
}

/** Reasons for refusal that prove that the vendor produced nothing. */
export const KnownRefusal = Schema.Literals([
  "refused",
  "credentials_refused",
  "account_empty",
  "model_unknown",
  "rate_limited",
  "overloaded"
])
export type KnownRefusal = typeof KnownRefusal.Type

/**
 * The vendor answered with an error. `body` is the unchanged body, or null if the error was part of
 * a 2xx answer: the rest of a 2xx answer may be the ordered product.
 */
export class VendorRefused extends Schema.TaggedError<VendorRefused>()("VendorRefused", {
  /**
   * The HTTP status that describes the refusal: the vendor's own, or the status of its error code
   * if the vendor answered 200.
   */
  effectiveStatus: Schema.Int,
  status: Schema.Int,
  body: Schema.Unknown,
  message: Schema.String,
  /** The field of the request that the vendor names as the cause. */
  param: Schema.optionalKey(Schema.String),
  retryAfterSeconds,
  /**
   * Set if the vendor's refusal table lists this refusal, which proves that the vendor produced
   * nothing. If it is not set, the vendor may have carried out the order, whatever the status.
   */
  proof: Schema.optionalKey(KnownRefusal),
  /**
   * Set if the vendor reported that the job itself failed, which means that the job is not billed.
   */
  isVerdict: Schema.optionalKey(Schema.Boolean),
  /** Set if the job ended because it was cancelled. */
  isCancelled: Schema.optionalKey(Schema.Boolean),
  ...traceFields
}) {}

/** The request never reached the vendor: refused connection, unknown host, failed handshake. */
export class VendorUnreachable extends Schema.TaggedError<VendorUnreachable>()(
  "VendorUnreachable",
  {
    message: Schema.String,
    /** Set if the vendor was reachable but the TLS handshake failed. */
    isInsecure: Schema.optionalKey(Schema.Boolean)
  }
) {}

/** The request was sent but no usable answer arrived: a paid job may exist. */
export class VendorLost extends Schema.TaggedError<VendorLost>()("VendorLost", {
  reason: Schema.Literals(["timeout", "connection_lost", "broken_answer"]),
  message: Schema.String,
  /** The HTTP status; null if no answer began. */
  status: Schema.NullOr(Schema.Int),
  retryAfterSeconds,
  /** Set if the answer contains the id of a job that already belongs to another order. */
  isDuplicate: Schema.optionalKey(Schema.Boolean),
  /** The usage that the vendor reported in an answer without a product. */
  usage: Schema.optionalKey(
    Schema.Struct({
      inputTokens: Schema.BigInt,
      outputTokens: Schema.BigInt,
      separate: Schema.optionalKey(
        Schema.Struct({
          cachedInput: Schema.BigInt,
          audioInput: Schema.BigInt,
          audioOutput: Schema.BigInt
        })
      )
    })
  ),
  ...traceFields
}) {}

/** The failure for an answer that names the job of another order: one job is charged only once. */
export const duplicateJob = (upstreamId: string) =>
  new VendorLost({
    reason: "broken_answer",
    message: "The vendor answered with the job of another order",
    status: null,
    retryAfterSeconds: null,
    isDuplicate: true,
    upstreamId
  })

export type VendorFailure = VendorRefused | VendorUnreachable | VendorLost

/** The failure of an order whose task was cancelled before its vendor was called. */
export const cancelledOrder = () =>
  new VendorRefused({
    effectiveStatus: 409,
    status: 409,
    body: null,
    message: "The task was cancelled before its vendor was called",
    retryAfterSeconds: null,
    isVerdict: true,
    isCancelled: true
  })

export const isCancelled = (failure: VendorFailure): boolean =>
  failure._tag === "VendorRefused" && failure.isCancelled === true

/**
 * Whether a 2xx answer arrived but could not be read: it was too large, cut off, late, broken, or
 * without the ordered product. The vendor counts such an order as done.
 */
export const isUnreadableAnswer = (failure: VendorFailure): failure is VendorLost =>
  failure._tag === "VendorLost" &&
  failure.status !== null &&
  failure.status >= 200 &&
  failure.status < 300

/**
 * Token counts as reported by a vendor; `input` is null if the vendor does not report input tokens
 * separately.
 */
export const ReportedUsage = Schema.Struct({
  input: Schema.NullOr(Schema.BigIntFromString),
  output: Schema.BigIntFromString
})
export type ReportedUsage = typeof ReportedUsage.Type

/**
 * A question that an operator has to settle with the vendor, and the known facts about the call.
 */
export interface Doubt {
  readonly reason: string
  readonly upstreamId: string | null
  /** The unusable answer, if one arrived. */
  readonly answer?: AnswerTrace
  /** The usage that the vendor reported, if the charge was not calculated from it. */
  readonly usage?: ReportedUsage
}

/** The doubt for a charged order whose vendor reported more usage than the order can have. */
export const implausibleUsage = (usage: ReportedUsage, upstreamId: string | null): Doubt => ({
  reason: "implausible_usage",
  upstreamId,
  usage
})

/**
 * The statuses by which a vendor, or a proxy in front of it, reports a time-out; 524 comes from a
 * CDN.
 */
export const timeouts: ReadonlySet<number> = new Set([408, 504, 524])

const mirroredStatuses: ReadonlySet<number> = new Set([400, 404, 413, 415, 422])

/**
 * The status that the gateway answers for a vendor's status. 400, 404, 413, 415 and 422 are
 * mirrored. 429 becomes 503, because clients of the gateway read 402 and 429 as limits of their own
 * account. Every other status becomes 502 or 504.
 */
export const statusOfVendor = (vendorStatus: number): number => {
  if (mirroredStatuses.has(vendorStatus)) return vendorStatus
  if (vendorStatus === 429) return 503
  return timeouts.has(vendorStatus) ? 504 : 502
}

/** Statuses by which a vendor refuses the gateway's account: wrong key, no money, not allowed. */
export const accountStatuses: ReadonlySet<number> = new Set([401, 402, 403])

/** The reason for a refusal, by HTTP status; null for a status that never means a refusal. */
const knownStatuses: ReadonlyMap<number, KnownRefusal> = new Map([
  [400, "refused"],
  [401, "credentials_refused"],
  [402, "account_empty"],
  [403, "credentials_refused"],
  [404, "model_unknown"],
  [413, "refused"],
  [415, "refused"],
  [422, "refused"],
  [429, "rate_limited"],
  [503, "overloaded"]
])
export const knownRefusalOf = (vendorStatus: number): KnownRefusal | null =>
  knownStatuses.get(vendorStatus) ?? null

/**
 * The reason by which the vendor's refusal table proves that nothing was produced; null if the
 * table does not list the refusal, or if the refusal names a job.
 */
const proofOf = (failure: VendorFailure): KnownRefusal | null =>
  failure._tag === "VendorRefused" && failure.upstreamId === undefined
    ? (failure.proof ?? null)
    : null

/**
 * Why the vendor may have produced something despite the failure; null if it certainly produced
 * nothing. A client may retry automatically only if this is null.
 */
export const doubtOf = (failure: VendorFailure): Doubt | null => {
  if (failure._tag === "VendorUnreachable" || proofOf(failure) !== null) return null
  const { upstreamId = null, answer } = failure
  const answerIds = { upstreamId, ...(answer === undefined ? {} : { answer }) }
  if (failure._tag === "VendorLost") {
    return { reason: failure.isDuplicate === true ? "duplicate_job" : failure.reason, ...answerIds }
  }
  return failure.isVerdict === true
    ? null
    : { reason: timeouts.has(failure.effectiveStatus) ? "timeout" : "vendor_error", ...answerIds }
}

/**
 * Whether another channel may take over the order. That requires that this channel's vendor
 * certainly produced nothing, and that the content of the order is not the cause of the refusal.
 */
export const mayFailOver = (failure: VendorFailure): boolean => {
  const proof = proofOf(failure)
  return failure._tag === "VendorUnreachable" || (proof !== null && proof !== "refused")
}

const passingRefusals: ReadonlySet<unknown> = new Set<KnownRefusal>(["rate_limited", "overloaded"])

/**
 * Whether the vendor certainly produced nothing and may take the same order at the same channel a
 * little later.
 */
export const mayTryAgain = (failure: VendorFailure): boolean =>
  failure._tag === "VendorUnreachable" || passingRefusals.has(proofOf(failure))

export type FailureKind = KnownRefusal | VendorLost["reason"] | "unreachable" | "vendor_error"

/**
 * The kind of a failure, for metrics and operators. `refused` covers every refusal that the order
 * itself may have caused. An error in a 2xx answer is also `refused`, unless its error code has
 * another meaning.
 */
export const failureKind = (failure: VendorFailure): FailureKind => {
  if (failure._tag === "VendorUnreachable") return "unreachable"
  if (failure._tag === "VendorLost") return failure.reason
  const { effectiveStatus, isVerdict, proof, status } = failure
  if (isVerdict === true) return "refused"
  const reason = proof ?? knownRefusalOf(effectiveStatus)
  if (reason !== null) return reason
  if (timeouts.has(effectiveStatus)) return "timeout"
  return effectiveStatus >= 500 && status >= 300 ? "vendor_error" : "refused"
}

/** The reason why a channel did not serve an order, as shown to operators. */
export interface Refusal {
  readonly reason: FailureKind
  /** The vendor's HTTP status; null if the vendor did not answer. */
  readonly status: number | null
}

export const refusalOf = (failure: VendorFailure): Refusal => ({
  reason: failureKind(failure),
  status: failure._tag === "VendorUnreachable" ? null : failure.status
})

/** The reason why an order has no product, as it is stored with the order. */
export const OrderFailure = Schema.Struct({
  code: Schema.Literals(["upstream_error", "overloaded"]),
  /** A `FailureKind`, or the gateway's own reason. */
  reason: Schema.String,
  /** The vendor's HTTP status; null if the vendor did not answer. */
  status: Schema.NullOr(Schema.Int),
  /** A sentence for the member, without anything about the gateway's account at the vendor. */
  message: Schema.NullOr(Schema.String),
  /** The vendor's own message, for operators; null if there is none. */
  vendorMessage: Schema.NullOr(Schema.String)
})
export type OrderFailure = typeof OrderFailure.Type

/** The failure of an order that ended for a reason of the gateway itself. */
export const ownFailure = (
  reason: string,
  message: string,
  code: OrderFailure["code"] = "upstream_error"
): OrderFailure => ({ code, reason, status: null, message, vendorMessage: null })

/** The failure of an order whose gateway stopped while the vendor was called. */
export const gatewayStopped = ownFailure(
  "gateway_stopped",
  "The gateway stopped before the vendor's answer was recorded"
)

/** The beginning of a member's sentence, by what the vendor's refusal means. */
const refusalIntro = (failure: VendorRefused): string => {
  switch (failureKind(failure)) {
    case "model_unknown":
      return "The vendor does not offer the model"
    case "rate_limited":
    case "overloaded":
      return "The vendor is overloaded"
    case "timeout":
      return "The vendor took too long"
    case "vendor_error":
      return "The vendor failed"
    default:
      return `The vendor refused ${failure.param ?? "the order"}`
  }
}

/**
 * The failure of an order in the form that is stored. `error` is the client's error, which tells
 * nothing about the gateway's account. `redact` removes the request's texts from a message; null if
 * it cannot.
 */
export const orderFailureOf = (
  failure: VendorFailure,
  error: UpstreamError,
  redact: (message: string) => string | null
): OrderFailure => {
  const vendorMessage = redact(failure.message)
  const isOwnSentence =
    failure._tag !== "VendorRefused" || accountStatuses.has(failure.effectiveStatus)
  const detail = redact(error.message)
  const message = isOwnSentence
    ? error.message
    : [refusalIntro(failure), ...(detail === null ? [] : [detail])].join(": ")
  return { code: error._tag, ...refusalOf(failure), message, vendorMessage }
}

const keyRefusals: ReadonlySet<unknown> = new Set<KnownRefusal>([
  "credentials_refused",
  "account_empty"
])

/**
 * Whether the vendor refused the key of the call and certainly began no job, so that another key
 * may be tried.
 */
export const isAboutKey = (failure: VendorFailure): boolean => keyRefusals.has(proofOf(failure))

/**
 * Whether the vendor refused the key of a poll. A poll cannot start a job, so the kind of the
 * failure decides, even if no refusal table proves that nothing was produced.
 */
export const isKeyRefused = (failure: VendorFailure): boolean =>
  failure._tag === "VendorRefused" &&
  failure.isVerdict !== true &&
  keyRefusals.has(failureKind(failure))

/** The fields of an error without a vendor's answer. */
const noUpstreamDetails = {
  upstream: { status: null, body: null },
  retryAfterSeconds: null
}

/** The statuses below 500 after which the same request may succeed later. */
const transientStatuses: ReadonlySet<number> = new Set([...timeouts, 409, 425, 429])

/**
 * Whether the same request may succeed later. It may after an error of the vendor, overload and
 * time-outs, and not after a refusal of the order itself.
 */
const isTransient = (effectiveStatus: number): boolean =>
  effectiveStatus >= 500 || transientStatuses.has(effectiveStatus)

const ACCOUNT_REFUSED =
  "The vendor of this model does not accept the gateway's account at the moment; the gateway's operator has to see to it"

/**
 * The error that the client gets. Its `retryable` tells whether the same request may succeed later,
 * and its `unpaid` whether a repeat is certainly the only paid job.
 */
export const upstreamErrorOf = (failure: VendorFailure): UpstreamError => {
  const { message } = failure
  const unpaid = doubtOf(failure) === null
  if (failure._tag === "VendorUnreachable") {
    return new UpstreamError({
      ...noUpstreamDetails,
      message,
      status: 502,
      retryable: true,
      unpaid
    })
  }
  const { status: vendorStatus, retryAfterSeconds } = failure
  if (failure._tag === "VendorLost") {
    const status = failure.reason === "timeout" ? 504 : 502
    const upstream = { status: vendorStatus, body: null }
    return new UpstreamError({
      message,
      status,
      upstream,
      retryable: true,
      unpaid,
      retryAfterSeconds
    })
  }
  if (accountStatuses.has(failure.effectiveStatus)) {
    const upstream = { status: vendorStatus, body: null }
    return new UpstreamError({
      message: ACCOUNT_REFUSED,
      status: 502,
      upstream,
      retryable: false,
      unpaid,
      retryAfterSeconds: null
    })
  }
  const status = statusOfVendor(failure.effectiveStatus)
  const upstream = { status: vendorStatus, body: failure.body }
  return new UpstreamError({
    message,
    param: failure.param ?? null,
    status,
    upstream,
    retryable: isTransient(failure.effectiveStatus),
    unpaid,
    retryAfterSeconds
  })
}

/** The basis of a charge whose vendor answer could not be read. */
export const UNREADABLE_BASIS = "unread_answer" as const

/** The doubt for an operator to settle about an unreadable answer that was charged. */
export const unreadableAnswerDoubt = ({ upstreamId, answer }: VendorLost): Doubt => ({
  reason: "unread_answer",
  upstreamId: upstreamId ?? null,
  ...(answer === undefined ? {} : { answer })
})

/** The client's error for an order that is charged although its answer could not be read. */
export const unreadableAnswerError = (
  { message, status: vendorStatus }: VendorLost,
  { receiptId, charge }: { readonly receiptId: string; readonly charge: string }
): UpstreamError =>
  new UpstreamError({
    upstream: { status: vendorStatus, body: null },
    retryable: false,
    unpaid: false,
    retryAfterSeconds: null,
    message:
      `${message}. It answered HTTP ${vendorStatus}, so the order is charged ${charge} by the formula: ` +
      `GET /v1/usage/${receiptId} is the receipt, and the gateway's operator can correct it`,
    status: 502
  })

/**
 * The client's error if the hold was released without an answer, by a sweep or after a failure of
 * the gateway.
 */
export const abandonedRequestError = () =>
  new UpstreamError({
    ...noUpstreamDetails,
    message: "The vendor answered after the request had been given up",
    status: 504,
    retryable: true,
    unpaid: false
  })
