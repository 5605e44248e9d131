/**
 * What becomes of a running task: asking its vendor, and closing its hold by the answer. A client's
 * GET, the poller and the sweep all come through here; the ledger lets the first close win.
 */
import { Context, Effect, FiberSet, Layer, Metric, Option } from "effect"
import { TaskNotFound } from "../domain/Errors.ts"
import type { VendorFailure } from "../domain/VendorOutcome.ts"
import { chargeVideo, type VideoUsage } from "../domain/VideoPricing.ts"
import { CallLog, recordingCalls } from "./CallLog.ts"
import { ChannelCredentials } from "./ChannelCredentials.ts"
import { makeDetached } from "./Detached.ts"
import { Failpoints } from "./Failpoints.ts"
import { Ledger, type Orphan, type UsageEntry } from "./Ledger.ts"
import { ProtocolAdapter, type VideoStatus } from "./ProtocolAdapter.ts"
import { Settings } from "./Settings.ts"
import { type ClaimedTask, type Task, TaskRepo } from "./TaskRepo.ts"

export class VideoSettlement extends Context.Service<
  VideoSettlement,
  {
    /**
     * The task as it stands, after asking the vendor if nobody did within the ask interval. Waits
     * up to `waitSeconds` for its end. Another organisation's task is not found.
     */
    read(organizationId: string, id: string, waitSeconds: number): Effect.Effect<Task, TaskNotFound>
    /**
     * Begins to ask for due tasks this gateway can claim, and does not wait for the vendors. True
     * when there may be more of them.
     */
    readonly pollDue: Effect.Effect<boolean>
    /** Gives back what a crash left behind, once its time is over; answers how many holds. */
    readonly sweep: Effect.Effect<number>
    /**
     * Gives back all of it and takes over every running task. Only for a gateway that starts alone
     * on its database, where nobody else can be in the middle of anything.
     */
    readonly recover: Effect.Effect<void>
  }
>()("gateway/services/VideoSettlement") {}

/** Tasks claimed at a time; a claim that is full is followed by another one at once. */
const CLAIM_LIMIT = 32
/** A channel whose vendor is slow gets no more questions than this, and holds no other channel up. */
const ASKS_PER_CHANNEL = 32
/** How often a waiting reader looks again, at the slowest. */
const MAX_WAIT_STEP_SECONDS = 0.5

/** Answers with a status word no vendor document lists, by protocol and channel. */
export const strangeStatusWords = Metric.counter("gateway_vendor_strange_status_total", {
  description: "Vendor answers with a status word that is not documented; taken as processing",
  incremental: true
})

const noteStrangeWord = (task: ClaimedTask, word: string) =>
  Metric.update(
    Metric.withAttributes(strangeStatusWords, {
      protocol: task.protocol,
      channel: task.channelId
    }),
    1
  ).pipe(
    Effect.andThen(Effect.logWarning("a vendor used an unknown status word", word.slice(0, 100))),
    Effect.annotateLogs({ task: task.id, channel: task.channelId })
  )

const usageOf = (task: ClaimedTask, charge: ReturnType<typeof chargeVideo>): UsageEntry => ({
  keyId: task.keyId,
  taskId: task.id,
  model: task.model,
  modality: "video",
  input: 0n,
  output: charge.units,
  unit: task.quote.kind === "token_video" ? "token" : "second",
  unitPriceNano:
    task.quote.kind === "token_video" ? task.quote.nanoPerToken : task.quote.nanoPerSecond,
  basis: charge.basis
})

export const layerVideoSettlement = Layer.effect(
  VideoSettlement,
  Effect.gen(function* () {
    const adapters = yield* ProtocolAdapter
    const credentials = yield* ChannelCredentials
    const ledger = yield* Ledger
    const tasks = yield* TaskRepo
    const settings = yield* Settings
    const failpoints = yield* Failpoints
    const callLog = yield* CallLog
    const detached = yield* makeDetached("30 seconds")

    const waitStep =
      `${Math.min(settings.askIntervalSeconds, MAX_WAIT_STEP_SECONDS)} seconds` as const

    const closeOf = (task: Task, by: string) => ({
      organizationId: task.organizationId,
      holdId: task.id,
      by
    })

    const succeed = (task: ClaimedTask, videoUrl: string, usage: VideoUsage) => {
      const charge = chargeVideo(task.quote, usage)
      return ledger.capture({
        ...closeOf(task, "poll"),
        chargeNano: charge.chargeNano,
        usage: usageOf(task, charge),
        task: {
          from: "processing",
          state: "succeeded",
          videoUrl,
          completionTokens: usage.completionTokens
        },
        answer: null
      })
    }

    const fail = (
      task: ClaimedTask,
      errorCode: string,
      errorMessage: string,
      orphan: Orphan | null
    ) =>
      ledger.release({
        ...closeOf(task, "poll"),
        task: { from: "processing", state: "failed", errorCode, errorMessage },
        orphan,
        answer: null,
        forgetKey: false
      })

    /** Without the vendor's verdict: it may bill the job, so an operator should look. */
    const giveUp = (task: ClaimedTask, errorCode: string, errorMessage: string) =>
      fail(task, errorCode, errorMessage, { upstreamId: task.upstreamId, reason: errorCode })

    /** Later questions come further apart, the older the task is. */
    const nextPollSeconds = (task: ClaimedTask) =>
      Math.min(
        Math.max(settings.askIntervalSeconds, task.ageSeconds / 10),
        settings.maxAskIntervalSeconds
      )

    /** `known` tells whether the vendor knew the task; null when it gave no answer to tell. */
    const stillOpen = (task: ClaimedTask, known: boolean | null) => {
      if (known === false && (task.unknownForSeconds ?? 0) >= settings.unknownGraceSeconds) {
        return giveUp(task, "task_lost", "The vendor no longer knows the task")
      }
      return task.pastDeadline
        ? giveUp(task, "deadline_exceeded", "The vendor did not finish in time")
        : tasks.putBack(task, { nextPollSeconds: nextPollSeconds(task), known })
    }

    const apply = Effect.fnUntraced(function* (task: ClaimedTask, status: VideoStatus) {
      yield* failpoints.pass("video.verdict")
      switch (status._tag) {
        case "Succeeded":
          yield* succeed(task, status.videoUrl, status.usage)
          break
        case "Failed":
          yield* fail(task, status.code, status.message, null)
          break
        case "Processing":
          if (status.strangeWord !== undefined) yield* noteStrangeWord(task, status.strangeWord)
          yield* stillOpen(task, true)
          break
        case "Unknown":
          yield* stillOpen(task, false)
          break
      }
      yield* failpoints.pass("video.settled")
    })

    /**
     * Trouble while asking says nothing about the job: the task stays as it is. The vendor's words,
     * which may repeat the prompt, are left to the client.
     */
    const troubled = (task: ClaimedTask, failure: VendorFailure | { readonly message: string }) =>
      Effect.logDebug(
        "a poll gave no verdict",
        "_tag" in failure ? failure._tag : failure.message
      ).pipe(
        Effect.annotateLogs({ task: task.id, channel: task.channelId }),
        Effect.andThen(stillOpen(task, null)),
        Effect.asVoid
      )

    /** An answer we cannot settle by must not keep the task from its deadline. */
    const stumbled = (task: ClaimedTask, defect: unknown) =>
      Effect.logError("a vendor's answer could not be applied", defect).pipe(
        Effect.annotateLogs({ task: task.id, channel: task.channelId }),
        Effect.andThen(stillOpen(task, null)),
        Effect.asVoid
      )

    const ask = Effect.fn("VideoSettlement.ask")(
      function* (task: ClaimedTask) {
        const adapter = adapters.video.get(task.protocol)
        if (adapter === undefined) {
          return yield* Effect.fail({ message: `no adapter speaks ${task.protocol} any more` })
        }
        const account = yield* credentials.account(task.channelId)
        const status = yield* adapter
          .poll(account, {
            upstreamId: task.upstreamId,
            upstreamModel: task.upstreamModel,
            listedProtocol: task.listedProtocol
          })
          .pipe(
            recordingCalls(callLog, {
              organizationId: task.organizationId,
              jobId: task.id,
              purpose: "poll"
            })
          )
        yield* apply(task, status)
      },
      (effect, task) =>
        effect.pipe(
          Effect.catch((failure: VendorFailure | { readonly message: string }) =>
            troubled(task, failure)
          ),
          Effect.catchDefect((defect) => stumbled(task, defect))
        )
    )

    const readOnce = Effect.fnUntraced(function* (organizationId: string, id: string) {
      const task = yield* tasks.find(organizationId, id)
      if (task.state !== "processing") return task
      const claimed = yield* tasks.claim(organizationId, id)
      if (Option.isNone(claimed)) return task
      yield* detached(ask(claimed.value))
      return yield* tasks.find(organizationId, id)
    })

    const read: VideoSettlement["Service"]["read"] = Effect.fn("VideoSettlement.read")(
      function* (organizationId, id, waitSeconds) {
        const first = yield* readOnce(organizationId, id)
        if (first.state === "rejected") {
          return yield* new TaskNotFound({ message: `No task is called ${JSON.stringify(id)}` })
        }
        if (waitSeconds <= 0 || first.finished) return first
        const ended = readOnce(organizationId, id).pipe(
          Effect.delay(waitStep),
          Effect.repeat({ until: (task) => task.finished })
        )
        const waited = yield* Effect.timeoutOption(ended, `${waitSeconds} seconds`)
        return Option.isSome(waited) ? waited.value : yield* tasks.find(organizationId, id)
      }
    )

    /** One task that cannot be settled must not keep the others waiting. */
    const loggingFailure = (task: Task) => (effect: Effect.Effect<unknown>) =>
      Effect.catchCause(effect, (cause) =>
        Effect.logError("a task could not be settled", cause).pipe(
          Effect.annotateLogs({ task: task.id })
        )
      )

    const asking = yield* FiberSet.make<void>()
    const asked = new Map<string, number>()
    const count = (channelId: string, change: 1 | -1) => {
      const now = (asked.get(channelId) ?? 0) + change
      if (now === 0) asked.delete(channelId)
      else asked.set(channelId, now)
    }

    const pollDue = Effect.gen(function* () {
      const busy = [...asked].flatMap(([channelId, asks]) =>
        asks >= ASKS_PER_CHANNEL ? [channelId] : []
      )
      const claimed = yield* tasks.claimDue(CLAIM_LIMIT, busy)
      for (const task of claimed) {
        count(task.channelId, 1)
        yield* loggingFailure(task)(ask(task)).pipe(
          Effect.ensuring(Effect.sync(() => count(task.channelId, -1))),
          Effect.asVoid,
          FiberSet.run(asking)
        )
      }
      return claimed.length === CLAIM_LIMIT
    })

    const giveBack = Effect.fn("VideoSettlement.giveBack")(function* (scope: "overdue" | "all") {
      const left = yield* tasks.abandoned(scope)
      yield* Effect.forEach(left, (task) =>
        ledger.release({
          ...closeOf(task, "sweep"),
          task: {
            from: "submitting",
            state: "rejected",
            errorCode: "upstream_error",
            errorMessage: "The gateway stopped before the vendor's answer was recorded"
          },
          orphan: { upstreamId: null, reason: "gateway_stopped" },
          answer: null,
          forgetKey: false
        })
      )
      return left.length + (yield* ledger.sweepImages(scope))
    })

    return VideoSettlement.of({
      read,
      pollDue,
      sweep: giveBack("overdue"),
      recover: Effect.andThen(giveBack("all"), tasks.takeOver)
    })
  })
)
