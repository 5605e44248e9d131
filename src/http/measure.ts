/** Counts every request and how long it took, with and without the wait for vendors. */
import { Clock, Effect, Exit, Metric } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import { overheadSeconds, requestSeconds, requests, requestsInFlight } from "../services/metrics.ts"
import { VendorTime } from "../services/VendorTime.ts"
import { pathOf, routesAt } from "./routes.ts"

/** The methods that get a label of their own; a client may send any word. */
const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])

const inSeconds = (nanos: bigint): number => Number(nanos) / 1e9

/** Hands the response on as it is. */
export const measured = Effect.fnUntraced(function* <E, R>(
  respond: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  request: HttpServerRequest.HttpServerRequest
) {
  const route = routesAt(pathOf(request.url))[0]?.path ?? "unmatched"
  const method = methods.has(request.method) ? request.method : "other"
  const waited = { nanos: 0n }
  const started = yield* Clock.currentTimeNanos
  yield* Metric.modify(requestsInFlight, 1)
  return yield* respond.pipe(
    Effect.provideService(VendorTime, waited),
    Effect.onExit((exit) =>
      Effect.gen(function* () {
        const took = (yield* Clock.currentTimeNanos) - started
        const status = Exit.isSuccess(exit) ? `${Math.floor(exit.value.status / 100)}xx` : "aborted"
        yield* Metric.modify(requestsInFlight, -1)
        yield* Metric.update(Metric.withAttributes(requests, { route, method, status }), 1)
        yield* Metric.update(Metric.withAttributes(requestSeconds, { route }), inSeconds(took))
        // Of the others the duration is all there is to say.
        if (waited.nanos > 0n) {
          yield* Metric.update(
            Metric.withAttributes(overheadSeconds, { route }),
            inSeconds(took - waited.nanos)
          )
        }
      })
    )
  )
})
