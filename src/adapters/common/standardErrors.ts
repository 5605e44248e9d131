/** Errors in the common standard form, `{error: {message, type, param, code}}`, of all vendors that have it. */
import { errorObject, meanings, refusalTable, type Shape } from "../wire/refusalTable.ts"
import { contentRates } from "./contentErrors.ts"
import { isAnswer } from "./standardImages.ts"

const rates = {
  "429": meanings.rate,
  limit_burst_rate: meanings.rate,
  limit_requests: meanings.rate,
  rate_limit_error: meanings.rate,
  rate_limit_exceeded: meanings.rate,
  RateLimitReached: meanings.rate,
  Throttling: meanings.rate,
  too_many_requests: meanings.rate
}

/** Some of these words are also said of what broke in the midst of the work, with other statuses. */
const overloads = {
  engine_overloaded: meanings.overload,
  model_overloaded: meanings.overload,
  overloaded: meanings.overload,
  overloaded_error: meanings.overload,
  server_error: meanings.overload,
  server_overloaded: meanings.overload,
  service_unavailable: meanings.overload,
  slow_down: meanings.overload
}

/** Images that were all refused by the same code, each in its own place. */
const refusedImages: Shape = (body) => {
  const refused = isAnswer(body) ? body.data.map(errorObject) : []
  const codes = new Set(refused.map((said) => said?.[0]))
  const [code] = codes
  return codes.size === 1 && code !== undefined ? [code] : null
}

export const standardRefusals = refusalTable([errorObject, refusedImages], {
  OutputImageSensitiveContentDetected: meanings.order,
  ...contentRates,
  ...rates,
  ...overloads
})
