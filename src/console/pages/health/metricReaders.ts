/** The plotted metrics, and how each value is computed from two readings. */
import { type Scrape, sumsOf } from "./scrapes.ts"

/** Values by the label of their line; null where a value cannot be computed. */
type Values = ReadonlyMap<string, number | null>
type MetricReader = (current: Scrape, previous: Scrape | undefined) => Values

const gauge =
  (name: string, labelName: string | null = null): MetricReader =>
  (current) =>
    sumsOf(current, name, labelName)

/**
 * The increase of a counter since the previous reading; null where the counter was reset, or the
 * reading came from another gateway.
 */
const increases = (
  current: Scrape,
  previous: Scrape | undefined,
  name: string,
  labelName: string | null
): Values => {
  const previousSums = previous === undefined ? null : sumsOf(previous, name, labelName)
  return new Map(
    [...sumsOf(current, name, labelName)].map(([key, value]) => {
      const increase = previousSums === null ? Number.NaN : value - (previousSums.get(key) ?? 0)
      return [key, increase >= 0 ? increase : null]
    })
  )
}

const rate =
  (name: string, labelName: string | null = null): MetricReader =>
  (current, previous) => {
    const seconds = previous === undefined ? 0 : current.at - previous.at
    return new Map(
      [...increases(current, previous, name, labelName)].map(([key, increase]) => [
        key,
        increase === null || seconds <= 0 ? null : increase / seconds
      ])
    )
  }

/** The mean of the values that a histogram counted since the previous reading. */
const mean =
  (name: string, times = 1): MetricReader =>
  (current, previous) => {
    const sum = increases(current, previous, `${name}_sum`, null).get("") ?? null
    const count = increases(current, previous, `${name}_count`, null).get("") ?? null
    if (!sumsOf(current, `${name}_count`).has("")) return new Map()
    return new Map([
      ["", sum === null || count === null || count === 0 ? null : (sum / count) * times]
    ])
  }

const MILLIS = 1000

interface MetricPlot {
  /** The key of its title in the texts. */
  readonly name: keyof typeof measures
  readonly unit: "perSecond" | "millis" | "seconds" | "none"
  readonly measure: MetricReader
}

const measures = {
  requests: { unit: "perSecond", measure: rate("gateway_http_requests_total", "status") },
  inFlight: { unit: "none", measure: gauge("gateway_http_requests_in_flight") },
  duration: { unit: "millis", measure: mean("gateway_http_request_duration_seconds", MILLIS) },
  overhead: { unit: "millis", measure: mean("gateway_http_request_overhead_seconds", MILLIS) },
  openTasks: { unit: "none", measure: gauge("gateway_open_tasks", "state") },
  completionLag: { unit: "seconds", measure: mean("gateway_task_completion_lag_seconds") },
  openHolds: { unit: "none", measure: gauge("gateway_open_holds") },
  lateHolds: { unit: "none", measure: gauge("gateway_late_holds") },
  heldMoney: { unit: "none", measure: gauge("gateway_held_money", "currency") },
  poolMoney: { unit: "none", measure: gauge("gateway_pool_money", "currency") },
  channelCalls: { unit: "perSecond", measure: rate("gateway_channel_calls_total", "end") },
  channelState: { unit: "none", measure: gauge("gateway_channel_state", "channel") },
  channelTasks: { unit: "none", measure: gauge("gateway_channel_open_tasks", "channel") },
  keysAtRest: { unit: "none", measure: gauge("gateway_channel_keys_at_rest", "channel") },
  failovers: { unit: "perSecond", measure: rate("gateway_failovers_total", "reason") },
  webhookAttempts: { unit: "perSecond", measure: rate("gateway_webhook_attempts_total", "end") },
  eventStreams: { unit: "none", measure: gauge("gateway_event_streams") },
  ledgerBatch: { unit: "none", measure: mean("gateway_ledger_batch_size") }
} as const satisfies Record<string, Omit<MetricPlot, "name">>

const isName = (name: string): name is keyof typeof measures => name in measures

export interface PlottedMetric {
  readonly name: keyof typeof measures
  readonly unit: MetricPlot["unit"]
  readonly lines: ReadonlyArray<{
    readonly label: string
    readonly values: ReadonlyArray<number | null>
  }>
}

/** The plotted metrics that the gateway reports, with their values over time. */
export const plotMetrics = (scrapes: ReadonlyArray<Scrape>): ReadonlyArray<PlottedMetric> =>
  Object.keys(measures)
    .filter(isName)
    .flatMap((name) => {
      const { unit, measure } = measures[name]
      const readings = scrapes.map((scrape, at) => measure(scrape, scrapes[at - 1]))
      const labels = [...new Set(readings.flatMap((values) => [...values.keys()]))].toSorted()
      if (labels.length === 0) return []
      return [
        {
          name,
          unit,
          lines: labels.map((label) => ({
            label,
            values: readings.map((values) => values.get(label) ?? null)
          }))
        }
      ]
    })
