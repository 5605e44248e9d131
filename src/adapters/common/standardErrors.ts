/** Errors in the common standard form, `{error: {message, type, param, code}}`, of all vendors that have it. */
import { errorObject, meaningOf, meanings, refusalTable, type Shape } from "../wire/refusalTable.ts"
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

/** What is to be seen may not be, or what was made: the cloud says it of each image in its place. */
const contentVerdicts = {
  InputImageSensitiveContentDetected: meanings.order,
  InputTextSensitiveContentDetected: meanings.order,
  OutputImageSensitiveContentDetected: meanings.order,
  OutputTextSensitiveContentDetected: meanings.order,
  SensitiveContentDetected: meanings.order
}

const codes = { ...contentVerdicts, ...contentRates, ...rates, ...overloads }
const known = refusalTable([errorObject], codes)

/** Images that were all refused with one meaning, each in its own place. */
const refusedImages: Shape = (body) => {
  const refused = isAnswer(body) ? body.data.map((image) => errorObject(image) ?? []) : []
  const meant = new Set(refused.map((said) => meaningOf(known, said, 200)))
  const [first] = refused
  return meant.size === 1 && first !== undefined ? first : null
}

export const standardRefusals = refusalTable([errorObject, refusedImages], codes)
