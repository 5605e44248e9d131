/** What monitoring sees of channels. */
import { Effect, Metric } from "effect"
import { bucketMillis, countsOf, isCallOutcome } from "../domain/channelEnds.ts"
import { ChannelRecords, type Cooldown } from "../services/channels/ChannelRecords.ts"
import {
  channelCallSeconds,
  channelCalls,
  channelState,
  channelTasks,
  keysInCooldown,
  modelsInCooldown,
  slowedOrganizations,
  vendorUsage
} from "../services/metrics.ts"

/** Adds what was counted since the last time, off the way of the calls themselves. */
export const measure = Effect.fnUntraced(function* (
  counted: ReadonlyMap<string, ReadonlyMap<string, number>>
) {
  for (const [channel, counts] of counted) {
    for (const [end, count] of counts) {
      if (!isCallOutcome(end)) continue
      yield* Metric.update(Metric.withAttributes(channelCalls, { channel, end }), count)
    }
    const took = Metric.withAttributes(channelCallSeconds, { channel })
    for (const [step, count] of countsOf(counts, "took")) {
      for (let each = 0; each < count; each++) yield* Metric.update(took, bucketMillis(step) / 1000)
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
  return Effect.fnUntraced(function* (cooldowns: ReadonlyArray<Cooldown>) {
    for (const { channelId } of cooldowns) seen.add(channelId)
    for (const channel of seen) {
      const own = cooldowns.filter(({ channelId }) => channelId === channel)
      const ofChannel = own.filter(({ keyName }) => keyName === null)
      const forAll = ofChannel.filter((one) => one.organizationId === null || one.isAlone)
      const isOpen = forAll.some(({ secondsLeft }) => secondsLeft > 0)
      const gauges = [
        [channelState, isOpen ? 2 : forAll.length > 0 ? 1 : 0],
        [modelsInCooldown, new Set(forAll.flatMap(({ model }) => model ?? [])).size],
        [slowedOrganizations, ofChannel.length - forAll.length],
        [keysInCooldown, own.length - ofChannel.length]
      ] as const
      for (const [gauge, value] of gauges) {
        yield* Metric.update(Metric.withAttributes(gauge, { channel }), value)
      }
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
