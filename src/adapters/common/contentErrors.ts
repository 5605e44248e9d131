/** Errors of the cloud with content blocks, which vp_a, vp_b and a family of the relay write. */
import { errorObject, meanings, refusalTable } from "../wire/refusalTable.ts"

/** Its images are called in the standard form, and refused by the same codes. */
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

export const contentRefusals = refusalTable([errorObject], contentRates)
