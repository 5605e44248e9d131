/** How channels are doing, in memory. */
import { Clock, Effect, Layer } from "effect"
import {
  type ChannelCount,
  ChannelRecords,
  type Restable,
  TRIAL_SECONDS,
  WINDOW_SECONDS
} from "../../services/channels/ChannelRecords.ts"
import { tellOfRest } from "../delivery/telling.ts"
import { MemoryStore, restName, type StoredCount } from "./MemoryStore.ts"

const HOUR_SECONDS = 3600
const SLOT_MILLIS = 10_000

const summed = (counts: ReadonlyArray<StoredCount>): ReadonlyArray<ChannelCount> => {
  const sums = new Map<string, ChannelCount>()
  for (const { channelId, name, count } of counts) {
    const key = JSON.stringify([channelId, name])
    sums.set(key, { channelId, name, count: count + (sums.get(key)?.count ?? 0) })
  }
  return [...sums.values()]
}

export const layerChannelRecordsMemory = Layer.effect(
  ChannelRecords,
  Effect.gen(function* () {
    const state = yield* MemoryStore
    const { rests, channelFailures } = state
    const at = <A>(of: Restable, run: (name: string, now: number) => A): Effect.Effect<A> =>
      Effect.map(Clock.currentTimeMillis, (now) => run(restName(of), now))
    const since = (now: number, seconds: number) =>
      state.channelCounts.filter((one) => one.at > now - seconds * 1000)

    return ChannelRecords.of({
      add: (counts, failures) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const kept = since(now, HOUR_SECONDS)
          const at = now - (now % SLOT_MILLIS)
          state.channelCounts = [...kept, ...counts.map((count) => ({ ...count, at }))]
          for (const failure of failures) {
            const last = channelFailures.get(failure.channelId)
            if (last === undefined || last.at < failure.at) {
              channelFailures.set(failure.channelId, failure)
            }
          }
          const told = new Set(counts.map(({ channelId }) => channelId))
          const wellSince = (channelId: string) =>
            rests.get(restName({ channelId, keyName: null }))?.endedAt ?? 0
          return summed(
            since(now, WINDOW_SECONDS).filter(
              (one) => told.has(one.channelId) && one.at >= wellSince(one.channelId)
            )
          )
        }),
      rests: Effect.map(Clock.currentTimeMillis, (now) =>
        [...rests.values()].flatMap(({ until, triedUntil: _, endedAt: __, ...rest }) =>
          until === null ? [] : [{ ...rest, secondsLeft: Math.max(0, until - now) / 1000 }]
        )
      ),
      beginRest: (of, why, { least, most }) =>
        at(of, (name, now) => {
          const before = rests.get(name)
          const until = before?.until ?? null
          if (until !== null && until > now) return
          const goesOn = before !== undefined && until !== null
          const seconds = goesOn ? Math.min(before.seconds * 2, most) : least
          rests.set(name, {
            ...of,
            ...why,
            seconds,
            until: now + seconds * 1000,
            triedUntil: null,
            endedAt: null,
            since: goesOn ? before.since : new Date(now)
          })
          if (!goesOn) tellOfRest(state, "channel.down", { ...of, ...why }, now)
        }),
      takeTrial: (of) =>
        at(of, (name, now) => {
          const rest = rests.get(name)
          if (rest === undefined || rest.until === null || rest.until > now) return false
          if (rest.triedUntil !== null && rest.triedUntil > now) return false
          rest.triedUntil = now + TRIAL_SECONDS * 1000
          return true
        }),
      giveTrialBack: (of) =>
        at(of, (name) => {
          const rest = rests.get(name)
          if (rest !== undefined) rest.triedUntil = null
        }),
      endRest: (of) =>
        at(of, (name, now) => {
          const rest = rests.get(name)
          if (rest === undefined || rest.until === null) return
          Object.assign(rest, { until: null, triedUntil: null, endedAt: now })
          tellOfRest(state, "channel.up", rest, now)
        }),
      hour: Effect.map(Clock.currentTimeMillis, (now) => ({
        counts: summed(since(now, HOUR_SECONDS)),
        failures: [...channelFailures.values()]
      })),
      openTasks: Effect.sync(() => {
        const running = [...state.organizations.values()].flatMap(({ orders }) =>
          [...orders.values()].filter(
            ({ task }) => task?.state === "submitting" || task?.state === "processing"
          )
        )
        const byChannel = Map.groupBy(running, ({ job }) => job.channelId)
        return new Map([...byChannel].map(([channelId, tasks]) => [channelId, tasks.length]))
      })
    })
  })
)
