/**
 * Cancels tasks of images, whose run waits for the vendor in one gateway. Any gateway asks the vendor
 * itself, about the job that the run has recorded. Where the vendor says that it cancelled the job,
 * that gateway ends the task; the run learns the same from its next poll, and the first of the two
 * counts. So a cancel needs no living run, and a run needs no living cancel.
 */
import { Effect, Option, Schedule } from "effect"
import { makeKeyTurns } from "../channels/keyTurns.ts"
import { type Cancellation, cancelledByVendor } from "../domain/taskAnswers.ts"
import { Failpoints } from "../runtime/Failpoints.ts"
import { Settings } from "../runtime/Settings.ts"
import { withSpan } from "../runtime/spans.ts"
import { CallLog, recordCalls } from "../services/CallLog.ts"
import { ChannelCredentials } from "../services/channels/ChannelCredentials.ts"
import { type ImageCancel, ProtocolAdapter } from "../services/ProtocolAdapter.ts"
import { type ImageJob, type Task, TaskRepo } from "../services/TaskRepo.ts"
import {
  CANCEL_RETRY,
  CANCEL_WAIT_SECONDS,
  cancelledBeforeCall,
  notAccepted,
  notAsked,
  oneCall,
  requestCancel
} from "./cancellations.ts"
import type { VideoVerdicts } from "./VideoVerdicts.ts"

export const makeImageCancels = Effect.fnUntraced(function* ({
  release
}: Pick<VideoVerdicts, "release">) {
  const adapters = yield* ProtocolAdapter
  const credentials = yield* ChannelCredentials
  const keyTurns = yield* makeKeyTurns
  const tasks = yield* TaskRepo
  const callLog = yield* CallLog
  const failpoints = yield* Failpoints
  const { askIntervalSeconds } = yield* Settings

  /** Ends a task whose vendor was not called; false where the call has begun. */
  const endUncalled = ({ organizationId, id }: Pick<Task, "organizationId" | "id">) =>
    Effect.map(
      release({ organizationId, id }, "poll", {
        task: { from: "submitting", state: "failed", ...cancelledBeforeCall, lease: 0n },
        orphan: null
      }),
      ({ won }) => won
    )

  const endCancelled = ({ organizationId, id }: ImageJob) =>
    release({ organizationId, id }, "poll", {
      task: { from: "submitting", state: "failed", ...cancelledByVendor },
      orphan: null
    })

  /**
   * Claims the job as soon as the vendor has accepted it and the ask interval has passed. None where
   * the task ended before, or the vendor takes too long to accept it.
   */
  const claimJob = ({ organizationId, id }: Task) =>
    Effect.gen(function* () {
      const job = yield* tasks.claimJobToCancel(organizationId, id)
      const isOver =
        Option.isSome(job) ||
        (yield* Effect.match(tasks.find(organizationId, id), {
          onSuccess: ({ finished }) => finished,
          onFailure: () => true
        }))
      return { job, isOver }
    }).pipe(
      Effect.repeat({ until: ({ isOver }) => isOver, schedule: Schedule.spaced(CANCEL_RETRY) }),
      Effect.timeoutOption(`${askIntervalSeconds + CANCEL_WAIT_SECONDS} seconds`),
      Effect.map(Option.flatMap(({ job }) => job))
    )

  const askVendor = Effect.fnUntraced(function* (job: ImageJob, cancel: ImageCancel) {
    let cancellation = notAsked
    const { organizationId, id: jobId, channelId, protocol, upstreamId } = job
    const subject = { organizationId, jobId, channelId, purpose: "poll" as const, upstreamId }
    const request = Effect.gen(function* () {
      const accounts = yield* credentials.taskAccounts(channelId, job.accountVersion)
      return yield* keyTurns.forTask(accounts, job, (account) =>
        recordCalls(callLog, [subject])(
          requestCancel(
            {
              jobs: cancel.jobs,
              send: cancel.send(account, job),
              poll: cancel.poll(account, job),
              isQueued: (status) => status === "queued",
              start: tasks.startCancel(organizationId, jobId),
              afterSend: failpoints.pass("image.cancelled")
            },
            (report) => {
              cancellation = report
            }
          )
        )
      )
    }).pipe(
      withSpan(`cancel ${protocol}`, {
        attributes: () => ({
          "gen_ai.provider.name": protocol,
          "media.channel": channelId,
          "media.task.id": jobId
        }),
        orders: () => [jobId]
      })
    )
    const status = yield* Effect.option(request)
    if (Option.isSome(status) && status.value === "cancelled") yield* endCancelled(job)
    return cancellation
  })

  /** Cancels a task in the state `submitting`. Returns why it goes on, if it does. */
  return Effect.fnUntraced(function* (task: Task): Effect.fn.Return<Cancellation | null> {
    const cancel = adapters.image.get(task.protocol)?.cancel
    if (cancel === undefined) return oneCall
    if (task.accountVersion === null && (yield* endUncalled(task))) return null
    if (task.accountVersion === null && !cancel.isQueue) return oneCall
    const job = yield* claimJob(task)
    return Option.isNone(job) ? notAccepted : yield* askVendor(job.value, cancel)
  })
})
