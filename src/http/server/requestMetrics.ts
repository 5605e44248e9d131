/** Counts every request and how long it took, with and without the wait for vendors. */
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

/** The methods that get a label of their own; a client may send any word. */
const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])

const inSeconds = (nanos: bigint): number => Number(nanos) / 1e9

/** Makes one thing for each name: a metric with labels looks for its place whenever it is made. */
const madeOnce = <A>(make: (name: string) => A) => {
  const made = new Map<string, A>()
  return (name: string): A => {
    const one = made.get(name) ?? make(name)
    made.set(name, one)
    return one
  }
}

const metricsOf = madeOnce((route) => ({
  counted: madeOnce((method) =>
    madeOnce((status) => Metric.withAttributes(requests, { route, method, status }))
  ),
  seconds: Metric.withAttributes(requestSeconds, { route }),
  overhead: Metric.withAttributes(overheadSeconds, { route })
}))

const probes: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"])

/** Spans of requests are named by route, and what monitoring asks all the time has none. */
export const layerRequestSpans = Layer.merge(
  Layer.effect(
    HttpMiddleware.SpanNameGenerator,
    Effect.map(Routes, (routes) => ({ method, url }) => {
      const path = routes.at(pathOf(url))[0]?.path ?? ""
      return [methods.has(method) ? method : "HTTP", path].join(" ").trim()
    })
  ),
  Layer.succeed(HttpMiddleware.TracerDisabledWhen, ({ url }) => probes.has(pathOf(url)))
)

const statusClass = (status: number | null): string =>
  status === null ? "aborted" : `${Math.floor(status / 100)}xx`

/** Counts the request and its end, and adds up what it waits for vendors. */
export const measured = <E, R>(
  respond: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  requestMethod: string,
  route = "unmatched"
) =>
  Effect.withFiber<HttpServerResponse.HttpServerResponse, E, R>(({ context }) => {
    const clock = Context.get(context, Clock.Clock)
    const metrics = metricsOf(route)
    const method = methods.has(requestMethod) ? requestMethod : "other"
    const vendorTime = { nanos: 0n, isWaiting: false }
    const started = clock.currentTimeNanosUnsafe()
    requestsInFlight.modifyUnsafe(1, context)
    const end = (status: number | null): void => {
      const took = clock.currentTimeNanosUnsafe() - started
      requestsInFlight.modifyUnsafe(-1, context)
      metrics.counted(method)(statusClass(status)).updateUnsafe(1, context)
      metrics.seconds.updateUnsafe(inSeconds(took), context)
      // Of the others the duration is all there is to say.
      if (vendorTime.nanos > 0n) {
        metrics.overhead.updateUnsafe(inSeconds(took - vendorTime.nanos), context)
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
