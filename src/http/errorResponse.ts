/** One place turns an error into its answer: status, four-key body, retry headers. */
import { HttpServerResponse } from "effect/http"
import { errorTable, type GatewayError } from "../domain/Errors.ts"

type Extras = Readonly<Record<string, unknown>>

const extrasOf = (error: GatewayError): Extras => {
  switch (error._tag) {
    case "insufficient_balance":
      return { required: error.required, available: error.available }
    case "member_cap_exceeded":
      return { cap: error.cap, used: error.used, required: error.required }
    case "video_sku_invalid":
      return { allowed: error.allowed, nearest: error.nearest }
    case "upstream_error":
      return { upstream: error.upstream }
    case "invalid_request":
      return error.faults === undefined ? {} : { faults: error.faults }
    default:
      return {}
  }
}

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

/** `{"error":{"message","type","param","code", ...}}` with the error's status and headers. */
export const errorResponse = (error: GatewayError) => {
  const { status, type } = errorTable[error._tag]
  return HttpServerResponse.jsonUnsafe(
    {
      error: {
        message: error.message,
        type,
        param: error.param,
        code: error._tag,
        ...extrasOf(error)
      }
    },
    {
      status: error._tag === "upstream_error" ? error.status : status,
      headers: retryHeaders(error)
    }
  )
}
