/**
 * What becomes of a running task: asking its vendor, and closing its hold by the answer. A client's
 * GET, the poller and the sweep all come through here; the ledger lets the first close win.
 */
import { Clock, Context, Effect, Fiber, Latch, Layer, Option, RcMap } from "effect"
import { TaskNotFound } from "../domain/Errors.ts"
import { taskKindOf } from "../domain/orderIds.ts"
import { makeBoundedMap } from "../runtime/boundedMap.ts"
import { Changes, isFresh, type Mark } from "../runtime/Changes.ts"
import { makeDetached } from "../runtime/Detached.ts"
import { Failpoints } from "../runtime/Failpoints.ts"
import { CurrentTurn } from "../runtime/FairLane.ts"
import { monotonicMillis } from "../runtime/monotonic.ts"
import { Settings } from "../runtime/Settings.ts"
import { Ledger, type Release } from "../services/Ledger.ts"
import { releaseOrLog } from "../services/ledgerAnswers.ts"
import { type AbandonedTask, type Task, TaskEnds, TaskRepo } from "../services/TaskRepo.ts"
import { makePollQueue } from "./PollQueue.ts"
import { makeVideoPolls } from "./VideoPolls.ts"
import { deadlineExceeded, makeVideoVerdicts } from "./VideoVerdicts.ts"

export class TaskSettlement extends Context.Service<
  TaskSettlement,
  {
    /**
     * The task as it stands, after asking the vendor if it was not asked within the ask interval. Waits
     * up to `waitSeconds` for its end. Another organisation's task is not found.
     */
    read(organizationId: string, id: string, waitSeconds: number): Effect.Effect<Task, TaskNotFound>
    /**
     * Waits for the end of a task that was read before, across any trouble of the database. However
     * many wait here for the same task, it is read for one.
     */
    end(organizationId: string, id: string): Effect.Effect<Task, TaskNotFound>
    /**
     * Begins to ask for due tasks this gateway can claim, and does not wait for the vendors. True
     * when there may be more of them.
     */
    readonly pollDue: Effect.Effect<boolean>
    /** Waits until there is room again for what this gateway had too much of to claim more. */
    readonly room: Effect.Effect<void>
    /**
     * Gives back what a crash left behind, once its time is over, and running tasks that no answer has
     * ended in the time for a last question.
     */
    readonly sweep: Effect.Effect<void>
    /**
     * Gives back all of it and takes over every running task. Only for a gateway that starts alone
     * on its database, where no other can be in the middle of anything.
     */
    readonly recover: Effect.Effect<void>
  }
>()("gateway/polling/TaskSettlement") {}

/** Tasks claimed at a time; a claim that is full is followed by another one at once. */
const CLAIM_LIMIT = 256
/** How long a claimed task waits for its question, at most, and the same as a share of the lease. */
const MAX_WAIT_SECONDS = 1
const MAX_WAIT_SHARE = 0.1
/** Of the lease, for a wait that has not ended; what is left of it is for the vendor and for us. */
const STALE_SHARE = 0.3
/** Running tasks that one sweep gives back, at most. */
const OVERDUE_LIMIT = 1000
/** How often a waiting reader looks whether another gateway wrote the end, at the slowest. */
const MAX_LOOK_SECONDS = 1

/**
 * The cache of finished tasks, for clients that read them again. Only their age changes until they are
 * erased.
 */
const FINISHED_BYTES = 32 * 1024 * 1024

interface CachedTask {
  readonly task: Task
  /** Taken before the task was read. */
  readonly mark: Mark
}

/** An estimate of its memory, with the answer that is made from it. */
const bytesOf = ({ task: { videoUrl, result, errorMessage } }: CachedTask): number =>
  1024 +
  3 * ((videoUrl?.length ?? 0) + (errorMessage?.length ?? 0)) +
  (result === null ? 0 : 6 * JSON.stringify(result).length)

/** A client is told of a rejected video when it orders it, and of rejected images when it asks. */
const isShown = ({ id, state }: Task): boolean => state !== "rejected" || taskKindOf(id) === "image"

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
    const verdicts = yield* makeVideoVerdicts(ends.notify)
    const questions = yield* makeVideoPolls(verdicts)
    const asks = yield* makePollQueue({
      bound: settings.pollsPerChannel,
      staleMillis: 1000 * settings.leaseSeconds * STALE_SHARE
    })
    const finished = makeBoundedMap(FINISHED_BYTES, bytesOf)
    const detached = yield* makeDetached

    /** Caches a finished task, which later reads can answer without the database. */
    const find = Effect.fnUntraced(function* (organizationId: string, id: string) {
      const mark = changes.mark("tasks", yield* Clock.Clock)
      const inTurn = yield* CurrentTurn
      const task = yield* inTurn(tasks.find(organizationId, id))
      if (task.finished && isShown(task)) {
        finished.set(nameOf(organizationId, id), { task, mark })
      }
      return task
    })

    /** The store decides; this saves the statement where it would refuse. */
    const mayBeAsked = ({ state, channelId, sinceAskedSeconds }: Task): boolean =>
      state === "processing" &&
      (sinceAskedSeconds === null || sinceAskedSeconds >= settings.askIntervalSeconds) &&
      !asks.isFull(channelId)

    const readOnce = Effect.fnUntraced(function* (organizationId: string, id: string) {
      const task = yield* find(organizationId, id)
      if (!mayBeAsked(task)) return task
      const claimed = yield* tasks.claim(organizationId, id)
      if (Option.isNone(claimed)) return task
      yield* detached.run(
        Effect.flatMap(
          Effect.suspend(() => asks.ask(questions.questionFor(claimed.value))),
          ({ settle }) => settle
        )
      )
      return yield* find(organizationId, id)
    })

    const lookAgain = `${Math.min(settings.askIntervalSeconds, MAX_LOOK_SECONDS)} seconds` as const
    const untilFinished = Effect.fnUntraced(function* (organizationId: string, id: string) {
      const end = yield* Latch.make(false)
      yield* ends.register(id, end)
      return yield* Effect.andThen(end.close, readOnce(organizationId, id)).pipe(
        Effect.catchDefect((defect) =>
          Effect.as(
            Effect.annotateLogs(
              Effect.logWarning("task: reading failed while its end is awaited", defect),
              { task: id }
            ),
            null
          )
        ),
        Effect.tap((task) =>
          task?.finished === true ? Effect.void : Effect.timeoutOption(end.await, lookAgain)
        ),
        Effect.repeat({ until: (task): task is Task => task?.finished === true })
      )
    })

    const waits = yield* RcMap.make({
      lookup: (key: string) => {
        const [organizationId = "", id = ""] = key.split(" ")
        return Effect.forkScoped(untilFinished(organizationId, id))
      }
    })
    const end: TaskSettlement["Service"]["end"] = (organizationId, id) =>
      Effect.scoped(Effect.flatMap(RcMap.get(waits, nameOf(organizationId, id)), Fiber.join))

    const read: TaskSettlement["Service"]["read"] = Effect.fnUntraced(
      function* (organizationId, id, waitSeconds) {
        const cached = finished.get(nameOf(organizationId, id))
        if (cached !== null && isFresh(cached.mark, changes.mark("tasks", yield* Clock.Clock))) {
          return cached.task
        }
        const first = yield* readOnce(organizationId, id)
        if (!isShown(first)) {
          return yield* new TaskNotFound({ message: `No task is called ${JSON.stringify(id)}` })
        }
        if (waitSeconds <= 0 || first.finished) return first
        const waited = yield* Effect.timeoutOption(
          end(organizationId, id),
          `${waitSeconds} seconds`
        )
        return Option.isSome(waited) ? waited.value : yield* find(organizationId, id)
      }
    )

    const maxWaitMillis = 1000 * Math.min(MAX_WAIT_SECONDS, settings.leaseSeconds * MAX_WAIT_SHARE)
    /** Another gateway with free permits can ask sooner, where this one waits for a slow vendor. */
    const putBackLate = Effect.suspend(() =>
      Effect.forEach(
        asks.late(maxWaitMillis),
        ({ task, waitedSeconds }) =>
          tasks.putBack(task, {
            nextPollSeconds: 0,
            isKnown: null,
            askedSecondsAgo: task.sinceAskedSeconds + waitedSeconds
          }),
        { concurrency: "unbounded", discard: true }
      )
    )

    /** The start of the current series of polls without a failure. */
    let askingSince: number | null = null

    const startDuePolls = Effect.gen(function* () {
      yield* asks.expect
      yield* putBackLate
      if (asks.isBehind()) return false
      const perChannel = settings.pollsPerChannel
      const openByChannel = asks.taken()
      const claimed = yield* tasks.claimDue({
        limit: CLAIM_LIMIT,
        perChannel,
        openByChannel
      })
      for (const question of questions.questionsOf(claimed)) asks.offer(question)
      if (claimed.length === CLAIM_LIMIT) return true
      // One question may be about many tasks, and then leaves room for more of its channel.
      const byChannel = Map.groupBy(claimed, ({ channelId }) => channelId)
      return [...byChannel].some(
        ([channelId, { length }]) =>
          length >= perChannel - (openByChannel.get(channelId) ?? 0) && !asks.isFull(channelId)
      )
    })

    const pollDue = startDuePolls.pipe(
      Effect.tap(() =>
        Effect.map(monotonicMillis, (now) => {
          askingSince ??= now
        })
      ),
      Effect.onError(() =>
        Effect.sync(() => {
          askingSince = null
        })
      )
    )

    /** Gives the holds of the tasks back, all at the same time. */
    const releaseEach = <A extends AbandonedTask>(
      abandoned: ReadonlyArray<A>,
      endOf: (task: A) => Pick<Release, "task" | "orphan">
    ) =>
      Effect.forEach(
        abandoned,
        (task) => releaseOrLog(task.id)(verdicts.release(task, "sweep", endOf(task))),
        { concurrency: "unbounded", discard: true }
      )

    /**
     * The last question follows the deadline, but thousands of tasks of a silent vendor would wait long for
     * it. A gateway that could not poll for a while has the same time again from its first poll on.
     */
    const giveUpOverdue = Effect.fn("TaskSettlement.giveUpOverdue")(function* () {
      const seconds = settings.lastQuestionSeconds
      const now = yield* monotonicMillis
      if (askingSince === null || now - askingSince < seconds * 1000) return
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
      yield* releaseEach(abandoned, () => ({
        task: {
          from: "submitting",
          state: "rejected",
          errorCode: "upstream_error",
          errorMessage: "The gateway stopped before the vendor's answer was recorded"
        },
        orphan: { upstreamId: null, reason: "gateway_stopped" }
      }))
      yield* ledger.sweepExpiredHolds(scope)
    })

    return TaskSettlement.of({
      read,
      end,
      pollDue,
      room: asks.room,
      sweep: Effect.andThen(sweepAbandoned("overdue"), giveUpOverdue()),
      recover: Effect.andThen(sweepAbandoned("all"), tasks.takeOver)
    })
  })
)
