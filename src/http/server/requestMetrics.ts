/** Metrics of every request: its count and its duration, with and without the wait for vendors. */
import { Clock, Context, Effect, Exit, Layer, Metric } from "effect"
import { HttpMiddleware, type HttpServerResponse } from "effect/http"
import {
  overheadSeconds,
  requestSeconds,
  requests,
  requestsInFlight
} from "../../services/metrics.ts"
import { VendorTime } from "../../services/ProtocolAdapter.ts"
import { pathOf, Routes } from "./routes.ts"

/**
 * The methods that have their own label. All other methods share the label `other`, as a client may
 * send any text as its method.
 */
const labelledMethods: ReadonlySet<string> = new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE"
])

const inSeconds = (nanos: bigint): number => Number(nanos) / 1e9

/**
 * Memoizes metrics by label, as creating a metric with attributes searches the registry every time.
 */
const memoizeByLabel = <A>(make: (label: string) => A) => {
  const values = new Map<string, A>()
  return (label: string): A => {
    const value = values.get(label) ?? make(label)
    values.set(label, value)
    return value
  }
}

const metricsOf = memoizeByLabel((route) => ({
  requestCount: memoizeByLabel((method) =>
    memoizeByLabel((status) => Metric.withAttributes(requests, { route, method, status }))
  ),
  seconds: Metric.withAttributes(requestSeconds, { route }),
  overhead: Metric.withAttributes(overheadSeconds, { route })
}))

const probes: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"])

/** Names spans of requests by route, and creates no spans for the probes of monitoring. */
export const layerRequestSpans = Layer.merge(
  Layer.effect(
    HttpMiddleware.SpanNameGenerator,
    Effect.map(Routes, (routes) => ({ method, url }) => {
      const path = routes.at(pathOf(url))[0]?.path ?? ""
      return [labelledMethods.has(method) ? method : "HTTP", path].join(" ").trim()
    })
  ),
  Layer.succeed(HttpMiddleware.TracerDisabledWhen, ({ url }) => probes.has(pathOf(url)))
)

const statusClass = (status: number | null): string =>
  status === null ? "aborted" : `${Math.floor(status / 100)}xx`

/**
 * Records the metrics of a request. `VendorTime` sums the time for which the request waits for
 * vendors.
 */
export const withRequestMetrics = <E, R>(
  respond: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  requestMethod: string,
  route = "unmatched"
) =>
  Effect.withFiber<HttpServerResponse.HttpServerResponse, E, R>(({ context }) => {
    const clock = Context.get(context, Clock.Clock)
    const metrics = metricsOf(route)
    const method = labelledMethods.has(requestMethod) ? requestMethod : "other"
    const vendorTime = { nanos: 0n, isWaiting: false }
    const startNanos = clock.currentTimeNanosUnsafe()
    requestsInFlight.modifyUnsafe(1, context)
    const end = (status: number | null): void => {
      const durationNanos = clock.currentTimeNanosUnsafe() - startNanos
      requestsInFlight.modifyUnsafe(-1, context)
      metrics.requestCount(method)(statusClass(status)).updateUnsafe(1, context)
      metrics.seconds.updateUnsafe(inSeconds(durationNanos), context)
      // Requests without a vendor call have no overhead metric, as it would equal the duration.
      if (vendorTime.nanos > 0n) {
        metrics.overhead.updateUnsafe(inSeconds(durationNanos - vendorTime.nanos), context)
      }
    }
    return Effect.onExitPrimitive(
      Effect.provideService(respond, VendorTime, vendorTime),
      (exit) => {
        end(Exit.isSuccess(exit) ? exit.value.status : null)
        return undefined
      }
    )
  })
