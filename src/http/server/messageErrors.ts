/**
 * Errors in the form of Anthropic's API, `{"type":"error","error":{"type","message",...}}`, for the
 * clients of `/v1/messages`. The other fields of an error stand beside these as ever.
 */
import { Effect } from "effect"
import { HttpBody, type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { GatewayError } from "../../domain/Errors.ts"
import { errorBody, errorOf } from "./errorResponse.ts"
import { pathOf } from "./routes.ts"

const PATH = "/v1/messages"

/** The standard's kinds of errors, by the status of the answer. */
const typesByStatus: ReadonlyMap<number, string> = new Map([
  [401, "authentication_error"],
  [402, "billing_error"],
  [403, "permission_error"],
  [404, "not_found_error"],
  [413, "request_too_large"],
  [429, "rate_limit_error"],
  [503, "overloaded_error"],
  [504, "timeout_error"],
  [529, "overloaded_error"]
])

const typeOf = (status: number): string =>
  typesByStatus.get(status) ?? (status < 500 ? "invalid_request_error" : "api_error")

const messageErrorBody = (error: GatewayError, status: number) => ({
  type: "error",
  error: { ...errorBody(error).error, type: typeOf(status) }
})

/** Whether the client of a request reads errors in this form: it names the version of that API. */
const readsMessageErrors = ({ url, headers }: HttpServerRequest.HttpServerRequest) =>
  pathOf(url) === PATH && headers["anthropic-version"] !== undefined

const inMessageForm = (response: HttpServerResponse.HttpServerResponse) => {
  const error = errorOf(response)
  return error === undefined
    ? response
    : HttpServerResponse.setBody(
        response,
        HttpBody.jsonUnsafe(messageErrorBody(error, response.status))
      )
}

/** The answer to a request, with its error in the form that the client reads. */
export const withMessageErrors = <E, R>(
  request: HttpServerRequest.HttpServerRequest,
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
) => (readsMessageErrors(request) ? Effect.map(answer, inMessageForm) : answer)

const utf8 = new TextEncoder()
const CUT_SHORT = 502

/** The event of an error that cuts a stream short. */
export const messageErrorEvent = (error: GatewayError): Uint8Array => {
  const status = error._tag === "upstream_error" ? error.status : CUT_SHORT
  return utf8.encode(`event: error\ndata: ${JSON.stringify(messageErrorBody(error, status))}\n\n`)
}
