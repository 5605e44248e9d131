/**
 * The report of each channel for operators: whether it takes orders, and the counts of the last
 * hour.
 */
import { Clock, Effect } from "effect"
import type { Channel, Mount } from "../../domain/catalog/CatalogDocument.ts"
import { keysOf, type StoredKeys } from "../../domain/catalog/channelKeys.ts"
import { countsOf, isCallOutcome, quantile, REFUSED, SUCCEEDED } from "../../domain/channelEnds.ts"
import { Catalog, type CatalogSnapshot } from "../../services/Catalog.ts"
import { ChannelCredentials } from "../../services/channels/ChannelCredentials.ts"
import { ChannelQueue, type QueueLength } from "../../services/channels/ChannelQueue.ts"
import {
  type ChannelHour,
  ChannelRecords,
  type Cooldown
} from "../../services/channels/ChannelRecords.ts"
import type { ChannelView } from "./ChannelsApi.ts"

/** All data that the reports are made from, read at one moment. */
interface ChannelData {
  readonly snapshot: CatalogSnapshot
  readonly storedKeys: StoredKeys
  /** The number of open tasks by channel. */
  readonly openTasks: ReadonlyMap<string, number>
  readonly queues: ReadonlyArray<QueueLength>
  readonly cooldowns: ReadonlyArray<Cooldown>
  readonly hour: ChannelHour
  readonly nowMillis: number
}

const percentilesOf = (histogram: ReadonlyMap<string, number>): ChannelView["latency_ms"] => ({
  p50: quantile(histogram, 0.5),
  p95: quantile(histogram, 0.95)
})

const DRIFT_DIGITS = 4

/** The ratio of the charges for vendor-reported usage to the holds of their orders, by model. */
const driftOf = (counts: ReadonlyMap<string, number>): ChannelView["drift"] => {
  const used = countsOf(counts, "used")
  return [...countsOf(counts, "estimated")]
    .filter(([, estimated]) => estimated > 0)
    .map(([model, estimated]) => ({
      model,
      ratio: Number(((used.get(model) ?? 0) / estimated).toFixed(DRIFT_DIGITS))
    }))
}

const stateOf = (channel: Channel | null, cooldown: Cooldown | undefined): ChannelView["state"] => {
  if (channel?.enabled !== true) return "draining"
  if (cooldown === undefined) return "closed"
  return cooldown.secondsLeft > 0 ? "open" : "half-open"
}

/**
 * Whether the cooldown concerns all organisations: it is a cooldown of all, or its organisation is
 * the only one that orders from this channel.
 */
const isForAll = ({ organizationId, isAlone }: Cooldown): boolean =>
  organizationId === null || isAlone

/**
 * The cooldown that keeps the channel from taking any order: the channel's own cooldown or, where
 * each of its models is in cooldown, that of the model whose trial call is due first.
 */
const channelCooldown = (
  cooldowns: ReadonlyArray<Cooldown>,
  mounts: ReadonlyArray<Mount>,
  channelId: string
): Cooldown | undefined => {
  const bySecondsLeft = cooldowns.toSorted((one, other) => one.secondsLeft - other.secondsLeft)
  const ofChannel = bySecondsLeft.findLast(({ model }) => model === null)
  if (ofChannel !== undefined) return ofChannel
  const mounted = mounts.filter(({ channel, enabled }) => enabled && channel === channelId)
  const isCoolingDown = (mount: Mount) => cooldowns.some(({ model }) => model === mount.model)
  return mounted.length > 0 && mounted.every(isCoolingDown) ? bySecondsLeft[0] : undefined
}

const makeCooldownViews = (nowMillis: number) => {
  const keyCooldown = ({ since, secondsLeft, reason, status }: Cooldown) => ({
    since: since.toISOString(),
    until: new Date(nowMillis + secondsLeft * 1000).toISOString(),
    reason,
    status
  })
  const modelCooldown = (cooldown: Cooldown) => ({
    model: cooldown.model,
    ...keyCooldown(cooldown)
  })
  return { keyCooldown, modelCooldown }
}

const reportOf = (data: ChannelData, id: string): ChannelView => {
  const { channels, document } = data.snapshot
  const { keyCooldown, modelCooldown } = makeCooldownViews(data.nowMillis)
  // Null for a channel that was removed from the catalog while its tasks run.
  const channel = channels.get(id) ?? null
  const cooldowns = data.cooldowns.filter(({ channelId }) => channelId === id)
  const orderCooldowns = cooldowns.filter(({ keyName }) => keyName === null)
  const cooldownsForAll = orderCooldowns.filter(isForAll)
  const cooldown = channelCooldown(cooldownsForAll, document.mounts, id)
  const modelCooldowns = Map.groupBy(cooldownsForAll, ({ model }) => model)
  const counts = new Map(
    data.hour.counts
      .filter(({ channelId }) => channelId === id)
      .map(({ name, count }) => [name, count])
  )
  const calls = [...counts].filter(([name]) => isCallOutcome(name))
  const queue = data.queues.find(({ channelId }) => channelId === id)
  const lastFailure = data.hour.failures.find(({ channelId }) => channelId === id)
  return {
    id,
    name: channel?.name ?? null,
    state: stateOf(channel, cooldown),
    rest: cooldown === undefined ? null : modelCooldown(cooldown),
    model_rests: [...modelCooldowns].flatMap(([model, [first]]) =>
      model === null || first === undefined ? [] : [modelCooldown(first)]
    ),
    slowed_organizations: orderCooldowns.flatMap((slowed) =>
      slowed.organizationId === null
        ? []
        : [{ organization_id: slowed.organizationId, ...modelCooldown(slowed) }]
    ),
    open_tasks: data.openTasks.get(id) ?? 0,
    waiting_orders: queue?.orders ?? 0,
    oldest_wait_seconds: queue === undefined ? null : Math.round(queue.oldestSeconds),
    calls: calls.reduce((sum, [, count]) => sum + count, 0),
    failures: Object.fromEntries(calls.filter(([end]) => end !== SUCCEEDED && end !== REFUSED)),
    refused: counts.get(REFUSED) ?? 0,
    latency_ms: percentilesOf(countsOf(counts, "took")),
    completion_lag_ms: percentilesOf(countsOf(counts, "lag")),
    drift: driftOf(counts),
    last_failure:
      lastFailure === undefined
        ? null
        : {
            at: lastFailure.at.toISOString(),
            reason: lastFailure.reason,
            status: lastFailure.status,
            message: lastFailure.message
          },
    keys: (channel === null ? [] : keysOf(channel)).map(({ name, enabled }) => {
      const cooldown = cooldowns.find(({ keyName }) => keyName === name)
      return {
        name,
        enabled,
        stored: data.storedKeys.get(id)?.names.has(name) === true,
        rest: cooldown === undefined ? null : keyCooldown(cooldown)
      }
    })
  }
}

/** Reads the reports of all channels, in the order of their ids. */
export const makeChannelReports = Effect.gen(function* () {
  const catalog = yield* Catalog
  const credentials = yield* ChannelCredentials
  const records = yield* ChannelRecords
  const queue = yield* ChannelQueue

  return Effect.fnUntraced(function* () {
    const data: ChannelData = {
      snapshot: yield* catalog.snapshot,
      storedKeys: yield* credentials.storedKeys,
      openTasks: yield* records.openTasks,
      queues: yield* queue.lengths,
      cooldowns: yield* records.cooldowns,
      hour: yield* records.hour,
      nowMillis: yield* Clock.currentTimeMillis
    }
    const ids = new Set([...data.snapshot.channels.keys(), ...data.openTasks.keys()])
    return [...ids].sort().map((id) => reportOf(data, id))
  })
})
