import { type Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"

/**
 * Runs the effect to its end while the `TestClock` advances step by step, for effects that wait
 * both for the clock and for responses that arrive independently of the clock. An effect that never
 * ends runs into the time-out of the test.
 */
export const whileTimePasses = Effect.fnUntraced(function* <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  step: Duration.Input = "1 second"
) {
  const fiber = yield* Effect.forkChild(effect, { startImmediately: true })
  while (fiber.pollUnsafe() === undefined) {
    // Responses that are under way get the chance to arrive before the clock advances.
    yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    if (fiber.pollUnsafe() === undefined) yield* TestClock.adjust(step)
  }
  return yield* Fiber.join(fiber)
})
