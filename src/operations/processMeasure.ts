/** The metrics of this process. */
import { monitorEventLoopDelay } from "node:perf_hooks"
import { Effect, Metric } from "effect"
import {
  eventLoopDelaySeconds,
  heapBytes,
  pollerSilenceSeconds,
  residentBytes
} from "../services/metrics.ts"

const NANOS = 1e9
/** The interval of the sampling timer. A delay beyond it is the delay of the event loop. */
const SAMPLE_MILLIS = 20

export const makeProcessMeasure = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const delays = monitorEventLoopDelay({ resolution: SAMPLE_MILLIS })
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
      // The percentile is NaN before the first sample.
      const delaySeconds = delays.percentile(99) / NANOS - SAMPLE_MILLIS / 1000
      yield* Metric.update(
        eventLoopDelaySeconds,
        Number.isFinite(delaySeconds) ? Math.max(0, delaySeconds) : 0
      )
      delays.reset()
    })
)
