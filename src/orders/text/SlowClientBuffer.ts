/**
 * Buffers a stream for a client that may be slow or disconnected. The writer waits while the buffer
 * is full, and disconnects the client when the total of these waits exceeds a limit.
 */
import { type Cause, Deferred, Duration, Effect, Latch, Option, Queue, Stream } from "effect"
import { CurrentAnswer } from "../../runtime/AnswerBudget.ts"
import { monotonicMillis } from "../../runtime/monotonic.ts"

interface SlowClientBuffer<E> {
  /**
   * Adds bytes to the buffer, and waits while it is full. The bytes are dropped when the client has
   * disconnected.
   */
  offer(bytes: Uint8Array): Effect.Effect<void>
  /** Ends the stream. */
  readonly end: Effect.Effect<void>
  /** Ends the stream with this failure. */
  failCause(cause: Cause.Cause<E>): Effect.Effect<void>
  /**
   * Waits until the client has read everything or has disconnected. A client that does neither in
   * time is disconnected.
   */
  readonly awaitDelivery: Effect.Effect<void>
  /** The stream for one reader, which counts as disconnected when it stops reading. */
  readonly events: Stream.Stream<Uint8Array, E>
  /** Marks the client as disconnected. */
  readonly disconnect: Effect.Effect<void>
  /**
   * Registers a callback that disconnects the client. It runs immediately if the client was cut off
   * before.
   */
  onCut(cutOff: () => void): void
}

/** Makes a buffer; `patience` limits the total time of all waits for the client. */
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
