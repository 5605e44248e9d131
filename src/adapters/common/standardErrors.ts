/**
 * Errors in the common standard form, `{error: {message, type, param, code}}`, from all vendors
 * that use it.
 */
import {
  errorObjectShape,
  meaningOf,
  meanings,
  refusalTable,
  type Shape
} from "../wire/refusalTable.ts"
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

/**
 * Codes for overload. Vendors use some of them also for work that failed half-way, but then with
 * other HTTP statuses.
 */
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

/**
 * Moderation verdicts on inputs and outputs, which the cloud reports for each image in place of the
 * image.
 */
const contentVerdicts = {
  InputImageSensitiveContentDetected: meanings.order,
  InputTextSensitiveContentDetected: meanings.order,
  OutputImageSensitiveContentDetected: meanings.order,
  OutputTextSensitiveContentDetected: meanings.order,
  SensitiveContentDetected: meanings.order
}

const codes = { ...contentVerdicts, ...contentRates, ...rates, ...overloads }
const codeTable = refusalTable([errorObjectShape], codes)

/**
 * Matches an answer in which every image is replaced by an error, if the codes of all these errors
 * have one meaning.
 */
const refusedImages: Shape = (body) => {
  const codesByImage = isAnswer(body) ? body.data.map(errorObjectShape) : []
  if (!codesByImage.every((codes) => codes !== null)) return null
  const meaningsOfImages = new Set(codesByImage.map((codes) => meaningOf(codeTable, codes, 200)))
  return meaningsOfImages.size === 1 ? (codesByImage[0] ?? null) : null
}

export const standardRefusals = refusalTable([errorObjectShape, refusedImages], codes)
