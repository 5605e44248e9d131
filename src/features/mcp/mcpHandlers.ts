/** Answers the messages of the protocol, over HTTP without a session. */
import { createMcpHandler, ProtocolErrorCode } from "@modelcontextprotocol/server"
import { Effect, Layer } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { isLoopbackHost, originOf } from "../../domain/catalog/origin.ts"
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

/** The request headers of the protocol that are passed on unchanged. */
const forwardedHeaders = ["mcp-protocol-version", "mcp-method", "mcp-name"]

/** What answers are: JSON, or events while a tool runs. */
const ANSWER_TYPES = "application/json, text/event-stream"

/** The headers of a request for the package, where a client that accepts anything accepts both types. */
const headersOf = ({ headers }: HttpServerRequest.HttpServerRequest): Record<string, string> => ({
  "content-type": "application/json",
  accept: headers.accept?.includes("*/*") === false ? headers.accept : ANSWER_TYPES,
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
const withoutBuffering = HttpServerResponse.setHeader("x-accel-buffering", "no")

/**
 * Makes the refusal of a page that may not call the gateway: one that is neither of the gateway's own
 * address nor of an origin that the configuration allows. The protocol requires this, as a page could
 * otherwise call a server on the machine of its reader. That the page has the host of the request
 * proves nothing but on this machine: whoever owns a name can let it resolve to any address.
 */
const makeOriginRefusal =
  ({ corsOrigins, publicUrl }: Pick<Settings, "corsOrigins" | "publicUrl">) =>
  ({ headers }: HttpServerRequest.HttpServerRequest): PermissionDenied | null => {
    const { origin, host } = headers
    if (origin === undefined || corsOrigins.includes("*") || corsOrigins.includes(origin))
      return null
    const page = URL.parse(origin)
    const isOnThisMachine = page !== null && isLoopbackHost(page.hostname) && page.host === host
    if (isOnThisMachine || (page !== null && page.origin === originOf(publicUrl))) return null
    return new PermissionDenied({
      message: `Pages of ${origin} may not call this gateway: its operator allows origins by GATEWAY_CORS_ORIGINS`
    })
  }

/** The refusal of a body that is no single message with an answer; null for every other body. */
const refusalOf = (body: unknown): HttpServerResponse.HttpServerResponse | null => {
  if (Array.isArray(body)) return noBatches
  return isSubscription(body) ? noSubscriptions(body.id ?? null) : null
}

const makeRespond = Effect.fnUntraced(function* (version: string) {
  const answers = yield* makeOrderAnswers
  const tools = [...(yield* makeReadTools(answers)), ...(yield* makeOrderTools(answers))].toSorted(
    (one, other) => one.name.localeCompare(other.name)
  )
  const serverFor = makeServerFor(tools, makeMcpTasks(answers), yield* KeyRates, version)
  const originRefusalOf = makeOriginRefusal(yield* Settings)

  const answer = Effect.fnUntraced(function* (body: unknown) {
    const request = yield* HttpServerRequest.HttpServerRequest
    const caller = yield* CurrentCaller
    const services = yield* Effect.context<RequestServices>()
    const run: McpCall["run"] = (effect, signal) =>
      Effect.runPromiseWith(services)(effect, { signal })
    const handler = createMcpHandler(() => serverFor({ caller, run }), { legacy: "stateless" })
    const response = yield* Effect.promise((signal) =>
      handler.fetch(
        new Request("http://gateway/mcp", { method: "POST", headers: headersOf(request), signal }),
        { parsedBody: body }
      )
    )
    return withoutBuffering(HttpServerResponse.fromWeb(response))
  })

  return Effect.fnUntraced(function* () {
    const originRefusal = originRefusalOf(yield* HttpServerRequest.HttpServerRequest)
    if (originRefusal !== null) return yield* originRefusal
    return yield* Effect.matchEffect(Effect.flatten(RequestJson), {
      onFailure: (error) => Effect.succeed(notJson(error)),
      onSuccess: (body) => {
        const refusal = refusalOf(body)
        return refusal === null ? answer(body) : Effect.succeed(refusal)
      }
    })
  })
})

/** The handlers; servers of the protocol tell their clients the `version` of the gateway. */
export const layerMcpHandlers = (version: string) =>
  Layer.unwrap(
    Effect.map(makeRespond(version), (respond) =>
      narrowContext(
        HttpApiBuilder.group(agentApi(McpGroup), "mcp", (handlers) =>
          handlers.handleRaw("message", respond)
        )
      )
    )
  )
