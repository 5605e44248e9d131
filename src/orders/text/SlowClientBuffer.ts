/**
 * What is written for a client that may be slow or gone: a little is kept for it, then the writer
 * waits, and at some time it waits no longer.
 */
import { type Cause, Deferred, Duration, Effect, Latch, Option, Queue, Stream } from "effect"
import { CurrentAnswer } from "../../runtime/AnswerBudget.ts"
import { monotonicMillis } from "../../runtime/monotonic.ts"

interface SlowClientBuffer<E> {
  /** Waits while the client is too far behind; without a client the bytes are dropped. */
  offer(bytes: Uint8Array): Effect.Effect<void>
  /** Nothing more comes. */
  readonly end: Effect.Effect<void>
  /** Nothing more comes, because of this. */
  failCause(cause: Cause.Cause<E>): Effect.Effect<void>
  /** Waits until the client has taken everything or is gone, and cuts it off when it does neither. */
  readonly taken: Effect.Effect<void>
  /** For one reader. A client that stops reading is gone. */
  readonly events: Stream.Stream<Uint8Array, E>
  /** The client is gone. */
  readonly leave: Effect.Effect<void>
  /** To be run when the client is cut off; at once where it was before. */
  onCut(cutOff: () => void): void
}

/** `patience` is for all the waits for the client together. */
export const makeSlowClientBuffer = Effect.fnUntraced(function* <E>(options: {
  readonly roomBytes: number
  readonly patience: Duration.Duration
}) {
  const queue = yield* Queue.unbounded<Uint8Array, E | Cause.Done>()
  const room = yield* Latch.make(true)
  const gone = yield* Deferred.make<void>()
  const answer = yield* CurrentAnswer
  let cutOff = () => {}
  let isCut = false
  let hasLeft = false
  let waitingBytes = 0
  let leftMillis = Duration.toMillis(options.patience)

  const leave = Effect.sync(() => {
    hasLeft = true
    Queue.shutdownUnsafe(queue)
    room.openUnsafe()
    Deferred.doneUnsafe(gone, Effect.void)
  })

  const waitFor = (condition: Effect.Effect<void>) =>
    Effect.gen(function* () {
      const started = yield* monotonicMillis
      const met = yield* Effect.timeoutOption(condition, Duration.millis(Math.max(0, leftMillis)))
      leftMillis -= (yield* monotonicMillis) - started
      if (Option.isSome(met)) return
      isCut = true
      cutOff()
      yield* leave
    })

  const offer = (bytes: Uint8Array) =>
    Effect.gen(function* () {
      const isRoom = waitingBytes + bytes.length <= options.roomBytes && answer?.hasRoom() !== false
      if (!hasLeft && waitingBytes > 0 && !isRoom) {
        room.closeUnsafe()
        yield* waitFor(room.await)
      }
      if (hasLeft) return
      waitingBytes += bytes.length
      answer?.grow(bytes.length)
      Queue.offerUnsafe(queue, bytes)
    })

  return {
    offer,
    end: Effect.sync(() => void Queue.endUnsafe(queue)),
    failCause: (cause) => Effect.sync(() => void Queue.failCauseUnsafe(queue, cause)),
    taken: waitFor(Deferred.await(gone)),
    events: Stream.fromQueue(queue).pipe(
      Stream.mapArray((taken) => {
        const takenBytes = taken.reduce((sum, bytes) => sum + bytes.length, 0)
        waitingBytes -= takenBytes
        answer?.shrink(takenBytes)
        room.openUnsafe()
        return taken
      }),
      Stream.ensuring(leave)
    ),
    leave,
    onCut: (run) => {
      if (isCut) run()
      else cutOff = run
    }
  } satisfies SlowClientBuffer<E>
})
