import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeShares } from "../../src/runtime/Shares.ts"

describe("shares", () => {
  it.effect("bound what each owner has, until it gives back", () =>
    Effect.gen(function* () {
      const shares = makeShares({ each: 2 })
      yield* Effect.scoped(
        Effect.gen(function* () {
          assert.isTrue(yield* shares.take("a"))
          assert.isTrue(yield* shares.take("a"))
          assert.isFalse(yield* shares.take("a"))
          assert.isTrue(yield* shares.take("b"))
        })
      )
      assert.isTrue(yield* Effect.scoped(shares.take("a", 2)))
    })
  )

  it.effect("bound what all owners have together", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const shares = makeShares({ each: 60, together: 100 })
        assert.isTrue(yield* shares.take("a", 50))
        assert.isFalse(yield* shares.take("a", 11))
        assert.isTrue(yield* shares.take("b", 50))
        assert.isFalse(yield* shares.take("c", 1))
      })
    )
  )

  it.effect("let an owner that has nothing take one thing larger than its bound", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const shares = makeShares({ each: 10, together: 20 })
        assert.isTrue(yield* shares.take("a", 50))
        assert.isFalse(yield* shares.take("a", 1))
        assert.isFalse(yield* shares.take("b", 1))
      })
    )
  )

  it.effect("grow within the bounds, and are given back whole when they cannot", () =>
    Effect.gen(function* () {
      const shares = makeShares({ each: 60, together: 100 })
      yield* Effect.scoped(
        Effect.gen(function* () {
          const [one, other] = [yield* shares.open("a"), yield* shares.open("b")]
          assert.isTrue(one.grow(30))
          assert.isTrue(one.grow(30))
          assert.isFalse(yield* shares.take("a", 1))
          assert.isTrue(other.grow(40))
          assert.isFalse(other.grow(1))
          // Nothing of it is left, so that it may begin again.
          assert.isTrue(yield* shares.take("c", 40))
          assert.isFalse(other.grow(1))
        })
      )
      assert.isTrue(yield* Effect.scoped(shares.take("a", 60)))
      assert.isTrue(yield* Effect.scoped(shares.take("b", 60)))
    })
  )

  it.effect("that have grown alone may be larger than the bound", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const shares = makeShares({ each: 10, together: 20 })
        const share = yield* shares.open("a")
        assert.isTrue(share.grow(15))
        assert.isTrue(share.grow(15))
        assert.isFalse(yield* shares.take("b", 1))
        assert.isFalse(yield* shares.take("a", 1))
      })
    )
  )

  it.effect("that were refused give nothing back", () =>
    Effect.gen(function* () {
      const shares = makeShares({ each: 1 })
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* shares.take("a")
          yield* Effect.scoped(shares.take("a"))
          assert.isFalse(yield* shares.take("a"))
        })
      )
    })
  )
})
