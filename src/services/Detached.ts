/** Work that a client's disconnect must not stop, and that a shutdown waits for. */
import { Duration, Effect, Fiber, FiberSet } from "effect"
import { Shutdown } from "./Shutdown.ts"

/**
 * Makes a runner whose effects belong to the surrounding scope instead of their caller: a caller
 * that goes away stops waiting, the work goes on. Closing the scope waits up to `patience`, and no
 * longer than a shutdown that has begun has time left.
 */
export const makeDetached = Effect.fnUntraced(function* (patience: Duration.Input) {
  const fibers = yield* FiberSet.make<unknown, unknown>()
  const shutdown = yield* Shutdown
  yield* Effect.addFinalizer(() =>
    Effect.flatMap(shutdown.timeLeft, (left) =>
      FiberSet.awaitEmpty(fibers).pipe(
        Effect.timeout(Duration.min(left, Duration.fromInputUnsafe(patience))),
        Effect.ignore
      )
    )
  )
  return <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(FiberSet.run(fibers, effect), Fiber.join)
})
