/** Answers the messages of the protocol, over HTTP without a session. */
import { createMcpHandler, ProtocolErrorCode } from "@modelcontextprotocol/server"
import { Effect, Layer } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { type InvalidRequest, PermissionDenied } from "../../domain/Errors.ts"
import { agentApi } from "../../http/api/contractOf.ts"
import { CurrentCaller, RequestJson } from "../../http/api/middlewares.ts"
import { narrowContext } from "../../http/handlers/orders/narrowContext.ts"
import { KeyRates } from "../../http/server/access/keyRates.ts"
import { errorBody } from "../../http/server/errorResponse.ts"
import { Settings } from "../../runtime/Settings.ts"
import { McpGroup } from "./McpApi.ts"
import { type McpCall, makeServerFor } from "./mcpServer.ts"
import { makeMcpTasks } from "./mcpTasks.ts"
import { makeOrderAnswers } from "./orderAnswers.ts"
import { makeOrderTools } from "./orderTools.ts"
import { makeReadTools } from "./readTools.ts"
import type { RequestServices } from "./toolAnswers.ts"

/** The request headers that the protocol uses. */
const forwardedHeaders = ["accept", "mcp-protocol-version", "mcp-method", "mcp-name"]

const headersOf = ({ headers }: HttpServerRequest.HttpServerRequest): Record<string, string> => ({
  "content-type": "application/json",
  ...Object.fromEntries(
    forwardedHeaders.flatMap((name) => {
      const value = headers[name]
      return value === undefined ? [] : [[name, value]]
    })
  )
})

const rpcError = (code: ProtocolErrorCode, message: string, data?: unknown) =>
  HttpServerResponse.jsonUnsafe(
    { jsonrpc: "2.0", id: null, error: { code, message, ...(data === undefined ? {} : { data }) } },
    { status: 400 }
  )

const notJson = (error: InvalidRequest) =>
  rpcError(ProtocolErrorCode.ParseError, error.message, errorBody(error))

/** One message could otherwise place any number of orders, past the rates of its key. */
const noBatches = rpcError(
  ProtocolErrorCode.InvalidRequest,
  "Expected one message: send the messages of a batch one by one"
)

const noSubscriptions = (id: unknown) =>
  HttpServerResponse.jsonUnsafe({
    jsonrpc: "2.0",
    id,
    error: {
      code: ProtocolErrorCode.MethodNotFound,
      message: "There are no subscriptions: poll tasks/get, or call get_order with a wait"
    }
  })

const isSubscription = (
  body: unknown
): body is { readonly method: string; readonly id?: unknown } =>
  typeof body === "object" &&
  body !== null &&
  "method" in body &&
  body.method === "subscriptions/listen"

/** Keeps proxies such as nginx from buffering events. */
const unbuffered = HttpServerResponse.setHeader("x-accel-buffering", "no")

export const layerMcpHandlers = Layer.unwrap(
  Effect.gen(function* () {
    const answers = yield* makeOrderAnswers
    const tools = [
      ...(yield* makeReadTools(answers)),
      ...(yield* makeOrderTools(answers))
    ].toSorted((one, other) => one.name.localeCompare(other.name))
    const serverFor = makeServerFor(tools, makeMcpTasks(answers), yield* KeyRates)
    const { corsOrigins } = yield* Settings

    /**
     * Whether a page may send the request: of the gateway's own host, or of an origin that the
     * configuration allows. The protocol requires this of servers on a machine of one's own.
     */
    const isOriginAllowed = ({ headers }: HttpServerRequest.HttpServerRequest): boolean => {
      const { origin, host } = headers
      if (origin === undefined || corsOrigins.includes("*")) return true
      return corsOrigins.includes(origin) || URL.parse(origin)?.host === host
    }

    const answer = Effect.fnUntraced(function* (body: unknown) {
      const request = yield* HttpServerRequest.HttpServerRequest
      const caller = yield* CurrentCaller
      const services = yield* Effect.context<RequestServices>()
      const run: McpCall["run"] = (effect, signal) =>
        Effect.runPromiseWith(services)(effect, { signal })
      const handler = createMcpHandler(() => serverFor({ caller, run }), { legacy: "stateless" })
      const response = yield* Effect.promise((signal) =>
        handler.fetch(
          new Request("http://gateway/mcp", {
            method: "POST",
            headers: headersOf(request),
            signal
          }),
          { parsedBody: body }
        )
      )
      return unbuffered(HttpServerResponse.fromWeb(response))
    })

    return narrowContext(
      HttpApiBuilder.group(agentApi(McpGroup), "mcp", (handlers) =>
        handlers.handleRaw(
          "message",
          Effect.fnUntraced(function* () {
            const request = yield* HttpServerRequest.HttpServerRequest
            if (!isOriginAllowed(request)) {
              return yield* new PermissionDenied({
                message: `Pages of ${request.headers.origin} may not call this gateway: its operator allows origins by GATEWAY_CORS_ORIGINS`
              })
            }
            const body = yield* Effect.flatten(RequestJson).pipe(
              Effect.catch((error) => Effect.succeed(notJson(error)))
            )
            if (HttpServerResponse.isHttpServerResponse(body)) return body
            if (Array.isArray(body)) return noBatches
            if (isSubscription(body)) return noSubscriptions(body.id ?? null)
            return yield* answer(body)
          })
        )
      )
    )
  })
)
