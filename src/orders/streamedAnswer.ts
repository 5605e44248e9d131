/** An answer that is streamed to its client while the vendor still works on the product. */
import { Array as Arr, Cause, Deferred, Duration, Effect, Exit, Option, Stream } from "effect"
import type { UpstreamError } from "../domain/Errors.ts"
import type { VendorFailure } from "../domain/VendorOutcome.ts"
import type { KeyAlreadyUsed } from "../services/IdempotencyKeys.ts"
import type { OrderRefusal } from "./OrderChecks.ts"
import { makeSlowClientBuffer, type SlowClientBuffer } from "./text/SlowClientBuffer.ts"

export class StreamedAnswer {
  /**
   * Marks the client as disconnected, when it has read the whole answer or has gone away before
   * that.
   */
  readonly disconnect: Effect.Effect<void>
  /** Registers a callback that disconnects a client which reads nothing for too long. */
  readonly onCut: (cutOff: () => void) => void
  readonly #take: SlowClientBuffer<UpstreamError>["take"]

  constructor(buffer: Pick<SlowClientBuffer<UpstreamError>, "take" | "disconnect" | "onCut">) {
    this.#take = buffer.take
    this.disconnect = buffer.disconnect
    this.onCut = buffer.onCut
  }

  /**
   * Server-sent events as the vendor wrote them, without the event that ends its stream. When the
   * charge is recorded in the ledger, they end with the event that `lastEventOf` makes of the error
   * that cut the answer short, or of null if the answer is complete.
   */
  events(
    lastEventOf: (error: UpstreamError | null) => Uint8Array | null
  ): Stream.Stream<Uint8Array> {
    let isOver = false
    const takeLast = (error: UpstreamError | Cause.Done) => {
      const event = isOver ? null : lastEventOf(Cause.isDone(error) ? null : error)
      isOver = true
      return event === null ? Cause.done() : Effect.succeed(Arr.of(event))
    }
    return Stream.fromPull(Effect.succeed(Effect.catch(this.#take, takeLast)))
  }

  /**
   * The bytes of an answer that is no stream of events, which ends when the charge is recorded.
   * `cutOff` is called instead of the end when the answer was cut short.
   */
  bytes(cutOff: () => void): Stream.Stream<Uint8Array> {
    const end = (error: UpstreamError | Cause.Done) =>
      Cause.isDone(error) ? Cause.done() : Effect.andThen(Effect.sync(cutOff), Effect.never)
    return Stream.fromPull(Effect.succeed(Effect.catch(this.#take, end)))
  }
}

/** A streamed response, whose last events depend on how its order ended. */
export class StreamedResponse {
  readonly answer: StreamedAnswer
  readonly lastEventsOf: (error: UpstreamError | null) => Uint8Array | null

  constructor(answer: StreamedAnswer, lastEventsOf: StreamedResponse["lastEventsOf"]) {
    this.answer = answer
    this.lastEventsOf = lastEventsOf
  }
}

/**
 * The reason why a stream was cut short after its first bytes were sent; null for a complete
 * stream.
 */
export type BreakOff = Cause.Cause<VendorFailure> | null

/** The vendor's failure that cut the stream short; null for a complete stream, or a defect. */
export const breakOffOf = (breakOff: BreakOff): VendorFailure | null =>
  breakOff === null ? null : Option.getOrNull(Cause.findErrorOption(breakOff))

/** The size of the buffer for a client that reads more slowly than its vendor writes. */
const BUFFER_BYTES = 1024 * 1024
/**
 * The share of the order's deadline that may be spent on waiting for a slow client; the rest is for
 * the vendor.
 */
const CLIENT_SHARE = 0.1

export const makeStreamedAnswer = Effect.fnUntraced(function* (holdSeconds: number) {
  const buffer = yield* makeSlowClientBuffer<UpstreamError>({
    roomBytes: BUFFER_BYTES,
    patience: Duration.seconds(holdSeconds * CLIENT_SHARE)
  })
  const firstEvent = yield* Deferred.make<void, OrderRefusal | KeyAlreadyUsed>()
  return {
    answer: new StreamedAnswer(buffer),
    /**
     * Completes with the first event. When the order ends without an event, the runner of the order
     * completes it with the order's result or error.
     */
    firstEvent,
    offer: (events: ReadonlyArray<Uint8Array>): Effect.Effect<void> =>
      Effect.andThen(buffer.offer(events), Deferred.succeed(firstEvent, undefined)),
    /**
     * Ends the answer with the result of the steps of its order, and waits until the client has
     * read it.
     */
    around: (steps: Effect.Effect<void, UpstreamError>): Effect.Effect<void, UpstreamError> =>
      steps.pipe(
        Effect.onExit((exit) =>
          Exit.isSuccess(exit)
            ? Effect.andThen(Deferred.succeed(firstEvent, undefined), buffer.end)
            : Effect.flatMap(Deferred.isDone(firstEvent), (hasBegun) =>
                // Before the first event, the failure is answered as an error response.
                hasBegun ? buffer.failCause(exit.cause) : buffer.disconnect
              )
        ),
        Effect.exit,
        Effect.tap(() => buffer.awaitDelivery),
        Effect.flatten
      )
  }
})
