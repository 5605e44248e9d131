/** Which of its mounts an order goes to, and to which after one that certainly made nothing. */
import { type Array as Arr, Effect, Metric, Random, Result } from "effect"
import { ChannelUnavailable, type RateLimited } from "../domain/Errors.ts"
import {
  mayFailOver,
  type Refusal,
  refusalOf,
  type VendorFailure
} from "../domain/VendorOutcome.ts"
import { monotonicMillis } from "../runtime/monotonic.ts"
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

const noneLeft = new ChannelUnavailable({
  message: "No other channel of this model can be called for this order",
  param: "model"
})

/** Moves the order to its next mount that has a free place. */
export type MountTurns<Made> = () => Result.Result<
  MountedCall<Made>,
  RateLimited | ChannelUnavailable
>

/** The mounts of one order in their turns; a channel without a free place is passed over. */
export const makeTurns = <Made>(
  mounts: ReadonlyArray<MountedCall<Made>>,
  moveTo: MoveTo
): MountTurns<Made> => {
  let next = 0
  let called = 0
  let refusal: RateLimited | null = null
  return () => {
    while (called < MAX_CHANNELS) {
      const mount = mounts[next]
      next += 1
      if (mount === undefined) break
      const refused = moveTo(mount.job.channelId)
      if (refused === null) {
        called += 1
        return Result.succeed(mount)
      }
      refusal ??= refused
    }
    return Result.fail(refusal ?? noneLeft)
  }
}

/**
 * Another mount is called within this share of an order's time: a vendor may take three quarters, and
 * must have answered before the order is given up.
 */
const SHARE_FOR_FAILOVER = 0.25

/** The mount an order is at. */
export interface Mounted<Made> {
  readonly now: () => Pick<MountedCall<Made>, "job" | "cost">
  /**
   * Calls one mount after the other until one makes the order, or may have made it. The books know of
   * each before it is called: after a crash they tell who may have made it.
   */
  readonly call: (
    at: (mount: MountedCall<Made>) => Effect.Effect<Made, VendorFailure>,
    /** False when the order is not open any more. */
    reassign: (
      to: Pick<MountedCall<Made>, "job" | "cost">,
      refusal: Refusal
    ) => Effect.Effect<boolean>
  ) => Effect.Effect<Made, VendorFailure>
}

export const makeMounted = <Made>(
  first: MountedCall<Made>,
  next: MountTurns<Made>,
  order: Pick<PaidOrder<Made, unknown>, "deadlineSeconds" | "task" | "hasBegun">
): Effect.Effect<Mounted<Made>> =>
  Effect.map(monotonicMillis, (startedAt) => {
    const seconds = order.task?.created.submitSeconds ?? order.deadlineSeconds
    let mount = first

    const call: Mounted<Made>["call"] = (at, reassign) => {
      const goesOn = Effect.fnUntraced(function* (failure: VendorFailure) {
        const spent = ((yield* monotonicMillis) - startedAt) / 1000
        if (order.hasBegun?.() === true || spent > seconds * SHARE_FOR_FAILOVER) return false
        const following = next()
        if (Result.isFailure(following)) return false
        const refusal = refusalOf(failure)
        if (!(yield* reassign(following.success, refusal))) return false
        const { channelId: channel } = mount.job
        const { reason } = refusal
        yield* Metric.update(Metric.withAttributes(failovers, { channel, reason }), 1)
        mount = following.success
        return true
      })

      const made: Effect.Effect<Made, VendorFailure> = Effect.catchIf(
        Effect.suspend(() => at(mount)),
        mayFailOver,
        (failure) =>
          Effect.flatMap(goesOn(failure), (isNext) => (isNext ? made : Effect.fail(failure)))
      )
      return made
    }

    return { now: () => mount, call }
  })
