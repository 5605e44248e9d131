import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { makeMicroBatch } from "../../src/runtime/microBatch.ts"

/** A batch that rests after each crowd of two, and what it was called with. */
const resting = Effect.gen(function* () {
  const calls: Array<ReadonlyArray<number>> = []
  const batch = yield* makeMicroBatch<number, number, never>({
    maxItems: 100,
    run: (items) =>
      Effect.suspend(() => {
        calls.push(items)
        return Effect.as(Effect.sleep(10), items)
      }),
    isTransient: () => false,
    cooldown: { minItems: 2, millis: 25 }
  })
  const submit = (...items: ReadonlyArray<number>) =>
    Effect.forkChild(
      Effect.forEach(items, (item) => batch.submit("lane", item), { concurrency: "unbounded" })
    )
  const callsIn = (millis: number) =>
    Effect.map(TestClock.adjust(millis), () => calls.splice(0, calls.length))
  return { submit, callsIn }
})

describe("a batch that rests", () => {
  it.effect("takes a lone item at once, and after a crowd whatever came meanwhile", () =>
    Effect.gen(function* () {
      const { submit, callsIn } = yield* resting
      yield* submit(1, 2, 3)
      assert.deepStrictEqual(yield* callsIn(0), [[1]])
      assert.deepStrictEqual(yield* callsIn(10), [[2, 3]])
      yield* submit(4)
      assert.deepStrictEqual(yield* callsIn(30), [])
      yield* submit(5)
      assert.deepStrictEqual(yield* callsIn(4), [])
      assert.deepStrictEqual(yield* callsIn(1), [[4, 5]])
      assert.deepStrictEqual(yield* callsIn(35), [])
      yield* submit(6)
      assert.deepStrictEqual(yield* callsIn(0), [[6]])
      yield* submit(7)
      assert.deepStrictEqual(yield* callsIn(10), [[7]])
    })
  )
})
