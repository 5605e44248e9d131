/** Fibers that belong to a scope and end with it, a few for every request. */
import { Effect, Fiber } from "effect"
import { makeRoster } from "./Roster.ts"

export interface Fibers {
  /** Starts it at once, with its caller's context; interrupts the caller once the scope is closed. */
  run<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<Fiber.Fiber<A, E>, never, R>
  /** Starts it at once, with the context of the scope; does nothing once that is closed. */
  fork(effect: Effect.Effect<void>): void
  /** Waits until none runs. */
  readonly awaitEmpty: Effect.Effect<void>
}

/**
 * A `FiberSet` on a `Roster`: the fibers of requests hold all that was said in them, which a `Set`
 * that lives long does not let go in time.
 */
export const makeFibers = Effect.gen(function* () {
  const running = makeRoster<Fiber.Fiber<unknown, unknown>>()
  const runFork = Effect.runForkWith(yield* Effect.context<never>())
  let isClosed = false

  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      isClosed = true
      return Fiber.interruptAll(running.present())
    })
  )

  const entered = <A, E>(fiber: Fiber.Fiber<A, E>): Fiber.Fiber<A, E> => {
    fiber.addObserver(running.enter(fiber))
    return fiber
  }

  const fibers: Fibers = {
    run: (effect) =>
      Effect.suspend(() =>
        isClosed
          ? Effect.interrupt
          : // Nobody may come between its start and its entry, or the end would not wait for it.
            Effect.uninterruptible(
              Effect.map(Effect.forkDetach(effect, { startImmediately: true }), entered)
            )
      ),
    fork: (effect) => {
      if (!isClosed) entered(runFork(effect))
    },
    awaitEmpty: Effect.whileLoop({
      while: () => running.size() > 0,
      body: () => Fiber.awaitAll(running.present()),
      step: () => undefined
    })
  }
  return fibers
})
