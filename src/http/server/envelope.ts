/**
 * What surrounds every route: a request id on every answer, an answer for every path and method,
 * and nothing of our insides in any of them.
 */
import { IncomingMessage } from "node:http"
import { Cause, Context, Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { InternalError, InvalidRequest } from "../../domain/Errors.ts"
import { CurrentAnswer } from "../../runtime/AnswerBudget.ts"
import { databaseUnavailable, isTransient } from "../../runtime/databaseErrors.ts"
import { Shutdown } from "../../runtime/Shutdown.ts"
import { answerOf, turnOf } from "./connectionTurns.ts"
import { countedAnswer } from "./countedAnswers.ts"
import { errorResponse } from "./errorResponse.ts"
import { measured } from "./requestMetrics.ts"
import { pathOf, Routes, targetOf, withWholeId } from "./routes.ts"
import { noRoute } from "./wrongPaths.ts"

/** The request that is being handled: its id, and headers that are put on its answer, if there is one. */
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

/** An unforeseen failure: said in the log with its cause, to the client without. */
const unforeseen = Effect.fnUntraced(function* (
  request: { readonly url: string; readonly method: string },
  cause: Cause.Cause<unknown>
) {
  yield* Effect.logError("a request failed", cause).pipe(
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
  // It is not known how far an ordering request came, so it must not be sent again on its own.
  return request.method === "GET"
    ? response
    : HttpServerResponse.setHeader(response, "x-should-retry", "false")
})

/** What a client may name its request by, for its own log and ours. */
const clientRequestId = /^[\x21-\x7e]{1,512}$/
const traceParent = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/** The client's own ids of the request, as they came; what is malformed is left out. */
const idsOf = ({ headers }: HttpServerRequest.HttpServerRequest) => {
  const { "x-client-request-id": id, traceparent } = headers
  return {
    ...(id !== undefined && clientRequestId.test(id) ? { "x-client-request-id": id } : {}),
    ...(traceparent !== undefined && traceParent.test(traceparent) ? { traceparent } : {})
  }
}

const nameless = errorResponse(
  new InvalidRequest({ message: "A request in HTTP/1.1 names its host in a header" })
)
/** The client may keep its body back, and what it sends next would be taken for that. */
const strangeExpectation = errorResponse(
  new InvalidRequest({ message: "Of expectations only 100-continue is met" })
).pipe(HttpServerResponse.setStatus(417), HttpServerResponse.setHeader("connection", "close"))

/** The answer to a head that no route shall see; null to all others. */
const refusalOf = ({ source }: HttpServerRequest.HttpServerRequest) => {
  if (!(source instanceof IncomingMessage) || source.httpVersion !== "1.1") return null
  const { expect, host } = source.headers
  if (host === undefined) return nameless
  return expect === undefined || /100-continue/i.test(expect) ? null : strangeExpectation
}

export const layerEdge = HttpRouter.middleware(
  Effect.gen(function* () {
    const random = yield* SecureRandom.SecureRandom
    const shutdown = yield* Shutdown
    const routes = yield* Routes
    return (route) =>
      Effect.flatMap(random.uuidV7(), (uuid) =>
        Effect.withFiber((fiber) => {
          const asked = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
          const target = targetOf(asked)
          const url = withWholeId(target)
          const request = url === asked.url ? asked : asked.modify({ url })
          const requestId = `req_${uuid}`
          const ids = idsOf(request)
          const headers: Record<string, string> = {}
          const answer = answerOf(request.source)
          const counted = (response: HttpServerResponse.HttpServerResponse) =>
            answer === null ? response : countedAnswer(answer, response)
          const [served] = routes.at(pathOf(url))
          // The router decodes and cuts before it compares, so it gets exact spellings alone.
          const refusal =
            refusalOf(asked) ??
            (served === undefined
              ? errorResponse(noRoute(routes, { method: asked.method, url: target }))
              : null)
          const asIs = refusal === null ? route : Effect.succeed(refusal)
          const routed =
            request === asked
              ? asIs
              : Effect.provideService(asIs, HttpServerRequest.HttpServerRequest, request)
          const answered = Effect.catchCause(routed, (cause) => {
            const failure = Cause.squash(cause)
            if (isRouteNotFound(failure))
              return Effect.succeed(errorResponse(noRoute(routes, request)))
            return Cause.hasInterruptsOnly(cause)
              ? Effect.failCause(cause)
              : unforeseen(request, cause)
          }).pipe(
            Effect.annotateLogs({ requestId, ...ids }),
            Effect.provideService(CurrentRequest, { id: requestId, headers }),
            Effect.provideService(CurrentAnswer, answer)
          )
          const inTurn = Effect.map(measured(answered, request.method, served?.path), (response) =>
            HttpServerResponse.setHeaders(counted(response), {
              ...headers,
              ...ids,
              "x-request-id": requestId,
              // Most answers hold words of vendors or clients, and none is to be taken for a page.
              "x-content-type-options": "nosniff",
              // The client's next request then goes to a gateway that stays.
              ...(shutdown.hasBegun() ? { connection: "close" } : {})
            })
          )
          const turn = turnOf(request.source)
          return turn === null ? inTurn : Effect.andThen(turn, inTurn)
        })
      )
  }),
  { global: true }
)
