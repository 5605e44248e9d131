/** A listener for those who read the metrics, who need no token there. */
import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer } from "effect"
import { HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { MethodNotAllowed, NotFound } from "../../domain/Errors.ts"
import { errorResponse } from "./errorResponse.ts"
import { pathOf, targetOf } from "./routes.ts"

/** In the text format of Prometheus, of this process. */
export const metricsAnswer = Effect.map(PrometheusMetrics.format(), (text) =>
  HttpServerResponse.text(text, {
    contentType: "text/plain; version=0.0.4; charset=utf-8",
    headers: { "cache-control": "no-store" }
  })
)

const answer = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
  const { method } = request
  if (pathOf(targetOf(request)) !== "/metrics") {
    return Effect.succeed(errorResponse(new NotFound({ message: "GET /metrics is served here" })))
  }
  return method === "GET" || method === "HEAD"
    ? metricsAnswer
    : Effect.succeed(
        errorResponse(new MethodNotAllowed({ message: "GET is served here", allow: ["GET"] }))
      )
})

/** Serves `GET /metrics` and nothing else. */
export const layerMetricsListener = (address: { readonly host: string; readonly port: number }) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const server = yield* HttpServer.HttpServer
      yield* server.serve(answer)
      yield* Effect.logInfo(
        `metrics are served on ${HttpServer.formatAddress(server.address)}/metrics`
      )
    })
  ).pipe(Layer.provide(NodeHttpServer.layer(createServer, address)))
