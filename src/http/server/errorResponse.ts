/**
 * Converts an error to its answer (status, body and headers) by the error table. No other module
 * does this.
 */
import { Cause, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { type GatewayError, InternalError } from "../../domain/Errors.ts"
import { errorTable, type RetryRule } from "../../domain/errorTable.ts"
import { databaseUnavailable, isTransient } from "../../runtime/databaseErrors.ts"
import { AnsweredError } from "../api/apiErrors.ts"

/** The number of seconds after which the client may retry; null where it is unknown. */
const retryAfterSecondsOf = (error: GatewayError): number | null =>
  ("retryAfterSeconds" in error ? error.retryAfterSeconds : null) ?? null

/**
 * Whether SDKs may retry the request automatically, by the rule of its error code. They never retry
 * an answer below 500 by themselves, so it needs the header only after a possibly paid job.
 */
const mayRetry = (error: GatewayError): boolean => {
  const rule: RetryRule = errorTable[error._tag].retry
  switch (rule) {
    case "no":
      return true
    case "later":
      return retryAfterSecondsOf(error) !== null
    case "not by itself":
      return false
    case "by its fields":
      return (
        error._tag === "upstream_error" && error.unpaid && (error.retryable || error.status < 500)
      )
  }
}

/** The headers of the answer to an error. */
export const headersOf = (error: GatewayError): Readonly<Record<string, string>> => {
  const seconds = retryAfterSecondsOf(error)
  const millis = "retryAfterMillis" in error ? error.retryAfterMillis : undefined
  return {
    // Clients that know `retry-after-ms` prefer it to `retry-after`.
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

/** Encodes an error as `{"error":{"message","type","param","code","doc_url", ...}}`. */
export const errorBody: (error: GatewayError) => typeof AnsweredError.Encoded =
  Schema.encodeSync(AnsweredError)

/** The error that a client learns of an unexpected failure, whose cause is not shown. */
export const errorOfDefect = (cause: Cause.Cause<unknown>): GatewayError =>
  isTransient(Cause.squash(cause))
    ? databaseUnavailable()
    : new InternalError({
        message:
          "The gateway failed to handle this request; its operator finds the cause by this answer's x-request-id"
      })

const errorsByResponse = new WeakMap<object, GatewayError>()

/** The response to an error: body, status and headers. */
export const errorResponse = (error: GatewayError) => {
  const response = HttpServerResponse.jsonUnsafe(errorBody(error), {
    status: error._tag === "upstream_error" ? error.status : errorTable[error._tag].status,
    headers: headersOf(error)
  })
  errorsByResponse.set(response, error)
  return response
}

/** The error of a response that `errorResponse` made; undefined for other responses. */
export const errorOf = (response: object): GatewayError | undefined =>
  errorsByResponse.get(response)
