/**
 * How a call to a vendor can end without a usable answer, and the error that the client gets. The
 * three failures differ in what may have happened at the vendor, because that decides whether money
 * and retries are safe.
 */
import { Schema } from "effect"
import { UpstreamError } from "./Errors.ts"

const retryAfterSeconds = Schema.NullOr(Schema.Int)

/**
 * What is known of an answer that did not reach the client, so that an operator can claim by it at
 * the vendor. Its digest is of the body's bytes; null where the body was not read to its end.
 */
export const AnswerTrace = Schema.Struct({
  status: Schema.Int,
  bytes: Schema.Int,
  sha256: Schema.NullOr(Schema.String),
  /** The vendor's request id, where the answer has one. */
  requestId: Schema.NullOr(Schema.String)
})
export type AnswerTrace = typeof AnswerTrace.Type

const traceFields = {
  /** The job's id at the vendor, where an answer had it. */
  upstreamId: Schema.optionalKey(Schema.String),
  answer: Schema.optionalKey(AnswerTrace)
}

/** Reasons of refusals that prove that the vendor made nothing. */
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
 * The vendor answered with an error. `body` is unchanged, and null where the error stood in an answer
 * of success: what else such an answer holds may be what was ordered.
 */
export class VendorRefused extends Schema.TaggedError<VendorRefused>()("VendorRefused", {
  /** HTTP status that describes the refusal: the vendor's own, or its code's where it says 200. */
  effectiveStatus: Schema.Int,
  status: Schema.Int,
  body: Schema.Unknown,
  message: Schema.String,
  retryAfterSeconds,
  /**
   * Set where the vendor's own table knows the refusal: it certainly made nothing. Without it the order
   * may have been made, whatever the status.
   */
  proof: Schema.optionalKey(KnownRefusal),
  /** Set where the vendor says of the job itself that it failed, and so that it is not billed. */
  isVerdict: Schema.optionalKey(Schema.Boolean),
  ...traceFields
}) {}

/** The request never reached the vendor: refused connection, unknown host, failed handshake. */
export class VendorUnreachable extends Schema.TaggedError<VendorUnreachable>()(
  "VendorUnreachable",
  {
    message: Schema.String,
    /** Set where it could be reached, and no secure connection came about. */
    isInsecure: Schema.optionalKey(Schema.Boolean)
  }
) {}

/** The request was sent and no usable answer came back: a paid job may exist. */
export class VendorLost extends Schema.TaggedError<VendorLost>()("VendorLost", {
  reason: Schema.Literals(["timeout", "connection_lost", "broken_answer"]),
  message: Schema.String,
  /** Null when no answer began. */
  status: Schema.NullOr(Schema.Int),
  retryAfterSeconds,
  /** Set where the answer named a job that another order has. */
  isDuplicate: Schema.optionalKey(Schema.Boolean),
  /** What the vendor counted, where an answer without a product has it. */
  usage: Schema.optionalKey(
    Schema.Struct({ inputTokens: Schema.BigInt, outputTokens: Schema.BigInt })
  ),
  ...traceFields
}) {}

/** The vendor answered with a job that another order has: one work is charged once. */
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

/**
 * An answer of success came and could not be read: too large, cut, late, broken, or without what was
 * ordered. The vendor counts the order as done.
 */
export const isUnreadableAnswer = (failure: VendorFailure): failure is VendorLost =>
  failure._tag === "VendorLost" &&
  failure.status !== null &&
  failure.status >= 200 &&
  failure.status < 300

/** Tokens as a vendor counted them; input is null where it counts none apart. */
export const ReportedUsage = Schema.Struct({
  input: Schema.NullOr(Schema.BigIntFromString),
  output: Schema.BigIntFromString
})
export type ReportedUsage = typeof ReportedUsage.Type

/** What an operator should ask a vendor about, and what is known of it. */
export interface Doubt {
  readonly reason: string
  readonly upstreamId: string | null
  /** The answer that could not be used, where one came. */
  readonly answer?: AnswerTrace
  /** What the vendor counted, where it was not charged so. */
  readonly usage?: ReportedUsage
}

/** The order is charged, and its vendor counted what no such order can have. */
export const implausibleUsage = (usage: ReportedUsage, upstreamId: string | null): Doubt => ({
  reason: "implausible_usage",
  upstreamId,
  usage
})

/** Statuses of a vendor, or of a proxy before it, that stopped waiting; 524 is a CDN's. */
export const timeouts: ReadonlySet<number> = new Set([408, 504, 524])

const mirroredStatuses: ReadonlySet<number> = new Set([400, 404, 413, 415, 422])

/**
 * Our status for a vendor's: its 400, 404, 413, 415 and 422 are mirrored; its 429 is a 503, since
 * 402 and 429 mean our own money to our clients; everything else is a bad gateway.
 */
export const statusOfVendor = (vendorStatus: number): number => {
  if (mirroredStatuses.has(vendorStatus)) return vendorStatus
  if (vendorStatus === 429) return 503
  return timeouts.has(vendorStatus) ? 504 : 502
}

/** Refusals of our own account at the vendor: wrong key, no money, not allowed. */
export const accountStatuses: ReadonlySet<number> = new Set([401, 402, 403])

/** What a refusal is about by its status; null where the status is never one of a refusal. */
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

/** The proof that the vendor's refusal table gives; none where the refusal names a job. */
const proofOf = (failure: VendorFailure): KnownRefusal | null =>
  failure._tag === "VendorRefused" && failure.upstreamId === undefined
    ? (failure.proof ?? null)
    : null

/** Null when the vendor certainly made nothing. Only then may a client order again by itself. */
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
 * Whether another channel may be asked for the same order: this one's vendor certainly made nothing,
 * and what it refused is not what was ordered.
 */
export const mayFailOver = (failure: VendorFailure): boolean => {
  const proof = proofOf(failure)
  return failure._tag === "VendorUnreachable" || (proof !== null && proof !== "refused")
}

export type FailureKind = KnownRefusal | VendorLost["reason"] | "unreachable" | "vendor_error"

/**
 * The kind of a failure, for metrics and operators. `refused` is everything that may be about what was
 * ordered: also an error in an answer of success, unless its code says otherwise.
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

/** Why a channel did not serve an order, as operators read it. */
export interface Refusal {
  readonly reason: FailureKind
  /** The vendor's, where it answered. */
  readonly status: number | null
}

export const refusalOf = (failure: VendorFailure): Refusal => ({
  reason: failureKind(failure),
  status: failure._tag === "VendorUnreachable" ? null : failure.status
})

const keyRefusals: ReadonlySet<unknown> = new Set<KnownRefusal>([
  "credentials_refused",
  "account_empty"
])

/** Refused for the key it was called with, and certainly not begun: another key may be taken. */
export const isAboutKey = (failure: VendorFailure): boolean => keyRefusals.has(proofOf(failure))

/** The same of a poll, which begins nothing: its status is enough. */
export const isKeyRefused = (failure: VendorFailure): boolean =>
  failure._tag === "VendorRefused" &&
  failure.isVerdict !== true &&
  keyRefusals.has(failureKind(failure))

/** Fields of an error that contains nothing of the vendor's. */
const noUpstreamDetails = {
  upstream: { status: null, body: null },
  retryable: false,
  retryAfterSeconds: null
}

const ACCOUNT_REFUSED =
  "The vendor of this model does not accept the gateway's account at the moment; the gateway's operator has to see to it"

/** The error that the client gets; `retryable` is false wherever a resend could be a second paid job. */
export const upstreamErrorOf = (failure: VendorFailure): UpstreamError => {
  const { message } = failure
  const retryable = doubtOf(failure) === null
  if (failure._tag === "VendorUnreachable") {
    return new UpstreamError({ ...noUpstreamDetails, message, status: 502, retryable })
  }
  const { status: vendorStatus, retryAfterSeconds } = failure
  if (failure._tag === "VendorLost") {
    const status = failure.reason === "timeout" ? 504 : 502
    const upstream = { status: vendorStatus, body: null }
    return new UpstreamError({ message, status, upstream, retryable, retryAfterSeconds })
  }
  if (accountStatuses.has(failure.effectiveStatus)) {
    const upstream = { status: vendorStatus, body: null }
    return new UpstreamError({
      ...noUpstreamDetails,
      message: ACCOUNT_REFUSED,
      status: 502,
      upstream
    })
  }
  const status = statusOfVendor(failure.effectiveStatus)
  const upstream = { status: vendorStatus, body: failure.body }
  return new UpstreamError({ message, status, upstream, retryable, retryAfterSeconds })
}

/** Where the units of a charge come from when the vendor's answer could not be read. */
export const UNREADABLE_BASIS = "unread_answer" as const

/** What an operator looks into where an unread answer is charged. */
export const unreadableAnswerDoubt = ({ upstreamId, answer }: VendorLost): Doubt => ({
  reason: "unread_answer",
  upstreamId: upstreamId ?? null,
  ...(answer === undefined ? {} : { answer })
})

/** The client's error where an order is charged although its answer could not be read. */
export const unreadableAnswerError = (
  { message, status: vendorStatus }: VendorLost,
  { receiptId, charge }: { readonly receiptId: string; readonly charge: string }
): UpstreamError =>
  new UpstreamError({
    upstream: { status: vendorStatus, body: null },
    retryable: false,
    retryAfterSeconds: null,
    message:
      `${message}. It answered HTTP ${vendorStatus}, so the order is charged ${charge} by the formula: ` +
      `GET /v1/usage/${receiptId} is the receipt, and the gateway's operator can correct it`,
    status: 502
  })

/** The client's error where the vendor answered after the sweep had closed the order. */
export const abandonedRequestError = () =>
  new UpstreamError({
    ...noUpstreamDetails,
    message: "The vendor answered after the request had been given up",
    status: 504
  })
