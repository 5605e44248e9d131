/** Runs work that must survive a client's disconnect and for which a shutdown waits. */
import { Effect, Fiber, FiberSet } from "effect"
import { Shutdown } from "./Shutdown.ts"

/**
 * Makes a runner whose effects belong to the surrounding scope instead of their caller: if the
 * caller is interrupted, it stops waiting and the work continues. Closing the scope waits for at
 * most the time that a shutdown may take.
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
    /** Starts the work without waiting for it. */
    start: <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<void, never, R> =>
      Effect.asVoid(FiberSet.run(fibers, work))
  }
})
