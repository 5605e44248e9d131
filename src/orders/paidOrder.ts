/**
 * The one way of a paid order: a place, the hold, the vendor's call, and then the finish or the hold
 * given back, before anything is answered. What differs between kinds of orders stands in a value.
 * Each step is safe to stop after: what a crash leaves open is given back by the sweep.
 */
import { Cause, Effect, Exit, Metric, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { ChannelHealth, type Lane, watchedBy } from "../channels/ChannelHealth.ts"
import type { UpstreamError } from "../domain/Errors.ts"
import { exposureOf, Quote } from "../domain/money/Quote.ts"
import { type OrderKind, orderPrefixes } from "../domain/orderIds.ts"
import {
  type Doubt,
  doubtOf,
  duplicateJob,
  givenUp,
  isUnread,
  upstreamErrorOf,
  type VendorFailure
} from "../domain/VendorOutcome.ts"
import { renameModelInError } from "../redaction/modelNames.ts"
import { withoutMedia } from "../redaction/promptsFromRecords.ts"
import { Failpoints, type OrderStep } from "../runtime/Failpoints.ts"
import { Settings } from "../runtime/Settings.ts"
import { withSpan } from "../runtime/spans.ts"
import { CallLog, type CallSubject, recordingCalls } from "../services/CallLog.ts"
import { IdempotencyKeys, type RequestKey } from "../services/IdempotencyKeys.ts"
import { Ledger } from "../services/Ledger.ts"
import { lateSuccesses } from "../services/metrics.ts"
import { TaskEnds, TaskRepo } from "../services/TaskRepo.ts"
import { drawn, type Mounted, makeMounted, makeTurns, type Turn } from "./mountTurns.ts"
import { makeOrderCall } from "./orderCall.ts"
import { observedCall, observedOrder, toldOfUsage } from "./orderTelemetry.ts"
import type { ChargeNow, ChargeOf, Finish, PaidOrder } from "./orderValue.ts"
import { makePlaces } from "./places.ts"

/** Who closes the hold, and what its paid call is for, in the words of the books. */
const words = {
  video: { by: "create", purpose: "submit" },
  image: { by: "image", purpose: "image" },
  text: { by: "text", purpose: "text" }
} as const satisfies Record<
  OrderKind,
  { readonly by: string; readonly purpose: CallSubject["purpose"] }
>

const inHoldSpan = withSpan("hold", { kind: "internal" })
const inReleaseSpan = withSpan("release", { kind: "internal" })
const inAcceptSpan = withSpan("accept", { kind: "internal" })
const inCaptureSpan = withSpan("capture", { kind: "internal" })

const encodeQuote = Schema.encodeSync(Quote)
const encodeCost = Schema.encodeSync(Schema.NullOr(Quote))

const laneOf = (
  { caller, model }: Pick<PaidOrder<unknown, unknown>, "caller" | "model">,
  channelId: string
): Lane => ({ channelId, model: model.id, organizationId: caller.organizationId })

export const makePaidOrders = Effect.gen(function* () {
  const ledger = yield* Ledger
  const tasks = yield* TaskRepo
  const taskEnds = yield* TaskEnds
  const idempotencyKeys = yield* IdempotencyKeys
  const random = yield* SecureRandom.SecureRandom
  const settings = yield* Settings
  const failpoints = yield* Failpoints
  const callLog = yield* CallLog
  const health = yield* ChannelHealth
  const watched = watchedBy(health)
  const inPlace = yield* makePlaces

  /** The steps of one order after its place is taken. */
  const stepsOf = <Made, Answer>(
    id: string,
    order: PaidOrder<Made, Answer>,
    key: RequestKey | null,
    mounted: Mounted<Made>
  ) => {
    const { caller, storableRefusal = withoutMedia, kind } = order
    const { organizationId } = caller
    const close = { organizationId, holdId: id, by: words[kind].by }
    const orderCall = makeOrderCall(callLog)
    const pass = (step: OrderStep) => failpoints.pass(`${kind}.${step}`)
    const logFailure = (message: string, about: object = {}, ...more: ReadonlyArray<unknown>) =>
      Effect.annotateLogs(Effect.logError(message, ...more), {
        hold_id: id,
        channel: mounted.now().job.channelId,
        ...about
      })

    const hold = ledger.hold({
      organizationId,
      memberId: caller.memberId,
      keyId: caller.keyId,
      model: order.model.id,
      modality: order.model.modality,
      id,
      amountNano: order.quote.holdNano,
      exposureNano: exposureOf(order.quote),
      ttlSeconds: order.deadlineSeconds,
      quote: encodeQuote(order.quote),
      metadata: order.metadata,
      promptDigest: order.promptDigest,
      job: mounted.now().job,
      cost: encodeCost(mounted.now().cost),
      task: order.task?.created ?? null,
      key
    })

    /** A store that cannot be reached leaves the order where it was refused. */
    const reassign: Parameters<typeof mounted.call>[1] = ({ job, cost }, refusal) =>
      ledger.reassign({ organizationId, holdId: id, job, cost: encodeCost(cost), refusal }).pipe(
        Effect.tap(pass("reassigned")),
        Effect.catchDefect((defect) =>
          Effect.as(logFailure("an order could not go on", {}, defect), false)
        )
      )

    /** Returns the hold; false when somebody else had closed it, or the vendor's acceptance stands. */
    const returned = (error: UpstreamError, orphan: Doubt | null) =>
      Effect.gen(function* () {
        yield* pass("refused")
        // No job exists and the client may try again, so its key must not stand for this failure.
        const forgetKey = orphan === null && error.status >= 500
        const { won, state } = yield* ledger.release({
          ...close,
          task: order.task?.rejected(error) ?? null,
          orphan,
          forgetKey,
          answer:
            forgetKey || key === null
              ? null
              : { _tag: "Refused", error: storableRefusal(error, orphan) }
        })
        taskEnds.ended(id)
        if (!won) yield* logFailure("a hold was not there to be given back", { state })
        yield* pass("returned")
        return won
      }).pipe(inReleaseSpan)

    const inClientsWords = (error: UpstreamError) =>
      renameModelInError(
        { model: order.model.id, upstreamModel: mounted.now().job.upstreamModel },
        error
      )

    /** A failure is answered only when the money is back. */
    const giveBack = (error: UpstreamError, orphan: Doubt | null) =>
      Effect.andThen(returned(error, orphan), Effect.fail(error))

    /** Given back because of trouble on our side, after the vendor may have started the job. */
    const abandoned = Effect.suspend(() =>
      returned(givenUp(), { upstreamId: null, reason: "gateway_defect" })
    )

    /**
     * The vendor has the job and the store has refused the record of it. The hold is given back,
     * unless the record was written all the same: the client is annotateSpan what stands in the books.
     */
    const unrecorded = (upstreamId: string, defect: unknown) =>
      Effect.gen(function* () {
        yield* logFailure("an accepted task could not be recorded", { upstreamId }, defect)
        if (yield* returned(givenUp(), { upstreamId, reason: "not_recorded" })) {
          return yield* givenUp()
        }
        const { state } = yield* Effect.orDie(tasks.find(organizationId, id))
        return state !== "rejected"
      })

    /** The vendor annotateSpan a job that is charged to another order, or was. */
    const refusedJob = Effect.fnUntraced(function* (upstreamId: string) {
      yield* logFailure("the vendor answered with the job of another order", { upstreamId })
      const lost = duplicateJob(upstreamId)
      return yield* giveBack(upstreamErrorOf(lost), doubtOf(lost))
    })

    /** Records the acceptance, and answers only where the task stands. */
    const accept = ({ upstream, answer }: Extract<Finish<Answer>, { _tag: "Accept" }>) =>
      Effect.gen(function* () {
        const { upstreamId } = upstream
        const stands = yield* tasks
          .accept(organizationId, id, upstream, settings.askIntervalSeconds)
          .pipe(
            Effect.catchDefect((defect) => unrecorded(upstreamId, defect)),
            Effect.catchTag("DuplicateJob", () => refusedJob(upstreamId)),
            Effect.onInterrupt(() =>
              logFailure("the gateway stopped before an accepted task was recorded", { upstreamId })
            )
          )
        if (stands) return answer
        yield* logFailure("the vendor accepted a task that had been given up", { upstreamId })
        yield* tasks.acceptedLate(organizationId, id, upstreamId)
        return yield* givenUp()
      })

    /** Takes the charge, and answers only where it stands in the books. */
    const charge = <A>(finish: ChargeOf<A>) =>
      Effect.gen(function* () {
        const { stored = null, remembered = null } = (key === null ? null : finish.keep?.()) ?? {}
        if (key !== null && remembered !== null) {
          yield* idempotencyKeys.remember(organizationId, key, remembered)
        }
        const { cost } = mounted.now()
        const answered = Exit.isSuccess(finish.answer) ? orderCall.answered() : null
        const { state } = yield* ledger.capture({
          ...close,
          task: finish.task ?? null,
          chargeNano: finish.chargeNano,
          costNano: cost === null ? null : finish.costBy(cost),
          usage: finish.usage,
          orphan: finish.orphan ?? null,
          call: answered,
          answer: stored
        })
        taskEnds.ended(id)
        if (state === "captured") {
          if (finish.usage.basis === "upstream_usage") {
            const amounts = { estimatedNano: order.quote.holdNano, usedNano: finish.chargeNano }
            health.used(mounted.now().job.channelId, order.model.id, amounts)
          }
          if (answered !== null) orderCall.forget()
          return yield* finish.answer
        }
        // A sweep has given the hold back, and its orphan tells the operator of the job.
        const { protocol, channelId: channel } = mounted.now().job
        yield* Metric.update(Metric.withAttributes(lateSuccesses, { protocol, channel }), 1)
        yield* logFailure("an order was made after it had been given up, so it is free")
        return yield* givenUp()
      })

    const charged = <A>(finish: ChargeOf<A>) =>
      Effect.andThen(toldOfUsage(mounted.now().job, finish.usage), inCaptureSpan(charge(finish)))

    /** The vendor has done its part, as far as anybody can tell: the books say so before the client is told. */
    const afterUnread = (finish: ChargeOf<never>): Effect.Effect<never, UpstreamError> =>
      Effect.andThen(pass("made"), charged(finish))

    const afterFailure = (cause: Cause.Cause<VendorFailure>): Effect.Effect<never, UpstreamError> =>
      Result.match(Cause.findError(cause), {
        onSuccess: (failure) =>
          isUnread(failure) && order.finishUnread !== undefined
            ? afterUnread(order.finishUnread(failure, id))
            : Effect.tapDefect(
                giveBack(inClientsWords(upstreamErrorOf(failure)), doubtOf(failure)),
                () => abandoned
              ),
        onFailure: (rest) =>
          Effect.andThen(Cause.hasDies(cause) ? abandoned : Effect.void, Effect.failCause(rest))
      })

    const finishedBy = (finish: Finish<Answer>): Effect.Effect<Answer, UpstreamError> => {
      switch (finish._tag) {
        case "Accept":
          return inAcceptSpan(accept(finish))
        case "Charge":
          return charged(finish)
        case "Charged":
          return finish.answer
      }
    }
    const finished = (finish: Finish<Answer>) => Effect.mapError(finishedBy(finish), inClientsWords)

    const chargeNow: ChargeNow = (finish) =>
      pass("made").pipe(
        Effect.andThen(charged(finish)),
        Effect.andThen(pass("finished")),
        Effect.match({ onSuccess: () => true, onFailure: () => false })
      )

    const whenInterrupted = Effect.suspend(() => {
      const part = order.finishPart?.(id) ?? null
      return part === null ? Effect.void : Effect.ignore(Effect.flatMap(part, finished))
    })

    const callAt = ({ mount, trials }: Turn<Made>) =>
      mount.call(id, chargeNow).pipe(
        observedCall(order, mount.job),
        watched(laneOf(order, mount.job.channelId), trials, order.brokenOffBy, orderCall.said),
        Effect.onInterrupt(() => whenInterrupted),
        recordingCalls(orderCall, [
          {
            organizationId,
            jobId: id,
            channelId: mount.job.channelId,
            purpose: words[kind].purpose,
            upstreamId: null
          }
        ])
      )

    const call = mounted.call(callAt, reassign).pipe(Effect.catchCause(afterFailure))

    const fromTheHold = Effect.gen(function* () {
      const made = yield* call
      yield* pass("made")
      const answer = yield* finished(yield* order.finish(made, id))
      yield* pass("finished")
      return answer
    }).pipe(Effect.ensuring(orderCall.tell))

    return Effect.gen(function* () {
      yield* pass("placed")
      yield* inHoldSpan(hold)
      yield* pass("held")
      return yield* order.around === undefined ? fromTheHold : order.around(fromTheHold, id)
    })
  }

  /**
   * Runs an order and answers what came of it, once that stands in the books. On every failure the
   * whole hold is back before the error is answered. The key stands for this order from its hold on,
   * unless nothing came of it.
   */
  return Effect.fnUntraced(function* <Made, Answer>(
    order: PaidOrder<Made, Answer>,
    key: RequestKey | null
  ) {
    const id = `${orderPrefixes[order.kind]}_${yield* random.uuidV7()}`
    const mounts = yield* drawn(order.mounts)
    return yield* inPlace(order.caller.organizationId, (moveTo) => {
      const next = makeTurns(mounts, moveTo, (channelId) =>
        health.standing(laneOf(order, channelId))
      )
      return next().pipe(
        Effect.flatMap((first) => makeMounted(first, next, order)),
        Effect.flatMap((mounted) =>
          Effect.onExitPrimitive(stepsOf(id, order, key, mounted), () => {
            const uncalled = mounted.uncalled()
            if (uncalled === null || uncalled.trials.length === 0) return undefined
            const lane = laneOf(order, uncalled.mount.job.channelId)
            return health.endTrial(lane, uncalled.trials, undefined)
          })
        )
      )
    }).pipe(observedOrder(id, order))
  })
})
