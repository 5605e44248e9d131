/** Counts every request and how long it took, with and without the wait for vendors. */
import { Clock, Context, Effect, Exit, Metric } from "effect"
import type { HttpServerResponse } from "effect/http"
import {
  overheadSeconds,
  requestSeconds,
  requests,
  requestsInFlight
} from "../../services/metrics.ts"
import { VendorTime } from "../../services/ProtocolAdapter.ts"
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

const metricsAt = (route: string) => {
  const known = byRoute.get(route)
  if (known !== undefined) return known
  const made = metricsOf(route)
  byRoute.set(route, made)
  return made
}

const statusClass = (status: number | null): string =>
  status === null ? "aborted" : `${Math.floor(status / 100)}xx`

/** A request that has begun: what it waits for vendors is added up, and its end is counted. */
export interface Measured {
  readonly vendorTime: { nanos: bigint }
  /** With the status of its answer; null where there is none. */
  readonly end: (status: number | null) => void
}

/** The route is a pattern, as its endpoint declares it. */
export const beginRequest = (
  { route, method }: { readonly route: string; readonly method: string },
  context: Context.Context<never>
): Measured => {
  const clock = Context.get(context, Clock.Clock)
  const metrics = metricsAt(route)
  const label = methods.has(method) ? method : "other"
  const vendorTime = { nanos: 0n }
  const started = clock.currentTimeNanosUnsafe()
  requestsInFlight.modifyUnsafe(1, context)
  return {
    vendorTime,
    end: (status) => {
      const took = clock.currentTimeNanosUnsafe() - started
      requestsInFlight.modifyUnsafe(-1, context)
      metrics.counted(label, statusClass(status)).updateUnsafe(1, context)
      metrics.seconds.updateUnsafe(inSeconds(took), context)
      // Of the others the duration is all there is to say.
      if (vendorTime.nanos > 0n) {
        metrics.overhead.updateUnsafe(inSeconds(took - vendorTime.nanos), context)
      }
    }
  }
}

/** Hands the response on as it is. */
export const measured = <E, R>(
  respond: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  request: { readonly url: string; readonly method: string }
) =>
  Effect.withFiber<HttpServerResponse.HttpServerResponse, E, R>((fiber) => {
    const route = routesAt(pathOf(request.url))[0]?.path ?? "unmatched"
    const { vendorTime, end } = beginRequest({ route, method: request.method }, fiber.context)
    return Effect.onExitPrimitive(
      Effect.provideService(respond, VendorTime, vendorTime),
      (exit) => {
        end(Exit.isSuccess(exit) ? exit.value.status : null)
        return undefined
      }
    )
  })
