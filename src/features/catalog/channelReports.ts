/** Each channel as an operator sees it: whether it takes orders, and what its last hour was like. */
import { Clock, Effect } from "effect"
import type { Channel, Mount } from "../../domain/catalog/CatalogDocument.ts"
import { keysOf } from "../../domain/catalog/channelKeys.ts"
import { countsOf, isEnd, quantile } from "../../domain/channelEnds.ts"
import { Catalog } from "../../services/Catalog.ts"
import { ChannelCredentials } from "../../services/channels/ChannelCredentials.ts"
import {
  type ChannelFailure,
  ChannelRecords,
  type Rest
} from "../../services/channels/ChannelRecords.ts"

/** `draining`: it takes no orders, and its tasks are asked to their end. */
export const channelStates = ["closed", "open", "half-open", "draining"] as const

export interface Resting extends Pick<Rest, "reason" | "status" | "since"> {
  /** From when it may be tried again. */
  readonly until: Date
}

/** Of a channel or one of its models. */
export interface ModelResting extends Resting {
  /** Null is the whole channel. */
  readonly model: string | null
}

export interface OrganizationResting extends ModelResting {
  readonly organizationId: string
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
  /** Of the whole channel; where each model on it rests for itself, of the one that is tried first. */
  readonly rest: ModelResting | null
  readonly modelRests: ReadonlyArray<ModelResting>
  /** Those whose own orders fail, which are refused while others are served. */
  readonly slowedOrganizations: ReadonlyArray<OrganizationResting>
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

/** For all that is known the vendor fails for everybody: it does for several, or for the only one there. */
const isForAll = ({ organizationId, isAlone }: Rest): boolean => organizationId === null || isAlone

/** The rest that keeps the channel from taking any order. */
const wholeRest = (
  rests: ReadonlyArray<Rest>,
  mounts: ReadonlyArray<Mount>,
  channelId: string
): Rest | undefined => {
  const bySecondsLeft = rests.toSorted((one, other) => one.secondsLeft - other.secondsLeft)
  const whole = bySecondsLeft.findLast(({ model }) => model === null)
  if (whole !== undefined) return whole
  const mounted = mounts.filter(({ channel, enabled }) => enabled && channel === channelId)
  const isResting = (mount: Mount) => rests.some(({ model }) => model === mount.model)
  return mounted.length > 0 && mounted.every(isResting) ? bySecondsLeft[0] : undefined
}

/** By id. */
export const makeChannelReports = Effect.gen(function* () {
  const catalog = yield* Catalog
  const credentials = yield* ChannelCredentials
  const records = yield* ChannelRecords

  return Effect.gen(function* () {
    const { channels, document } = yield* catalog.snapshot
    const storedKeys = yield* credentials.storedKeys
    const openTasks = yield* records.openTasks
    const rests = yield* records.rests
    const { counts, failures } = yield* records.hour
    const now = yield* Clock.currentTimeMillis

    const restingOf = (rest: Rest): ModelResting => ({
      ...rest,
      until: new Date(now + rest.secondsLeft * 1000)
    })

    const reportOf = (id: string): ChannelReport => {
      const channel = channels.get(id) ?? null
      const own = rests.filter(({ channelId }) => channelId === id)
      const ofChannel = own.filter(({ keyName }) => keyName === null)
      const forAll = ofChannel.filter(isForAll)
      const rest = wholeRest(forAll, document.mounts, id)
      const counted = new Map(
        counts.filter((one) => one.channelId === id).map(({ name, count }) => [name, count])
      )
      return {
        id,
        channel,
        state: stateOf(channel, rest),
        rest: rest === undefined ? null : restingOf(rest),
        modelRests: [...Map.groupBy(forAll, ({ model }) => model)].flatMap(([model, rests]) =>
          model === null ? [] : rests.slice(0, 1).map(restingOf)
        ),
        slowedOrganizations: ofChannel.flatMap((rest) =>
          rest.organizationId === null
            ? []
            : [{ ...restingOf(rest), organizationId: rest.organizationId }]
        ),
        openTasks: openTasks.get(id) ?? 0,
        calls: new Map([...counted].filter(([name]) => isEnd(name))),
        took: durationsOf(countsOf(counted, "took")),
        lag: durationsOf(countsOf(counted, "lag")),
        drift: driftOf(counted),
        lastFailure: failures.find(({ channelId }) => channelId === id) ?? null,
        keys: (channel === null ? [] : keysOf(channel)).map(({ name, enabled }) => {
          const rest = own.find(({ keyName }) => keyName === name)
          return {
            name,
            enabled,
            stored: storedKeys.get(id)?.names.has(name) === true,
            rest: rest === undefined ? null : restingOf(rest)
          }
        })
      }
    }
    return [...new Set([...channels.keys(), ...openTasks.keys()])].sort().map(reportOf)
  })
})
