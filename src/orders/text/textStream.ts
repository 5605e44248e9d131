/** A text as an order that is answered while it is written, and charged when it ends. */
import { Array as Arr, Cause, Deferred, Duration, Effect, Exit, Option, type Stream } from "effect"
import type { KeyTurns } from "../../channels/keyTurns.ts"
import type { UpstreamError } from "../../domain/Errors.ts"
import type { TokenCounts } from "../../domain/text/TextQuote.ts"
import type { ChatBody } from "../../domain/text/TextRequest.ts"
import { upstreamErrorOf, type VendorFailure } from "../../domain/VendorOutcome.ts"
import { Settings } from "../../runtime/Settings.ts"
import type { Caller } from "../../services/Access.ts"
import type { KeyAlreadyUsed } from "../../services/IdempotencyKeys.ts"
import type { TextPiece } from "../../services/ProtocolAdapter.ts"
import type { OrderRefusal } from "../OrderChecks.ts"
import { chatRequest, type OrderResolution } from "../OrderResolution.ts"
import type { PaidOrder } from "../orderValue.ts"
import { makeSlowClientBuffer } from "./SlowClientBuffer.ts"
import { textOrderOf, type Written } from "./textOrder.ts"

/** An answer that is being written. */
export class WrittenText {
  /**
   * Server-sent events as the vendor wrote them, without the one that ends its stream. The end
   * comes when the charge is in the books; a failure is what became of the rest.
   */
  readonly events: Stream.Stream<Uint8Array, UpstreamError>
  /** The client is gone: says so where it went before it read the first event. */
  readonly leave: Effect.Effect<void>
  /** To be run when the client took nothing for too long, and should be cut off. */
  readonly onCut: (cutOff: () => void) => void

  constructor(outlet: Pick<WrittenText, "events" | "leave" | "onCut">) {
    this.events = outlet.events
    this.leave = outlet.leave
    this.onCut = outlet.onCut
  }
}

/** Kept for a client that reads more slowly than its vendor writes. */
const ROOM_BYTES = 1024 * 1024
/** Of the hold's time, for the client; most of the rest is the vendor's. */
const CLIENT_SHARE = 0.1

/** Why the stream broke off after something had been written; null where it came to its end. */
type Broken = Cause.Cause<VendorFailure> | null

/**
 * The vendor is read to its end even when the client has gone. A stream that breaks off is charged by the
 * formula for what had been written, and not at all when that was nothing.
 */
export const makeTextStream = (resolve: OrderResolution, keyTurns: KeyTurns) =>
  Effect.map(Settings, ({ textDeadlineSeconds, textStreamDeadlineSeconds }) => {
    const patience = Math.min(textDeadlineSeconds, textStreamDeadlineSeconds) * CLIENT_SHARE

    /** `begun` completes with the first event. The runner of the order fails it when no event came. */
    return Effect.fnUntraced(function* (caller: Caller, body: ChatBody) {
      const request = chatRequest(body)
      const resolved = yield* resolve.text(caller, request)
      const { common, charged } = textOrderOf(caller, request, resolved)
      const outlet = yield* makeSlowClientBuffer<UpstreamError>({
        roomBytes: ROOM_BYTES,
        patience: Duration.seconds(patience)
      })
      const begun = yield* Deferred.make<void, OrderRefusal | KeyAlreadyUsed>()
      const written: { usage: TokenCounts | null; outputBytes: number; hasEvents: boolean } = {
        usage: null,
        outputBytes: 0,
        hasEvents: false
      }
      const take = (piece: TextPiece) =>
        Effect.gen(function* () {
          // A count of what came before is none of a text that goes on.
          written.usage = piece.usage ?? (piece.outputBytes > 0 ? null : written.usage)
          written.outputBytes += piece.outputBytes
          if (piece.event === null) return
          written.hasEvents = true
          yield* outlet.offer(piece.event)
          yield* Deferred.succeed(begun, undefined)
        })
      /** What the vendor counted in mid-stream may be of what it had read alone. */
      const brokenOff = (): Written => ({ ...written, usage: null })

      const finish = (broken: Broken, id: string) =>
        Effect.gen(function* () {
          if (broken === null) return yield* charged(id, written, null, Exit.void)
          if (Cause.hasDies(broken)) {
            yield* Effect.logError("a stream was broken off by a defect", broken).pipe(
              Effect.annotateLogs({ hold_id: id })
            )
          }
          const answer = Exit.failCause(Cause.map(broken, upstreamErrorOf))
          return yield* charged(id, brokenOff(), null, answer)
        })

      const order: PaidOrder<Broken, void> = {
        ...common,
        deadlineSeconds: textStreamDeadlineSeconds,
        mounts: Arr.map(resolved.mounts, ({ adapter, accounts, ...mount }) => ({
          ...mount,
          call: () =>
            keyTurns
              .forOrder(
                accounts,
                (account) =>
                  adapter.stream(
                    account,
                    { upstreamModel: mount.job.upstreamModel, body: request.body },
                    take
                  ),
                () => !written.hasEvents
              )
              .pipe(
                Effect.as(null),
                // Also a defect of ours comes after what it broke off had been delivered.
                Effect.catchCause((cause) =>
                  written.outputBytes > 0 && !Cause.hasInterrupts(cause)
                    ? Effect.succeed(cause)
                    : Effect.failCause(cause)
                )
              )
        })),
        hasBegun: () => written.hasEvents,
        brokenOffBy: (broken) =>
          broken === null ? null : Option.getOrNull(Cause.findErrorOption(broken)),
        finish,
        finishPart: (id) =>
          written.outputBytes > 0 ? charged(id, brokenOff(), null, Exit.void) : null,
        around: (steps) =>
          steps.pipe(
            Effect.onExit((exit) =>
              Exit.isSuccess(exit)
                ? Effect.andThen(Deferred.succeed(begun, undefined), outlet.end)
                : Effect.flatMap(Deferred.isDone(begun), (hasBegun) =>
                    // Where nothing had begun, the failure is the answer.
                    hasBegun ? outlet.failCause(exit.cause) : outlet.leave
                  )
            ),
            Effect.exit,
            Effect.tap(() => outlet.taken),
            Effect.flatten
          )
      }
      return { order, begun, text: new WrittenText(outlet) }
    })
  })
