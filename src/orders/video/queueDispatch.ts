/**
 * Submits the videos that wait for a place at their channel, as soon as the channel has one. Every
 * gateway does so: the queue gives each order to one of them at a time, and the state of the task
 * decides that it is submitted once. A gateway that dies before the submit loses nothing, because
 * another one claims the order again; one that dies in the submit leaves a task in `submitting`,
 * which a sweep ends as any other.
 */
import { Cause, Effect, Equal, FiberSet, Option, Result } from "effect"
import { ChannelHealth } from "../../channels/ChannelHealth.ts"
import { ChannelUnavailable, Overloaded } from "../../domain/Errors.ts"
import type { VendorFailure } from "../../domain/VendorOutcome.ts"
import { pauseSeconds } from "../../domain/video/PollPace.ts"
import { Failpoints } from "../../runtime/Failpoints.ts"
import { Catalog } from "../../services/Catalog.ts"
import {
  ChannelQueue,
  type ClaimedOrder,
  type Place,
  UNHELD_SECONDS,
  waitedTooLong
} from "../../services/channels/ChannelQueue.ts"
import { Ledger } from "../../services/Ledger.ts"
import { releaseOrLog } from "../../services/ledgerAnswers.ts"
import { TaskEnds, TaskRepo } from "../../services/TaskRepo.ts"
import type { PaidOrders } from "../paidOrder.ts"
import type { VideoOrders } from "./videoOrder.ts"
import { decodeWaitingVideo } from "./waitingVideo.ts"

/** The shortest pause after a vendor took no task although the gateway had a place for it. */
const PAUSE_SECONDS = 5
/** The pause before an order is looked at again whose hold is still being written. */
const HOLD_SECONDS = 1
/** The minimum age of a place that a sweep looks at; younger places are of orders on their way. */
const SWEPT_SECONDS = 2
/** The places of a channel whose limit was removed while orders waited. */
const NO_LIMIT = 10_000

interface TaskFailure {
  readonly errorCode: string
  readonly errorMessage: string
}

const changedOrder = new ChannelUnavailable({
  message: "The catalog changed while the order waited, and would make another video now",
  param: "model"
})

const otherChannel = new ChannelUnavailable({
  message: "The model is not mounted on the channel any more at which the order waited",
  param: "model"
})

const unreadableOrder = new Overloaded({
  message: "The waiting order could not be read",
  retryAfterSeconds: PAUSE_SECONDS
})

const pauseAfter = (failure: VendorFailure): number =>
  failure._tag === "VendorUnreachable"
    ? PAUSE_SECONDS
    : Math.max(PAUSE_SECONDS, pauseSeconds(failure.retryAfterSeconds))

export const makeQueueDispatch = Effect.fnUntraced(function* (
  videoOrder: VideoOrders,
  { submitWaiting }: Pick<PaidOrders, "submitWaiting">
) {
  const queue = yield* ChannelQueue
  const tasks = yield* TaskRepo
  const ledger = yield* Ledger
  const catalog = yield* Catalog
  const health = yield* ChannelHealth
  const ends = yield* TaskEnds
  const failpoints = yield* Failpoints
  const runInBackground = yield* FiberSet.makeRuntime()

  /** Ends an order that waits; false where it was ended or submitted meanwhile. */
  const endWaiting = Effect.fnUntraced(function* (
    { organizationId, orderId }: Place,
    failure: TaskFailure
  ) {
    const { won } = yield* ledger.release({
      organizationId,
      holdId: orderId,
      by: "sweep",
      task: { from: "waiting", state: "failed", ...failure },
      orphan: null,
      answer: null,
      forgetKey: false
    })
    if (won) ends.notify(orderId)
    return won
  })

  /** Ends a claimed order that cannot be submitted as it was ordered. */
  const giveUp = ({ _tag, message }: { readonly _tag: string; readonly message: string }) =>
    Effect.fnUntraced(function* (claimed: Place) {
      yield* endWaiting(claimed, { errorCode: _tag, errorMessage: message })
      yield* queue.leave(claimed.orderId)
      yield* queue.free(claimed.orderId)
    })

  /** The order as it is submitted now; fails where it would not be the order that was held. */
  const resolve = Effect.fnUntraced(function* ({ channelId, request }: ClaimedOrder) {
    if (request === null) return yield* unreadableOrder
    const { caller, body, summary } = yield* Effect.mapError(
      decodeWaitingVideo(request),
      () => unreadableOrder
    )
    const order = yield* videoOrder(caller, body, null, true)
    const mount = order.mounts.find(({ job }) => job.channelId === channelId)
    if (mount === undefined) return yield* otherChannel
    if (!Equal.equals(order.task?.created.summary, summary)) return yield* changedOrder
    return { order, mount }
  })

  /** Puts back an order whose hold is not written yet, or drops it where none will come. */
  const awaitHold = Effect.fnUntraced(function* ({ orderId, ageSeconds }: ClaimedOrder) {
    if (ageSeconds < UNHELD_SECONDS) return yield* queue.putBack(orderId, HOLD_SECONDS)
    yield* queue.leave(orderId)
    yield* queue.free(orderId)
  })

  /** Makes an order wait again after the vendor took no task; false where it was ended meanwhile. */
  const putBack = Effect.fnUntraced(function* (
    { organizationId, orderId }: Place,
    failure: VendorFailure
  ) {
    const isWaiting = yield* tasks.waitAgain(organizationId, orderId)
    if (isWaiting) yield* queue.putBack(orderId, pauseAfter(failure))
    return isWaiting
  })

  const submit = Effect.fnUntraced(function* (
    claimed: ClaimedOrder,
    { order, mount }: Effect.Success<ReturnType<typeof resolve>>
  ) {
    const { organizationId, orderId, channelId } = claimed
    const state = yield* health.breakerState({ channelId, model: order.model.id, organizationId })
    if (state._tag === "Open") {
      return yield* queue.putBack(orderId, Math.max(1, Math.ceil(state.secondsLeft)))
    }
    const trials = state._tag === "HalfOpen" ? state.trials : []
    const isStarted = yield* tasks.startWaiting(organizationId, orderId)
    if (isStarted === null) return yield* awaitHold(claimed)
    // The place of an order that was submitted already is freed when its task has ended.
    if (!isStarted) return yield* queue.leave(orderId)
    yield* failpoints.pass("video.started")
    const outcome = yield* Effect.result(submitWaiting(order, orderId, { mount, trials }))
    if (Result.isFailure(outcome)) {
      yield* queue.leave(orderId)
      return yield* queue.free(orderId)
    }
    const isPutBack = outcome.success !== null && (yield* putBack(claimed, outcome.success))
    if (!isPutBack) yield* queue.leave(orderId)
  })

  /** A failure of the database leaves the claim to its end, and the order waits until then. */
  const dispatchOne = (claimed: ClaimedOrder) =>
    Effect.matchEffect(resolve(claimed), {
      onSuccess: (resolved) => submit(claimed, resolved),
      onFailure: (error) => giveUp(error)(claimed)
    }).pipe(
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.failCause(cause)
          : Effect.annotateLogs(
              Effect.logError("channel queue: submitting a waiting order failed", cause),
              { order_id: claimed.orderId, channel: claimed.channelId }
            )
      )
    )

  const dispatchAt = Effect.fnUntraced(function* (channelId: string, maxTasks: number) {
    let claimed = yield* queue.next(channelId, maxTasks)
    while (Option.isSome(claimed)) {
      runInBackground(dispatchOne(claimed.value))
      claimed = yield* queue.next(channelId, maxTasks)
    }
  })

  /** Starts the submits of all orders for which their channels have places. */
  const dispatch = Effect.gen(function* () {
    const channels = yield* queue.channels
    if (channels.length === 0) return
    const snapshot = yield* catalog.snapshot
    for (const channelId of channels) {
      yield* dispatchAt(channelId, snapshot.channels.get(channelId)?.max_tasks ?? NO_LIMIT)
    }
  })

  const endExpired = Effect.flatMap(queue.expired, (expired) =>
    Effect.forEach(
      expired,
      (place) =>
        releaseOrLog(place.orderId)(
          Effect.gen(function* () {
            const won = yield* endWaiting(place, waitedTooLong)
            yield* queue.leave(place.orderId)
            if (won) yield* queue.free(place.orderId)
          })
        ),
      { concurrency: "unbounded", discard: true }
    )
  )

  /** Frees the places of orders that have ended, or have never got their hold. */
  const sweepPlaces = Effect.gen(function* () {
    const places = yield* queue.places(SWEPT_SECONDS)
    if (places.length === 0) return
    const old = new Set((yield* queue.places(UNHELD_SECONDS)).map(({ orderId }) => orderId))
    yield* Effect.forEach(
      places,
      ({ organizationId, orderId }) =>
        Effect.flatMap(Effect.option(tasks.find(organizationId, orderId)), (task) => {
          const hasEnded = Option.isSome(task) ? task.value.finished : old.has(orderId)
          return hasEnded ? queue.free(orderId) : Effect.void
        }),
      { concurrency: "unbounded", discard: true }
    )
  })

  return { dispatch, sweep: Effect.andThen(endExpired, sweepPlaces) }
})
