import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { makeFibers } from "../../src/runtime/Fibers.ts"

class Name extends Context.Service<Name, string>()("test/Name") {}

describe("fibers of a scope", () => {
  it.effect("run with their caller's context, and outlive their caller", () =>
    Effect.gen(function* () {
      const fibers = yield* makeFibers
      const go = yield* Deferred.make<void>()
      const told = yield* Deferred.make<string>()
      const work = Effect.gen(function* () {
        yield* Deferred.await(go)
        yield* Deferred.succeed(told, yield* Name)
      })
      const caller = yield* Effect.forkChild(
        Effect.flatMap(fibers.run(work), Fiber.join).pipe(Effect.provideService(Name, "mine")),
        { startImmediately: true }
      )
      yield* Fiber.interrupt(caller)
      yield* Deferred.succeed(go, undefined)
      yield* fibers.awaitEmpty
      assert.strictEqual(yield* Deferred.await(told), "mine")
    })
  )

  it.effect("are awaited until the last has ended", () =>
    Effect.gen(function* () {
      const fibers = yield* makeFibers
      const ended: Array<number> = []
      const step = (index: number): Effect.Effect<void> =>
        Effect.andThen(
          Effect.yieldNow,
          Effect.sync(() => {
            ended.push(index)
            if (index < 5) fibers.fork(step(index + 1))
          })
        )
      fibers.fork(step(1))
      yield* fibers.awaitEmpty
      assert.deepStrictEqual(ended, [1, 2, 3, 4, 5])
    })
  )

  it.effect("are interrupted when it closes, and none starts after that", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const fibers = yield* Scope.provide(makeFibers, scope)
      const running = yield* fibers.run(Effect.never)
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(running)))

      let started = 0
      const start = Effect.sync(() => void started++)
      fibers.fork(start)
      assert.isTrue(Exit.hasInterrupts(yield* Effect.exit(fibers.run(start))))
      assert.strictEqual(started, 0)
    })
  )
})
