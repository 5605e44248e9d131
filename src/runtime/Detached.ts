/** Work that a client's disconnect must not stop, and that a shutdown waits for. */
import { Duration, Effect, Fiber, FiberSet } from "effect"
import { Shutdown } from "./Shutdown.ts"

/**
 * Makes a runner whose effects belong to the surrounding scope instead of their caller: a caller
 * that goes away stops waiting, the work goes on. Closing the scope waits up to `patience`, and no
 * longer than a shutdown that has begun has time left.
 */
export const makeDetached = Effect.fnUntraced(function* (patience: Duration.Input) {
  const fibers = yield* FiberSet.make()
  const shutdown = yield* Shutdown
  yield* Effect.addFinalizer(() =>
    Effect.flatMap(shutdown.timeLeft, (left) =>
      FiberSet.awaitEmpty(fibers).pipe(
        Effect.timeout(Duration.min(left, Duration.fromInputUnsafe(patience))),
        Effect.ignore
      )
    )
  )
  return {
    /** Answers what comes of the work. */
    run: <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.flatMap(FiberSet.run(fibers, work), Fiber.join),
    /** Does not wait for the work. */
    start: <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<void, never, R> =>
      Effect.asVoid(FiberSet.run(fibers, work))
  }
})
