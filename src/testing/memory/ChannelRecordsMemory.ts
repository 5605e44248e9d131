/** Channel records in memory: cooldowns, counts of calls, and failures. */
import { Clock, Effect, Layer } from "effect"
import {
  type CallEnds,
  type ChannelCount,
  ChannelRecords,
  type CooldownTarget,
  TRIAL_HEAD_START_SECONDS,
  TRIAL_SECONDS,
  WINDOW_SECONDS
} from "../../services/channels/ChannelRecords.ts"
import { changeCooldown } from "../delivery/notifications.ts"
import {
  cooldownName,
  MemoryStore,
  type StoredCooldown,
  type StoredCount,
  type StoredEnds
} from "./MemoryStore.ts"

const HOUR_SECONDS = 3600
const SLOT_MILLIS = 10_000

const sumCounts = (counts: ReadonlyArray<StoredCount>): ReadonlyArray<ChannelCount> => {
  const sums = new Map<string, ChannelCount>()
  for (const { channelId, name, count } of counts) {
    const key = JSON.stringify([channelId, name])
    sums.set(key, { channelId, name, count: count + (sums.get(key)?.count ?? 0) })
  }
  return [...sums.values()]
}

const sumEnds = (ends: ReadonlyArray<StoredEnds>): ReadonlyArray<CallEnds> => {
  const sums = new Map<string, CallEnds>()
  for (const { channelId, model, organizationId, succeeded, failed } of ends) {
    const key = JSON.stringify([channelId, model, organizationId])
    const sum = sums.get(key) ?? { succeeded: 0, failed: 0 }
    sums.set(key, {
      channelId,
      model,
      organizationId,
      succeeded: sum.succeeded + succeeded,
      failed: sum.failed + failed
    })
  }
  return [...sums.values()]
}

export const layerChannelRecordsMemory = Layer.effect(
  ChannelRecords,
  Effect.gen(function* () {
    const state = yield* MemoryStore
    const { cooldowns, channelFailures } = state
    const withName = <A>(
      scope: CooldownTarget,
      run: (name: string, now: number) => A
    ): Effect.Effect<A> =>
      Effect.map(Clock.currentTimeMillis, (now) => run(cooldownName(scope), now))
    const countsSince = (now: number, seconds: number) =>
      state.channelCounts.filter((one) => one.at > now - seconds * 1000)

    /**
     * Deletes old cooldowns of single organisations. Cooldowns for all organisations, and current
     * cooldowns with `isAlone`, are kept, because operators read them.
     */
    const pruneCooldowns = (now: number): void => {
      for (const [name, cooldown] of cooldowns) {
        if (cooldown.organizationId === null || (cooldown.until !== null && cooldown.isAlone)) {
          continue
        }
        if ((cooldown.until ?? cooldown.endedAt ?? now) < now - HOUR_SECONDS * 1000) {
          cooldowns.delete(name)
        }
      }
    }

    /**
     * Changes the stored cooldown. Does nothing where none is stored or `changeOf` returns null.
     */
    const change = (
      scope: CooldownTarget,
      changeOf: (cooldown: StoredCooldown, now: number) => Partial<StoredCooldown> | null
    ): Effect.Effect<void> =>
      withName(scope, (name, now) => {
        const cooldown = cooldowns.get(name)
        const changedCooldown = cooldown === undefined ? null : changeOf(cooldown, now)
        if (cooldown !== undefined && changedCooldown !== null) {
          changeCooldown(state, cooldown, { ...cooldown, ...changedCooldown }, now)
        }
      })

    return ChannelRecords.of({
      add: ({ counts, ends, failures }) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const at = now - (now % SLOT_MILLIS)
          const storedCounts = countsSince(now, HOUR_SECONDS)
          state.channelCounts = [...storedCounts, ...counts.map((count) => ({ ...count, at }))]
          state.callEnds = [
            ...state.callEnds.filter((one) => one.at > now - WINDOW_SECONDS * 1000),
            ...ends.map((one) => ({ ...one, at }))
          ]
          for (const failure of failures) {
            const last = channelFailures.get(failure.channelId)
            if (last === undefined || last.at < failure.at) {
              channelFailures.set(failure.channelId, failure)
            }
          }
          pruneCooldowns(now)
        }),
      latestEnds: (channelIds) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const isBefore = (one: StoredEnds): boolean =>
            [...cooldowns.values()].some(
              ({ channelId, keyName, model, organizationId, endedAt }) =>
                channelId === one.channelId &&
                keyName === null &&
                (model === null || model === one.model) &&
                (organizationId === null || organizationId === one.organizationId) &&
                (endedAt ?? 0) > one.at
            )
          return sumEnds(
            state.callEnds.filter(
              (one) =>
                channelIds.includes(one.channelId) &&
                one.at > now - WINDOW_SECONDS * 1000 &&
                !isBefore(one)
            )
          )
        }),
      cooldowns: Effect.map(Clock.currentTimeMillis, (now) =>
        [...cooldowns.values()].flatMap(
          ({ until, triedUntil: _, triedBy: __, failedBy: ___, endedAt: ____, ...cooldown }) =>
            until === null ? [] : [{ ...cooldown, secondsLeft: Math.max(0, until - now) / 1000 }]
        )
      ),
      beginCooldown: (scope, cause, { min: least, max: most }) =>
        withName(scope, (name, now) => {
          const previousCooldown = cooldowns.get(name)
          const until = previousCooldown?.until ?? null
          if (until !== null && until > now) return
          const isContinued = previousCooldown !== undefined && until !== null
          const seconds = isContinued ? Math.min(previousCooldown.seconds * 2, most) : least
          const cooldown: StoredCooldown = {
            ...scope,
            ...cause,
            seconds,
            isAlone: isContinued ? previousCooldown.isAlone : cause.isAlone,
            until: now + seconds * 1000,
            triedUntil: null,
            triedBy: null,
            failedBy: null,
            endedAt: null,
            since: isContinued ? previousCooldown.since : new Date(now)
          }
          changeCooldown(state, previousCooldown, cooldown, now)
        }),
      takeTrial: (scope, by) =>
        withName(scope, (name, now) => {
          const cooldown = cooldowns.get(name)
          if (cooldown === undefined || cooldown.until === null || cooldown.until > now) {
            return false
          }
          const { triedBy, triedUntil } = cooldown
          const isOther = triedBy !== null && by !== null && triedBy !== by
          const headStartSeconds = isOther ? TRIAL_SECONDS - TRIAL_HEAD_START_SECONDS : 0
          if (triedUntil !== null && triedUntil - headStartSeconds * 1000 > now) return false
          cooldowns.set(name, { ...cooldown, triedUntil: now + TRIAL_SECONDS * 1000, triedBy: by })
          return true
        }),
      failTrial: (scope, by, maxSeconds) =>
        withName(scope, (name, now) => {
          const cooldown = cooldowns.get(name)
          if (cooldown === undefined || cooldown.until === null || cooldown.until > now) {
            return false
          }
          const isLonger = cooldown.failedBy !== null && cooldown.failedBy !== by
          const seconds = isLonger ? Math.min(cooldown.seconds * 2, maxSeconds) : cooldown.seconds
          cooldowns.set(name, {
            ...cooldown,
            seconds,
            until: isLonger ? now + seconds * 1000 : cooldown.until,
            failedBy: isLonger ? null : by,
            triedUntil: null,
            triedBy: null
          })
          return isLonger
        }),
      giveTrialBack: (scope) => change(scope, () => ({ triedUntil: null, triedBy: null })),
      endCooldown: (scope) =>
        change(scope, (cooldown, now) =>
          cooldown.until === null
            ? null
            : { until: null, triedUntil: null, triedBy: null, failedBy: null, endedAt: now }
        ),
      contradict: (scope) => change(scope, () => ({ isAlone: false })),
      hour: Effect.map(Clock.currentTimeMillis, (now) => ({
        counts: sumCounts(countsSince(now, HOUR_SECONDS)),
        failures: [...channelFailures.values()]
      })),
      openTasks: Effect.sync(() => {
        const runningOrders = [...state.organizations.values()].flatMap(({ orders }) =>
          [...orders.values()].filter(
            ({ task }) => task?.state === "submitting" || task?.state === "processing"
          )
        )
        const byChannel = Map.groupBy(runningOrders, ({ job }) => job.channelId)
        return new Map([...byChannel].map(([channelId, tasks]) => [channelId, tasks.length]))
      })
    })
  })
)
