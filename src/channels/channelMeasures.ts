/** What monitoring sees of channels. */
import { Effect, Metric } from "effect"
import { countsOf, isEnd, millisOf } from "../domain/channelEnds.ts"
import { ChannelRecords, type Rest } from "../services/channels/ChannelRecords.ts"
import {
  channelCallSeconds,
  channelCalls,
  channelState,
  channelTasks,
  keysAtRest,
  vendorUsage
} from "../services/metrics.ts"

/** Adds what was counted since the last time, off the way of the calls themselves. */
export const measure = Effect.fnUntraced(function* (
  counted: ReadonlyMap<string, ReadonlyMap<string, number>>
) {
  for (const [channel, counts] of counted) {
    for (const [end, count] of counts) {
      if (!isEnd(end)) continue
      yield* Metric.update(Metric.withAttributes(channelCalls, { channel, end }), count)
    }
    const took = Metric.withAttributes(channelCallSeconds, { channel })
    for (const [step, count] of countsOf(counts, "took")) {
      for (let each = 0; each < count; each++) yield* Metric.update(took, millisOf(step) / 1000)
    }
    for (const amount of ["estimated", "used"] as const) {
      for (const [model, nano] of countsOf(counts, amount)) {
        yield* Metric.update(
          Metric.withAttributes(vendorUsage, { channel, model, amount }),
          nano / 1e9
        )
      }
    }
  }
})

/** States of channels, also of those that rest no more. */
export const makeRestMeasure = Effect.sync(() => {
  const seen = new Set<string>()
  return Effect.fnUntraced(function* (rests: ReadonlyArray<Rest>) {
    for (const { channelId } of rests) seen.add(channelId)
    for (const channel of seen) {
      const own = rests.filter(({ channelId }) => channelId === channel)
      const whole = own.find(({ keyName }) => keyName === null)
      const state = whole === undefined ? 0 : whole.secondsLeft > 0 ? 2 : 1
      yield* Metric.update(Metric.withAttributes(channelState, { channel }), state)
      const keys = own.filter(({ keyName }) => keyName !== null).length
      yield* Metric.update(Metric.withAttributes(keysAtRest, { channel }), keys)
    }
  })
})

/** Open tasks of channels, also of those that have none any more. */
export const makeTasksMeasure = Effect.map(ChannelRecords, ({ openTasks }) => {
  const seen = new Set<string>()
  return Effect.gen(function* () {
    const open = yield* openTasks
    for (const channel of open.keys()) seen.add(channel)
    for (const channel of seen) {
      yield* Metric.update(Metric.withAttributes(channelTasks, { channel }), open.get(channel) ?? 0)
    }
  })
})
