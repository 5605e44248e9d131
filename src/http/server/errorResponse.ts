/** The one place where an error becomes its answer: status, body and headers, by the error table. */
import { Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import type { GatewayError } from "../../domain/Errors.ts"
import { errorTable, type RetryRule } from "../../domain/errorTable.ts"
import { AnsweredError } from "../api/apiErrors.ts"

/** Seconds until a retry; null where unknown. */
const retryAfterSecondsOf = (error: GatewayError): number | null =>
  ("retryAfterSeconds" in error ? error.retryAfterSeconds : null) ?? null

/** Whether SDKs may retry the request by themselves, by the rule of its code. */
const mayRetry = (error: GatewayError): boolean => {
  const rule: RetryRule = errorTable[error._tag].retry
  switch (rule) {
    case "no":
      return true
    case "later":
      return retryAfterSecondsOf(error) !== null
    case "not by itself":
      return false
    case "by its field":
      return error._tag === "upstream_error" && error.retryable
  }
}

/** The headers that an error has beside its body. */
export const headersOf = (error: GatewayError): Readonly<Record<string, string>> => {
  const seconds = retryAfterSecondsOf(error)
  const millis = "retryAfterMillis" in error ? error.retryAfterMillis : undefined
  return {
    // Clients that know the second header prefer it.
    ...(seconds === null
      ? {}
      : { "retry-after": `${seconds}`, "retry-after-ms": `${millis ?? seconds * 1000}` }),
    ...(mayRetry(error) ? {} : { "x-should-retry": "false" }),
    ...(error._tag === "method_not_allowed" ? { allow: error.allow.join(", ") } : {}),
    ...(error._tag === "invalid_api_key"
      ? { "www-authenticate": 'Bearer realm="media-gateway"' }
      : {})
  }
}

/** `{"error":{"message","type","param","code", ...}}` */
export const errorBody: (error: GatewayError) => typeof AnsweredError.Encoded =
  Schema.encodeSync(AnsweredError)

const errorsByResponse = new WeakMap<object, GatewayError>()

/** The body of an error with its status and headers. */
export const errorResponse = (error: GatewayError) => {
  const response = HttpServerResponse.jsonUnsafe(errorBody(error), {
    status: error._tag === "upstream_error" ? error.status : errorTable[error._tag].status,
    headers: headersOf(error)
  })
  errorsByResponse.set(response, error)
  return response
}

/** The error of a response made by `errorResponse`; undefined for any other. */
export const errorOf = (response: object): GatewayError | undefined =>
  errorsByResponse.get(response)
