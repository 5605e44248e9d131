/** Chooses the mount an order is sent to, and the next one after a mount that certainly made nothing. */
import { type Array as Arr, Effect, Metric, Random, Result } from "effect"
import type { BreakerState } from "../channels/ChannelHealth.ts"
import { ChannelUnavailable, type RateLimited } from "../domain/Errors.ts"
import {
  mayFailOver,
  type Refusal,
  refusalOf,
  type VendorFailure
} from "../domain/VendorOutcome.ts"
import { monotonicMillis } from "../runtime/monotonic.ts"
import type { CooldownTarget } from "../services/channels/ChannelRecords.ts"
import { failovers } from "../services/metrics.ts"
import type { UsableMount } from "./OrderChecks.ts"
import type { MountedCall, PaidOrder } from "./orderValue.ts"
import type { MoveTo } from "./permits.ts"

/** The most channels that are called for one order. */
const MAX_CHANNELS = 3

/**
 * Draws the order in which mounts are called: by priority, and of one priority each comes first as often
 * as its weight says; those of weight 0 come last.
 */
export const drawMounts = Effect.fnUntraced(function* <
  Mount extends Pick<UsableMount, "priority" | "weight">
>(mounts: Arr.NonEmptyReadonlyArray<Mount>): Effect.fn.Return<ReadonlyArray<Mount>> {
  if (mounts.length === 1) return mounts
  const timed = yield* Effect.forEach(mounts, (mount) =>
    // Of exponentially distributed times, each is the least with a probability proportional to its rate.
    Effect.map(Random.next, (chance) => ({
      mount,
      time: mount.weight === 0 ? Number.POSITIVE_INFINITY : -Math.log1p(-chance) / mount.weight
    }))
  )
  return timed
    .sort((a, b) => a.mount.priority - b.mount.priority || (a.time < b.time ? -1 : 1))
    .map(({ mount }) => mount)
})

type CoolingDown = Extract<BreakerState, { readonly _tag: "Open" }>

const coolingDown = {
  all: "The channel of this model takes no orders for a moment, because its vendor fails; nothing was ordered",
  organization:
    "The channel of this model takes no orders of this organisation for a moment, because its vendor fails at them and not at those of others; nothing was ordered"
}

/** The error without a next mount; where channels cool down, with the time until one may be tried again. */
const noMountLeft = (cooldown: CoolingDown | null) =>
  new ChannelUnavailable(
    cooldown === null
      ? { message: "No other channel of this model can be called for this order", param: "model" }
      : {
          message: cooldown.isOrganizationOnly ? coolingDown.organization : coolingDown.all,
          param: "model",
          retryAfterSeconds: Math.max(1, Math.ceil(cooldown.secondsLeft))
        }
  )

/** The mount that an order is sent to next. */
export interface Turn<Product> {
  readonly mount: MountedCall<Product>
  /** The cooldowns of its channel that the call tries to end; most often none. */
  readonly trials: ReadonlyArray<CooldownTarget>
}

const noTrials: ReadonlyArray<CooldownTarget> = []

/** Moves the order to its next mount whose channel has a permit for it. */
export type NextTurn<Product> = () => Effect.Effect<Turn<Product>, RateLimited | ChannelUnavailable>

/** The mounts of one order in their turns; a channel that cools down or has no permit is passed over. */
export const makeTurns = <Product>(
  mounts: ReadonlyArray<MountedCall<Product>>,
  moveTo: MoveTo,
  breakerStateOf: (channelId: string) => Effect.Effect<BreakerState>
): NextTurn<Product> => {
  let nextIndex = 0
  let callCount = 0
  let refusal: RateLimited | null = null
  let shortestCooldown: CoolingDown | null = null
  const turn: NextTurn<Product> = () => {
    const mount = callCount < MAX_CHANNELS ? mounts[nextIndex] : undefined
    nextIndex += 1
    if (mount === undefined) return Effect.fail(refusal ?? noMountLeft(shortestCooldown))
    const permitRefusal = moveTo(mount.job.channelId)
    if (permitRefusal !== null) {
      refusal ??= permitRefusal
      return turn()
    }
    return Effect.flatMap(breakerStateOf(mount.job.channelId), (state) => {
      if (state._tag === "Open") {
        if (shortestCooldown === null || state.secondsLeft < shortestCooldown.secondsLeft)
          shortestCooldown = state
        return turn()
      }
      callCount += 1
      return Effect.succeed({
        mount,
        trials: state._tag === "HalfOpen" ? state.trials : noTrials
      })
    })
  }
  return turn
}

/**
 * Another mount is called only within this share of an order's time: a vendor may take three quarters of
 * it, and must answer before the hold is given back.
 */
const SHARE_FOR_FAILOVER = 0.25

/** The mount that an order is at present sent to. */
export interface CurrentMount<Product> {
  readonly mount: () => Pick<MountedCall<Product>, "job" | "cost">
  /** The turn whose mount is not called yet; null where there is none. */
  readonly uncalledTurn: () => Turn<Product> | null
  /**
   * Calls one mount after the other until one makes the order, or may have made it. Each stands in the
   * books before it is called, so that after a crash they name the vendor that may have made it.
   */
  readonly call: (
    callMount: (turn: Turn<Product>) => Effect.Effect<Product, VendorFailure>,
    /** Writes the next mount into the books; false when the order is closed. */
    reassign: (
      to: Pick<MountedCall<Product>, "job" | "cost">,
      refusal: Refusal
    ) => Effect.Effect<boolean>
  ) => Effect.Effect<Product, VendorFailure>
}

export const makeCurrentMount = Effect.fnUntraced(function* <Product>(
  first: Turn<Product>,
  nextTurn: NextTurn<Product>,
  order: Pick<PaidOrder<Product, unknown>, "deadlineSeconds" | "task" | "hasBegun">
): Effect.fn.Return<CurrentMount<Product>> {
  const startedAt = yield* monotonicMillis
  const seconds = order.task?.created.submitSeconds ?? order.deadlineSeconds
  let turn = first
  let uncalled: Turn<Product> | null = first

  const call: CurrentMount<Product>["call"] = (callMount, reassign) => {
    /** Moves to the next mount; false where the order stays with the failure of this one. */
    const failOver = Effect.fnUntraced(function* (failure: VendorFailure) {
      const spentSeconds = ((yield* monotonicMillis) - startedAt) / 1000
      if (order.hasBegun() || spentSeconds > seconds * SHARE_FOR_FAILOVER) return false
      const next = yield* Effect.result(nextTurn())
      if (Result.isFailure(next)) return false
      uncalled = next.success
      const refusal = refusalOf(failure)
      if (!(yield* reassign(uncalled.mount, refusal))) return false
      const { channelId: channel } = turn.mount.job
      const { reason } = refusal
      turn = uncalled
      yield* Metric.update(Metric.withAttributes(failovers, { channel, reason }), 1)
      return true
    })

    const product: Effect.Effect<Product, VendorFailure> = Effect.catchIf(
      Effect.suspend(() => {
        uncalled = null
        return callMount(turn)
      }),
      mayFailOver,
      (failure) =>
        Effect.flatMap(failOver(failure), (hasMoved) => (hasMoved ? product : Effect.fail(failure)))
    )
    return product
  }

  return { mount: () => turn.mount, uncalledTurn: () => uncalled, call }
})
