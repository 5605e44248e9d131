/** Errors of the cloud with content blocks: of vp_a, vp_b and a family of the relay. */
import { errorObjectShape, meanings, refusalTable } from "../wire/refusalTable.ts"

/** The cloud serves images in the standard form and refuses them with the same codes. */
export const contentRates = {
  AccountRateLimitExceeded: meanings.rate,
  APIAccountRpmRateLimitExceeded: meanings.rate,
  InvalidEndpointOrModel: meanings.model,
  // Images a minute.
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
