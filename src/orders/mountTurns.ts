/** Which of its mounts an order goes to, and to which after one that certainly made nothing. */
import { type Array as Arr, Effect, Metric, Random, Result } from "effect"
import type { Standing } from "../channels/ChannelHealth.ts"
import { ChannelUnavailable, type RateLimited } from "../domain/Errors.ts"
import {
  mayFailOver,
  type Refusal,
  refusalOf,
  type VendorFailure
} from "../domain/VendorOutcome.ts"
import { monotonicMillis } from "../runtime/monotonic.ts"
import type { Restable } from "../services/channels/ChannelRecords.ts"
import { failovers } from "../services/metrics.ts"
import type { UsableMount } from "./OrderChecks.ts"
import type { MountedCall, PaidOrder } from "./orderValue.ts"
import type { MoveTo } from "./places.ts"

/** Channels that are called for one order, at most. */
const MAX_CHANNELS = 3

/**
 * The mounts by priority. Of one priority each comes first as often as its weight says, and those of
 * weight 0 come last.
 */
export const drawn = <Mount extends Pick<UsableMount, "priority" | "weight">>(
  mounts: Arr.NonEmptyReadonlyArray<Mount>
): Effect.Effect<ReadonlyArray<Mount>> => {
  if (mounts.length === 1) return Effect.succeed(mounts)
  return Effect.map(
    Effect.forEach(mounts, (mount) =>
      // The least of exponential times is each one's as often as its rate says.
      Effect.map(Random.next, (chance) => ({
        mount,
        time: mount.weight === 0 ? Number.POSITIVE_INFINITY : -Math.log1p(-chance) / mount.weight
      }))
    ),
    (timed) =>
      timed
        .sort((a, b) => a.mount.priority - b.mount.priority || (a.time < b.time ? -1 : 1))
        .map(({ mount }) => mount)
  )
}

type Rests = Extract<Standing, { readonly _tag: "Rests" }>

const becauseItRests = {
  all: "The channel of this model takes no orders for a moment, because its vendor fails; nothing was ordered",
  own: "The channel of this model takes no orders of this organisation for a moment, because its vendor fails at them and not at those of others; nothing was ordered"
}

/** Why no mount is left; where channels rest, with the time until the first of them may be tried. */
const noneLeft = (rests: Rests | null) =>
  new ChannelUnavailable(
    rests === null
      ? { message: "No other channel of this model can be called for this order", param: "model" }
      : {
          message: rests.isOwn ? becauseItRests.own : becauseItRests.all,
          param: "model",
          retryAfterSeconds: Math.max(1, Math.ceil(rests.secondsLeft))
        }
  )

/** A mount whose turn it is. */
export interface Turn<Made> {
  readonly mount: MountedCall<Made>
  /** What of its channel the call tries, whether it works again; most often nothing. */
  readonly trials: ReadonlyArray<Restable>
}

const noTrials: ReadonlyArray<Restable> = []

/** Moves the order to its next mount that has a free place. */
export type MountTurns<Made> = () => Effect.Effect<Turn<Made>, RateLimited | ChannelUnavailable>

/** The mounts of one order in their turns; a channel that rests or has no free place is passed over. */
export const makeTurns = <Made>(
  mounts: ReadonlyArray<MountedCall<Made>>,
  moveTo: MoveTo,
  standing: (channelId: string) => Effect.Effect<Standing>
): MountTurns<Made> => {
  let next = 0
  let called = 0
  let refusal: RateLimited | null = null
  let rests: Rests | null = null
  const turn: MountTurns<Made> = () => {
    const mount = called < MAX_CHANNELS ? mounts[next] : undefined
    next += 1
    if (mount === undefined) return Effect.fail(refusal ?? noneLeft(rests))
    const refused = moveTo(mount.job.channelId)
    if (refused !== null) {
      refusal ??= refused
      return turn()
    }
    return Effect.flatMap(standing(mount.job.channelId), (found) => {
      if (found._tag === "Rests") {
        if (rests === null || found.secondsLeft < rests.secondsLeft) rests = found
        return turn()
      }
      called += 1
      return Effect.succeed({ mount, trials: found._tag === "Trial" ? found.of : noTrials })
    })
  }
  return turn
}

/**
 * Another mount is called within this share of an order's time: a vendor may take three quarters, and
 * must have answered before the order is given up.
 */
const SHARE_FOR_FAILOVER = 0.25

/** The mount an order is at. */
export interface Mounted<Made> {
  readonly now: () => Pick<MountedCall<Made>, "job" | "cost">
  /** The turn that was taken and whose mount is not called yet; null where there is none. */
  readonly uncalled: () => Turn<Made> | null
  /**
   * Calls one mount after the other until one makes the order, or may have made it. The books know of
   * each before it is called: after a crash they tell who may have made it.
   */
  readonly call: (
    at: (turn: Turn<Made>) => Effect.Effect<Made, VendorFailure>,
    /** False when the order is not open any more. */
    reassign: (
      to: Pick<MountedCall<Made>, "job" | "cost">,
      refusal: Refusal
    ) => Effect.Effect<boolean>
  ) => Effect.Effect<Made, VendorFailure>
}

export const makeMounted = <Made>(
  first: Turn<Made>,
  next: MountTurns<Made>,
  order: Pick<PaidOrder<Made, unknown>, "deadlineSeconds" | "task" | "hasBegun">
): Effect.Effect<Mounted<Made>> =>
  Effect.map(monotonicMillis, (startedAt) => {
    const seconds = order.task?.created.submitSeconds ?? order.deadlineSeconds
    let turn = first
    let uncalled: Turn<Made> | null = first

    const call: Mounted<Made>["call"] = (at, reassign) => {
      const goesOn = Effect.fnUntraced(function* (failure: VendorFailure) {
        const spent = ((yield* monotonicMillis) - startedAt) / 1000
        if (order.hasBegun?.() === true || spent > seconds * SHARE_FOR_FAILOVER) return false
        const following = yield* Effect.result(next())
        if (Result.isFailure(following)) return false
        uncalled = following.success
        const refusal = refusalOf(failure)
        if (!(yield* reassign(uncalled.mount, refusal))) return false
        const { channelId: channel } = turn.mount.job
        const { reason } = refusal
        turn = uncalled
        yield* Metric.update(Metric.withAttributes(failovers, { channel, reason }), 1)
        return true
      })

      const made: Effect.Effect<Made, VendorFailure> = Effect.catchIf(
        Effect.suspend(() => {
          uncalled = null
          return at(turn)
        }),
        mayFailOver,
        (failure) =>
          Effect.flatMap(goesOn(failure), (isNext) => (isNext ? made : Effect.fail(failure)))
      )
      return made
    }

    return { now: () => turn.mount, uncalled: () => uncalled, call }
  })
