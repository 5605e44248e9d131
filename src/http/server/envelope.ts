/**
 * The middleware around every route: it gives every answer a request id, answers unknown paths and
 * methods too, and keeps internal details out of all answers.
 */
import { IncomingMessage } from "node:http"
import { Cause, Context, Effect, References, type Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { InternalError, InvalidRequest } from "../../domain/Errors.ts"
import { CurrentAnswer } from "../../runtime/AnswerBudget.ts"
import { databaseUnavailable, isTransient } from "../../runtime/databaseErrors.ts"
import { Settings } from "../../runtime/Settings.ts"
import { Shutdown } from "../../runtime/Shutdown.ts"
import { answerOf, turnOf } from "./connectionTurns.ts"
import { countedAnswer } from "./countedAnswers.ts"
import { makeCrossOrigin } from "./crossOrigin.ts"
import { errorResponse } from "./errorResponse.ts"
import { withMessageErrors } from "./messageErrors.ts"
import { withRequestMetrics } from "./requestMetrics.ts"
import { encodeModelId, pathOf, Routes, type RouteTable, targetOf } from "./routes.ts"
import { noRoute } from "./wrongPaths.ts"

/** The request that is being handled: its id, and headers for its answer. */
export const CurrentRequest = Context.Reference<{
  readonly id: string
  readonly headers: Record<string, string> | null
}>("gateway/http/CurrentRequest", { defaultValue: () => ({ id: "", headers: null }) })

/** Adds headers to the answer of the request that is being handled. */
export const withHeaders = (headers: Readonly<Record<string, string>>): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    Object.assign(fiber.getRef(CurrentRequest).headers ?? {}, headers)
    return Effect.void
  })

const isRouteNotFound = (error: unknown): boolean =>
  HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound"

/** Answers an unexpected failure. Its cause is logged and not shown to the client. */
const answerDefect = Effect.fnUntraced(function* (
  request: { readonly url: string; readonly method: string },
  cause: Cause.Cause<unknown>
) {
  yield* Effect.logError("request: unexpected failure", cause).pipe(
    Effect.annotateLogs({ method: request.method, path: pathOf(request.url) })
  )
  const defect = Cause.squash(cause)
  const response = isTransient(defect)
    ? errorResponse(databaseUnavailable())
    : errorResponse(
        new InternalError({
          message:
            "The gateway failed to handle this request; its operator finds the cause by this answer's x-request-id"
        })
      )
  // Only a failed GET may be retried by SDKs: an ordering request may have had effects before it
  // failed.
  return request.method === "GET"
    ? response
    : HttpServerResponse.setHeader(response, "x-should-retry", "false")
})

/** The format of a client's own request id, which is logged. */
const clientRequestIdPattern = /^[\x21-\x7e]{1,512}$/
const traceparentPattern = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/** The client's own ids of the request, unchanged; malformed ids are omitted. */
const clientIdsOf = ({ headers }: HttpServerRequest.HttpServerRequest) => {
  const { "x-client-request-id": id, traceparent } = headers
  if (id === undefined && traceparent === undefined) return {}
  return {
    ...(id !== undefined && clientRequestIdPattern.test(id) ? { "x-client-request-id": id } : {}),
    ...(traceparent !== undefined && traceparentPattern.test(traceparent) ? { traceparent } : {})
  }
}

const missingHost = errorResponse(
  new InvalidRequest({ message: "A request in HTTP/1.1 names its host in a header" })
)
/**
 * The refusal of an unknown `Expect` header. The connection is closed: the client may never send
 * the body, and its next request would then be read as that body.
 */
const unknownExpectation = errorResponse(
  new InvalidRequest({ message: "Of expectations only 100-continue is met" })
).pipe(HttpServerResponse.setStatus(417), HttpServerResponse.setHeader("connection", "close"))

/**
 * The refusal of a request with invalid headers, before it reaches a route; null for valid headers.
 */
const headerRefusalOf = ({ source }: HttpServerRequest.HttpServerRequest) => {
  if (!(source instanceof IncomingMessage) || source.httpVersion !== "1.1") return null
  const { expect, host } = source.headers
  if (host === undefined) return missingHost
  return expect === undefined || /100-continue/i.test(expect) ? null : unknownExpectation
}

/**
 * The refusal of a request by its headers or its path, before it reaches the router; null for an
 * acceptable request.
 */
const refusalOf = (
  routes: RouteTable,
  request: HttpServerRequest.HttpServerRequest,
  isMatched: boolean
): HttpServerResponse.HttpServerResponse | null => {
  const headerRefusal = headerRefusalOf(request)
  if (headerRefusal !== null || isMatched) return headerRefusal
  return errorResponse(noRoute(routes, { method: request.method, url: targetOf(request) }))
}

/** Answers every failure of a route. An interrupted request has no client to answer. */
const answerFailure =
  (routes: RouteTable) =>
  <E>(cause: Cause.Cause<E>) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
      if (isRouteNotFound(Cause.squash(cause))) {
        return Effect.succeed(errorResponse(noRoute(routes, request)))
      }
      return Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause) : answerDefect(request, cause)
    })

type RequestContext = Context.Context<HttpServerRequest.HttpServerRequest | Scope.Scope>

export const layerEdge = HttpRouter.middleware(
  Effect.gen(function* () {
    const random = yield* SecureRandom.SecureRandom
    const shutdown = yield* Shutdown
    const routes = yield* Routes
    const { preflightAnswer, withCrossOrigin } = makeCrossOrigin(routes, yield* Settings)
    return (route) => {
      const routedAnswer = Effect.catchCause(route, answerFailure(routes))
      return Effect.flatMap(random.uuidV7(), (uuid) =>
        Effect.withFiber((fiber) => {
          const original = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
          const url = encodeModelId(targetOf(original))
          const request = url === original.url ? original : original.modify({ url })
          const requestId = `req_${uuid}`
          const ids = clientIdsOf(request)
          const headers: Record<string, string> = {}
          const answer = answerOf(request.source)
          const [matchedRoute] = routes.at(pathOf(url))
          // The router decodes and trims paths before it compares them. Therefore a path in any
          // other spelling is refused before it reaches the router.
          const answerBeforeRoutes =
            preflightAnswer(original) ?? refusalOf(routes, original, matchedRoute !== undefined)
          const handledAnswer =
            answerBeforeRoutes === null ? routedAnswer : Effect.succeed(answerBeforeRoutes)
          const logAnnotations = {
            ...fiber.getRef(References.CurrentLogAnnotations),
            requestId,
            ...ids
          }
          const answerEffect = Effect.updateContext(handledAnswer, (context: RequestContext) =>
            context.pipe(
              Context.add(HttpServerRequest.HttpServerRequest, request),
              Context.add(References.CurrentLogAnnotations, logAnnotations),
              Context.add(CurrentRequest, { id: requestId, headers }),
              Context.add(CurrentAnswer, answer)
            )
          )
          const measuredAnswer = withRequestMetrics(
            answerEffect,
            request.method,
            matchedRoute?.path
          )
          const formedAnswer = withMessageErrors(original, measuredAnswer)
          const inTurn = Effect.map(formedAnswer, (response) =>
            HttpServerResponse.setHeaders(
              withCrossOrigin(
                original,
                answer === null ? response : countedAnswer(answer, response)
              ),
              {
                ...headers,
                ...ids,
                "x-request-id": requestId,
                // Most answers contain text from vendors or clients, which no browser may interpret
                // as a page.
                "x-content-type-options": "nosniff",
                // During shutdown the connection is closed, so that the client sends its next
                // request to another gateway.
                ...(shutdown.hasBegun() ? { connection: "close" } : {})
              }
            )
          )
          const turn = turnOf(request.source)
          return turn === null ? inTurn : Effect.andThen(turn, inTurn)
        })
      )
    }
  }),
  { global: true }
)
