/** An answer that leaves while its vendor still works on it. */
import { Cause, Deferred, Duration, Effect, Exit, Option, type Stream } from "effect"
import type { UpstreamError } from "../domain/Errors.ts"
import type { VendorFailure } from "../domain/VendorOutcome.ts"
import type { KeyAlreadyUsed } from "../services/IdempotencyKeys.ts"
import type { OrderRefusal } from "./OrderChecks.ts"
import { makeSlowClientBuffer } from "./text/SlowClientBuffer.ts"

export class StreamedAnswer {
  /**
   * Server-sent events as the vendor wrote them, without the one that ends its stream. The end
   * comes when the order's books are closed; a failure is what became of the rest.
   */
  readonly events: Stream.Stream<Uint8Array, UpstreamError>
  /** The client is gone; called where it went before it read the first event. */
  readonly leave: Effect.Effect<void>
  /** To be run when the client took nothing for too long, and should be cut off. */
  readonly onCut: (cutOff: () => void) => void

  constructor(outlet: Pick<StreamedAnswer, "events" | "leave" | "onCut">) {
    this.events = outlet.events
    this.leave = outlet.leave
    this.onCut = outlet.onCut
  }
}

/** Why a stream broke off after something had left; null where it came to its end. */
export type BreakOff = Cause.Cause<VendorFailure> | null

/** The vendor's failure that broke the stream off; null where none did. */
export const breakOffOf = (breakOff: BreakOff): VendorFailure | null =>
  breakOff === null ? null : Option.getOrNull(Cause.findErrorOption(breakOff))

/** Buffered for a client that reads more slowly than its vendor writes. */
const ROOM_BYTES = 1024 * 1024
/** The client gets this share of the hold's time; most of the rest is the vendor's. */
const CLIENT_SHARE = 0.1

/** `deadlineSeconds` is the time of the hold. */
export const makeStreamedAnswer = Effect.fnUntraced(function* (deadlineSeconds: number) {
  const outlet = yield* makeSlowClientBuffer<UpstreamError>({
    roomBytes: ROOM_BYTES,
    patience: Duration.seconds(deadlineSeconds * CLIENT_SHARE)
  })
  const firstEvent = yield* Deferred.make<void, OrderRefusal | KeyAlreadyUsed>()
  return {
    answer: new StreamedAnswer(outlet),
    /** Completes with the first event. The runner of the order fails it when no event came. */
    firstEvent,
    offer: (event: Uint8Array): Effect.Effect<void> =>
      Effect.andThen(outlet.offer(event), Deferred.succeed(firstEvent, undefined)),
    /** Ends the answer as the steps of its order end, and waits until the client has taken it. */
    around: (steps: Effect.Effect<void, UpstreamError>): Effect.Effect<void, UpstreamError> =>
      steps.pipe(
        Effect.onExit((exit) =>
          Exit.isSuccess(exit)
            ? Effect.andThen(Deferred.succeed(firstEvent, undefined), outlet.end)
            : Effect.flatMap(Deferred.isDone(firstEvent), (hasBegun) =>
                // Where nothing had begun, the failure is the answer.
                hasBegun ? outlet.failCause(exit.cause) : outlet.leave
              )
        ),
        Effect.exit,
        Effect.tap(() => outlet.taken),
        Effect.flatten
      )
  }
})
