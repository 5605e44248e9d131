/** One place turns an error into its answer: status, four-key body, retry headers. */
import { Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { errorTable, type GatewayError } from "../../domain/Errors.ts"
import { AnsweredError } from "../api/apiErrors.ts"

/** Clients that know the second header prefer it. */
const after = (seconds: number | null, millis?: number): Readonly<Record<string, string>> =>
  seconds === null
    ? {}
    : { "retry-after": `${seconds}`, "retry-after-ms": `${millis ?? seconds * 1000}` }

const retryHeaders = (error: GatewayError): Readonly<Record<string, string>> => {
  switch (error._tag) {
    case "upstream_error":
      return {
        ...(error.retryable ? {} : { "x-should-retry": "false" }),
        ...after(error.retryAfterSeconds)
      }
    case "member_cap_exceeded":
      return { ...after(error.retryAfterSeconds), "x-should-retry": "false" }
    case "idempotency_conflict":
      return error.retryAfterSeconds === null
        ? { "x-should-retry": "false" }
        : after(error.retryAfterSeconds)
    case "rate_limited":
      return after(error.retryAfterSeconds, error.retryAfterMillis)
    case "overloaded":
      return after(error.retryAfterSeconds)
    case "internal_error":
      return { "x-should-retry": "false" }
    case "method_not_allowed":
      return { allow: error.allow.join(", ") }
    case "invalid_api_key":
      return { "www-authenticate": 'Bearer realm="media-gateway"' }
    default:
      return {}
  }
}

/** `{"error":{"message","type","param","code", ...}}` */
export const errorBody: (error: GatewayError) => typeof AnsweredError.Encoded =
  Schema.encodeSync(AnsweredError)

const answered = new WeakMap<object, GatewayError>()

/** The body of an error with its status and headers. */
export const errorResponse = (error: GatewayError) => {
  const response = HttpServerResponse.jsonUnsafe(errorBody(error), {
    status: error._tag === "upstream_error" ? error.status : errorTable[error._tag].status,
    headers: retryHeaders(error)
  })
  answered.set(response, error)
  return response
}

/** The error that an answer was made of; undefined for any other. */
export const errorOf = (answer: object): GatewayError | undefined => answered.get(answer)
