import { type Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"

/**
 * Runs the effect to its end on a `TestClock` that goes on step by step, for what waits both for the
 * clock and for answers that come by themselves. One that never ends runs into the test's time limit.
 */
export const whileTimePasses = Effect.fnUntraced(function* <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  step: Duration.Input = "1 second"
) {
  const fiber = yield* Effect.forkChild(effect, { startImmediately: true })
  while (fiber.pollUnsafe() === undefined) {
    // Answers on their way arrive before the clock moves.
    yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    if (fiber.pollUnsafe() === undefined) yield* TestClock.adjust(step)
  }
  return yield* Fiber.join(fiber)
})
