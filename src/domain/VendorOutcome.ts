/**
 * How a call to a vendor can end without a usable answer, and what the client is told of it. The
 * three are told apart by what may have happened on the other side, because that decides whether
 * money and retries are safe.
 */
import { Schema } from "effect"
import { UpstreamError } from "./Errors.ts"

const retryAfterSeconds = Schema.NullOr(Schema.Int)

/** The vendor answered with an error: no job exists. `body` is unchanged. */
export class VendorRefused extends Schema.TaggedError<VendorRefused>()("VendorRefused", {
  /** HTTP status that describes the refusal: the vendor's own, or its code's where it says 200. */
  effectiveStatus: Schema.Int,
  status: Schema.Int,
  body: Schema.Unknown,
  message: Schema.String,
  retryAfterSeconds
}) {}

/** The request never reached the vendor: refused connection, unknown host, failed handshake. */
export class VendorUnreachable extends Schema.TaggedError<VendorUnreachable>()(
  "VendorUnreachable",
  { message: Schema.String }
) {}

/** The request was sent and no usable answer came back: a paid job may exist. */
export class VendorLost extends Schema.TaggedError<VendorLost>()("VendorLost", {
  reason: Schema.Literals(["timeout", "connection_lost", "broken_answer"]),
  message: Schema.String,
  status: Schema.NullOr(Schema.Int),
  body: Schema.Unknown,
  retryAfterSeconds,
  /** The job's id at the vendor, where it had been told before the job was lost. */
  upstreamId: Schema.optionalKey(Schema.String)
}) {}

export type VendorFailure = VendorRefused | VendorUnreachable | VendorLost

const mirrored: ReadonlySet<number> = new Set([400, 404, 413, 415, 422])

/**
 * Our status for a vendor's: its 400, 404, 413, 415 and 422 are mirrored; its 429 is a 503, since
 * 402 and 429 mean our own money to our clients; everything else is a bad gateway.
 */
export const statusOfVendor = (vendorStatus: number): number => {
  if (mirrored.has(vendorStatus)) return vendorStatus
  if (vendorStatus === 429) return 503
  return vendorStatus === 408 || vendorStatus === 504 ? 504 : 502
}

/** A vendor that failed inside or gave up waiting may have started the job: nobody should resend on its own. */
const inDoubt = (vendorStatus: number): boolean =>
  vendorStatus === 408 || (vendorStatus >= 500 && vendorStatus !== 503)

/** What the client is told; `retryable` is false wherever a resend could be a second paid job. */
export const upstreamErrorOf = (failure: VendorFailure): UpstreamError => {
  switch (failure._tag) {
    case "VendorRefused":
      return new UpstreamError({
        message: failure.message,
        status: statusOfVendor(failure.effectiveStatus),
        upstream: { status: failure.status, body: failure.body },
        retryable: !inDoubt(failure.effectiveStatus),
        retryAfterSeconds: failure.retryAfterSeconds
      })
    case "VendorUnreachable":
      return new UpstreamError({
        message: failure.message,
        status: 502,
        upstream: { status: null, body: null },
        retryable: true,
        retryAfterSeconds: null
      })
    case "VendorLost":
      return new UpstreamError({
        message: failure.message,
        status: failure.reason === "timeout" ? 504 : 502,
        upstream: { status: failure.status, body: failure.body },
        retryable: false,
        retryAfterSeconds: failure.retryAfterSeconds
      })
  }
}

/** The vendor answered, but the sweep had given the request up before. */
export const givenUp = () =>
  new UpstreamError({
    message: "The vendor answered after the request had been given up",
    status: 504,
    upstream: { status: null, body: null },
    retryable: false,
    retryAfterSeconds: null
  })
