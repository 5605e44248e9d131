/** Each channel as an operator sees it: whether it takes orders, and what its last hour was like. */
import { Clock, Effect } from "effect"
import type { Channel } from "../domain/catalog/CatalogDocument.ts"
import { keysOf } from "../domain/catalog/channelKeys.ts"
import { countsOf, isEnd, quantile } from "../domain/channelEnds.ts"
import { Catalog } from "../services/Catalog.ts"
import { ChannelCredentials } from "../services/channels/ChannelCredentials.ts"
import {
  type ChannelFailure,
  ChannelRecords,
  type Rest
} from "../services/channels/ChannelRecords.ts"

/** `draining`: it takes no orders, and its tasks are asked to their end. */
export const channelStates = ["closed", "open", "half-open", "draining"] as const

export interface Resting extends Pick<Rest, "reason" | "status" | "since"> {
  /** From when it may be tried again. */
  readonly until: Date
}

export interface KeyReport {
  readonly name: string
  readonly enabled: boolean
  /** Whether it has a value. */
  readonly stored: boolean
  readonly rest: Resting | null
}

/** In milliseconds; null where nothing was measured. */
export interface Durations {
  readonly p50: number | null
  readonly p95: number | null
}

export interface ChannelReport {
  readonly id: string
  /** Null for one that has left the catalog while tasks of it run. */
  readonly channel: Channel | null
  readonly state: (typeof channelStates)[number]
  readonly rest: Resting | null
  readonly openTasks: number
  /** By how they ended. */
  readonly calls: ReadonlyMap<string, number>
  readonly took: Durations
  readonly lag: Durations
  /** By model: what vendors counted, for each unit that was held. */
  readonly drift: ReadonlyMap<string, number>
  readonly lastFailure: ChannelFailure | null
  readonly keys: ReadonlyArray<KeyReport>
}

const durationsOf = (steps: ReadonlyMap<string, number>): Durations => ({
  p50: quantile(steps, 0.5),
  p95: quantile(steps, 0.95)
})

const driftOf = (counts: ReadonlyMap<string, number>): ReadonlyMap<string, number> => {
  const used = countsOf(counts, "used")
  return new Map(
    [...countsOf(counts, "estimated")].flatMap(([model, estimated]) =>
      estimated > 0 ? [[model, (used.get(model) ?? 0) / estimated] as const] : []
    )
  )
}

const stateOf = (channel: Channel | null, rest: Rest | undefined): ChannelReport["state"] => {
  if (channel?.enabled !== true) return "draining"
  if (rest === undefined) return "closed"
  return rest.secondsLeft > 0 ? "open" : "half-open"
}

/** By id. */
export const makeChannelReports = Effect.gen(function* () {
  const catalog = yield* Catalog
  const credentials = yield* ChannelCredentials
  const records = yield* ChannelRecords

  return Effect.gen(function* () {
    const { channels } = yield* catalog.snapshot
    const storedKeys = yield* credentials.storedKeys
    const openTasks = yield* records.openTasks
    const rests = yield* records.rests
    const { counts, failures } = yield* records.hour
    const now = yield* Clock.currentTimeMillis

    const restingOf = (rest: Rest | undefined): Resting | null =>
      rest === undefined ? null : { ...rest, until: new Date(now + rest.secondsLeft * 1000) }

    const reportOf = (id: string): ChannelReport => {
      const channel = channels.get(id) ?? null
      const own = rests.filter(({ channelId }) => channelId === id)
      const restOf = (keyName: string | null) => own.find((rest) => rest.keyName === keyName)
      const counted = new Map(
        counts.filter((one) => one.channelId === id).map(({ name, count }) => [name, count])
      )
      return {
        id,
        channel,
        state: stateOf(channel, restOf(null)),
        rest: restingOf(restOf(null)),
        openTasks: openTasks.get(id) ?? 0,
        calls: new Map([...counted].filter(([name]) => isEnd(name))),
        took: durationsOf(countsOf(counted, "took")),
        lag: durationsOf(countsOf(counted, "lag")),
        drift: driftOf(counted),
        lastFailure: failures.find(({ channelId }) => channelId === id) ?? null,
        keys: (channel === null ? [] : keysOf(channel)).map(({ name, enabled }) => ({
          name,
          enabled,
          stored: storedKeys.get(id)?.names.has(name) === true,
          rest: restingOf(restOf(name))
        }))
      }
    }
    return [...new Set([...channels.keys(), ...openTasks.keys()])].sort().map(reportOf)
  })
})
