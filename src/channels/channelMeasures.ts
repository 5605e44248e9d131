/** The metrics of channels. */
import { Effect, Metric } from "effect"
import { bucketMillis, countsOf, isCallOutcome } from "../domain/channelEnds.ts"
import type { ChannelQueue } from "../services/channels/ChannelQueue.ts"
import type { ChannelRecords, Cooldown } from "../services/channels/ChannelRecords.ts"
import {
  channelCallSeconds,
  channelCalls,
  channelState,
  channelTasks,
  keysInCooldown,
  modelsInCooldown,
  oldestWaitingSeconds,
  slowedOrganizations,
  vendorUsage,
  waitingOrders
} from "../services/metrics.ts"

type Counts = ReadonlyMap<string, number>

const measureEnds = Effect.fnUntraced(function* (channel: string, counts: Counts) {
  for (const [end, count] of counts) {
    if (!isCallOutcome(end)) continue
    yield* Metric.update(Metric.withAttributes(channelCalls, { channel, end }), count)
  }
})

const measureDurations = Effect.fnUntraced(function* (channel: string, counts: Counts) {
  const seconds = Metric.withAttributes(channelCallSeconds, { channel })
  for (const [step, count] of countsOf(counts, "took")) {
    for (let call = 0; call < count; call++)
      yield* Metric.update(seconds, bucketMillis(step) / 1000)
  }
})

const measureUsage = Effect.fnUntraced(function* (channel: string, counts: Counts) {
  for (const amount of ["estimated", "used"] as const) {
    for (const [model, nano] of countsOf(counts, amount)) {
      yield* Metric.update(
        Metric.withAttributes(vendorUsage, { channel, model, amount }),
        nano / 1e9
      )
    }
  }
})

/**
 * Adds the counts since the last exchange to the metrics. This runs in the background, so that no
 * call waits for the metrics.
 */
export const measureCalls = Effect.fnUntraced(function* (
  countsByChannel: ReadonlyMap<string, Counts>
) {
  for (const [channel, counts] of countsByChannel) {
    yield* measureEnds(channel, counts)
    yield* measureDurations(channel, counts)
    yield* measureUsage(channel, counts)
  }
})

/** Sets the gauges of channel states, also for channels whose cooldowns have ended. */
export const makeCooldownMeasure = () => {
  const channels = new Set<string>()
  return Effect.fnUntraced(function* (cooldowns: ReadonlyArray<Cooldown>) {
    for (const { channelId } of cooldowns) channels.add(channelId)
    for (const channel of channels) {
      const all = cooldowns.filter(({ channelId }) => channelId === channel)
      const ofChannel = all.filter(({ keyName }) => keyName === null)
      const sharedCooldowns = ofChannel.filter((one) => one.organizationId === null || one.isAlone)
      const isOpen = sharedCooldowns.some(({ secondsLeft }) => secondsLeft > 0)
      const models = new Set(sharedCooldowns.flatMap(({ model }) => model ?? []))
      const gauges = [
        [channelState, isOpen ? 2 : sharedCooldowns.length > 0 ? 1 : 0],
        [modelsInCooldown, models.size],
        [slowedOrganizations, ofChannel.length - sharedCooldowns.length],
        [keysInCooldown, all.length - ofChannel.length]
      ] as const
      for (const [gauge, value] of gauges) {
        yield* Metric.update(Metric.withAttributes(gauge, { channel }), value)
      }
    }
  })
}

/** Sets the gauge of open tasks by channel, also for channels whose tasks have all ended. */
export const makeTasksMeasure = (
  openTasks: ChannelRecords["Service"]["openTasks"]
): Effect.Effect<void> => {
  const channels = new Set<string>()
  return Effect.gen(function* () {
    const countByChannel = yield* openTasks
    for (const channel of countByChannel.keys()) channels.add(channel)
    for (const channel of channels) {
      const count = countByChannel.get(channel) ?? 0
      yield* Metric.update(Metric.withAttributes(channelTasks, { channel }), count)
    }
  })
}

/** Sets the gauges of waiting orders by channel, also for channels for which none waits any more. */
export const makeQueueMeasure = (
  lengths: ChannelQueue["Service"]["lengths"]
): Effect.Effect<void> => {
  const channels = new Set<string>()
  return Effect.gen(function* () {
    const lengthByChannel = new Map((yield* lengths).map((one) => [one.channelId, one]))
    for (const channel of lengthByChannel.keys()) channels.add(channel)
    for (const channel of channels) {
      const { orders = 0, oldestSeconds = 0 } = lengthByChannel.get(channel) ?? {}
      yield* Metric.update(Metric.withAttributes(waitingOrders, { channel }), orders)
      yield* Metric.update(Metric.withAttributes(oldestWaitingSeconds, { channel }), oldestSeconds)
    }
  })
}
