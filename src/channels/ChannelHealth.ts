/**
 * Circuit breakers of channels and their keys. This gateway counts the results of calls in memory
 * and exchanges the counts with the other gateways once a second. A channel, or one model of it,
 * cools down when its vendor fails most calls of several organisations. When the vendor fails only
 * one organisation's calls, the cooldown refuses only that organisation's orders. A key cools down
 * when its vendor refuses it. After a cooldown, one trial call at a time checks whether the vendor
 * works again.
 */
import { Cause, Clock, Context, Effect, Exit, Layer, Option } from "effect"
import {
  type CooldownScope,
  contradictedCooldowns,
  dueCooldowns,
  OTHERS
} from "../domain/channelCooldowns.ts"
import { bucketOf, countName, isVendorsFault, SUCCEEDED } from "../domain/channelEnds.ts"
import { failureKind, isAboutKey, refusalOf, type VendorFailure } from "../domain/VendorOutcome.ts"
import { startJob } from "../runtime/backgroundJobs.ts"
import { monotonicMillisOf } from "../runtime/monotonic.ts"
import { Settings } from "../runtime/Settings.ts"
import {
  type CallEnds,
  type ChannelFailure,
  ChannelRecords,
  type Cooldown,
  type CooldownCause,
  type CooldownTarget,
  keyTarget
} from "../services/channels/ChannelRecords.ts"
import { channelState } from "../services/metrics.ts"
import { makeCooldownMeasure, measureCalls } from "./channelMeasures.ts"

/** One organisation's orders for one model of a channel. */
export interface Lane {
  readonly channelId: string
  readonly model: string
  readonly organizationId: string
}

/** Whether a channel or a key may be called. */
export type BreakerState =
  | { readonly _tag: "Closed" }
  /**
   * One trial call may be made for these targets. It must report its result: by `endTrial`, or for
   * a key by `recordKeySuccess`, `recordKeyRefusal` or `returnKeyTrial`.
   */
  | { readonly _tag: "HalfOpen"; readonly trials: ReadonlyArray<CooldownTarget> }
  | {
      readonly _tag: "Open"
      readonly secondsLeft: number
      /**
       * Whether the cooldown refuses only this organisation, while other organisations are served.
       */
      readonly isOrganizationOnly: boolean
    }

const closedState: BreakerState = { _tag: "Closed" }

/** The key of an account at a channel. */
export interface ChannelKey {
  readonly channelId: string
  readonly keyName: string
}

const targetOf = ({ channelId, keyName }: ChannelKey): CooldownTarget =>
  keyTarget(channelId, keyName)

export class ChannelHealth extends Context.Service<
  ChannelHealth,
  {
    /** Queries the database only when a cooldown of the lane has ended, to claim the trial call. */
    breakerState(lane: Lane): Effect.Effect<BreakerState>
    /**
     * Reports the result of the trial call: null for a success, undefined where the call shows
     * nothing about the vendor.
     */
    endTrial(
      lane: Lane,
      trials: ReadonlyArray<CooldownTarget>,
      failure: VendorFailure | null | undefined
    ): Effect.Effect<void>
    keyState(key: ChannelKey): Effect.Effect<BreakerState>
    /** The reason of the key's cooldown; null for a key that is not cooling down. */
    keyCooldownReason(key: ChannelKey): string | null
    /** Begins a cooldown of the key. After a failed trial call the cooldown is longer. */
    recordKeyRefusal(key: ChannelKey, failure: VendorFailure): Effect.Effect<void>
    recordKeySuccess(key: ChannelKey): Effect.Effect<void>
    /**
     * Releases the trial of a key whose trial call showed neither a success nor a refusal, so that
     * another call may try the key.
     */
    returnKeyTrial(key: ChannelKey): Effect.Effect<void>
    /** Ends all cooldowns of the channel, its models and its keys, for all organisations. */
    endCooldowns(channelId: string): Effect.Effect<void>
    /** Counts the result of a paid call. `vendorMessage` is shown to operators. */
    recordEnd(lane: Lane, end: CallEnd, vendorMessage: () => string | null): void
    /**
     * Counts the lag of a completion: an upper bound of the time from a task's end to the answer
     * that showed the end.
     */
    recordLag(channelId: string, lagSeconds: number): void
    /**
     * Counts an order's estimate (its hold) and its charge by the vendor's usage, so that operators
     * can compare the two.
     */
    recordUsage(channelId: string, model: string, amounts: UsedAmounts): void
  }
>()("gateway/channels/ChannelHealth") {}

export interface UsedAmounts {
  readonly estimatedNano: bigint
  readonly usedNano: bigint
}

export interface CallEnd {
  /** The failure of the call; null for a success. */
  readonly failure: VendorFailure | null
  readonly millis: number
}

const EXCHANGE_SECONDS = 1
/**
 * The maximum number of organisations that are counted separately at one model of a channel between
 * two exchanges; further organisations share one counter.
 */
const MAX_ORGANIZATIONS = 64

interface LocalCooldown extends Pick<Cooldown, "isAlone"> {
  readonly target: CooldownTarget
  /** Milliseconds on the monotonic clock. */
  readonly endsAtMillis: number
  /** The earliest time at which this gateway requests a trial again. */
  nextTrialAtMillis: number
  readonly reason: string
}

/** The name of a target within its channel. */
const nameOf = ({ keyName, model, organizationId }: CooldownTarget): string =>
  `${keyName ?? ""}\n${model ?? ""}\n${organizationId ?? ""}`

/**
 * The scopes whose cooldowns apply to an order. The organisation's own scopes come first: when one
 * of them refuses the trial call, no trial of a scope shared with other organisations has been
 * claimed yet.
 */
const scopesOf = ({ model, organizationId }: Lane): ReadonlyArray<CooldownScope> => [
  { model, organizationId },
  { model: null, organizationId },
  { model, organizationId: null },
  { model: null, organizationId: null }
]

interface Tally {
  succeeded: number
  failed: number
}

/**
 * Counts of successful and failed calls since the last exchange, by channel, model and
 * organisation.
 */
const makeTallies = () => {
  const byModel = new Map<
    string,
    Pick<Lane, "channelId" | "model"> & { readonly tallies: Map<string, Tally> }
  >()

  const count = ({ channelId, model, organizationId }: Lane, end: keyof Tally): void => {
    const name = `${channelId}\n${model}`
    const entry = byModel.get(name) ?? { channelId, model, tallies: new Map<string, Tally>() }
    byModel.set(name, entry)
    const { tallies } = entry
    const hasCounter = tallies.has(organizationId) || tallies.size < MAX_ORGANIZATIONS
    const counter = hasCounter ? organizationId : OTHERS
    const tally = tallies.get(counter) ?? { succeeded: 0, failed: 0 }
    tallies.set(counter, tally)
    tally[end] += 1
  }

  const ends = (): ReadonlyArray<CallEnds> =>
    [...byModel.values()].flatMap(({ channelId, model, tallies }) =>
      [...tallies].map(([organizationId, tally]) => ({
        channelId,
        model,
        organizationId,
        ...tally
      }))
    )
  return { count, ends }
}

export const layerChannelHealth = Layer.effect(
  ChannelHealth,
  Effect.gen(function* () {
    const records = yield* ChannelRecords
    const settings = yield* Settings
    const clock = yield* Clock.Clock

    const measureCooldowns = makeCooldownMeasure()
    let counts = new Map<string, Map<string, number>>()
    let tallies = makeTallies()
    let failures = new Map<string, ChannelFailure>()
    /**
     * Cooldowns by channel, then by target name, so that an order on a healthy channel needs only
     * one look-up.
     */
    let localCooldowns = new Map<string, Map<string, LocalCooldown>>()

    const count = (channelId: string, name: string, by = 1): void => {
      const ofChannel = counts.get(channelId)
      if (ofChannel === undefined) counts.set(channelId, new Map([[name, by]]))
      else ofChannel.set(name, (ofChannel.get(name) ?? 0) + by)
    }

    const cooldownOf = (target: CooldownTarget): LocalCooldown | undefined =>
      localCooldowns.get(target.channelId)?.get(nameOf(target))

    const refresh = Effect.flatMap(records.cooldowns, (cooldowns) => {
      const now = monotonicMillisOf(clock)
      localCooldowns = new Map()
      for (const { channelId, keyName, model, organizationId, ...cooldown } of cooldowns) {
        const target = { channelId, keyName, model, organizationId }
        const endsAtMillis = now + cooldown.secondsLeft * 1000
        const { reason, isAlone } = cooldown
        const ofChannel = localCooldowns.get(channelId) ?? new Map<string, LocalCooldown>()
        localCooldowns.set(channelId, ofChannel)
        ofChannel.set(nameOf(target), {
          target,
          endsAtMillis,
          nextTrialAtMillis: endsAtMillis,
          reason,
          isAlone
        })
      }
      return measureCooldowns(cooldowns)
    })

    const beginCooldown = (target: CooldownTarget, cause: CooldownCause) => {
      const { channelCooldownSeconds, keyCooldownSeconds, maxCooldownSeconds } = settings
      return records.beginCooldown(target, cause, {
        min: target.keyName === null ? channelCooldownSeconds : keyCooldownSeconds,
        max: maxCooldownSeconds
      })
    }

    const logCooldown = (
      { channelId, model, organizationId }: CooldownTarget,
      { isAlone, reason }: Pick<CooldownCause, "isAlone" | "reason">
    ) =>
      Effect.logWarning(
        organizationId === null || isAlone
          ? "channel: cooldown began"
          : "channel: cooldown began for one organisation"
      ).pipe(
        Effect.annotateLogs({
          channel: channelId,
          reason,
          ...(model === null ? {} : { model }),
          ...(organizationId === null ? {} : { organization_id: organizationId })
        })
      )

    /** Begins and updates cooldowns of a channel by the call results that all gateways counted. */
    const applyEnds = Effect.fnUntraced(function* (
      channelId: string,
      ends: ReadonlyArray<CallEnds>,
      failure: ChannelFailure | undefined
    ) {
      const { reason = "failing", status = null } = failure ?? {}
      const current = [...(localCooldowns.get(channelId)?.values() ?? [])].flatMap(
        ({ target, isAlone }) => (target.keyName === null ? [{ ...target, isAlone }] : [])
      )
      for (const { isAlone, ...scope } of dueCooldowns(ends, current, settings.breakerCalls)) {
        const target = { channelId, keyName: null, ...scope }
        const cause = { reason, status, isAlone }
        yield* beginCooldown(target, cause)
        yield* logCooldown(target, cause)
      }
      for (const target of contradictedCooldowns(ends, current)) yield* records.contradict(target)
    })

    const publishCounts = Effect.gen(function* () {
      const publishedCounts = counts
      const ends = tallies.ends()
      const publishedFailures = failures
      counts = new Map()
      tallies = makeTallies()
      failures = new Map()
      if (publishedCounts.size === 0) return
      yield* measureCalls(publishedCounts)
      const lines = [...publishedCounts].flatMap(([channelId, ofChannel]) =>
        [...ofChannel].map(([name, count]) => ({ channelId, name, count }))
      )
      yield* records.add({ counts: lines, ends, failures: [...publishedFailures.values()] })
      const isDoubtful = ({ channelId, failed }: CallEnds): boolean =>
        failed > 0 || localCooldowns.has(channelId)
      const doubtful = [...new Set(ends.filter(isDoubtful).map(({ channelId }) => channelId))]
      if (doubtful.length === 0) return
      const latest = yield* records.latestEnds(doubtful)
      for (const [channelId, ofChannel] of Map.groupBy(latest, (one) => one.channelId)) {
        yield* applyEnds(channelId, ofChannel, publishedFailures.get(channelId))
      }
    })

    yield* refresh
    yield* startJob({
      name: "channel health exchange",
      interval: `${EXCHANGE_SECONDS} seconds`,
      firstDelay: `${EXCHANGE_SECONDS} seconds`,
      run: Effect.andThen(publishCounts, refresh),
      onFailure: (cause) =>
        Effect.logDebug("channel health: publishing counts or reading cooldowns failed", cause),
      metric: channelState
    })

    /** This gateway sees its own changes immediately, the other gateways at their next exchange. */
    const changeCooldowns = (change: Effect.Effect<void>) =>
      Effect.andThen(change, refresh).pipe(
        Effect.catchDefect((defect) =>
          Effect.logWarning("channel health: changing a cooldown failed", defect)
        )
      )

    /**
     * The breaker state for an order of `organizationId`, from all cooldowns that apply to the
     * order, of which there is at least one.
     */
    const stateOfTarget = (
      cooldowns: ReadonlyArray<LocalCooldown>,
      organizationId: string | null
    ): Effect.Effect<BreakerState> => {
      const now = monotonicMillisOf(clock)
      const open = (): BreakerState => ({
        _tag: "Open",
        secondsLeft:
          Math.max(...cooldowns.map(({ nextTrialAtMillis }) => nextTrialAtMillis - now)) / 1000,
        isOrganizationOnly: cooldowns.every(
          ({ target, isAlone }) => target.organizationId !== null && !isAlone
        )
      })
      if (cooldowns.some(({ nextTrialAtMillis }) => nextTrialAtMillis > now)) {
        return Effect.succeed(open())
      }
      // Only one call of this gateway per second requests a trial from the database. Meanwhile
      // other calls see the breaker as open.
      for (const cooldown of cooldowns) cooldown.nextTrialAtMillis = now + EXCHANGE_SECONDS * 1000
      return Effect.gen(function* () {
        const trials: Array<CooldownTarget> = []
        for (const { target } of cooldowns) {
          if (yield* records.takeTrial(target, organizationId)) {
            trials.push(target)
            continue
          }
          for (const trial of trials) yield* records.giveTrialBack(trial)
          return open()
        }
        const halfOpen: BreakerState = { _tag: "HalfOpen", trials }
        return halfOpen
      }).pipe(Effect.catchDefect(() => Effect.succeed(open())))
    }

    /** Records that the trial call of this organisation's order failed by the vendor's fault. */
    const failTrial = Effect.fnUntraced(function* (
      target: CooldownTarget,
      { organizationId }: Lane,
      failure: VendorFailure
    ) {
      const cause = { ...refusalOf(failure), isAlone: false }
      if (target.organizationId !== null) return yield* beginCooldown(target, cause)
      const { maxCooldownSeconds } = settings
      const isLonger = yield* records.failTrial(target, organizationId, maxCooldownSeconds)
      if (!isLonger) yield* beginCooldown({ ...target, organizationId }, cause)
    })

    return ChannelHealth.of({
      breakerState: (lane) =>
        Effect.suspend((): Effect.Effect<BreakerState> => {
          const ofChannel = localCooldowns.get(lane.channelId)
          if (ofChannel === undefined) return Effect.succeed(closedState)
          const cooldowns = scopesOf(lane).flatMap(
            (scope) =>
              ofChannel.get(nameOf({ channelId: lane.channelId, keyName: null, ...scope })) ?? []
          )
          return cooldowns.length === 0
            ? Effect.succeed(closedState)
            : stateOfTarget(cooldowns, lane.organizationId)
        }),
      endTrial: (lane, trials, failure) => {
        const end = (target: CooldownTarget): Effect.Effect<void> => {
          if (failure === null) return records.endCooldown(target)
          return failure !== undefined && isVendorsFault(failure)
            ? failTrial(target, lane, failure)
            : records.giveTrialBack(target)
        }
        return changeCooldowns(Effect.forEach(trials, end, { discard: true }))
      },
      keyState: (key) =>
        Effect.suspend(() => {
          const cooldown = cooldownOf(targetOf(key))
          return cooldown === undefined
            ? Effect.succeed(closedState)
            : stateOfTarget([cooldown], null)
        }),
      keyCooldownReason: (key) => cooldownOf(targetOf(key))?.reason ?? null,
      recordKeyRefusal: (key, failure) =>
        Effect.suspend(() =>
          (cooldownOf(targetOf(key))?.endsAtMillis ?? 0) > monotonicMillisOf(clock)
            ? Effect.void
            : changeCooldowns(
                beginCooldown(targetOf(key), { ...refusalOf(failure), isAlone: false })
              )
        ),
      recordKeySuccess: (key) => changeCooldowns(records.endCooldown(targetOf(key))),
      returnKeyTrial: (key) => changeCooldowns(records.giveTrialBack(targetOf(key))),
      endCooldowns: (channelId) =>
        changeCooldowns(
          Effect.flatMap(records.cooldowns, (cooldowns) =>
            Effect.forEach(
              cooldowns.filter((cooldown) => cooldown.channelId === channelId),
              records.endCooldown,
              { discard: true }
            )
          )
        ),
      recordEnd: (lane, { failure, millis }, vendorMessage) => {
        const { channelId } = lane
        count(channelId, failure === null ? SUCCEEDED : failureKind(failure))
        if (failure === null) {
          tallies.count(lane, "succeeded")
          return count(channelId, countName("took", bucketOf(millis)))
        }
        const isVendors = isVendorsFault(failure)
        if (isVendors) tallies.count(lane, "failed")
        if (!isVendors && !isAboutKey(failure)) return
        const at = new Date(clock.currentTimeMillisUnsafe())
        const message = vendorMessage() ?? failure.message
        failures.set(channelId, { channelId, at, ...refusalOf(failure), message })
      },
      recordLag: (channelId, lagSeconds) =>
        count(channelId, countName("lag", bucketOf(lagSeconds * 1000))),
      recordUsage: (channelId, model, { estimatedNano, usedNano }) => {
        count(channelId, countName("estimated", model), Number(estimatedNano))
        count(channelId, countName("used", model), Number(usedNano))
      }
    })
  })
)

/**
 * The failure of a call: null for a success, undefined for an exit that shows nothing about the
 * vendor, such as an interruption.
 */
const failureOf = <A>(
  exit: Exit.Exit<A, VendorFailure>,
  failureIn: ((result: A) => VendorFailure | null) | undefined
): VendorFailure | null | undefined =>
  Exit.isSuccess(exit)
    ? (failureIn?.(exit.value) ?? null)
    : Option.getOrUndefined(Cause.findErrorOption(exit.cause))

/** Records the result of a paid call. An interrupted call is not counted. */
export const withHealth =
  (health: ChannelHealth["Service"]) =>
  <A>(
    lane: Lane,
    trials: ReadonlyArray<CooldownTarget>,
    /**
     * Finds the failure that cut an answer short, for calls that return this failure as a part of
     * their result.
     */
    failureIn: ((result: A) => VendorFailure | null) | undefined,
    vendorMessage: () => string | null
  ) =>
  (call: Effect.Effect<A, VendorFailure>): Effect.Effect<A, VendorFailure> =>
    Effect.withFiber((fiber) => {
      const clock = fiber.getRef(Clock.Clock)
      const startedAt = monotonicMillisOf(clock)
      return Effect.onExitPrimitive(call, (exit) => {
        const failure = failureOf(exit, failureIn)
        if (failure !== undefined) {
          const millis = monotonicMillisOf(clock) - startedAt
          health.recordEnd(lane, { failure, millis }, vendorMessage)
        }
        return trials.length === 0 ? undefined : health.endTrial(lane, trials, failure)
      })
    })
