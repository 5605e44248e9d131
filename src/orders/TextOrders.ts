/** Chat and embeddings: hold, ask, capture, answer. */
import { Cause, Context, Deferred, Duration, Effect, Exit, Layer, type Stream } from "effect"
import type { InvalidRequest, UpstreamError } from "../domain/Errors.ts"
import { type RawAnswer, writtenAnswer } from "../domain/RawAnswer.ts"
import type { ChatBody, EmbeddingBody } from "../domain/text/TextRequest.ts"
import type { TokenCounts } from "../domain/text/TokenPricing.ts"
import { upstreamErrorOf, type VendorFailure } from "../domain/VendorOutcome.ts"
import { makeDetached } from "../runtime/Detached.ts"
import { Settings } from "../runtime/Settings.ts"
import type { Caller } from "../services/Access.ts"
import { type KeyAlreadyUsed, Repeats, type RequestKey } from "../services/IdempotencyKeys.ts"
import type { TextAnswer, TextPiece } from "../services/ProtocolAdapter.ts"
import type { OrderRefusal } from "./OrderChecks.ts"
import { chatRequest, embeddingRequest } from "./Pricing.ts"
import { makeOutlet } from "./SlowClientBuffer.ts"
import { makeTextOrders, type TextJob } from "./TextJobs.ts"

export type TextRefusal = OrderRefusal | InvalidRequest

/** An answer that is being written. */
export interface WrittenText {
  /**
   * Server-sent events as the vendor wrote them, without the one that ends its stream. The end
   * comes when the charge is in the books; a failure is what became of the rest.
   */
  readonly events: Stream.Stream<Uint8Array, UpstreamError>
  /** The client is gone: says so where it went before it read the first event. */
  readonly leave: Effect.Effect<void>
  /** Completes when the client took nothing for too long, and should be cut off. */
  readonly isCut: Effect.Effect<void>
}

export class Texts extends Context.Service<
  Texts,
  {
    /**
     * Has a text written, and charges by the vendor's count before it answers. On every failure the
     * whole hold is back before the error is answered. The key stands for this order from its hold
     * on, unless nothing came of it.
     */
    complete(
      caller: Caller,
      body: ChatBody,
      key: RequestKey | null
    ): Effect.Effect<RawAnswer, TextRefusal | KeyAlreadyUsed>
    /**
     * The same, answered with the vendor's first event. The vendor is read to its end whatever the
     * client does. A stream that breaks off is charged by the formula for what had been written, and
     * not at all when that was nothing.
     */
    write(
      caller: Caller,
      body: ChatBody,
      key: RequestKey | null
    ): Effect.Effect<WrittenText, TextRefusal | KeyAlreadyUsed>
    embed(
      caller: Caller,
      body: EmbeddingBody,
      key: RequestKey | null
    ): Effect.Effect<RawAnswer, TextRefusal | KeyAlreadyUsed>
  }
>()("gateway/services/Texts") {}

/** What is kept for a client that is slower than the vendor. */
const ROOM_BYTES = 1024 * 1024
/** Of the hold's time, for the client; most of the rest is the vendor's. */
const CLIENT_SHARE = 0.1

export const layerTexts = Layer.effect(
  Texts,
  Effect.gen(function* () {
    const { prepare, hold, called, capture } = yield* makeTextOrders
    const repeats = yield* Repeats
    const { textDeadlineSeconds, textStreamDeadlineSeconds } = yield* Settings
    const detached = yield* makeDetached("30 seconds")
    const patience = Math.min(textDeadlineSeconds, textStreamDeadlineSeconds) * CLIENT_SHARE

    const whole = (order: TextJob, call: Effect.Effect<TextAnswer, VendorFailure>) =>
      detached(
        Effect.gen(function* () {
          yield* hold(order)
          const { made, answer } = yield* called(
            order,
            Effect.map(call, (made) => ({ made, answer: writtenAnswer(made.result) }))
          )
          if (order.key !== null) {
            yield* repeats.remember(order.caller.organizationId, order.key, answer)
          }
          yield* capture(order, { ...made, streamed: false })
          return answer
        }).pipe(Effect.scoped)
      )

    const complete: Texts["Service"]["complete"] = Effect.fnUntraced(function* (caller, body, key) {
      const order = yield* prepare(caller, key, chatRequest(body), textDeadlineSeconds)
      const { adapter, account, upstreamModel } = order
      return yield* whole(order, adapter.complete(account, { upstreamModel, body }))
    })

    const embed: Texts["Service"]["embed"] = Effect.fnUntraced(function* (caller, body, key) {
      const order = yield* prepare(caller, key, embeddingRequest(body), textDeadlineSeconds)
      const { adapter, account, upstreamModel } = order
      return yield* whole(order, adapter.embed(account, { upstreamModel, body }))
    })

    const write: Texts["Service"]["write"] = Effect.fnUntraced(function* (caller, body, key) {
      const order = yield* prepare(caller, key, chatRequest(body), textStreamDeadlineSeconds)
      const outlet = yield* makeOutlet<UpstreamError>({
        roomBytes: ROOM_BYTES,
        patience: Duration.seconds(patience)
      })
      const begun = yield* Deferred.make<void, TextRefusal | KeyAlreadyUsed>()
      const written: { usage: TokenCounts | null; outputBytes: number } = {
        usage: null,
        outputBytes: 0
      }
      const take = Effect.fnUntraced(function* (piece: TextPiece) {
        // A count of what came before is none of a text that goes on.
        written.usage = piece.usage ?? (piece.outputBytes > 0 ? null : written.usage)
        written.outputBytes += piece.outputBytes
        if (piece.event === null) return
        yield* outlet.offer(piece.event)
        yield* Deferred.succeed(begun, undefined)
      })
      /** What the vendor counted in mid-stream may be of what it had read alone. */
      const brokenOff = { streamed: true, usage: null }

      const { adapter, account, upstreamModel } = order
      const streamed = adapter.stream(account, { upstreamModel, body }, take).pipe(
        Effect.as(null),
        // Also a defect of ours comes after what it broke off had been delivered.
        Effect.catchCause((cause) =>
          written.outputBytes > 0 && !Cause.hasInterrupts(cause)
            ? Effect.succeed(cause)
            : Effect.failCause(cause)
        ),
        Effect.onInterrupt(() =>
          written.outputBytes > 0
            ? Effect.ignore(capture(order, { ...written, ...brokenOff }))
            : Effect.void
        )
      )
      const charged = Effect.gen(function* () {
        const broken = yield* called(order, streamed)
        yield* capture(order, {
          ...written,
          streamed: true,
          ...(broken === null ? {} : brokenOff)
        })
        if (broken === null) return
        if (Cause.hasDies(broken)) {
          yield* Effect.logError("a stream was broken off by a defect", broken).pipe(
            Effect.annotateLogs({ hold_id: order.id })
          )
        }
        return yield* Effect.failCause(Cause.map(broken, upstreamErrorOf))
      }).pipe(
        Effect.onExit((exit) =>
          Effect.flatMap(Deferred.done(begun, exit), (isFirst) => {
            if (Exit.isSuccess(exit)) return outlet.end
            // Where nothing had begun, the failure is the answer, and nobody reads on.
            return isFirst ? outlet.leave : outlet.failCause(exit.cause)
          })
        )
      )
      const work = hold(order).pipe(
        Effect.onError((cause) => Deferred.failCause(begun, cause)),
        Effect.andThen(Effect.exit(charged)),
        Effect.andThen(outlet.taken),
        Effect.scoped
      )
      yield* Effect.forkChild(detached(work))
      yield* Effect.onInterrupt(Deferred.await(begun), () => outlet.leave)
      return { events: outlet.events, leave: outlet.leave, isCut: outlet.isCut }
    })

    return Texts.of({ complete, write, embed })
  })
)
