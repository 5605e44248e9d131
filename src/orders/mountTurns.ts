/**
 * Chooses the mount to which an order is sent. When the vendor of a mount certainly created
 * nothing, the order is sent to the next mount (failover).
 */
import { type Array as Arr, Effect, Metric, Random, Result } from "effect"
import type { BreakerState } from "../channels/ChannelHealth.ts"
import { ChannelUnavailable, RateLimited } from "../domain/Errors.ts"
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

/** The maximum number of channels that are called for one order. */
const MAX_CHANNELS = 3

/**
 * Draws the sequence in which mounts are called: by priority, and within one priority at random,
 * where the probability of coming first is proportional to the weight. Mounts of weight 0 come
 * last.
 */
export const drawMounts = <Mount extends Pick<UsableMount, "priority" | "weight">>(
  mounts: Arr.NonEmptyReadonlyArray<Mount>
): Effect.Effect<ReadonlyArray<Mount>> => {
  if (mounts.length === 1) return Effect.succeed(mounts)
  const timed = Effect.forEach(mounts, (mount) =>
    // This is a weighted random order: of several exponentially distributed times, each is the
    // shortest with a probability proportional to its rate, which is the weight.
    Effect.map(Random.next, (chance) => ({
      mount,
      time: mount.weight === 0 ? Number.POSITIVE_INFINITY : -Math.log1p(-chance) / mount.weight
    }))
  )
  return Effect.map(timed, (drawn) =>
    drawn
      .sort((a, b) => a.mount.priority - b.mount.priority || (a.time < b.time ? -1 : 1))
      .map(({ mount }) => mount)
  )
}

type CoolingDown = Extract<BreakerState, { readonly _tag: "Open" }>

const coolingDown = {
  all: "The channel of this model takes no orders for a moment, because its vendor fails; nothing was ordered",
  organization:
    "The channel of this model takes no orders of this organisation for a moment, because its vendor fails at them and not at those of others; nothing was ordered"
}

/**
 * The error when no mount is left to call. Where channels cool down, the error has the time until a
 * channel may be tried again.
 */
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
  /** The cooldowns for which this call is the trial call; empty for most calls. */
  readonly trials: ReadonlyArray<CooldownTarget>
}

const noTrials: ReadonlyArray<CooldownTarget> = []

/** Moves the order to its next mount whose channel has a free permit and a free place. */
export type NextTurn<Product> = () => Effect.Effect<Turn<Product>, RateLimited | ChannelUnavailable>

export interface Turns<Product> {
  readonly next: NextTurn<Product>
  /** The first mount that was skipped because its channel is full; null without such a mount. */
  readonly fullMount: () => MountedCall<Product> | null
}

/** Takes a place at the mount's channel; false where the channel is full. */
export type TakePlace = (
  mount: Pick<MountedCall<unknown>, "job" | "maxTasks">
) => Effect.Effect<boolean>

const channelFull = new RateLimited({
  message:
    "The channel of this model has as many tasks as its vendor makes at a time; order with max_wait to wait for a place, or send this one again later",
  param: "model",
  retryAfterSeconds: 5
})

/**
 * Iterates over the mounts of one order. A channel that cools down, is full, or has no free permit is
 * skipped.
 */
export const makeTurns = <Product>(
  mounts: ReadonlyArray<MountedCall<Product>>,
  moveTo: MoveTo,
  breakerStateOf: (channelId: string) => Effect.Effect<BreakerState>,
  takePlace: TakePlace
): Turns<Product> => {
  let fullMount: MountedCall<Product> | null = null
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
      return Effect.flatMap(takePlace(mount), (hasPlace) => {
        if (!hasPlace) {
          fullMount ??= mount
          refusal ??= channelFull
          return turn()
        }
        callCount += 1
        return Effect.succeed({
          mount,
          trials: state._tag === "HalfOpen" ? state.trials : noTrials
        })
      })
    })
  }
  return { next: turn, fullMount: () => fullMount }
}

/**
 * The share of an order's deadline within which the order may be sent to another mount. The vendor
 * of that mount may take three quarters of the deadline (`SHARE_OF_DEADLINE`), and must answer
 * before the hold is released.
 */
const SHARE_FOR_FAILOVER = 0.25

/** The mount to which an order is currently sent. */
export interface CurrentMount<Product> {
  readonly mount: () => Pick<MountedCall<Product>, "job" | "cost">
  /** The turn whose mount has not been called yet; null where there is none. */
  readonly uncalledTurn: () => Turn<Product> | null
  /**
   * Calls one mount after the other until a mount makes the order, or may have made it. Each mount
   * is recorded in the ledger before it is called, so that after a crash the ledger names the
   * vendor that may have made the order.
   */
  readonly call: (
    callMount: (turn: Turn<Product>) => Effect.Effect<Product, VendorFailure>,
    /** Records the next mount in the ledger; false when the order is closed. */
    reassign: (
      to: Pick<MountedCall<Product>, "job" | "cost">,
      refusal: Refusal & { readonly message: string }
    ) => Effect.Effect<boolean>
  ) => Effect.Effect<Product, VendorFailure>
}

export const makeCurrentMount = <Product>(
  first: Turn<Product>,
  nextTurn: NextTurn<Product>,
  order: Pick<PaidOrder<Product, unknown>, "deadlineSeconds" | "task" | "hasBegun">
): Effect.Effect<CurrentMount<Product>> =>
  Effect.map(monotonicMillis, (startedAt) => {
    const seconds = order.task?.created.submitSeconds ?? order.deadlineSeconds
    let turn = first
    let uncalled: Turn<Product> | null = first

    const mayMove = (nowMillis: number): boolean =>
      !order.hasBegun() && (nowMillis - startedAt) / 1000 <= seconds * SHARE_FOR_FAILOVER

    const call: CurrentMount<Product>["call"] = (callMount, reassign) => {
      /**
       * Moves to the next mount; false where the order ends with the failure of the current mount.
       */
      const failOver = (failure: VendorFailure) =>
        Effect.gen(function* () {
          if (!mayMove(yield* monotonicMillis)) return false
          const next = yield* Effect.result(nextTurn())
          if (Result.isFailure(next)) return false
          uncalled = next.success
          const refusal = { ...refusalOf(failure), message: failure.message }
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
          Effect.flatMap(failOver(failure), (hasMoved) =>
            hasMoved ? product : Effect.fail(failure)
          )
      )
      return product
    }

    return { mount: () => turn.mount, uncalledTurn: () => uncalled, call }
  })
