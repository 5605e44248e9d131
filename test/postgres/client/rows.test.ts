import { assert, it } from "@effect/vitest"
import { Cause, Duration, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { withTimeout } from "../../../src/postgres/client/rows.ts"

const within2Seconds = withTimeout(Duration.seconds(2))

it.effect("a statement without an answer fails at its time-out, by the gateway's clock", () =>
  Effect.gen(function* () {
    // The interruption of a statement on a lost connection takes time, which nobody waits for.
    const lost = Effect.onInterrupt(Effect.never, () => Effect.sleep("1 minute"))
    const fiber = yield* Effect.forkChild(Effect.flip(within2Seconds(lost)))
    yield* TestClock.adjust("1999 millis")
    assert.isUndefined(fiber.pollUnsafe())
    yield* TestClock.adjust("1 millis")
    assert.isDefined(fiber.pollUnsafe())
    const { message } = yield* Fiber.join(fiber)
    assert.include(message, "The database did not answer within 2s")
  })
)

it.effect("a statement's answer, failure or interruption is passed on before the time-out", () =>
  Effect.gen(function* () {
    assert.strictEqual(yield* within2Seconds(Effect.succeed(1)), 1)
    const answer = yield* Effect.forkChild(within2Seconds(Effect.as(Effect.sleep("1 second"), 2)))
    const failure = yield* Effect.forkChild(
      within2Seconds(Effect.andThen(Effect.sleep("1 second"), Effect.fail("refused")))
    )
    yield* TestClock.adjust("1 second")
    assert.strictEqual(yield* Fiber.join(answer), 2)
    assert.strictEqual(yield* Effect.flip(Fiber.join(failure)), "refused")

    let isInterrupted = false
    const statement = Effect.onInterrupt(Effect.never, () =>
      Effect.sync(() => {
        isInterrupted = true
      })
    )
    const caller = yield* Effect.forkChild(within2Seconds(statement), { startImmediately: true })
    yield* Fiber.interrupt(caller)
    assert.isTrue(isInterrupted)
    const exit = yield* Fiber.await(caller)
    assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
  })
)
