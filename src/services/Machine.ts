/**
 * What gateways that share one port of one machine do together: a key's rate and the metrics are
 * those of all of them. Alone, a process is the whole machine.
 */
import { Context, type Effect } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { makeRequestRates, type RequestRates } from "../runtime/RequestRates.ts"

export const Machine = Context.Reference<{
  readonly makeRequestRates: () => RequestRates
  /** In the text format of Prometheus. */
  readonly metrics: Effect.Effect<string>
}>("gateway/services/Machine", {
  defaultValue: () => ({ makeRequestRates, metrics: PrometheusMetrics.format() })
})
