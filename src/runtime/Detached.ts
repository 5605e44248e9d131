/** Runs work that a client's disconnect must not stop, and that a shutdown waits for. */
import { Effect, Fiber, FiberSet } from "effect"
import { Shutdown } from "./Shutdown.ts"

/**
 * Makes a runner whose effects belong to the surrounding scope instead of their caller: a caller
 * that goes away stops waiting, the work goes on. Closing the scope waits as long as a shutdown may
 * take.
 */
export const makeDetached = Effect.gen(function* () {
  const fibers = yield* FiberSet.make()
  const shutdown = yield* Shutdown
  yield* Effect.addFinalizer(() =>
    Effect.flatMap(shutdown.timeLeft, (timeLeft) =>
      FiberSet.awaitEmpty(fibers).pipe(Effect.timeout(timeLeft), Effect.ignore)
    )
  )
  return {
    /** Waits for the work and returns its result. */
    run: <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.flatMap(FiberSet.run(fibers, work), Fiber.join),
    /** Does not wait for the work. */
    start: <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<void, never, R> =>
      Effect.asVoid(FiberSet.run(fibers, work))
  }
})
