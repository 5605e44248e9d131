/** Asking vendors about claimed tasks, one at a time or many in one question. */
import { Array as Arr, Effect, Result } from "effect"
import { isMaker, makeKeyTurns } from "../channels/keyTurns.ts"
import { isUnreadableAnswer, type VendorFailure } from "../domain/VendorOutcome.ts"
import { pauseSeconds } from "../domain/video/PollPace.ts"
import { makeBoundedMap } from "../runtime/boundedMap.ts"
import { Failpoints } from "../runtime/Failpoints.ts"
import { withSpan } from "../runtime/spans.ts"
import { CallLog, recordingCalls } from "../services/CallLog.ts"
import { ChannelCredentials, type KeyedAccount } from "../services/channels/ChannelCredentials.ts"
import {
  ProtocolAdapter,
  type VideoAdapter,
  type VideoPollTogether,
  type VideoStatus
} from "../services/ProtocolAdapter.ts"
import { type ClaimedTask, TaskRepo } from "../services/TaskRepo.ts"
import type { Trouble, VideoVerdicts } from "./VideoVerdicts.ts"

type ClaimedTasks = Arr.NonEmptyReadonlyArray<ClaimedTask>

/** What is asked of a channel's vendor in one request. */
export interface Question {
  readonly channelId: string
  readonly tasks: ClaimedTasks
  /** Calls the vendor. Nothing that it answers is a failure here. */
  readonly ask: Effect.Effect<PollAnswer>
}

/** An answer whose work in the books is still to be done: it needs no permit for calls. */
export interface PollAnswer {
  readonly settle: Effect.Effect<void>
}

/** To forget one costs a refused question more. */
const MOST_ALONE = 10_000

/**
 * A question may be repeated without harm, and a connection kept open is often lost because the
 * vendor closed it just then. Once more at once, or the task would wait for another interval.
 */
const againIfCut = <A>(question: Effect.Effect<A, VendorFailure>) =>
  Effect.catchIf(
    question,
    (failure) => failure._tag === "VendorLost" && failure.reason === "connection_lost",
    () => question
  )

/**
 * A refusal that is not about the channel as a whole may be about one task among many, and an answer of
 * success that cannot be read may be too large because of the orders that it repeats.
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

  /** Tasks that were in a question without a usable answer: next time each is asked for alone. */
  const alone = makeBoundedMap<true>(MOST_ALONE)

  const recorded = (tasks: ClaimedTasks) =>
    recordingCalls(
      callLog,
      tasks.map(({ organizationId, id, channelId, upstreamId }) => ({
        organizationId,
        jobId: id,
        channelId,
        purpose: "poll" as const,
        upstreamId
      }))
    )

  const each = <A>(tasks: ClaimedTasks, settle: (task: ClaimedTask) => Effect.Effect<A>) =>
    Effect.forEach(tasks, settle, { concurrency: "unbounded", discard: true })

  /** A vendor's `Retry-After` is for the whole channel. */
  const troubled = (tasks: ClaimedTasks, trouble: Trouble) => {
    const seconds = pauseSeconds(trouble.retryAfterSeconds)
    return Effect.andThen(
      seconds > 0 ? repo.pause(tasks[0].channelId, seconds) : Effect.void,
      each(tasks, (task) => verdicts.troubled(task, trouble))
    )
  }

  /** `poll` asks and answers with what settles; what it fails with holds for every task. */
  const questionOf = (
    tasks: ClaimedTasks,
    poll: (adapter: VideoAdapter, account: KeyedAccount) => Effect.Effect<PollAnswer, VendorFailure>
  ): Question => {
    const { channelId, accountVersion, protocol } = tasks[0]
    const stumbled = (defect: unknown) => each(tasks, (task) => verdicts.stumbled(task, defect))
    const ask = Effect.gen(function* () {
      const adapter = adapters.video.get(protocol)
      if (adapter === undefined) {
        return { settle: troubled(tasks, { message: `no adapter speaks ${protocol} any more` }) }
      }
      yield* failpoints.pass("video.claimed")
      const accounts = yield* credentials.taskAccounts(channelId, accountVersion)
      return yield* keyTurns.forTask(accounts, tasks[0], (account) =>
        againIfCut(recorded(tasks)(poll(adapter, account)))
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
      Effect.catch((trouble) => Effect.succeed({ settle: troubled(tasks, trouble) })),
      Effect.map(({ settle }) => ({ settle: Effect.catchDefect(settle, stumbled) })),
      Effect.catchDefect((defect) => Effect.succeed({ settle: stumbled(defect) }))
    )
    return { channelId, tasks, ask }
  }

  /** A vendor may know a task by the key alone that it was made with. */
  const settle = (task: ClaimedTask, status: VideoStatus, account: KeyedAccount) =>
    status._tag === "Unknown" && !isMaker(account, task)
      ? verdicts.troubled(task, {
          message: `the key ${task.keyName} is refused, and ${account.keyName} does not know the task`
        })
      : verdicts.apply(task, status)

  const one = (task: ClaimedTask): Question =>
    questionOf([task], (adapter, account) =>
      Effect.map(adapter.poll(account, task), (status) => {
        alone.drop(task.id)
        return { settle: settle(task, status, account) }
      })
    )

  const many = (tasks: ClaimedTasks, shared: VideoPollTogether): Question =>
    questionOf(tasks, (_, account) =>
      shared.poll(account, tasks).pipe(
        Effect.tapError((failure) =>
          Effect.sync(() => {
            if (!mayBeOneTask(failure)) return
            for (const { id } of tasks) alone.set(id, true)
          })
        ),
        Effect.map((answers) => ({
          settle: each(tasks, (task) => {
            const answer = answers.get(task.upstreamId)
            if (answer === undefined) return settle(task, { _tag: "Unknown" }, account)
            return Result.isSuccess(answer)
              ? settle(task, answer.success, account)
              : verdicts.troubled(task, answer.failure)
          })
        }))
      )
    )

  /** As few questions as the vendors' interfaces allow. */
  const questionsOf = (tasks: ReadonlyArray<ClaimedTask>): ReadonlyArray<Question> => {
    const sharedBy = ({ protocol }: ClaimedTask) => adapters.video.get(protocol)?.together
    const groups = Arr.groupBy(tasks, (task) =>
      sharedBy(task)?.mayShare(task) === true && alone.peek(task.id) === null
        ? JSON.stringify([task.channelId, task.protocol, task.accountVersion, task.keyName])
        : task.id
    )
    return Object.values(groups).flatMap((group) => {
      const shared = sharedBy(group[0])
      return shared === undefined || group.length === 1
        ? group.map(one)
        : Arr.chunksOf(group, shared.most).map((chunk) => many(chunk, shared))
    })
  }

  return { one, questionsOf }
})
