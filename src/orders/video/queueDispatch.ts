/**
 * Submits the videos that wait for a place at their channel, as soon as the channel has one. Every
 * gateway does so: the queue gives each order to one of them at a time, and the state of the task
 * decides that it is submitted once. A gateway that dies before the submit loses nothing, because
 * another one claims the order again; one that dies in the submit leaves a task in `submitting`,
 * which a sweep ends as any other.
 */
import { Cause, Effect, Equal, Option, Result } from "effect"
import { ChannelHealth } from "../../channels/ChannelHealth.ts"
import { ChannelUnavailable, type Overloaded } from "../../domain/Errors.ts"
import type { VendorFailure } from "../../domain/VendorOutcome.ts"
import { pauseSeconds } from "../../domain/video/PollPace.ts"
import { makeDetached } from "../../runtime/Detached.ts"
import { Failpoints } from "../../runtime/Failpoints.ts"
import { Settings } from "../../runtime/Settings.ts"
import { Catalog } from "../../services/Catalog.ts"
import {
  ChannelQueue,
  type ClaimedOrder,
  type Place,
  type SweptPlace,
  UNHELD_SECONDS,
  waitedTooLong
} from "../../services/channels/ChannelQueue.ts"
import { Ledger } from "../../services/Ledger.ts"
import { releaseOrLog } from "../../services/ledgerAnswers.ts"
import { type Task, TaskEnds, TaskRepo } from "../../services/TaskRepo.ts"
import type { PaidOrders } from "../paidOrder.ts"
import type { VideoOrders } from "./videoOrder.ts"
import { decodeWaitingVideo } from "./waitingVideo.ts"

/** The shortest pause before an order is tried again, in runs of the poller. */
const PAUSE_RUNS = 5
/** The minimum age of what a sweep looks at; younger places and orders are on their way. */
const SWEPT_SECONDS = 2
/** The places of a channel whose limit was removed while orders waited. */
const NO_LIMIT = 10_000

interface TaskFailure {
  readonly errorCode: string
  readonly errorMessage: string
}

const changedOrder = {
  _tag: "catalog_changed",
  message: "The catalog changed while the order waited, and would make another video now"
} as const

const unreadableOrder = {
  _tag: "order_unreadable",
  message: "The gateway could not decrypt the waiting order"
} as const

const otherChannel = new ChannelUnavailable({
  message: "The model is not mounted at the moment on the channel at which the order waits",
  param: "model"
})

/** Whether the same order may be submitted a little later: its channel is disabled, for example. */
const isPassing = ({ _tag }: { readonly _tag: string }): boolean =>
  _tag === "channel_unavailable" || _tag === "overloaded"

/** The seconds after which the vendor, or the gateway, wants to be asked again. */
const retrySecondsOf = (failure: VendorFailure | Overloaded): number =>
  failure._tag === "VendorUnreachable" ? 0 : pauseSeconds(failure.retryAfterSeconds)

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
  const { pollerSeconds } = yield* Settings
  // A shutdown waits for the submits that are on their way.
  const detached = yield* makeDetached
  const pause = PAUSE_RUNS * pollerSeconds

  /** Ends an order that waits, unless it was ended before or is being submitted. */
  const endWaiting = Effect.fnUntraced(function* (
    { organizationId, orderId }: Place,
    failure: TaskFailure
  ) {
    const { won, state } = yield* ledger.release({
      organizationId,
      holdId: orderId,
      by: "sweep",
      task: { from: "waiting", state: "failed", ...failure },
      orphan: null,
      answer: null,
      forgetKey: false
    })
    if (won) ends.notify(orderId)
    if (state !== "open") yield* queue.leave(orderId)
    if (won) yield* queue.free(orderId)
  })

  /** Ends a claimed order that cannot be submitted as it was ordered, or puts it back. */
  const giveUp = (
    claimed: Place,
    error: { readonly _tag: string; readonly message: string }
  ): Effect.Effect<void> =>
    isPassing(error)
      ? queue.putBack(claimed.orderId, pause)
      : endWaiting(claimed, { errorCode: error._tag, errorMessage: error.message })

  /** The order as it is submitted now; fails where it would not be the order that was held. */
  const resolve = Effect.fnUntraced(function* ({ channelId, request }: ClaimedOrder) {
    if (request === null) return yield* Effect.fail(unreadableOrder)
    const { caller, body, options, summary } = yield* Effect.mapError(
      decodeWaitingVideo(request),
      () => unreadableOrder
    )
    const order = yield* videoOrder(caller, body, options, true)
    const mount = order.mounts.find(({ job }) => job.channelId === channelId)
    if (mount === undefined) return yield* otherChannel
    if (!Equal.equals(order.task?.created.summary, summary)) return yield* Effect.fail(changedOrder)
    return { order, mount }
  })

  /** Makes an order wait again whose vendor made nothing; one that was ended meanwhile leaves. */
  const waitAgain = Effect.fnUntraced(function* (
    { organizationId, orderId }: Place,
    seconds: number
  ) {
    return (yield* tasks.waitAgain(organizationId, orderId))
      ? yield* queue.putBack(orderId, Math.max(pause, seconds))
      : yield* queue.leave(orderId)
  })

  const submit = Effect.fnUntraced(function* (
    claimed: ClaimedOrder,
    { order, mount }: Effect.Success<ReturnType<typeof resolve>>
  ) {
    const { organizationId, orderId, channelId } = claimed
    const isStarted = yield* tasks.startWaiting(organizationId, orderId)
    // The place of an order that was submitted already is freed when its task has ended.
    if (!isStarted) return yield* queue.leave(orderId)
    yield* failpoints.pass("video.started")
    const lane = { channelId, model: order.model.id, organizationId }
    const state = yield* health.breakerState(lane)
    if (state._tag === "Open") return yield* waitAgain(claimed, Math.ceil(state.secondsLeft))
    const trials = state._tag === "HalfOpen" ? state.trials : []
    const outcome = yield* Effect.result(submitWaiting(order, orderId, { mount, trials }))
    if (Result.isFailure(outcome)) {
      yield* queue.leave(orderId)
      return yield* queue.free(orderId)
    }
    const failure = outcome.success
    if (failure === null) return yield* queue.leave(orderId)
    // The files of the order could not be read, so the vendor was not called.
    if (failure._tag === "overloaded") yield* health.endTrial(lane, trials, undefined)
    yield* waitAgain(claimed, retrySecondsOf(failure))
  })

  /** A failure of the database leaves the claim to its end, and the order waits until then. */
  const dispatchOne = (claimed: ClaimedOrder) =>
    failpoints.pass("video.dispatched").pipe(
      Effect.andThen(resolve(claimed)),
      Effect.matchEffect({
        onSuccess: (resolved) => submit(claimed, resolved),
        onFailure: (error) => giveUp(claimed, error)
      }),
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
    let nextOrder = yield* queue.next(channelId, maxTasks)
    while (Option.isSome(nextOrder)) {
      yield* detached.start(dispatchOne(nextOrder.value))
      nextOrder = yield* queue.next(channelId, maxTasks)
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
      (place) => releaseOrLog(place.orderId)(endWaiting(place, waitedTooLong)),
      { concurrency: "unbounded", discard: true }
    )
  )

  /** Looks at the task of each place; one without a task after this long never gets a hold. */
  const sweepWith = (
    places: Effect.Effect<ReadonlyArray<SweptPlace>>,
    onTask: (orderId: string, task: Task) => Effect.Effect<void>,
    onNoHold: (orderId: string) => Effect.Effect<void>
  ) =>
    Effect.flatMap(places, (swept) =>
      Effect.forEach(
        swept,
        ({ organizationId, orderId, ageSeconds }) =>
          Effect.flatMap(
            Effect.option(tasks.find(organizationId, orderId)),
            Option.match({
              onSome: (task) => onTask(orderId, task),
              onNone: () => (ageSeconds < UNHELD_SECONDS ? Effect.void : onNoHold(orderId))
            })
          ),
        { concurrency: "unbounded", discard: true }
      )
    )

  /** Frees the places of orders that have ended, or have never got their hold. */
  const sweepPlaces = sweepWith(
    queue.places(SWEPT_SECONDS),
    (orderId, { finished }) => (finished ? queue.free(orderId) : Effect.void),
    queue.free
  )

  /** Confirms holds whose gateway died before it did, and drops orders that have none. */
  const sweepUnconfirmed = sweepWith(
    queue.unconfirmed(SWEPT_SECONDS),
    queue.confirmHold,
    queue.leave
  )

  return {
    dispatch,
    sweep: Effect.all([endExpired, sweepPlaces, sweepUnconfirmed], { discard: true })
  }
})
