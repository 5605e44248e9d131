/** What monitoring sees of this process. */
import { monitorEventLoopDelay } from "node:perf_hooks"
import { Effect, Metric } from "effect"
import {
  eventLoopDelaySeconds,
  heapBytes,
  pollerSilenceSeconds,
  residentBytes
} from "../services/metrics.ts"

const NANOS = 1e9
/** How often the event loop is looked at; a delay is what it took beyond that. */
const LOOK_MILLIS = 20

/** Notes how the process is doing since the last time, and how long its poller has been silent. */
export const makeProcessMeasure = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const delays = monitorEventLoopDelay({ resolution: LOOK_MILLIS })
      delays.enable()
      return delays
    }),
    (delays) => Effect.sync(() => delays.disable())
  ),
  (delays) =>
    Effect.fnUntraced(function* (silenceSeconds: number) {
      const { rss, heapUsed } = process.memoryUsage()
      yield* Metric.update(residentBytes, rss)
      yield* Metric.update(heapBytes, heapUsed)
      yield* Metric.update(pollerSilenceSeconds, silenceSeconds)
      // Nothing was seen yet where it is no number.
      const late = delays.percentile(99) / NANOS - LOOK_MILLIS / 1000
      yield* Metric.update(eventLoopDelaySeconds, Number.isFinite(late) ? Math.max(0, late) : 0)
      delays.reset()
    })
)
