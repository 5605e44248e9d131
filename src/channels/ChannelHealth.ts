/**
 * How channels and their keys are doing, as this gateway knows it: counted in memory, and told to and
 * heard from the others once a second. A channel rests when its vendor fails most of its calls, a key
 * when the vendor refuses it; then one call after another tries whether it works again.
 */
import { Cause, Clock, Context, Effect, Exit, Layer, Option } from "effect"
import { countName, isFailing, isVendorsFault, MADE, stepOf } from "../domain/channelEnds.ts"
import { failureKind, isAboutKey, refusalOf, type VendorFailure } from "../domain/VendorOutcome.ts"
import { monotonicMillisOf } from "../runtime/monotonic.ts"
import { Settings } from "../runtime/Settings.ts"
import {
  type ChannelFailure,
  ChannelRecords,
  type Rest,
  type Restable
} from "../services/channels/ChannelRecords.ts"
import { makeRestMeasure, measure } from "./channelMeasures.ts"

/** Whether something may be called now. */
export type Standing =
  | { readonly _tag: "Well" }
  /** By one call alone, which has to say how it went. */
  | { readonly _tag: "Trial" }
  | { readonly _tag: "Rests"; readonly secondsLeft: number }

const well: Standing = { _tag: "Well" }

export class ChannelHealth extends Context.Service<
  ChannelHealth,
  {
    /** Costs a statement only where its rest is over. */
    standing(of: Restable): Effect.Effect<Standing>
    /** Why it rests; null for what does not. */
    reasonOf(of: Restable): string | null
    /** Begins a rest, or after a trial a longer one. */
    refused(of: Restable, failure: VendorFailure): Effect.Effect<void>
    works(of: Restable): Effect.Effect<void>
    /** Neither the channel nor its keys rest any more. */
    enabled(channelId: string): Effect.Effect<void>
    /** The trial told nothing. */
    untold(of: Restable): Effect.Effect<void>
    /** Counts how a call of the channel has ended; `said` is what the vendor answered, for operators. */
    ended(channelId: string, end: CallEnd, said: () => string | null): void
    /** How late the end of a task was noticed at most. */
    noticed(channelId: string, lagSeconds: number): void
    /** What an order was held for, and what it came to by the vendor's own usage. */
    used(channelId: string, model: string, amounts: UsedAmounts): void
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

interface Resting {
  /** By the monotonic clock. */
  readonly until: number
  /** Not before then does this gateway ask whether it may try. */
  triedAgainAt: number
  readonly reason: string
}

const nameOf = ({ channelId, keyName }: Restable): string => `${keyName ?? ""} ${channelId}`

export const layerChannelHealth = Layer.effect(
  ChannelHealth,
  Effect.gen(function* () {
    const records = yield* ChannelRecords
    const settings = yield* Settings
    const clock = yield* Clock.Clock

    const measureRests = yield* makeRestMeasure
    let counts = new Map<string, Map<string, number>>()
    let failures = new Map<string, ChannelFailure>()
    let resting = new Map<string, Resting>()

    const count = (channelId: string, name: string, by = 1): void => {
      const ofChannel = counts.get(channelId)
      if (ofChannel === undefined) counts.set(channelId, new Map([[name, by]]))
      else ofChannel.set(name, (ofChannel.get(name) ?? 0) + by)
    }

    const restOf = (of: Restable): Resting | undefined =>
      resting.size === 0 ? undefined : resting.get(nameOf(of))

    const hear = Effect.flatMap(records.rests, (rests) => {
      const now = monotonicMillisOf(clock)
      resting = new Map(
        rests.map((rest) => {
          const until = now + rest.secondsLeft * 1000
          return [nameOf(rest), { until, triedAgainAt: until, reason: rest.reason }]
        })
      )
      return measureRests(rests)
    })

    const beginRest = (of: Restable, why: Pick<Rest, "reason" | "status">) =>
      records.beginRest(of, why, {
        least: of.keyName === null ? settings.channelRestSeconds : settings.keyRestSeconds,
        most: settings.longestRestSeconds
      })

    const tell = Effect.gen(function* () {
      const [told, failed] = [counts, failures]
      counts = new Map()
      failures = new Map()
      if (told.size === 0) return
      yield* measure(told)
      const lines = [...told].flatMap(([channelId, ofChannel]) =>
        [...ofChannel].map(([name, count]) => ({ channelId, name, count }))
      )
      const latest = yield* records.add(lines, [...failed.values()])
      for (const [channelId, ends] of Map.groupBy(latest, (one) => one.channelId)) {
        const of = { channelId, keyName: null }
        const byEnd = new Map(ends.map(({ name, count }) => [name, count]))
        if (restOf(of) !== undefined || !isFailing(byEnd, settings.breakerCalls)) continue
        const { reason = "failing", status = null } = failed.get(channelId) ?? {}
        yield* beginRest(of, { reason, status })
        yield* Effect.logWarning("a channel takes no orders, as its vendor fails").pipe(
          Effect.annotateLogs({ channel: channelId, reason })
        )
      }
    })

    const talk = Effect.andThen(tell, hear).pipe(
      Effect.catchCause((cause) => Effect.logDebug("gateways did not hear of channels", cause))
    )
    yield* hear
    yield* Effect.forkScoped(
      Effect.forever(Effect.andThen(Effect.sleep(`${SECONDS_BETWEEN_TALKS} seconds`), talk))
    )

    /** What this gateway has done it knows at once. */
    const heard = (change: Effect.Effect<void>) =>
      Effect.andThen(change, hear).pipe(
        Effect.catchDefect((defect) =>
          Effect.logWarning("how a channel is doing could not be told", defect)
        )
      )

    return ChannelHealth.of({
      standing: (of) =>
        Effect.suspend((): Effect.Effect<Standing> => {
          const rest = restOf(of)
          if (rest === undefined) return Effect.succeed(well)
          const now = monotonicMillisOf(clock)
          const rests = (): Standing => ({
            _tag: "Rests",
            secondsLeft: (rest.triedAgainAt - now) / 1000
          })
          if (rest.triedAgainAt > now) return Effect.succeed(rests())
          // One call a second asks whether it may try: the others of this gateway pass by.
          rest.triedAgainAt = now + SECONDS_BETWEEN_TALKS * 1000
          return records.takeTrial(of).pipe(
            Effect.map((isTaken): Standing => (isTaken ? { _tag: "Trial" } : rests())),
            Effect.catchDefect(() => Effect.succeed(rests()))
          )
        }),
      reasonOf: (of) => restOf(of)?.reason ?? null,
      refused: (of, failure) =>
        Effect.suspend(() =>
          (restOf(of)?.until ?? 0) > monotonicMillisOf(clock)
            ? Effect.void
            : heard(beginRest(of, refusalOf(failure)))
        ),
      enabled: (channelId) =>
        heard(
          Effect.flatMap(records.rests, (rests) =>
            Effect.forEach(
              rests.filter((rest) => rest.channelId === channelId),
              records.endRest,
              { discard: true }
            )
          )
        ),
      works: (of) => heard(records.endRest(of)),
      untold: (of) => heard(records.giveTrialBack(of)),
      ended: (channelId, { failure, millis }, said) => {
        count(channelId, failure === null ? MADE : failureKind(failure))
        if (failure === null) return count(channelId, countName("took", stepOf(millis)))
        if (!isVendorsFault(failure) && !isAboutKey(failure)) return
        const at = new Date(clock.currentTimeMillisUnsafe())
        const message = said() ?? failure.message
        failures.set(channelId, { channelId, at, ...refusalOf(failure), message })
      },
      noticed: (channelId, lagSeconds) =>
        count(channelId, countName("lag", stepOf(lagSeconds * 1000))),
      used: (channelId, model, { estimatedNano, usedNano }) => {
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
    channelId: string,
    isTrial: boolean,
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
          health.ended(channelId, { failure, millis: monotonicMillisOf(clock) - startedAt }, said)
        }
        return isTrial ? afterTrial(health, { channelId, keyName: null }, failure) : undefined
      })
    })

/** `failure` is null where the channel works, and undefined where the call tells nothing. */
const afterTrial = (
  health: ChannelHealth["Service"],
  of: Restable,
  failure: VendorFailure | null | undefined
) => {
  if (failure === null) return health.works(of)
  return failure !== undefined && isVendorsFault(failure)
    ? health.refused(of, failure)
    : health.untold(of)
}
