/** Asking vendors about claimed tasks, one at a time or many in one question. */
import { Array as Arr, Effect, Result } from "effect"
import type { VendorFailure } from "../domain/VendorOutcome.ts"
import { pauseSeconds } from "../domain/video/PollPace.ts"
import { Failpoints } from "../runtime/Failpoints.ts"
import { dropOldest } from "../runtime/FreshCache.ts"
import { CallLog, recordingCalls } from "../services/CallLog.ts"
import { ChannelCredentials } from "../services/Catalog.ts"
import {
  type ChannelAccount,
  ProtocolAdapter,
  type VideoAdapter,
  type VideoTaskRef
} from "../services/ProtocolAdapter.ts"
import { type ClaimedTask, TaskRepo } from "../services/TaskRepo.ts"
import { makeVideoVerdicts, type Trouble } from "./VideoVerdicts.ts"

/** What is asked of a channel's vendor in one request. */
export interface Question {
  readonly channelId: string
  /** At least one. */
  readonly tasks: ReadonlyArray<ClaimedTask>
  /** Asks, and answers with what settles by what the vendor said. Nothing it says is a failure. */
  readonly ask: Effect.Effect<Effect.Effect<void>>
}

/** To forget one costs a refused question more. */
const MOST_ALONE = 10_000

const refOf = ({ upstreamId, upstreamModel, listedProtocol }: ClaimedTask): VideoTaskRef => ({
  upstreamId,
  upstreamModel,
  listedProtocol
})

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

/** A refusal that is not about the channel as a whole may be about one task among many. */
const mayBeOneTask = (failure: VendorFailure): boolean =>
  failure._tag === "VendorRefused" &&
  failure.retryAfterSeconds === null &&
  failure.effectiveStatus !== 429 &&
  failure.effectiveStatus !== 503

/** `ended` hears of every task that was found or made to be over. */
export const makeVideoQuestions = Effect.fnUntraced(function* (ended: (id: string) => void) {
  const adapters = yield* ProtocolAdapter
  const credentials = yield* ChannelCredentials
  const repo = yield* TaskRepo
  const callLog = yield* CallLog
  const failpoints = yield* Failpoints
  const verdicts = yield* makeVideoVerdicts(ended)

  /** Tasks that were in a question the vendor refused: next time each is asked for alone. */
  const alone = new Set<string>()

  const recorded = (tasks: ReadonlyArray<ClaimedTask>) =>
    recordingCalls(
      callLog,
      tasks.map(({ organizationId, id, upstreamId }) => ({
        organizationId,
        jobId: id,
        purpose: "poll" as const,
        upstreamId
      }))
    )

  /** A vendor's `Retry-After` is for the whole channel. */
  const heed = (channelId: string, trouble: Trouble) => {
    const seconds = pauseSeconds(trouble.retryAfterSeconds)
    return seconds > 0 ? repo.pause(channelId, seconds) : Effect.void
  }

  const together = <A>(
    tasks: ReadonlyArray<ClaimedTask>,
    settle: (task: ClaimedTask) => Effect.Effect<A>
  ) => Effect.forEach(tasks, settle, { concurrency: "unbounded", discard: true })

  /** Asks with the adapter and the account; what it fails with holds for every task. */
  const withVendor = (
    tasks: ReadonlyArray<ClaimedTask>,
    { channelId, protocol }: ClaimedTask,
    run: (
      adapter: VideoAdapter,
      account: ChannelAccount
    ) => Effect.Effect<Effect.Effect<void>, VendorFailure | Trouble>
  ): Effect.Effect<Effect.Effect<void>> => {
    const stumbled = (defect: unknown) => together(tasks, (task) => verdicts.stumbled(task, defect))
    return Effect.gen(function* () {
      const adapter = adapters.video.get(protocol)
      if (adapter === undefined) {
        return yield* Effect.fail({ message: `no adapter speaks ${protocol} any more` })
      }
      yield* failpoints.pass("video.claimed")
      return yield* run(adapter, yield* credentials.account(channelId))
    }).pipe(
      Effect.catch((trouble: VendorFailure | Trouble) =>
        Effect.succeed(
          Effect.andThen(
            heed(channelId, trouble),
            together(tasks, (task) => verdicts.troubled(task, trouble))
          )
        )
      ),
      Effect.map(Effect.catchDefect(stumbled)),
      Effect.catchDefect((defect) => Effect.succeed(stumbled(defect)))
    )
  }

  const askOne = (task: ClaimedTask) =>
    withVendor([task], task, (adapter, account) =>
      Effect.map(againIfCut(recorded([task])(adapter.poll(account, refOf(task)))), (status) => {
        alone.delete(task.id)
        return verdicts.apply(task, status)
      })
    )

  const askTogether = Effect.fn("VideoQuestions.askTogether")(
    (
      first: ClaimedTask,
      tasks: ReadonlyArray<ClaimedTask>,
      shared: NonNullable<VideoAdapter["together"]>
    ) =>
      withVendor(tasks, first, (_adapter, account) =>
        againIfCut(recorded(tasks)(shared.poll(account, tasks.map(refOf)))).pipe(
          Effect.tapError((failure) =>
            Effect.sync(() => {
              if (!mayBeOneTask(failure)) return
              for (const { id } of tasks) alone.add(id)
              dropOldest(alone, MOST_ALONE)
            })
          ),
          Effect.map((answers) =>
            together(tasks, (task) => {
              const answer = answers.get(task.upstreamId)
              if (answer === undefined) return verdicts.apply(task, { _tag: "Unknown" })
              return Result.isSuccess(answer)
                ? verdicts.apply(task, answer.success)
                : verdicts.troubled(task, answer.failure)
            })
          )
        )
      )
  )

  const one = (task: ClaimedTask): Question => ({
    channelId: task.channelId,
    tasks: [task],
    ask: askOne(task)
  })

  /** As few questions as the vendors' interfaces allow. */
  const questionsOf = (tasks: ReadonlyArray<ClaimedTask>): ReadonlyArray<Question> => {
    const togetherOf = ({ protocol }: ClaimedTask) => adapters.video.get(protocol)?.together
    const groups = Map.groupBy(tasks, (task) =>
      togetherOf(task)?.mayShare(refOf(task)) === true && !alone.has(task.id)
        ? JSON.stringify([task.channelId, task.protocol])
        : task.id
    )
    return [...groups.values()].flatMap((group) => {
      const [first] = group
      const shared = first && togetherOf(first)
      if (first === undefined || shared === undefined || group.length === 1) return group.map(one)
      return Arr.chunksOf(group, shared.most).map((chunk) => ({
        channelId: first.channelId,
        tasks: chunk,
        ask: askTogether(first, chunk, shared)
      }))
    })
  }

  return { one, questionsOf }
})
