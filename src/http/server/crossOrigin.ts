/**
 * Opens the client routes to pages of other origins (CORS). Pages authenticate by an API key in a
 * header, never by cookies, so no answer allows credentials. Routes of operators are never opened.
 */
import { HttpServerResponse } from "effect/http"
import type { Settings } from "../../runtime/Settings.ts"
import { pathOf, type RouteTable } from "./routes.ts"

interface CrossOriginRequest {
  readonly method: string
  readonly url: string
  readonly headers: { readonly [name: string]: string | undefined; readonly origin?: string }
}

const ANY_ORIGIN = "*"
/** Seconds for which a browser may cache the answer to a preflight request. */
const PREFLIGHT_SECONDS = 7200

/**
 * The request headers that the gateway reads. The wildcard allows all other headers, which SDKs
 * send; it does not include `authorization`.
 */
const ALLOWED_HEADERS = [
  "authorization",
  "content-type",
  "idempotency-key",
  "mcp-method",
  "mcp-name",
  "mcp-protocol-version",
  "prefer",
  "range",
  "traceparent",
  "x-client-request-id",
  "*"
].join(", ")

/** The response headers that scripts of a page may read, beside those that every script may read. */
const EXPOSED_HEADERS = [
  "accept-ranges",
  "allow",
  "content-disposition",
  "content-range",
  "idempotency-replayed",
  "location",
  "preference-applied",
  "ratelimit",
  "ratelimit-policy",
  "retry-after",
  "retry-after-ms",
  "traceparent",
  "x-client-request-id",
  "x-ratelimit-limit-requests",
  "x-ratelimit-remaining-requests",
  "x-ratelimit-reset-requests",
  "x-request-id",
  "x-should-retry"
].join(", ")

/** The path of the tools of agents. */
const AGENTS = "/mcp"

const isClientPath = (url: string): boolean => url.startsWith("/v1/") || pathOf(url) === AGENTS

export const makeCrossOrigin = (routes: RouteTable, { corsOrigins }: Settings) => {
  const isOpenToAll = corsOrigins.includes(ANY_ORIGIN)
  const origins = new Set(corsOrigins)

  const allowedOrigin = (origin: string | undefined): string | null => {
    if (isOpenToAll) return ANY_ORIGIN
    return origin !== undefined && origins.has(origin) ? origin : null
  }

  return {
    /** The answer to a preflight request of an allowed origin; null for every other request. */
    preflightAnswer: ({ headers, method, url }: CrossOriginRequest) => {
      const { origin, "access-control-request-method": requestMethod } = headers
      if (method !== "OPTIONS" || origin === undefined || requestMethod === undefined) return null
      if (!isClientPath(url) || allowedOrigin(origin) === null) return null
      const methods = routes.at(pathOf(url)).flatMap((route) => route.methods)
      return HttpServerResponse.empty({
        headers: {
          "access-control-allow-methods": [...new Set(["GET", "POST", ...methods])].join(", "),
          "access-control-allow-headers": ALLOWED_HEADERS,
          "access-control-max-age": `${PREFLIGHT_SECONDS}`
        }
      })
    },
    /** Adds the headers by which a browser decides whether the page may read the answer. */
    withCrossOrigin: (
      { headers, url }: CrossOriginRequest,
      response: HttpServerResponse.HttpServerResponse
    ): HttpServerResponse.HttpServerResponse => {
      if (corsOrigins.length === 0 || !isClientPath(url)) return response
      const { vary } = response.headers
      const varying = isOpenToAll
        ? response
        : HttpServerResponse.setHeader(
            response,
            "vary",
            vary === undefined ? "origin" : `${vary}, origin`
          )
      const origin = allowedOrigin(headers.origin)
      return origin === null
        ? varying
        : HttpServerResponse.setHeaders(varying, {
            "access-control-allow-origin": origin,
            "access-control-expose-headers": EXPOSED_HEADERS
          })
    }
  }
}
