/** Error codes of the cloud with content blocks: vp_a, vp_b and one family of the relay. */
import { errorObjectShape, meanings, refusalTable } from "../wire/refusalTable.ts"

/** The cloud serves images in the standard form and refuses them with the same codes. */
export const contentRates = {
  AccountRateLimitExceeded: meanings.rate,
  APIAccountRpmRateLimitExceeded: meanings.rate,
  InvalidEndpointOrModel: meanings.model,
  // Images per minute.
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
