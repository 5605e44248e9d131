/**
 * Settles running tasks: polls the vendor, and closes the hold by the vendor's answer. Reads by
 * clients, the poller and the sweep all use this module; the ledger accepts only the first close of
 * a hold.
 */
import {
  Clock,
  Context,
  Effect,
  Fiber,
  FiberSet,
  Latch,
  Layer,
  Option,
  RcMap,
  Schedule
} from "effect"
import { TaskNotFound } from "../domain/Errors.ts"
import { taskKindOf } from "../domain/orderIds.ts"
import type { Cancellation } from "../domain/taskAnswers.ts"
import { stillsOf } from "../domain/video/videoStills.ts"
import { makeBoundedMap } from "../runtime/boundedMap.ts"
import { Changes, isFresh, type Mark } from "../runtime/Changes.ts"
import { makeDetached } from "../runtime/Detached.ts"
import { Failpoints } from "../runtime/Failpoints.ts"
import { CurrentTurn } from "../runtime/FairLane.ts"
import { monotonicMillis } from "../runtime/monotonic.ts"
import { Settings } from "../runtime/Settings.ts"
import { Catalog } from "../services/Catalog.ts"
import { ChannelQueue, waitedTooLong } from "../services/channels/ChannelQueue.ts"
import { Ledger, type Release } from "../services/Ledger.ts"
import { releaseOrLog } from "../services/ledgerAnswers.ts"
import { type AbandonedTask, type Task, TaskEnds, TaskRepo } from "../services/TaskRepo.ts"
import {
  CANCEL_RETRY,
  CANCEL_WAIT_SECONDS,
  cancelledWhileWaiting,
  notAccepted,
  notAsked,
  oneCall
} from "./cancellations.ts"
import { makeImageCancels } from "./ImageCancels.ts"
import { makePollQueue } from "./PollQueue.ts"
import { makeVideoPolls } from "./VideoPolls.ts"
import { deadlineExceeded, makeVideoVerdicts } from "./VideoVerdicts.ts"

export class TaskSettlement extends Context.Service<
  TaskSettlement,
  {
    /**
     * Reads the task. Its vendor is polled first, unless the task was polled within the ask
     * interval. Waits up to `waitSeconds` for the task's end. A task of another organisation is not
     * found.
     */
    read(organizationId: string, id: string, waitSeconds: number): Effect.Effect<Task, TaskNotFound>
    /**
     * Waits for the end of a task that was read before, and reads again after failures of the
     * database. Concurrent waits for the same task share one series of reads.
     */
    end(organizationId: string, id: string): Effect.Effect<Task, TaskNotFound>
    /**
     * Asks the vendor to cancel a task that a read has found. The first end in the ledger counts,
     * whether that is a cancelled task or a product that was finished meanwhile.
     */
    cancel(organizationId: string, id: string): Effect.Effect<CancelledTask, TaskNotFound>
    /**
     * Claims due tasks and starts to poll their vendors, without waiting for the answers. True when
     * more due tasks may be left.
     */
    readonly pollDue: Effect.Effect<boolean>
    /**
     * Waits until further claims are useful: until a channel that was full has fewer open poll
     * requests, or fewer answers are not settled yet.
     */
    readonly room: Effect.Effect<void>
    /**
     * Releases overdue holds that a crash left open. Also fails running tasks, and releases their
     * holds, when the time for their last poll is over without a final answer; this time begins at
     * the deadline of the task.
     */
    readonly sweep: Effect.Effect<void>
    /**
     * Releases all holds that a crash left open, overdue or not, and takes over every running task.
     * Only for a gateway that starts alone on its database, where no other gateway can be
     * processing an order.
     */
    readonly recover: Effect.Effect<void>
  }
>()("gateway/polling/TaskSettlement") {}

/** A task after the request to cancel it. */
export interface CancelledTask {
  readonly task: Task
  /** Why the task goes on; null where it has ended. */
  readonly cancellation: Cancellation | null
}

/**
 * The maximum number of tasks in one claim. A full claim is followed by another one immediately.
 */
const CLAIM_LIMIT = 256
/**
 * The maximum time that a claimed task waits in the queue, in seconds and as a share of its lease.
 * The shorter time applies.
 */
const MAX_WAIT_SECONDS = 1
const MAX_WAIT_SHARE = 0.1
/**
 * The share of the lease after which a queued poll request is dropped. The rest of the lease is for
 * the vendor's answer and for settling it.
 */
const STALE_SHARE = 0.3
/** The maximum number of overdue running tasks whose holds one sweep releases. */
const OVERDUE_LIMIT = 1000
/**
 * The longest interval at which a waiting read checks whether another gateway has written the end
 * of the task.
 */
const MAX_REREAD_SECONDS = 1

/**
 * The maximum size of the cache of finished tasks, for clients that read them again. A finished
 * task can be cached, as only its age changes until it is erased.
 */
const FINISHED_BYTES = 32 * 1024 * 1024

interface CachedTask {
  readonly task: Task
  /** The mark from before the task was read, by which a later change to the task is detected. */
  readonly mark: Mark
}

/** An estimate, in bytes, of the memory of a cached task and of the answer that is made from it. */
const bytesOf = ({ task: { videoUrl, stills, result, errorMessage } }: CachedTask): number =>
  1024 +
  3 * stillsOf(stills).reduce((sum, { url }) => sum + url.length, 0) +
  3 * ((videoUrl?.length ?? 0) + (errorMessage?.length ?? 0)) +
  (result === null ? 0 : 6 * JSON.stringify(result).length)

/**
 * Whether a read shows the task. A rejected video was already reported in the answer to its order;
 * other rejected tasks are reported when they are read.
 */
const isShown = ({ id, state }: Task): boolean => state !== "rejected" || taskKindOf(id) !== "video"

const notFound = (id: string) =>
  new TaskNotFound({ message: `No task is called ${JSON.stringify(id)}` })

const nameOf = (organizationId: string, id: string): string => `${organizationId} ${id}`

export const layerTaskSettlement = Layer.effect(
  TaskSettlement,
  Effect.gen(function* () {
    const ledger = yield* Ledger
    const tasks = yield* TaskRepo
    const settings = yield* Settings
    const failpoints = yield* Failpoints
    const ends = yield* TaskEnds
    const changes = yield* Changes
    const catalog = yield* Catalog
    const queue = yield* ChannelQueue
    const runInBackground = yield* FiberSet.makeRuntime()

    /** Frees the place of a task at once. Where this fails, a sweep frees it later. */
    const freePlace = (id: string) =>
      Effect.flatMap(catalog.snapshot, ({ document }) =>
        document.channels.some(({ max_tasks: maxTasks }) => maxTasks !== undefined)
          ? queue.free(id)
          : Effect.void
      )
    const verdicts = yield* makeVideoVerdicts((id) => {
      ends.notify(id)
      runInBackground(freePlace(id))
    })
    const polls = yield* makeVideoPolls(verdicts)
    const cancelImages = yield* makeImageCancels(verdicts)
    const pollQueue = yield* makePollQueue({
      limit: settings.pollsPerChannel,
      staleMillis: 1000 * settings.leaseSeconds * STALE_SHARE
    })
    const finishedTasks = makeBoundedMap(FINISHED_BYTES, bytesOf)
    const detached = yield* makeDetached

    /**
     * Finds a task in the database. A finished task is cached, so that later reads need no query.
     */
    const find = Effect.fnUntraced(function* (organizationId: string, id: string) {
      const mark = changes.mark("tasks", yield* Clock.Clock)
      const inTurn = yield* CurrentTurn
      const task = yield* inTurn(tasks.find(organizationId, id))
      if (task.finished && isShown(task)) {
        finishedTasks.set(nameOf(organizationId, id), { task, mark })
      }
      return task
    })

    /**
     * Whether a claim for a poll may succeed. The database decides; this check only saves
     * statements that would claim nothing.
     */
    const canPoll = ({ state, channelId, sincePollSeconds }: Task): boolean =>
      state === "processing" &&
      (sincePollSeconds === null || sincePollSeconds >= settings.askIntervalSeconds) &&
      !pollQueue.isFull(channelId)

    const readOnce = Effect.fnUntraced(function* (organizationId: string, id: string) {
      const task = yield* find(organizationId, id)
      if (!canPoll(task)) return task
      const claim = yield* tasks.claim(organizationId, id)
      if (Option.isNone(claim)) return task
      yield* detached.run(
        Effect.flatMap(
          Effect.suspend(() => pollQueue.send(polls.questionFor(claim.value))),
          ({ settle }) => settle
        )
      )
      return yield* find(organizationId, id)
    })

    const rereadInterval =
      `${Math.min(settings.askIntervalSeconds, MAX_REREAD_SECONDS)} seconds` as const
    const untilFinished = Effect.fnUntraced(function* (organizationId: string, id: string) {
      const end = yield* Latch.make(false)
      yield* ends.register(id, end)
      return yield* Effect.andThen(end.close, readOnce(organizationId, id)).pipe(
        Effect.catchDefect((defect) =>
          Effect.as(
            Effect.annotateLogs(
              Effect.logWarning("task: reading or polling for a waiting request failed", defect),
              { order_id: id }
            ),
            null
          )
        ),
        Effect.tap((task) =>
          task?.finished === true ? Effect.void : Effect.timeoutOption(end.await, rereadInterval)
        ),
        Effect.repeat({ until: (task): task is Task => task?.finished === true })
      )
    })

    const sharedWaits = yield* RcMap.make({
      lookup: (key: string) => {
        const [organizationId = "", id = ""] = key.split(" ")
        return Effect.forkScoped(untilFinished(organizationId, id))
      }
    })
    const end: TaskSettlement["Service"]["end"] = (organizationId, id) =>
      Effect.scoped(Effect.flatMap(RcMap.get(sharedWaits, nameOf(organizationId, id)), Fiber.join))

    const read: TaskSettlement["Service"]["read"] = Effect.fnUntraced(
      function* (organizationId, id, waitSeconds) {
        const cacheEntry = finishedTasks.get(nameOf(organizationId, id))
        if (
          cacheEntry !== null &&
          isFresh(cacheEntry.mark, changes.mark("tasks", yield* Clock.Clock))
        ) {
          return cacheEntry.task
        }
        const storedTask = yield* readOnce(organizationId, id)
        if (!isShown(storedTask)) return yield* notFound(id)
        if (waitSeconds <= 0 || storedTask.finished) return storedTask
        const finishedTask = yield* Effect.timeoutOption(
          end(organizationId, id),
          `${waitSeconds} seconds`
        )
        return Option.isSome(finishedTask) ? finishedTask.value : yield* find(organizationId, id)
      }
    )

    /**
     * Claims the task as soon as no poll holds it and the ask interval has passed, so that a client
     * cannot make the gateway call a vendor more often than by reading. None where the task ended
     * before, or a poll takes too long.
     */
    const claimForCancel = (organizationId: string, id: string) =>
      Effect.gen(function* () {
        const claim = yield* tasks.claim(organizationId, id)
        const isOver =
          Option.isSome(claim) || (yield* find(organizationId, id)).state !== "processing"
        return { claim, isOver }
      }).pipe(
        Effect.repeat({
          until: ({ isOver }) => isOver,
          schedule: Schedule.spaced(CANCEL_RETRY)
        }),
        Effect.timeoutOption(`${settings.askIntervalSeconds + CANCEL_WAIT_SECONDS} seconds`),
        Effect.map(Option.flatMap(({ claim }) => claim))
      )

    /** Ends a task that waits for a place, for which no vendor was called; false where it began. */
    const endWaiting = Effect.fnUntraced(function* ({ organizationId, id }: Task) {
      const { won } = yield* verdicts.release({ organizationId, id }, "poll", {
        task: { from: "waiting", state: "failed", ...cancelledWhileWaiting },
        orphan: null
      })
      if (won) yield* queue.leave(id)
      return won
    })

    /** Asks the vendor of a running task to cancel it, and settles the task by its next status. */
    const cancelAtVendor = Effect.fnUntraced(function* (organizationId: string, id: string) {
      let cancellation = notAsked
      const claim = yield* claimForCancel(organizationId, id)
      if (Option.isSome(claim)) {
        const { send } = polls.cancelRequestFor(claim.value, (report) => {
          cancellation = report
        })
        yield* detached.run(Effect.flatMap(send, ({ settle }) => settle))
      }
      return cancellation
    })

    /** Cancels a task that has not ended and does not wait; returns why it goes on, if it does. */
    const cancelRunning = (task: Task): Effect.Effect<Cancellation | null, TaskNotFound> => {
      switch (taskKindOf(task.id)) {
        case "image":
          return detached.run(cancelImages(task))
        case "video":
          return task.state === "processing"
            ? cancelAtVendor(task.organizationId, task.id)
            : Effect.succeed(notAccepted)
        default:
          return Effect.succeed(oneCall)
      }
    }

    const cancel: TaskSettlement["Service"]["cancel"] = Effect.fnUntraced(
      function* (organizationId, id) {
        const storedTask = yield* find(organizationId, id)
        if (!isShown(storedTask)) return yield* notFound(id)
        if (storedTask.finished) return { task: storedTask, cancellation: null }
        if (storedTask.state === "waiting" && (yield* endWaiting(storedTask))) {
          return { task: yield* find(organizationId, id), cancellation: null }
        }
        const cancellation = yield* cancelRunning(storedTask)
        const task = yield* find(organizationId, id)
        return { task, cancellation: task.finished ? null : cancellation }
      }
    )

    const maxWaitMillis = 1000 * Math.min(MAX_WAIT_SECONDS, settings.leaseSeconds * MAX_WAIT_SHARE)
    /**
     * Releases the claims of tasks that have waited long in the queue of a slow vendor. Another
     * gateway with free permits can poll them sooner.
     */
    const putBackLate = Effect.suspend(() =>
      Effect.forEach(
        pollQueue.removeLate(maxWaitMillis),
        ({ task, waitedSeconds }) =>
          tasks.putBack(task, {
            nextPollSeconds: 0,
            isKnown: null,
            polledSecondsAgo: task.sincePollSeconds + waitedSeconds
          }),
        { concurrency: "unbounded", discard: true }
      )
    )

    /**
     * The start of the current series of poller runs without a failure, on the monotonic clock;
     * null after a failure.
     */
    let pollingSinceMillis: number | null = null

    const startDuePolls = Effect.gen(function* () {
      yield* pollQueue.resetRoom
      yield* putBackLate
      if (pollQueue.isBehind()) return false
      const perChannel = settings.pollsPerChannel
      const openByChannel = pollQueue.openCounts()
      const claim = yield* tasks.claimDue({
        limit: CLAIM_LIMIT,
        perChannel,
        openByChannel
      })
      for (const poll of polls.questionsOf(claim)) pollQueue.offer(poll)
      if (claim.length === CLAIM_LIMIT) return true
      // More due tasks may be left where the claim reached a channel's limit. One poll request may
      // cover many of the claimed tasks, and then the channel still has free permits.
      const byChannel = Map.groupBy(claim, ({ channelId }) => channelId)
      return [...byChannel].some(
        ([channelId, { length }]) =>
          length >= perChannel - (openByChannel.get(channelId) ?? 0) && !pollQueue.isFull(channelId)
      )
    })

    const pollDue = startDuePolls.pipe(
      Effect.tap(() =>
        Effect.map(monotonicMillis, (now) => {
          pollingSinceMillis ??= now
        })
      ),
      Effect.onError(() =>
        Effect.sync(() => {
          pollingSinceMillis = null
        })
      )
    )

    /** Releases the holds of the tasks concurrently. */
    const releaseEach = <A extends Pick<AbandonedTask, "organizationId" | "id">>(
      abandoned: ReadonlyArray<A>,
      endOf: (task: A) => Pick<Release, "task" | "orphan">
    ) =>
      Effect.forEach(
        abandoned,
        (task) => releaseOrLog(task.id)(verdicts.release(task, "sweep", endOf(task))),
        { concurrency: "unbounded", discard: true }
      )

    /**
     * Fails running tasks whose last poll has no answer in time. The last poll normally follows the
     * deadline soon, but with thousands of tasks at a vendor that does not answer it would come
     * much later. After an interruption of polling, the whole time counts again from the first
     * successful run of the poller.
     */
    const giveUpOverdue = Effect.fn("TaskSettlement.giveUpOverdue")(function* () {
      const seconds = settings.lastQuestionSeconds
      const now = yield* monotonicMillis
      if (pollingSinceMillis === null || now - pollingSinceMillis < seconds * 1000) return
      yield* releaseEach(yield* tasks.overdue(seconds, OVERDUE_LIMIT), ({ upstreamId }) => ({
        task: { from: "processing", state: "failed", ...deadlineExceeded },
        orphan: { upstreamId, reason: deadlineExceeded.errorCode }
      }))
    })

    const sweepAbandoned = Effect.fn("TaskSettlement.sweepAbandoned")(function* (
      scope: "overdue" | "all"
    ) {
      const abandoned = yield* tasks.abandoned(scope)
      if (abandoned.length > 0) yield* failpoints.pass("sweep.found")
      yield* releaseEach(abandoned, ({ isQueued, state, upstreamId }) =>
        state === "waiting"
          ? { task: { from: "waiting", state: "failed", ...waitedTooLong }, orphan: null }
          : {
              task: {
                from: "submitting",
                state: isQueued ? "failed" : "rejected",
                errorCode: "upstream_error",
                errorMessage: "The gateway stopped before the vendor's answer was recorded"
              },
              orphan: { upstreamId, reason: "gateway_stopped" }
            }
      )
      yield* ledger.sweepExpiredHolds(scope)
    })

    return TaskSettlement.of({
      read,
      end,
      cancel,
      pollDue,
      room: pollQueue.room,
      sweep: Effect.andThen(sweepAbandoned("overdue"), giveUpOverdue()),
      recover: Effect.andThen(sweepAbandoned("all"), tasks.takeOver)
    })
  })
)
