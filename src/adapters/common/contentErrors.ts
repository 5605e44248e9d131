/**
 * Error codes of the cloud whose API has content blocks: vp_a, vp_b and one family of the relay.
 */
import { errorObjectShape, meanings, refusalTable } from "../wire/refusalTable.ts"

/**
 * The meanings of the cloud's error codes. They also apply to images, which the cloud serves in the
 * standard form but refuses with these codes.
 */
export const contentRates = {
  AccountRateLimitExceeded: meanings.rate,
  APIAccountRpmRateLimitExceeded: meanings.rate,
  InvalidEndpointOrModel: meanings.model,
  // `Ipm` stands for images per minute.
  ModelAccountIpmRateLimitExceeded: meanings.rate,
  ModelAccountRpmRateLimitExceeded: meanings.rate,
  ModelNotOpen: meanings.model,
  QuotaExceeded: meanings.rate,
  RateLimitExceeded: meanings.rate,
  RequestBurstTooFast: meanings.rate,
  ServerOverloaded: meanings.rate,
  SetLimitExceeded: meanings.balance
}

export const contentRefusals = refusalTable([errorObjectShape], contentRates)
