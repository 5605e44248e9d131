/**
 * Buffers a stream for a client that may be slow or disconnected. The writer waits while the buffer
 * is full, and disconnects the client when the total of these waits exceeds a limit.
 */
import {
  type Array as Arr,
  type Cause,
  Deferred,
  Duration,
  Effect,
  Latch,
  Option,
  Queue
} from "effect"
import { CurrentAnswer } from "../../runtime/AnswerBudget.ts"
import { monotonicMillis } from "../../runtime/monotonic.ts"

export interface SlowClientBuffer<E> {
  /**
   * Adds chunks to the buffer, and waits while it is full. The chunks are dropped when the client
   * has disconnected.
   */
  offer(chunks: ReadonlyArray<Uint8Array>): Effect.Effect<void>
  /** Ends the stream. */
  readonly end: Effect.Effect<void>
  /** Ends the stream with this failure. */
  failCause(cause: Cause.Cause<E>): Effect.Effect<void>
  /**
   * Waits until the client has read everything or has disconnected. A client that does neither in
   * time is disconnected.
   */
  readonly awaitDelivery: Effect.Effect<void>
  /**
   * Takes all waiting chunks, and waits for the next one if there are none. Fails with the end of
   * the stream. Only one reader may call it at a time.
   */
  readonly take: Effect.Effect<Arr.NonEmptyArray<Uint8Array>, E | Cause.Done>
  /** Marks the client as disconnected. */
  readonly disconnect: Effect.Effect<void>
  /**
   * Registers a callback that disconnects the client. It runs immediately if the client was cut off
   * before.
   */
  onCut(cutOff: () => void): void
}

const bytesOf = (chunks: ReadonlyArray<Uint8Array>): number =>
  chunks.reduce((sum, { length }) => sum + length, 0)

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

  const add = (chunks: ReadonlyArray<Uint8Array>, bytes: number) => {
    if (isDisconnected) return
    waitingBytes += bytes
    answer?.grow(bytes)
    Queue.offerAllUnsafe(queue, chunks)
  }

  const offer = (chunks: ReadonlyArray<Uint8Array>) =>
    Effect.suspend(() => {
      const bytes = bytesOf(chunks)
      const isRoom = waitingBytes + bytes <= options.roomBytes && answer?.hasRoom() !== false
      if (isDisconnected || waitingBytes === 0 || isRoom) {
        add(chunks, bytes)
        return Effect.void
      }
      room.closeUnsafe()
      return Effect.map(waitFor(room.await), () => add(chunks, bytes))
    })

  return {
    offer,
    end: Effect.sync(() => void Queue.endUnsafe(queue)),
    failCause: (cause) => Effect.sync(() => void Queue.failCauseUnsafe(queue, cause)),
    // A client that reads at once needs no timer.
    awaitDelivery: Effect.suspend(() =>
      isDisconnected ? Effect.void : waitFor(Deferred.await(disconnected))
    ),
    take: Effect.map(Queue.takeAll(queue), (chunks) => {
      const bytes = bytesOf(chunks)
      waitingBytes -= bytes
      answer?.shrink(bytes)
      room.openUnsafe()
      return chunks
    }),
    disconnect,
    onCut: (run) => {
      if (isCut) run()
      else cutOff = run
    }
  } satisfies SlowClientBuffer<E>
})
