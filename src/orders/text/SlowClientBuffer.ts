/**
 * Buffers a stream for a client that may be slow or disconnected. When the buffer is full the writer waits,
 * and when its patience is used up the client is cut off.
 */
import { type Cause, Deferred, Duration, Effect, Latch, Option, Queue, Stream } from "effect"
import { CurrentAnswer } from "../../runtime/AnswerBudget.ts"
import { monotonicMillis } from "../../runtime/monotonic.ts"

interface SlowClientBuffer<E> {
  /** Waits while the client is too far behind; without a client the bytes are dropped. */
  offer(bytes: Uint8Array): Effect.Effect<void>
  /** Ends the stream. */
  readonly end: Effect.Effect<void>
  /** Ends the stream with this failure. */
  failCause(cause: Cause.Cause<E>): Effect.Effect<void>
  /** Waits until the client has read everything or has disconnected, and cuts it off when it does neither. */
  readonly awaitDelivery: Effect.Effect<void>
  /** For one reader, who has disconnected when it stops reading. */
  readonly events: Stream.Stream<Uint8Array, E>
  /** Marks the client as disconnected. */
  readonly disconnect: Effect.Effect<void>
  /** Registers what cuts the client off; it runs at once where the client was cut off before. */
  onCut(cutOff: () => void): void
}

/** `patience` bounds all waits for the client together. */
export const makeSlowClientBuffer = Effect.fnUntraced(function* <E>(options: {
  readonly roomBytes: number
  readonly patience: Duration.Duration
}) {
  const queue = yield* Queue.unbounded<Uint8Array, E | Cause.Done>()
  const room = yield* Latch.make(true)
  const disconnected = yield* Deferred.make<void>()
  const answer = yield* CurrentAnswer
  let cutOff = () => {}
  let isCut = false
  let isDisconnected = false
  let waitingBytes = 0
  let remainingMillis = Duration.toMillis(options.patience)

  const disconnect = Effect.sync(() => {
    isDisconnected = true
    Queue.shutdownUnsafe(queue)
    room.openUnsafe()
    Deferred.doneUnsafe(disconnected, Effect.void)
  })

  const waitFor = (condition: Effect.Effect<void>) =>
    Effect.gen(function* () {
      const started = yield* monotonicMillis
      const result = yield* Effect.timeoutOption(
        condition,
        Duration.millis(Math.max(0, remainingMillis))
      )
      remainingMillis -= (yield* monotonicMillis) - started
      if (Option.isSome(result)) return
      isCut = true
      cutOff()
      yield* disconnect
    })

  const offer = (bytes: Uint8Array) =>
    Effect.gen(function* () {
      const isRoom = waitingBytes + bytes.length <= options.roomBytes && answer?.hasRoom() !== false
      if (!isDisconnected && waitingBytes > 0 && !isRoom) {
        room.closeUnsafe()
        yield* waitFor(room.await)
      }
      if (isDisconnected) return
      waitingBytes += bytes.length
      answer?.grow(bytes.length)
      Queue.offerUnsafe(queue, bytes)
    })

  return {
    offer,
    end: Effect.sync(() => void Queue.endUnsafe(queue)),
    failCause: (cause) => Effect.sync(() => void Queue.failCauseUnsafe(queue, cause)),
    awaitDelivery: waitFor(Deferred.await(disconnected)),
    events: Stream.fromQueue(queue).pipe(
      Stream.mapArray((chunks) => {
        const bytes = chunks.reduce((sum, { length }) => sum + length, 0)
        waitingBytes -= bytes
        answer?.shrink(bytes)
        room.openUnsafe()
        return chunks
      }),
      Stream.ensuring(disconnect)
    ),
    disconnect,
    onCut: (run) => {
      if (isCut) run()
      else cutOff = run
    }
  } satisfies SlowClientBuffer<E>
})
