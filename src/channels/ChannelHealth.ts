/**
 * How channels and their keys are doing, as this gateway knows it: counted in memory, and told to and
 * heard from the others once a second. A channel, or a model of it, rests when its vendor fails most
 * calls of several organisations, an organisation's orders there when only its own fail, and a key when
 * the vendor refuses it; then one call after another tries whether it works again.
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
import { makeRestMeasure, measure } from "./channelMeasures.ts"

/** What one organisation orders at a channel. */
export interface Lane {
  readonly channelId: string
  readonly model: string
  readonly organizationId: string
}

/** Whether something may be called now. */
export type BreakerState =
  | { readonly _tag: "Closed" }
  /** By one call alone, which has to say how it went. */
  | { readonly _tag: "HalfOpen"; readonly trials: ReadonlyArray<CooldownTarget> }
  | {
      readonly _tag: "Open"
      readonly secondsLeft: number
      /** Only for this organisation, while others are served. */
      readonly isOrganizationOnly: boolean
    }

const well: BreakerState = { _tag: "Closed" }

/** The key of an account at a channel. */
export interface ChannelKey {
  readonly channelId: string
  readonly keyName: string
}

const keyRest = ({ channelId, keyName }: ChannelKey): CooldownTarget =>
  keyTarget(channelId, keyName)

export class ChannelHealth extends Context.Service<
  ChannelHealth,
  {
    /** Costs a statement only where a rest of it is over. */
    breakerState(lane: Lane): Effect.Effect<BreakerState>
    /** How the calls that try what has rested went; null where they worked, undefined for nothing. */
    endTrial(
      lane: Lane,
      of: ReadonlyArray<CooldownTarget>,
      failure: VendorFailure | null | undefined
    ): Effect.Effect<void>
    keyState(key: ChannelKey): Effect.Effect<BreakerState>
    /** Why it rests; null for one that does not. */
    keyCooldownReason(key: ChannelKey): string | null
    /** Begins the key's rest, or after a trial a longer one. */
    recordKeyRefusal(key: ChannelKey, failure: VendorFailure): Effect.Effect<void>
    recordKeySuccess(key: ChannelKey): Effect.Effect<void>
    /** The key's trial told nothing. */
    returnKeyTrial(key: ChannelKey): Effect.Effect<void>
    /** Neither the channel nor its models and keys rest any more, for nobody. */
    endCooldowns(channelId: string): Effect.Effect<void>
    /** Counts how a paid call has ended; `said` is what the vendor answered, for operators. */
    recordEnd(lane: Lane, end: CallEnd, said: () => string | null): void
    /** How late the end of a task was noticed at most. */
    recordLag(channelId: string, lagSeconds: number): void
    /** What an order was held for, and what it came to by the vendor's own usage. */
    recordUsage(channelId: string, model: string, amounts: UsedAmounts): void
  }
>()("gateway/channels/ChannelHealth") {}

export interface UsedAmounts {
  readonly estimatedNano: bigint
  readonly usedNano: bigint
}

export interface CallEnd {
  /** Null for a call that brought what was asked for. */
  readonly failure: VendorFailure | null
  readonly millis: number
}

const SECONDS_BETWEEN_TALKS = 1
/** Organisations that are counted by themselves between two talks, at one model of a channel. */
const MAX_ORGANIZATIONS = 64

interface Resting extends Pick<Cooldown, "isAlone"> {
  readonly of: CooldownTarget
  /** By the monotonic clock. */
  readonly until: number
  /** Not before then does this gateway ask whether it may try. */
  triedAgainAt: number
  readonly reason: string
}

const restableOf = ({
  channelId,
  keyName,
  model,
  organizationId
}: CooldownTarget): CooldownTarget => ({
  channelId,
  keyName,
  model,
  organizationId
})

/** Of what rests: channels, keys and models each by their name; `null` sorts with the empty ones. */
const nameOf = ({ keyName, model, organizationId }: CooldownTarget): string =>
  `${keyName ?? ""}\n${model ?? ""}\n${organizationId ?? ""}`

/** What an order has to pass: what is its organisation's own first, which costs the others nothing. */
const scopesOf = ({ model, organizationId }: Lane): ReadonlyArray<CooldownScope> => [
  { model, organizationId },
  { model: null, organizationId },
  { model, organizationId: null },
  { model: null, organizationId: null }
]

interface Tally {
  made: number
  failed: number
}

/** Ends of calls since the last talk, by channel, model and organisation. */
const makeTallies = () => {
  const byLane = new Map<string, { readonly lane: Lane; readonly tallies: Map<string, Tally> }>()

  const count = ({ channelId, model, organizationId }: Lane, end: keyof Tally): void => {
    const name = `${channelId}\n${model}`
    const found = byLane.get(name)
    const lane = found ?? { lane: { channelId, model, organizationId }, tallies: new Map() }
    if (found === undefined) byLane.set(name, lane)
    const { tallies } = lane
    const known = tallies.get(organizationId)
    if (known !== undefined) {
      known[end] += 1
      return
    }
    const counter = tallies.size < MAX_ORGANIZATIONS ? organizationId : OTHERS
    const tally = tallies.get(counter) ?? { made: 0, failed: 0 }
    tallies.set(counter, tally)
    tally[end] += 1
  }

  const ends = (): ReadonlyArray<CallEnds> =>
    [...byLane.values()].flatMap(({ lane: { channelId, model }, tallies }) =>
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

    const measureRests = yield* makeRestMeasure
    let counts = new Map<string, Map<string, number>>()
    let tallies = makeTallies()
    let failures = new Map<string, ChannelFailure>()
    /** By channel, and there by name: orders of a channel of which nothing rests look once. */
    let resting = new Map<string, Map<string, Resting>>()

    const count = (channelId: string, name: string, by = 1): void => {
      const ofChannel = counts.get(channelId)
      if (ofChannel === undefined) counts.set(channelId, new Map([[name, by]]))
      else ofChannel.set(name, (ofChannel.get(name) ?? 0) + by)
    }

    const restOf = (of: CooldownTarget): Resting | undefined =>
      resting.get(of.channelId)?.get(nameOf(of))

    const hear = Effect.flatMap(records.cooldowns, (cooldowns) => {
      const now = monotonicMillisOf(clock)
      resting = new Map(
        [...Map.groupBy(cooldowns, ({ channelId }) => channelId)].map(([channelId, ofChannel]) => [
          channelId,
          new Map(
            ofChannel.map((rest) => {
              const until = now + rest.secondsLeft * 1000
              const { reason, isAlone } = rest
              const of = restableOf(rest)
              return [nameOf(of), { of, until, triedAgainAt: until, reason, isAlone }]
            })
          )
        ])
      )
      return measureRests(cooldowns)
    })

    const beginCooldown = (of: CooldownTarget, cause: CooldownCause) =>
      records.beginCooldown(of, cause, {
        least: of.keyName === null ? settings.channelCooldownSeconds : settings.keyCooldownSeconds,
        most: settings.maxCooldownSeconds
      })

    /** Begins and changes rests of a channel by the ends of its calls that all gateways counted. */
    const judge = Effect.fnUntraced(function* (
      channelId: string,
      ends: ReadonlyArray<CallEnds>,
      cause: Pick<CooldownCause, "reason" | "status">
    ) {
      const known = [...(resting.get(channelId)?.values() ?? [])].flatMap(({ of, isAlone }) =>
        of.keyName === null ? [{ ...of, isAlone }] : []
      )
      for (const { isAlone, ...scope } of dueCooldowns(ends, known, settings.breakerCalls)) {
        yield* beginCooldown({ channelId, keyName: null, ...scope }, { ...cause, isAlone })
        const { model, organizationId } = scope
        yield* Effect.logWarning(
          organizationId === null || isAlone
            ? "a channel takes no orders, as its vendor fails"
            : "a channel takes no orders of an organisation, as its vendor fails them alone"
        ).pipe(
          Effect.annotateLogs({
            channel: channelId,
            reason: cause.reason,
            ...(model === null ? {} : { model }),
            ...(organizationId === null ? {} : { organization: organizationId })
          })
        )
      }
      for (const of of contradictedCooldowns(ends, known)) yield* records.contradict(of)
    })

    const tell = Effect.gen(function* () {
      const [counted, ends, failed] = [counts, tallies.ends(), failures]
      counts = new Map()
      tallies = makeTallies()
      failures = new Map()
      if (counted.size === 0) return
      yield* measure(counted)
      const lines = [...counted].flatMap(([channelId, ofChannel]) =>
        [...ofChannel].map(([name, count]) => ({ channelId, name, count }))
      )
      yield* records.add({ counts: lines, ends, failures: [...failed.values()] })
      const isDoubtful = ({ channelId, failed }: CallEnds): boolean =>
        failed > 0 || resting.has(channelId)
      const doubtful = [...new Set(ends.filter(isDoubtful).map(({ channelId }) => channelId))]
      if (doubtful.length === 0) return
      const latest = yield* records.latestEnds(doubtful)
      for (const [channelId, ofChannel] of Map.groupBy(latest, (one) => one.channelId)) {
        const { reason = "failing", status = null } = failed.get(channelId) ?? {}
        yield* judge(channelId, ofChannel, { reason, status })
      }
    })

    yield* hear
    yield* startJob({
      name: "channel health exchange",
      interval: `${SECONDS_BETWEEN_TALKS} seconds`,
      firstDelay: `${SECONDS_BETWEEN_TALKS} seconds`,
      run: Effect.andThen(tell, hear),
      onFailure: (cause) => Effect.logDebug("channel health: exchange with gateways failed", cause),
      metric: channelState
    })

    /** What this gateway has done it knows at once. */
    const heard = (change: Effect.Effect<void>) =>
      Effect.andThen(change, hear).pipe(
        Effect.catchDefect((defect) =>
          Effect.logWarning("how a channel is doing could not be told", defect)
        )
      )

    /** For an order of `organizationId` that all of it stands in the way of; never for nothing. */
    const standingBehind = (
      found: ReadonlyArray<Resting>,
      organizationId: string | null
    ): Effect.Effect<BreakerState> => {
      const now = monotonicMillisOf(clock)
      const cooldowns = (): BreakerState => ({
        _tag: "Open",
        secondsLeft: Math.max(...found.map(({ triedAgainAt }) => triedAgainAt - now)) / 1000,
        isOrganizationOnly: found.every(({ of, isAlone }) => of.organizationId !== null && !isAlone)
      })
      if (found.some(({ triedAgainAt }) => triedAgainAt > now)) return Effect.succeed(cooldowns())
      // One call a second asks whether it may try: the others of this gateway pass by.
      for (const rest of found) rest.triedAgainAt = now + SECONDS_BETWEEN_TALKS * 1000
      return Effect.gen(function* () {
        const taken: Array<CooldownTarget> = []
        for (const { of } of found) {
          if (yield* records.takeTrial(of, organizationId)) {
            taken.push(of)
            continue
          }
          for (const each of taken) yield* records.giveTrialBack(each)
          return cooldowns()
        }
        const trial: BreakerState = { _tag: "HalfOpen", trials: taken }
        return trial
      }).pipe(Effect.catchDefect(() => Effect.succeed(cooldowns())))
    }

    /** The order of the organisation has failed where it should have told whether the vendor works. */
    const failTrial = Effect.fnUntraced(function* (
      of: CooldownTarget,
      { organizationId }: Lane,
      failure: VendorFailure
    ) {
      const cause = { ...refusalOf(failure), isAlone: false }
      if (of.organizationId !== null) return yield* beginCooldown(of, cause)
      const { maxCooldownSeconds } = settings
      const isLonger = yield* records.failTrial(of, organizationId, maxCooldownSeconds)
      if (!isLonger) yield* beginCooldown({ ...of, organizationId }, cause)
    })

    return ChannelHealth.of({
      breakerState: (lane) =>
        Effect.suspend((): Effect.Effect<BreakerState> => {
          const ofChannel = resting.get(lane.channelId)
          if (ofChannel === undefined) return Effect.succeed(well)
          const found = scopesOf(lane).flatMap((scope) => {
            const rest = ofChannel.get(
              nameOf({ channelId: lane.channelId, keyName: null, ...scope })
            )
            return rest === undefined ? [] : [rest]
          })
          return found.length === 0
            ? Effect.succeed(well)
            : standingBehind(found, lane.organizationId)
        }),
      endTrial: (lane, of, failure) => {
        const end = (each: CooldownTarget): Effect.Effect<void> => {
          if (failure === null) return records.endCooldown(each)
          return failure !== undefined && isVendorsFault(failure)
            ? failTrial(each, lane, failure)
            : records.giveTrialBack(each)
        }
        return heard(Effect.forEach(of, end, { discard: true }))
      },
      keyState: (key) =>
        Effect.suspend(() => {
          const rest = restOf(keyRest(key))
          return rest === undefined ? Effect.succeed(well) : standingBehind([rest], null)
        }),
      keyCooldownReason: (key) => restOf(keyRest(key))?.reason ?? null,
      recordKeyRefusal: (key, failure) =>
        Effect.suspend(() =>
          (restOf(keyRest(key))?.until ?? 0) > monotonicMillisOf(clock)
            ? Effect.void
            : heard(beginCooldown(keyRest(key), { ...refusalOf(failure), isAlone: false }))
        ),
      recordKeySuccess: (key) => heard(records.endCooldown(keyRest(key))),
      returnKeyTrial: (key) => heard(records.giveTrialBack(keyRest(key))),
      endCooldowns: (channelId) =>
        heard(
          Effect.flatMap(records.cooldowns, (cooldowns) =>
            Effect.forEach(
              cooldowns.filter((rest) => rest.channelId === channelId),
              records.endCooldown,
              { discard: true }
            )
          )
        ),
      recordEnd: (lane, { failure, millis }, said) => {
        const { channelId } = lane
        count(channelId, failure === null ? SUCCEEDED : failureKind(failure))
        if (failure === null) {
          tallies.count(lane, "made")
          return count(channelId, countName("took", bucketOf(millis)))
        }
        const isVendors = isVendorsFault(failure)
        if (isVendors) tallies.count(lane, "failed")
        if (!isVendors && !isAboutKey(failure)) return
        const at = new Date(clock.currentTimeMillisUnsafe())
        const message = said() ?? failure.message
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

/** Tells of a paid call of a channel how it has ended; one that is interrupted tells nothing. */
export const watchedBy =
  (health: ChannelHealth["Service"]) =>
  <Made>(
    lane: Lane,
    trials: ReadonlyArray<CooldownTarget>,
    brokenOffBy: ((made: Made) => VendorFailure | null) | undefined,
    said: () => string | null
  ) =>
  (call: Effect.Effect<Made, VendorFailure>): Effect.Effect<Made, VendorFailure> =>
    Effect.withFiber((fiber) => {
      const clock = fiber.getRef(Clock.Clock)
      const startedAt = monotonicMillisOf(clock)
      return Effect.onExitPrimitive(call, (exit) => {
        const failure = Exit.isSuccess(exit)
          ? (brokenOffBy?.(exit.value) ?? null)
          : Option.getOrUndefined(Cause.findErrorOption(exit.cause))
        if (failure !== undefined) {
          health.recordEnd(lane, { failure, millis: monotonicMillisOf(clock) - startedAt }, said)
        }
        return trials.length === 0 ? undefined : health.endTrial(lane, trials, failure)
      })
    })
