import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Readiness } from "../../services/Operations.ts"
import { operationsApi } from "../api/contractOf.ts"
import { makeMetricsAnswer } from "../server/metricsListener.ts"

export const layerOperationsHandlers = HttpApiBuilder.group(
  operationsApi,
  "operations",
  Effect.fn(function* (handlers) {
    const readiness = yield* Readiness
    const metricsAnswer = yield* makeMetricsAnswer
    return handlers.handleAll({
      health: () => Effect.succeed({ status: "ok" as const }),
      readiness: () =>
        Effect.map(readiness.report, (report) =>
          HttpServerResponse.jsonUnsafe(report, {
            status: report.status === "not_ready" ? 503 : 200,
            headers: { "cache-control": "no-store" }
          })
        ),
      metrics: () => metricsAnswer
    })
  })
)
