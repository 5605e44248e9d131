/** Work that a client's disconnect must not stop, and that a shutdown waits for. */
import { type Duration, Effect, Fiber, FiberSet } from "effect"

/**
 * Makes a runner whose effects belong to the surrounding scope instead of their caller: a caller
 * that goes away stops waiting, the work goes on. Closing the scope waits up to `patience`.
 */
export const makeDetached = Effect.fnUntraced(function* (patience: Duration.Input) {
  const fibers = yield* FiberSet.make<unknown, unknown>()
  yield* Effect.addFinalizer(() =>
    FiberSet.awaitEmpty(fibers).pipe(Effect.timeout(patience), Effect.ignore)
  )
  return <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(FiberSet.run(fibers, effect), Fiber.join)
})
