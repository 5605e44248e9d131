/** Polls vendors about claimed tasks. One poll request covers one task or several tasks. */
import { Array as Arr, Effect, Result } from "effect"
import { isMaker, makeKeyTurns } from "../channels/keyTurns.ts"
import { type Cancellation, cancelledByVendor } from "../domain/taskAnswers.ts"
import { isUnreadableAnswer, type VendorFailure } from "../domain/VendorOutcome.ts"
import { pauseSeconds } from "../domain/video/PollPace.ts"
import { makeBoundedMap } from "../runtime/boundedMap.ts"
import { Failpoints } from "../runtime/Failpoints.ts"
import { withSpan } from "../runtime/spans.ts"
import { CallLog, recordCalls } from "../services/CallLog.ts"
import { ChannelCredentials, type KeyedAccount } from "../services/channels/ChannelCredentials.ts"
import {
  ProtocolAdapter,
  type VideoAdapter,
  type VideoBatchPoll,
  type VideoStatus
} from "../services/ProtocolAdapter.ts"
import { type ClaimedTask, TaskRepo } from "../services/TaskRepo.ts"
import { noCancelling, requestCancel } from "./cancellations.ts"
import type { PollProblem, VideoVerdicts } from "./VideoVerdicts.ts"

type ClaimedTasks = Arr.NonEmptyReadonlyArray<ClaimedTask>

/** One poll request to a channel's vendor, about one task or several. */
export interface PollRequest {
  readonly channelId: string
  readonly tasks: ClaimedTasks
  /** Calls the vendor. A failure of the call is returned as an answer too. */
  readonly send: Effect.Effect<PollAnswer>
}

/**
 * A vendor's answer that is not settled in the ledger yet. Settling needs no permit for calls to
 * the vendor.
 */
export interface PollAnswer {
  readonly settle: Effect.Effect<void>
}

/** The status of a task whose vendor answered a cancel with its end. */
const cancelledStatus: VideoStatus = {
  _tag: "Failed",
  code: cancelledByVendor.errorCode,
  message: cancelledByVendor.errorMessage
}

/**
 * The maximum number of tasks in `singleTasks`. When a task is dropped from the map, one more
 * shared poll request may have no usable answer.
 */
const MAX_SINGLE_TASKS = 10_000

/**
 * Retries a poll once after a lost connection, as vendors often close an idle connection just when
 * it is used again. A poll can be repeated safely; without the retry the task would wait for
 * another interval.
 */
const retryLostConnection = <A>(attempt: Effect.Effect<A, VendorFailure>) =>
  Effect.catchIf(
    attempt,
    (failure) => failure._tag === "VendorLost" && failure.reason === "connection_lost",
    () => attempt
  )

/**
 * Whether one task among many may have caused the failure of a shared poll request: a refusal may
 * be about one task, unless it concerns the whole channel, and a successful answer that cannot be
 * read may be too large because of the orders that it repeats.
 */
const mayBeOneTask = (failure: VendorFailure): boolean =>
  (isUnreadableAnswer(failure) && failure.reason !== "connection_lost") ||
  (failure._tag === "VendorRefused" &&
    failure.retryAfterSeconds === null &&
    failure.effectiveStatus !== 429 &&
    failure.effectiveStatus !== 503)

export const makeVideoPolls = Effect.fnUntraced(function* (verdicts: VideoVerdicts) {
  const adapters = yield* ProtocolAdapter
  const credentials = yield* ChannelCredentials
  const keyTurns = yield* makeKeyTurns
  const repo = yield* TaskRepo
  const callLog = yield* CallLog
  const failpoints = yield* Failpoints

  /**
   * Tasks whose shared poll request had no usable answer. The next poll of each of them is about
   * that task alone.
   */
  const singleTasks = makeBoundedMap<true>(MAX_SINGLE_TASKS)

  const recordPolls = (tasks: ClaimedTasks) =>
    recordCalls(
      callLog,
      tasks.map(({ organizationId, id, channelId, upstreamId }) => ({
        organizationId,
        jobId: id,
        channelId,
        purpose: "poll" as const,
        upstreamId
      }))
    )

  const forEachTask = <A>(tasks: ClaimedTasks, settle: (task: ClaimedTask) => Effect.Effect<A>) =>
    Effect.forEach(tasks, settle, { concurrency: "unbounded", discard: true })

  /**
   * Releases the claims of the tasks for later polls. A vendor's `Retry-After` pauses the whole
   * channel.
   */
  const postpone = (tasks: ClaimedTasks, problem: PollProblem) => {
    const seconds = pauseSeconds(problem.retryAfterSeconds)
    return Effect.andThen(
      seconds > 0 ? repo.pause(tasks[0].channelId, seconds) : Effect.void,
      forEachTask(tasks, (task) => verdicts.postpone(task, problem))
    )
  }

  /** A failure of `poll` counts as the failure of every task in the poll request. */
  const pollRequestOf = (
    tasks: ClaimedTasks,
    poll: (adapter: VideoAdapter, account: KeyedAccount) => Effect.Effect<PollAnswer, VendorFailure>
  ): PollRequest => {
    const { channelId, accountVersion, protocol } = tasks[0]
    const putBack = (defect: unknown) =>
      forEachTask(tasks, (task) => verdicts.putBackAfterDefect(task, defect))
    const send = Effect.gen(function* () {
      const adapter = adapters.video.get(protocol)
      if (adapter === undefined) {
        return { settle: postpone(tasks, { message: `no adapter speaks ${protocol}` }) }
      }
      yield* failpoints.pass("video.claimed")
      const accounts = yield* credentials.taskAccounts(channelId, accountVersion)
      return yield* keyTurns.forTask(accounts, tasks[0], (account) =>
        retryLostConnection(recordPolls(tasks)(poll(adapter, account)))
      )
    }).pipe(
      withSpan(`poll ${protocol}`, {
        attributes: () => ({
          "gen_ai.provider.name": protocol,
          "media.channel": channelId,
          "media.tasks": tasks.length,
          ...(tasks.length === 1 ? { "media.task.id": tasks[0].id } : {})
        }),
        orders: () => tasks.map(({ id }) => id)
      }),
      Effect.catch((problem) => Effect.succeed({ settle: postpone(tasks, problem) })),
      Effect.map(({ settle }) => ({ settle: Effect.catchDefect(settle, putBack) })),
      Effect.catchDefect((defect) => Effect.succeed({ settle: putBack(defect) }))
    )
    return { channelId, tasks, send }
  }

  /**
   * Applies the status of one task. Some vendors show a task only to the key that created it, so
   * "unknown" in the answer to another key is no verdict.
   */
  const settle = (task: ClaimedTask, status: VideoStatus, account: KeyedAccount) =>
    status._tag === "Unknown" && !isMaker(account, task)
      ? verdicts.postpone(task, {
          message: `the key ${task.keyName} is refused, and ${account.keyName} does not know the task`
        })
      : verdicts.apply(task, status)

  const pollRequestFor = (task: ClaimedTask): PollRequest =>
    pollRequestOf([task], (adapter, account) =>
      Effect.map(adapter.poll(account, task), (status) => {
        singleTasks.drop(task.id)
        return { settle: settle(task, status, account) }
      })
    )

  /** Asks the vendor to cancel the job; `report` gets what came of the request. */
  const cancelJob = Effect.fnUntraced(function* (
    adapter: VideoAdapter,
    account: KeyedAccount,
    task: ClaimedTask,
    report: (cancellation: Cancellation) => void
  ) {
    const { cancel } = adapter
    const poll = adapter.poll(account, task)
    if (cancel === undefined) report(noCancelling)
    const status =
      cancel === undefined
        ? yield* poll
        : yield* requestCancel(
            {
              jobs: cancel.jobs,
              send: cancel.send(account, task),
              poll,
              isQueued: (status) => status._tag === "Processing" && status.isQueued === true,
              start: repo.startCancel(task.organizationId, task.id),
              afterSend: failpoints.pass("video.cancelled")
            },
            report
          )
    return { settle: settle(task, status === "cancelled" ? cancelledStatus : status, account) }
  })

  const cancelRequestFor = (task: ClaimedTask, report: (cancellation: Cancellation) => void) =>
    pollRequestOf([task], (adapter, account) => cancelJob(adapter, account, task, report))

  const sharedPollRequest = (tasks: ClaimedTasks, sharedPoll: VideoBatchPoll): PollRequest =>
    pollRequestOf(tasks, (_, account) =>
      sharedPoll.poll(account, tasks).pipe(
        Effect.tapError((failure) =>
          Effect.sync(() => {
            if (!mayBeOneTask(failure)) return
            for (const { id } of tasks) singleTasks.set(id, true)
          })
        ),
        Effect.map((answers) => ({
          settle: forEachTask(tasks, (task) => {
            const answer = answers.get(task.upstreamId)
            if (answer === undefined) return settle(task, { _tag: "Unknown" }, account)
            return Result.isSuccess(answer)
              ? settle(task, answer.success, account)
              : verdicts.postpone(task, answer.failure)
          })
        }))
      )
    )

  /** Groups the tasks into as few poll requests as the vendors' APIs allow. */
  const pollRequestsOf = (tasks: ReadonlyArray<ClaimedTask>): ReadonlyArray<PollRequest> => {
    const sharedPollOf = ({ protocol }: ClaimedTask) => adapters.video.get(protocol)?.batchPoll
    const groups = Arr.groupBy(tasks, (task) =>
      sharedPollOf(task)?.canShare(task) === true && singleTasks.peek(task.id) === null
        ? JSON.stringify([task.channelId, task.protocol, task.accountVersion, task.keyName])
        : task.id
    )
    return Object.values(groups).flatMap((group) => {
      const sharedPoll = sharedPollOf(group[0])
      return sharedPoll === undefined || group.length === 1
        ? group.map(pollRequestFor)
        : Arr.chunksOf(group, sharedPoll.maxJobs).map((chunk) =>
            sharedPollRequest(chunk, sharedPoll)
          )
    })
  }

  return { questionFor: pollRequestFor, questionsOf: pollRequestsOf, cancelRequestFor }
})
