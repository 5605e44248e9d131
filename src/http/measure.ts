/** Counts every request and how long it took, with and without the wait for vendors. */
import { Clock, Effect, Exit, Metric } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import { overheadSeconds, requestSeconds, requests, requestsInFlight } from "../services/metrics.ts"
import { VendorTime } from "../services/VendorTime.ts"
import { pathOf, routesAt } from "./routes.ts"

/** The methods that get a label of their own; a client may send any word. */
const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])

const inSeconds = (nanos: bigint): number => Number(nanos) / 1e9

/** The metrics of one route, made once: every request updates three of them. */
const metricsOf = (route: string) => {
  const counters = new Map<string, typeof requests>()
  return {
    counted: (method: string, status: string) => {
      const key = `${method} ${status}`
      const known = counters.get(key)
      if (known !== undefined) return known
      const counter = Metric.withAttributes(requests, { route, method, status })
      counters.set(key, counter)
      return counter
    },
    seconds: Metric.withAttributes(requestSeconds, { route }),
    overhead: Metric.withAttributes(overheadSeconds, { route })
  }
}

const byRoute = new Map<string, ReturnType<typeof metricsOf>>()

const metricsAt = (path: string) => {
  const route = routesAt(path)[0]?.path ?? "unmatched"
  const known = byRoute.get(route)
  if (known !== undefined) return known
  const made = metricsOf(route)
  byRoute.set(route, made)
  return made
}

const statusClass = (exit: Exit.Exit<HttpServerResponse.HttpServerResponse, unknown>): string =>
  Exit.isSuccess(exit) ? `${Math.floor(exit.value.status / 100)}xx` : "aborted"

/** Hands the response on as it is. */
export const measured = <E, R>(
  respond: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  request: HttpServerRequest.HttpServerRequest
) =>
  Effect.withFiber<HttpServerResponse.HttpServerResponse, E, R>((fiber) => {
    const clock = fiber.getRef(Clock.Clock)
    const metrics = metricsAt(pathOf(request.url))
    const method = methods.has(request.method) ? request.method : "other"
    const waited = { nanos: 0n }
    const started = clock.currentTimeNanosUnsafe()
    requestsInFlight.modifyUnsafe(1, fiber.context)
    return Effect.onExitPrimitive(Effect.provideService(respond, VendorTime, waited), (exit) => {
      const took = clock.currentTimeNanosUnsafe() - started
      const { context } = fiber
      requestsInFlight.modifyUnsafe(-1, context)
      metrics.counted(method, statusClass(exit)).updateUnsafe(1, context)
      metrics.seconds.updateUnsafe(inSeconds(took), context)
      // Of the others the duration is all there is to say.
      if (waited.nanos > 0n) {
        metrics.overhead.updateUnsafe(inSeconds(took - waited.nanos), context)
      }
      return undefined
    })
  })
