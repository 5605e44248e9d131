/** A separate listener for scrapers of metrics, which need no token on it. */
import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer, Metric } from "effect"
import { HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { MethodNotAllowed, NotFound } from "../../domain/Errors.ts"
import { Answers } from "../../runtime/AnswerBudget.ts"
import { cannotListen } from "../../runtime/listenFailures.ts"
import { answerBytes } from "../../services/metrics.ts"
import { errorResponse } from "./errorResponse.ts"
import { pathOf, targetOf } from "./routes.ts"

/** The metrics of this process in the text format of Prometheus. */
export const makeMetricsAnswer = Effect.map(Answers, (answers) =>
  Effect.suspend(() => Metric.update(answerBytes, answers.bytes())).pipe(
    Effect.andThen(PrometheusMetrics.format()),
    Effect.map((text) =>
      HttpServerResponse.text(text, {
        contentType: "text/plain; version=0.0.4; charset=utf-8",
        headers: { "cache-control": "no-store" }
      })
    )
  )
)

/** Serves `GET /metrics` and nothing else. */
export const layerMetricsListener = (address: { readonly host: string; readonly port: number }) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const server = yield* HttpServer.HttpServer
      const metricsAnswer = yield* makeMetricsAnswer
      const answer = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
        const { method } = request
        if (pathOf(targetOf(request)) !== "/metrics") {
          const notFound = new NotFound({ message: "GET /metrics is served here" })
          return Effect.succeed(errorResponse(notFound))
        }
        return method === "GET" || method === "HEAD"
          ? metricsAnswer
          : Effect.succeed(
              errorResponse(new MethodNotAllowed({ message: "GET is served here", allow: ["GET"] }))
            )
      })
      yield* server.serve(answer)
      yield* Effect.logInfo(
        `metrics listener: serving on ${HttpServer.formatAddress(server.address)}/metrics`
      )
    })
  ).pipe(
    Layer.provide(NodeHttpServer.layer(createServer, address)),
    Layer.catchTag("ServeError", ({ cause }) =>
      Layer.effectDiscard(Effect.fail(cannotListen(cause, address, "GATEWAY_METRICS_PORT or HOST")))
    )
  )
