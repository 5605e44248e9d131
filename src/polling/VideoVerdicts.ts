/**
 * Applies a vendor's answer to a task. A verdict (a success or a failure) closes the hold; any
 * other answer releases the claim. The ledger accepts only the first close. When another gateway
 * has claimed the task in the meantime, only a verdict may still end it.
 */
import { Effect, Metric, Random } from "effect"
import { ChannelHealth } from "../channels/ChannelHealth.ts"
import { expectedChargeOf, unitOf } from "../domain/money/Quote.ts"
import { reportedCostOf } from "../domain/money/vendorBill.ts"
import { implausibleUsage, type ReportedUsage } from "../domain/VendorOutcome.ts"
import { nextPollSeconds, pauseSeconds } from "../domain/video/PollPace.ts"
import {
  asRendered,
  chargeVideo,
  type VideoCharge,
  type VideoUsage
} from "../domain/video/VideoCharge.ts"
import { kindOf, type VideoQuote } from "../domain/video/VideoQuote.ts"
import { renameModel } from "../redaction/modelNames.ts"
import { Failpoints } from "../runtime/Failpoints.ts"
import { Settings } from "../runtime/Settings.ts"
import { annotateSpan, withSpan } from "../runtime/spans.ts"
import { Ledger, type Release, type UsageEntry } from "../services/Ledger.ts"
import {
  completionLagSeconds,
  lateSuccesses,
  staleClaims,
  unknownStatuses
} from "../services/metrics.ts"
import type { VideoStatus } from "../services/ProtocolAdapter.ts"
import { type AbandonedTask, type ClaimedTask, TaskRepo } from "../services/TaskRepo.ts"
import { UsualTimes } from "./CompletionTimes.ts"

/** The reason why a poll brought no verdict. */
export interface PollProblem {
  /**
   * The tag of the failure, where the reason is a vendor's failure. The message of such a failure
   * may repeat the prompt.
   */
  readonly _tag?: string
  readonly message: string
  /** The vendor's `Retry-After`, in seconds. */
  readonly retryAfterSeconds?: number | null
}

/** The error of a task that its vendor has not finished by the deadline. */
export const deadlineExceeded = {
  errorCode: "deadline_exceeded",
  errorMessage: "The vendor did not finish in time"
} as const

const taskLost = {
  errorCode: "task_lost",
  errorMessage: "The vendor no longer knows the task"
} as const

const increment = (counter: Metric.Counter<number>, task: ClaimedTask) =>
  Metric.update(
    Metric.withAttributes(counter, { protocol: task.protocol, channel: task.channelId }),
    1
  )

/**
 * Measures the lag of a completion. `seconds` is the time since the previous poll of the task,
 * whose answer was still "processing", so it is an upper bound of the lag.
 */
export const noteCompletion = (channel: string, seconds: number) =>
  Metric.update(Metric.withAttributes(completionLagSeconds, { channel }), seconds)

const noteUnknownStatus = (task: ClaimedTask, statusName: string) =>
  increment(unknownStatuses, task).pipe(
    Effect.andThen(Effect.logWarning("task: vendor reported an unknown status")),
    Effect.annotateLogs({
      order_id: task.id,
      channel: task.channelId,
      status: statusName.slice(0, 100)
    })
  )

const noteImplausibleUsage = (task: ClaimedTask, { output }: ReportedUsage) =>
  Effect.logWarning("task: vendor reported an implausible count of tokens").pipe(
    Effect.annotateLogs({
      order_id: task.id,
      channel: task.channelId,
      output_tokens: String(output)
    })
  )

/** The usage detail of a charge. Input seconds have the same price as output seconds. */
const usageEntryOf = (
  quote: VideoQuote,
  { inputUnits, units, parts, basis }: VideoCharge
): UsageEntry => {
  const prices = unitOf(quote)
  const inputPrice = inputUnits === undefined ? {} : { inputUnitPriceNano: prices.unitPriceNano }
  const surcharge = parts === undefined ? {} : { parts }
  return { input: inputUnits ?? 0n, output: units, ...prices, ...inputPrice, ...surcharge, basis }
}

/** What the vendor bills by the prices of its mount, and what it says itself. */
const vendorAmounts = ({ cost, billUnitPriceNano }: ClaimedTask, usage: VideoUsage) => ({
  costNano: cost === null ? null : chargeVideo(cost, usage).chargeNano,
  vendorBill: usage.bill ?? null,
  reportedCostNano: reportedCostOf(usage.bill, billUnitPriceNano)
})

const spanAttributesOf = (quote: VideoQuote, { units }: VideoCharge) => {
  const { unit } = unitOf(quote)
  if (unit === "token") return { "gen_ai.usage.output_tokens": Number(units) }
  return { "media.video.seconds": unit === "second" ? Number(units) : quote.outputSeconds }
}

export type VideoVerdicts = Effect.Success<ReturnType<typeof makeVideoVerdicts>>

/**
 * `onEnd` is called with the id of every task whose hold is closed, also where another gateway
 * closed the hold.
 */
export const makeVideoVerdicts = Effect.fnUntraced(function* (onEnd: (id: string) => void) {
  const ledger = yield* Ledger
  const tasks = yield* TaskRepo
  const settings = yield* Settings
  const failpoints = yield* Failpoints
  const usualTimes = yield* UsualTimes
  const health = yield* ChannelHealth

  const recordCompletion = ({ channelId, sincePollSeconds }: ClaimedTask) => {
    health.recordLag(channelId, sincePollSeconds)
    return noteCompletion(channelId, sincePollSeconds)
  }

  const recordSuccess = Effect.fnUntraced(function* (
    task: ClaimedTask,
    { videoUrl, usage, stills }: Extract<VideoStatus, { readonly _tag: "Succeeded" }>
  ) {
    const charge = chargeVideo(task.quote, usage)
    yield* annotateSpan(() => spanAttributesOf(task.quote, charge))
    if (charge.implausible !== null) yield* noteImplausibleUsage(task, charge.implausible)
    const { won, state } = yield* ledger.capture({
      organizationId: task.organizationId,
      holdId: task.id,
      by: "poll",
      chargeNano: charge.chargeNano,
      ...vendorAmounts(task, usage),
      usage: usageEntryOf(asRendered(task.quote, usage), charge),
      task: {
        from: "processing",
        state: "succeeded",
        videoUrl,
        ...(stills === undefined ? {} : { stills }),
        completionTokens: usage.completionTokens
      },
      orphan:
        charge.implausible === null ? null : implausibleUsage(charge.implausible, task.upstreamId),
      answer: null
    })
    if (state !== "open") onEnd(task.id)
    if (won) {
      yield* recordCompletion(task)
      if (charge.basis === "upstream_usage") {
        const { quote, channelId, model } = task
        const amounts = { estimatedNano: expectedChargeOf(quote), usedNano: charge.chargeNano }
        health.recordUsage(channelId, model, amounts)
      }
      yield* usualTimes.record(kindOf(task.model, task.quote), task.ageSeconds)
    } else if (state === "released") {
      yield* increment(lateSuccesses, task)
      yield* Effect.logWarning("task: vendor reported success after the hold was released").pipe(
        Effect.annotateLogs({ order_id: task.id, channel: task.channelId })
      )
    }
  })

  /** Releases the hold of a task. */
  const release = (
    { organizationId, id }: Pick<AbandonedTask, "organizationId" | "id">,
    by: "poll" | "sweep",
    end: Pick<Release, "task" | "orphan">
  ) =>
    Effect.tap(
      ledger.release({ organizationId, holdId: id, by, ...end, answer: null, forgetKey: false }),
      ({ state }) => Effect.sync(() => (state === "open" ? undefined : onEnd(id)))
    )

  /**
   * Fails a task without its vendor's verdict. The vendor may bill the job, so the task is recorded
   * as an orphan for an operator to check. The data of the claim may be outdated, so the task is
   * changed only while the lease of the claim is valid.
   */
  const giveUp = (task: ClaimedTask, failure: typeof deadlineExceeded | typeof taskLost) =>
    Effect.map(
      release(task, "poll", {
        task: { from: "processing", state: "failed", ...failure, lease: task.lease },
        orphan: { upstreamId: task.upstreamId, reason: failure.errorCode }
      }),
      ({ won }) => won
    )

  /**
   * Releases the claim for a later poll, or fails a task that is lost or past its deadline.
   * `isKnown` is null where the answer does not show whether the vendor knows the task.
   */
  const keepOpen = Effect.fnUntraced(function* (
    task: ClaimedTask,
    isKnown: boolean | null,
    minimumSeconds = 0
  ) {
    const isLost =
      isKnown === false && (task.unknownForSeconds ?? 0) >= settings.unknownGraceSeconds
    const pace = nextPollSeconds(settings, task.ageSeconds, yield* Random.next)
    const isCurrent = yield* isLost
      ? giveUp(task, taskLost)
      : task.pastDeadline
        ? giveUp(task, deadlineExceeded)
        : tasks.putBack(task, { nextPollSeconds: Math.max(pace, minimumSeconds), isKnown })
    if (!isCurrent) yield* increment(staleClaims, task)
  })

  const applyStatus = Effect.fnUntraced(function* (task: ClaimedTask, status: VideoStatus) {
    yield* failpoints.pass("video.verdict")
    switch (status._tag) {
      case "Succeeded":
        yield* recordSuccess(task, status)
        break
      case "Failed": {
        const { won } = yield* release(task, "poll", {
          task: {
            from: "processing",
            state: "failed",
            errorCode: status.code,
            errorMessage: renameModel(task, status.message),
            lease: null
          },
          orphan: null
        })
        if (won) yield* recordCompletion(task)
        break
      }
      case "Processing":
        if (status.unknownStatus !== undefined) yield* noteUnknownStatus(task, status.unknownStatus)
        yield* keepOpen(task, true)
        break
      case "Unknown":
        yield* keepOpen(task, false)
        break
    }
    yield* failpoints.pass("video.settled")
  })

  /**
   * Releases the claim after a defect in applying an answer, or fails the task when its deadline is
   * over. So a task whose answers cannot be applied still ends at its deadline.
   */
  const putBackAfterDefect = (task: ClaimedTask, defect: unknown) =>
    Effect.logError("task: applying the vendor's answer failed", defect).pipe(
      Effect.annotateLogs({ order_id: task.id, channel: task.channelId }),
      Effect.andThen(keepOpen(task, null))
    )

  /** Settles the task by the vendor's answer, or releases the claim. */
  const apply = (task: ClaimedTask, status: VideoStatus) =>
    Effect.catchDefect(applyStatus(task, status), (defect) =>
      putBackAfterDefect(task, defect)
    ).pipe(
      withSpan(`settle ${task.model}`, {
        kind: "internal",
        attributes: () => ({
          "gen_ai.operation.name": "generate_content",
          "gen_ai.provider.name": task.protocol,
          "gen_ai.request.model": task.model,
          "gen_ai.output.type": "video",
          "media.channel": task.channelId,
          "media.task.id": task.id,
          "media.verdict": status._tag
        }),
        orders: () => [task.id]
      })
    )

  /**
   * Releases the claim after a failed poll, which shows nothing about the job. The vendor's
   * message, which may repeat the prompt, is not logged.
   */
  const postpone = (task: ClaimedTask, problem: PollProblem) =>
    Effect.logDebug("task: poll failed").pipe(
      Effect.annotateLogs({
        order_id: task.id,
        channel: task.channelId,
        reason: problem._tag ?? problem.message
      }),
      Effect.andThen(keepOpen(task, null, pauseSeconds(problem.retryAfterSeconds)))
    )

  return { apply, postpone, putBackAfterDefect, release }
})
