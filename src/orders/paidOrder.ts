/**
 * Runs every paid order in the same steps: permits, the hold, the call to the vendor, and then the
 * charge or the release of the hold, before the client is answered. A `PaidOrder` has what differs
 * between kinds of orders. The process may crash after any step: a sweep releases the holds that
 * are left open.
 */
import { Cause, Effect, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { ChannelHealth, type Lane, withHealth } from "../channels/ChannelHealth.ts"
import { InvalidRequest, type UpstreamError } from "../domain/Errors.ts"
import type { FileAddresses } from "../domain/files/fileReferences.ts"
import { formatNano } from "../domain/money/Money.ts"
import { encodeQuote, exposureOf, type Quote } from "../domain/money/Quote.ts"
import { type OrderKind, orderPrefixes } from "../domain/orderIds.ts"
import {
  isUnreadableAnswer,
  mayTryAgain,
  upstreamErrorOf,
  type VendorFailure
} from "../domain/VendorOutcome.ts"
import { renameModelInError } from "../redaction/modelNames.ts"
import { Failpoints } from "../runtime/Failpoints.ts"
import { withSpan } from "../runtime/spans.ts"
import { CallLog, type CallSubject, recordCalls } from "../services/CallLog.ts"
import { ChannelQueue, UNHELD_SECONDS } from "../services/channels/ChannelQueue.ts"
import type { RequestKey } from "../services/IdempotencyKeys.ts"
import { Ledger } from "../services/Ledger.ts"
import {
  type CurrentMount,
  drawMounts,
  makeCurrentMount,
  makeTurns,
  type TakePlace,
  type Turn
} from "./mountTurns.ts"
import { makeOrderCall } from "./orderCall.ts"
import { logOrderError, makeOrderEnds, type OpenOrder } from "./orderEnds.ts"
import { makeFileAddresses, noAddresses } from "./orderFiles.ts"
import { observedCall, observedOrder } from "./orderTelemetry.ts"
import type {
  ChargeNow,
  MountedCall,
  OrderRun,
  OrderTerms,
  OrderWait,
  PaidOrder
} from "./orderValue.ts"
import { type MoveTo, makePermits } from "./permits.ts"

/** The purpose of an order's paid call in the call log. */
const callPurposes = {
  video: "submit",
  image: "image",
  speech: "text",
  text: "text"
} as const satisfies Record<OrderKind, CallSubject["purpose"]>

const inHoldSpan = withSpan("hold", { kind: "internal" })

const encodeCost = (cost: Quote | null) => (cost === null ? null : encodeQuote(cost))

/** The fields of the task of an order that waits. A sweep of the queue ends the wait earlier. */
const waitFields = (maxWaitSeconds: number | null) =>
  maxWaitSeconds === null ? {} : { isWaiting: true, submitSeconds: maxWaitSeconds + UNHELD_SECONDS }

/** Refuses an order that takes a larger hold than its request allows. */
const checkLimit = ({ caller, quote }: Pick<OrderTerms, "caller" | "quote">) => {
  const { orderLimitNano } = caller
  if (orderLimitNano === undefined || quote.holdNano <= orderLimitNano) return Effect.void
  return Effect.fail(
    new InvalidRequest({
      message: `max_cost: Expected at least ${formatNano(quote.holdNano)}, the most that this order can cost`,
      param: "max_cost"
    })
  )
}

const laneOf = (
  { caller, model }: Pick<OrderTerms, "caller" | "model">,
  channelId: string
): Lane => ({ channelId, model: model.id, organizationId: caller.organizationId })

export type PaidOrders = Effect.Success<typeof makePaidOrders>

export const makePaidOrders = Effect.gen(function* () {
  const ledger = yield* Ledger
  const random = yield* SecureRandom.SecureRandom
  const failpoints = yield* Failpoints
  const queue = yield* ChannelQueue
  const callLog = yield* CallLog
  const health = yield* ChannelHealth
  const watched = withHealth(health)
  const withPermits = yield* makePermits
  const addressesOf = yield* makeFileAddresses
  const ends = yield* makeOrderEnds

  /** Runs the effect with the addresses of the order's files, which stay valid until it ends. */
  const withFileAddresses = <A, E, R>(
    order: Pick<PaidOrder<unknown, unknown>, "caller" | "files" | "needsBytes">,
    run: (addresses: FileAddresses) => Effect.Effect<A, E, R>
  ) =>
    order.files.size === 0
      ? run(noAddresses)
      : Effect.scoped(Effect.flatMap(addressesOf(order.caller.organizationId, order), run))

  const openOrder = (
    terms: OrderTerms,
    run: OrderRun,
    key: RequestKey | null,
    current: OpenOrder["current"]
  ): OpenOrder => {
    const open: OpenOrder = {
      terms,
      run,
      key,
      current,
      call: makeOrderCall(callLog),
      step: null,
      reach: (step) => {
        open.step = step
        return failpoints.pass(`${terms.kind}.${step}`)
      }
    }
    return open
  }

  const hold = (
    { current, key, run, terms }: Pick<OpenOrder, "current" | "key" | "run" | "terms">,
    maxWaitSeconds: number | null = null
  ) =>
    inHoldSpan(
      ledger.hold({
        organizationId: terms.caller.organizationId,
        memberId: terms.caller.memberId,
        keyId: terms.caller.keyId,
        model: terms.model.id,
        modality: terms.model.modality,
        priceList: terms.priceList,
        id: run.id,
        amountNano: terms.quote.holdNano,
        exposureNano: exposureOf(terms.quote),
        ttlSeconds: terms.deadlineSeconds + (maxWaitSeconds ?? 0),
        quote: encodeQuote(terms.quote),
        metadata: terms.metadata,
        promptDigest: terms.promptDigest,
        job: current.mount().job,
        cost: encodeCost(current.mount().cost),
        task: terms.task === null ? null : { ...terms.task.created, ...waitFields(maxWaitSeconds) },
        key
      })
    )

  /**
   * Moves the order to the next mount. When the database cannot be reached, the order ends at the
   * current mount.
   */
  const reassign =
    (open: OpenOrder): Parameters<CurrentMount<unknown>["call"]>[1] =>
    ({ job, cost }, refusal) => {
      const { organizationId } = open.terms.caller
      return ledger
        .reassign({
          organizationId,
          holdId: open.run.id,
          job,
          cost: encodeCost(cost),
          refusal: { ...refusal, message: open.terms.redact(refusal.message, open.run) }
        })
        .pipe(
          Effect.tap(() => open.reach("reassigned")),
          Effect.catchDefect((defect) =>
            Effect.as(
              logOrderError(open, "assigning the order to the next channel failed", {}, defect),
              false
            )
          )
        )
    }

  const withClientModel = ({ current, terms }: OpenOrder, error: UpstreamError) =>
    renameModelInError(
      { model: terms.model.id, upstreamModel: current.mount().job.upstreamModel },
      error
    )

  /**
   * Makes the paid call at one mount, watched by the circuit breaker and recorded in the call log.
   */
  const callMount = <Product, Answer>(
    order: PaidOrder<Product, Answer>,
    open: OpenOrder,
    { mount, trials }: Turn<Product>
  ) => {
    const { id } = open.run
    const { channelId } = mount.job

    const chargeNow: ChargeNow = (charge) =>
      Effect.gen(function* () {
        yield* open.reach("made")
        yield* ends.finish(open, charge)
        yield* open.reach("finished")
      }).pipe(Effect.match({ onSuccess: () => true, onFailure: () => false }))

    const chargePart = () => {
      const part = order.finishPart(id)
      return part === null
        ? Effect.void
        : Effect.ignore(Effect.flatMap(part, (finish) => ends.finish(open, finish)))
    }

    return mount.call(open.run, chargeNow).pipe(
      observedCall(order, mount.job),
      watched(laneOf(order, channelId), trials, order.breakOffOf, open.call.vendorAnswer),
      Effect.onInterrupt(chargePart),
      recordCalls(open.call, [
        {
          organizationId: order.caller.organizationId,
          jobId: id,
          channelId,
          purpose: callPurposes[order.kind],
          upstreamId: null
        }
      ])
    )
  }

  /**
   * Ends an order whose call returned no product. A successful answer that could not be read is
   * charged, as the vendor has probably made the product; this charge is recorded in the ledger
   * before the client is answered.
   */
  const afterFailure = <Product, Answer>(
    order: PaidOrder<Product, Answer>,
    open: OpenOrder,
    cause: Cause.Cause<VendorFailure>
  ): Effect.Effect<never, UpstreamError> =>
    Result.match(Cause.findError(cause), {
      onSuccess: (failure) => {
        const unread = isUnreadableAnswer(failure) ? order.chargeUnread(failure, open.run.id) : null
        if (unread !== null) return Effect.andThen(open.reach("made"), ends.finish(open, unread))
        const error = withClientModel(open, upstreamErrorOf(failure))
        return Effect.tapDefect(ends.giveBack(open, failure, error), () => ends.abandon(open))
      },
      onFailure: (defectOrInterrupt) =>
        Effect.andThen(
          Cause.hasDies(cause) ? ends.abandon(open) : Effect.void,
          Effect.failCause(defectOrInterrupt)
        )
    })

  /** Makes the product of an order that has its hold, and finishes the order. */
  const produce = Effect.fnUntraced(function* <Product, Answer>(
    order: PaidOrder<Product, Answer>,
    open: OpenOrder,
    current: CurrentMount<Product>
  ) {
    const product = yield* current
      .call((turn) => callMount(order, open, turn), reassign(open))
      .pipe(Effect.catchCause((cause) => afterFailure(order, open, cause)))
    yield* open.reach("made")
    const finish = yield* order.finish(product, open.run.id)
    const answer = yield* Effect.mapError(ends.finish(open, finish), (error) =>
      withClientModel(open, error)
    )
    yield* open.reach("finished")
    return answer
  })

  /** Runs the steps of an order that has its permits. */
  const stepsOf = Effect.fnUntraced(function* <Product, Answer>(
    order: PaidOrder<Product, Answer>,
    open: OpenOrder,
    current: CurrentMount<Product>
  ) {
    yield* open.reach("placed")
    yield* hold(open)
    yield* open.reach("held")
    const afterHold = Effect.onExitPrimitive(produce(order, open, current), open.call.log)
    return yield* order.around(afterHold, open.run.id)
  })

  /**
   * Releases the trial calls that the order claimed for a mount which it then did not call, so that
   * other orders can make them.
   */
  const endUncalled = (terms: OrderTerms, current: Pick<CurrentMount<unknown>, "uncalledTurn">) => {
    const uncalled = current.uncalledTurn()
    if (uncalled === null || uncalled.trials.length === 0) return undefined
    const lane = laneOf(terms, uncalled.mount.job.channelId)
    return health.endTrial(lane, uncalled.trials, undefined)
  }

  /** Adds the order to the queue of a full channel, and takes its hold. */
  const waitAt = Effect.fnUntraced(function* <Product, Answer>(
    order: PaidOrder<Product, Answer>,
    { answer, maxSeconds, request }: OrderWait<Answer>,
    mount: MountedCall<Product>,
    { run, key }: { readonly run: OrderRun; readonly key: RequestKey | null }
  ) {
    const { organizationId } = order.caller
    const { channelId } = mount.job
    yield* queue.join({
      channelId,
      organizationId,
      orderId: run.id,
      request: request(),
      maxWaitSeconds: maxSeconds
    })
    yield* failpoints.pass("video.joined")
    yield* Effect.onError(
      hold({ terms: order, run, key, current: { mount: () => mount } }, maxSeconds),
      () => queue.leave(run.id)
    )
    yield* failpoints.pass("video.waiting")
    // A sweep confirms the hold where this fails, so the client gets its order all the same.
    yield* Effect.catchDefect(queue.confirmHold(run.id), (defect) =>
      Effect.annotateLogs(
        Effect.logError("channel queue: confirming a hold failed", Cause.die(defect)),
        { order_id: run.id, channel: channelId }
      )
    )
    return answer(run.id)
  })

  /**
   * Makes the function that takes a place at a channel with a maximum number of tasks. An order has
   * one place at a time.
   */
  const makeTakePlace = (
    { caller, kind }: Pick<OrderTerms, "caller" | "kind">,
    orderId: string
  ) => {
    let isTaken = false
    const free = Effect.suspend(() => {
      if (!isTaken) return Effect.void
      isTaken = false
      return queue.free(orderId)
    })
    const take: TakePlace = ({ job: { channelId }, maxTasks }) => {
      if (kind !== "video") return Effect.succeed(true)
      if (maxTasks === null) return Effect.as(free, true)
      const { organizationId } = caller
      return Effect.andThen(
        free,
        queue.take({ channelId, organizationId, orderId }, maxTasks)
      ).pipe(
        Effect.tap((hasPlace) =>
          Effect.sync(() => {
            isTaken = hasPlace
          })
        )
      )
    }
    return { take, free }
  }

  /**
   * Chooses the order's first mount, which takes the channel's permit and place, and runs the steps.
   * The place of an accepted task is freed when the task has ended, and that of an order whose end is
   * uncertain when a sweep finds it closed.
   */
  const runAtMounts = Effect.fnUntraced(function* <Product, Answer>(
    order: PaidOrder<Product, Answer>,
    run: OrderRun,
    key: RequestKey | null,
    moveTo: MoveTo
  ) {
    const mounts = yield* drawMounts(order.mounts)
    const place = makeTakePlace(order, run.id)
    const turns = makeTurns(
      mounts,
      moveTo,
      (channelId) => health.breakerState(laneOf(order, channelId)),
      place.take
    )
    const steps = Effect.gen(function* () {
      const first = yield* Effect.result(turns.next())
      if (Result.isFailure(first)) {
        const fullMount = turns.fullMount()
        if (order.wait === null || fullMount === null) return yield* first.failure
        return yield* waitAt(order, order.wait, fullMount, { run, key })
      }
      const current = yield* makeCurrentMount(first.success, turns.next, order)
      const open = openOrder(order, run, key, current)
      return yield* Effect.onExitPrimitive(stepsOf(order, open, current), () =>
        endUncalled(order, current)
      )
    })
    return yield* Effect.tapError(steps, () => place.free)
  })

  /**
   * Submits an order that has waited. Returns the failure of a vendor that made nothing and may take
   * the order later, or of reading the order's files; the order then waits again.
   */
  const submitWaiting = <Product, Answer>(
    order: PaidOrder<Product, Answer>,
    id: string,
    turn: Turn<Product>
  ) => {
    const submit = Effect.fnUntraced(function* (addresses: FileAddresses) {
      const open = openOrder(order, { id, addresses }, null, { mount: () => turn.mount })
      const steps = Effect.gen(function* () {
        const callResult = yield* callMount(order, open, turn).pipe(
          Effect.map(Result.succeed),
          Effect.catchIf(mayTryAgain, (failure) => Effect.succeed(Result.fail(failure))),
          Effect.catchCause((cause) => afterFailure(order, open, cause))
        )
        if (Result.isFailure(callResult)) return callResult.failure
        yield* open.reach("made")
        yield* ends.finish(open, yield* order.finish(callResult.success, id))
        yield* open.reach("finished")
        return null
      })
      return yield* Effect.onExitPrimitive(steps, open.call.log)
    })
    return Effect.catchTag(withFileAddresses(order, submit), "overloaded", (error) =>
      Effect.succeed(error)
    )
  }

  const runWithAddresses = <Product, Answer>(
    order: PaidOrder<Product, Answer>,
    key: RequestKey | null,
    addresses: FileAddresses
  ) =>
    Effect.flatMap(random.uuidV7(), (uuid) => {
      const id = `${orderPrefixes[order.kind]}_${uuid}`
      return withPermits(order.caller.organizationId, (moveTo) =>
        runAtMounts(order, { id, addresses }, key, moveTo)
      ).pipe(observedOrder(id, order))
    })

  /**
   * Runs an order and returns its answer when its charge is recorded in the ledger. On every
   * failure the hold is released before the error is returned. The idempotency key belongs to this
   * order from the hold on, unless a retryable failure has freed it.
   */
  const run = <Product, Answer>(order: PaidOrder<Product, Answer>, key: RequestKey | null) =>
    Effect.andThen(
      checkLimit(order),
      withFileAddresses(order, (addresses) => runWithAddresses(order, key, addresses))
    )

  return { run, submitWaiting }
})
