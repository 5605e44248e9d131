/**
 * The three ends of an order: the hold is released, the vendor's acceptance is recorded, or the
 * charge is captured. Each end is recorded in the ledger before the client is answered.
 */
import { Effect, Exit, Metric } from "effect"
import { ChannelHealth } from "../channels/ChannelHealth.ts"
import type { UpstreamError } from "../domain/Errors.ts"
import type { OrderKind } from "../domain/orderIds.ts"
import {
  abandonedRequestError,
  type Doubt,
  doubtOf,
  duplicateJob,
  isCancelled,
  type OrderFailure,
  orderFailureOf,
  ownFailure,
  upstreamErrorOf,
  type VendorFailure
} from "../domain/VendorOutcome.ts"
import type { OrderStep } from "../runtime/Failpoints.ts"
import { Settings } from "../runtime/Settings.ts"
import { withSpan } from "../runtime/spans.ts"
import { IdempotencyKeys, type RequestKey, type StoredAnswer } from "../services/IdempotencyKeys.ts"
import { type Closer, Ledger } from "../services/Ledger.ts"
import { lateSuccesses } from "../services/metrics.ts"
import { TaskEnds, type TaskOutcome, TaskRepo } from "../services/TaskRepo.ts"
import type { CurrentMount } from "./mountTurns.ts"
import type { OrderCall } from "./orderCall.ts"
import { annotateUsage } from "./orderTelemetry.ts"
import type { Charge, Finish, OrderRun, OrderTerms } from "./orderValue.ts"

/** The state of a running order, which all of its steps share. */
export interface OpenOrder {
  readonly terms: OrderTerms
  readonly run: OrderRun
  readonly key: RequestKey | null
  readonly current: Pick<CurrentMount<unknown>, "mount">
  readonly call: OrderCall
  /** The last step that was reached; null before the first step. */
  step: OrderStep | null
  /** Records that the step is reached; the effect passes its failpoint. */
  readonly reach: (step: OrderStep) => Effect.Effect<void>
}

/** Logs an event of the order with the fields by which an operator finds the order. */
export const logOrderError = (
  { current, run, step }: OpenOrder,
  event: string,
  fields: object = {},
  ...causes: ReadonlyArray<unknown>
) =>
  Effect.annotateLogs(Effect.logError(`order: ${event}`, ...causes), {
    order_id: run.id,
    channel: current.mount().job.channelId,
    step,
    ...fields
  })

/** The closer that the ledger records when an order closes its own hold, by kind of order. */
const closers = {
  video: "create",
  image: "image",
  speech: "text",
  text: "text"
} as const satisfies Record<OrderKind, Closer>

const closeOf = ({ terms: { caller, kind }, run: { id } }: OpenOrder) => ({
  organizationId: caller.organizationId,
  holdId: id,
  by: closers[kind]
})

const inReleaseSpan = withSpan("release", { kind: "internal" })
const inAcceptSpan = withSpan("accept", { kind: "internal" })
const inCaptureSpan = withSpan("capture", { kind: "internal" })

export const makeOrderEnds = Effect.gen(function* () {
  const ledger = yield* Ledger
  const tasks = yield* TaskRepo
  const taskEnds = yield* TaskEnds
  const idempotencyKeys = yield* IdempotencyKeys
  const settings = yield* Settings
  const health = yield* ChannelHealth

  /**
   * Releases the hold; false when the hold had been closed before, or the vendor's acceptance is
   * already recorded.
   */
  const release = Effect.fnUntraced(function* (
    open: OpenOrder,
    error: UpstreamError,
    orphan: Doubt | null,
    failure: OrderFailure
  ) {
    const { key, run, terms } = open
    yield* open.reach("refused")
    // After such a failure no job exists and the client may retry. The idempotency key is freed, so
    // that the retry places an order and does not replay the failure. A client that already has the
    // id of its task gets the same id again: for images and speech, and for an order that has
    // waited, which is submitted without its key.
    const isAnswered = key === null || (terms.task !== null && terms.kind !== "video")
    const forgetKey = !isAnswered && orphan === null && error.status >= 500
    const { won, state } = yield* ledger.release({
      ...closeOf(open),
      task: terms.task?.rejected(error, run) ?? null,
      orphan,
      failure,
      forgetKey,
      answer:
        forgetKey || key === null
          ? null
          : { _tag: "Refused", error: terms.storableRefusal(error, orphan) }
    })
    taskEnds.notify(run.id)
    if (!won)
      yield* logOrderError(open, "hold not released, order already closed or accepted", { state })
    yield* open.reach("returned")
    return won
  }, inReleaseSpan)

  /**
   * Ends a task whose vendor cancelled the job, as a cancel does. Such a cancel may have ended it
   * before.
   */
  const endCancelled = Effect.fnUntraced(function* (open: OpenOrder, task: TaskOutcome) {
    yield* open.reach("refused")
    yield* ledger.release({
      ...closeOf(open),
      task,
      orphan: null,
      answer: null,
      forgetKey: false
    })
    taskEnds.notify(open.run.id)
    yield* open.reach("returned")
  }, inReleaseSpan)

  /**
   * Releases the hold, and only then answers with `error`, which is the client's error of the
   * failure.
   */
  const giveBack = (open: OpenOrder, failure: VendorFailure, error: UpstreamError) => {
    const task = isCancelled(failure) ? (open.terms.task?.cancelled ?? null) : null
    if (task !== null) return Effect.andThen(endCancelled(open, task), Effect.fail(error))
    const stored = orderFailureOf(failure, error, (message) => open.terms.redact(message, open.run))
    return Effect.andThen(release(open, error, doubtOf(failure), stored), Effect.fail(error))
  }

  /** Releases the hold of an order whose vendor may have started the job. */
  const releaseAbandoned = (open: OpenOrder, orphan: Doubt) => {
    const error = abandonedRequestError()
    return release(open, error, orphan, ownFailure(orphan.reason, error.message))
  }

  /** Releases the hold after a defect of the gateway, when the vendor may have started the job. */
  const abandon = (open: OpenOrder) =>
    releaseAbandoned(open, { upstreamId: null, reason: "gateway_defect" })

  /**
   * Handles a job that the vendor has accepted and the database has failed to record. The hold is
   * released, unless the record was written despite the failure. The client is answered by the
   * state in the database.
   */
  const giveBackUnrecorded = Effect.fnUntraced(function* (
    open: OpenOrder,
    upstreamId: string,
    defect: unknown
  ) {
    const { run, terms } = open
    yield* logOrderError(
      open,
      "recording an accepted task failed",
      { upstream_id: upstreamId },
      defect
    )
    if (yield* releaseAbandoned(open, { upstreamId, reason: "not_recorded" })) {
      return yield* abandonedRequestError()
    }
    const { state } = yield* Effect.orDie(tasks.find(terms.caller.organizationId, run.id))
    return state !== "rejected"
  })

  /**
   * Releases the hold when the vendor answered with the job of another order, which is or was
   * charged.
   */
  const giveBackDuplicate = Effect.fnUntraced(function* (open: OpenOrder, upstreamId: string) {
    yield* logOrderError(open, "vendor answered with the job of another order", {
      upstream_id: upstreamId
    })
    const lost = duplicateJob(upstreamId)
    return yield* giveBack(open, lost, upstreamErrorOf(lost))
  })

  /** Records the acceptance, and answers with the task only when the record exists. */
  const accept = <Answer>(
    open: OpenOrder,
    { upstream, answer }: Extract<Finish<Answer>, { _tag: "Accept" }>
  ) =>
    Effect.gen(function* () {
      const { organizationId } = open.terms.caller
      const { id } = open.run
      const { upstreamId } = upstream
      const stands = yield* tasks
        .accept(organizationId, id, upstream, settings.askIntervalSeconds)
        .pipe(
          Effect.catchDefect((defect) => giveBackUnrecorded(open, upstreamId, defect)),
          Effect.catchTag("DuplicateJob", () => giveBackDuplicate(open, upstreamId)),
          Effect.onInterrupt(() =>
            logOrderError(open, "recording of an accepted task was interrupted", {
              upstream_id: upstreamId
            })
          )
        )
      if (stands) return answer
      yield* logOrderError(open, "vendor accepted a task after the release of its hold", {
        upstream_id: upstreamId
      })
      yield* tasks.recordLateAcceptance(organizationId, id, upstreamId)
      return yield* abandonedRequestError()
    }).pipe(inAcceptSpan)

  /**
   * Answers an order whose product arrived after a sweep had released its hold. An operator learns
   * of the vendor's job from the orphan that the sweep recorded.
   */
  const answerLate = Effect.fnUntraced(function* (open: OpenOrder) {
    const { protocol, channelId: channel } = open.current.mount().job
    yield* Metric.update(Metric.withAttributes(lateSuccesses, { protocol, channel }), 1)
    yield* logOrderError(open, "product arrived after the release of its hold")
    return yield* abandonedRequestError()
  })

  /**
   * The answer that is stored for repeated requests. A part that the database does not store is
   * kept in memory.
   */
  const storableAnswer = (
    { key, terms }: OpenOrder,
    { repeatAnswer }: Charge<unknown>
  ): Effect.Effect<StoredAnswer | null> => {
    if (key === null || repeatAnswer === null) return Effect.succeed(null)
    const { remembered, stored } = repeatAnswer()
    return remembered === null
      ? Effect.succeed(stored)
      : Effect.as(idempotencyKeys.remember(terms.caller.organizationId, key, remembered), stored)
  }

  /**
   * Reports the vendor's usage and the held amount to the channel's health, so that operators can
   * compare them.
   */
  const noteUsage = ({ current, terms }: OpenOrder, { chargeNano, usage }: Charge<unknown>) => {
    if (usage.basis !== "upstream_usage") return
    const amounts = { estimatedNano: terms.quote.holdNano, usedNano: chargeNano }
    health.recordUsage(current.mount().job.channelId, terms.model.id, amounts)
  }

  /** Captures the charge, and answers only when it is recorded in the ledger. */
  const capture = Effect.fnUntraced(function* <Answer>(open: OpenOrder, charge: Charge<Answer>) {
    const { cost } = open.current.mount()
    const answer = yield* storableAnswer(open, charge)
    const call = Exit.isSuccess(charge.answer) ? open.call.answered() : null
    const { state } = yield* ledger.capture({
      ...closeOf(open),
      task: charge.task,
      chargeNano: charge.chargeNano,
      costNano: cost === null ? null : charge.costBy(cost),
      usage: charge.usage,
      orphan: charge.orphan,
      call,
      answer
    })
    taskEnds.notify(open.run.id)
    if (state !== "captured") return yield* answerLate(open)
    noteUsage(open, charge)
    if (call !== null) open.call.skipLog()
    return yield* charge.answer
  })

  const finish = <Answer>(
    open: OpenOrder,
    finish: Finish<Answer>
  ): Effect.Effect<Answer, UpstreamError> => {
    switch (finish._tag) {
      case "Accept":
        return accept(open, finish)
      case "Charge":
        return Effect.andThen(
          annotateUsage(open.current.mount().job, finish.usage),
          inCaptureSpan(capture(open, finish))
        )
      case "Charged":
        return finish.answer
    }
  }

  return { giveBack, abandon, finish }
})
