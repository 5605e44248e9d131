import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeShares } from "../../src/runtime/Shares.ts"

describe("shares", () => {
  it.effect("bound what each owner has, until it gives back", () =>
    Effect.gen(function* () {
      const shares = makeShares({ perOwner: 2 })
      yield* Effect.scoped(
        Effect.gen(function* () {
          assert.isTrue(yield* shares.reserve("a"))
          assert.isTrue(yield* shares.reserve("a"))
          assert.isFalse(yield* shares.reserve("a"))
          assert.isTrue(yield* shares.reserve("b"))
        })
      )
      assert.isTrue(yield* Effect.scoped(shares.reserve("a", 2)))
    })
  )

  it.effect("bound what all owners have together", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const shares = makeShares({ perOwner: 60, total: 100 })
        assert.isTrue(yield* shares.reserve("a", 50))
        assert.isFalse(yield* shares.reserve("a", 11))
        assert.isTrue(yield* shares.reserve("b", 50))
        assert.isFalse(yield* shares.reserve("c", 1))
      })
    )
  )

  it.effect("let an owner that has nothing take one thing larger than its bound", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const shares = makeShares({ perOwner: 10, total: 20 })
        assert.isTrue(yield* shares.reserve("a", 50))
        assert.isFalse(yield* shares.reserve("a", 1))
        assert.isFalse(yield* shares.reserve("b", 1))
      })
    )
  )

  it.effect("grow within the bounds, and are given back whole when they cannot", () =>
    Effect.gen(function* () {
      const shares = makeShares({ perOwner: 60, total: 100 })
      yield* Effect.scoped(
        Effect.gen(function* () {
          const [one, other] = [
            yield* shares.openReservation("a"),
            yield* shares.openReservation("b")
          ]
          assert.isTrue(one.grow(30))
          assert.isTrue(one.grow(30))
          assert.isFalse(yield* shares.reserve("a", 1))
          assert.isTrue(other.grow(40))
          assert.isFalse(other.grow(1))
          // Nothing of it is left, so that it may begin again.
          assert.isTrue(yield* shares.reserve("c", 40))
          assert.isFalse(other.grow(1))
        })
      )
      assert.isTrue(yield* Effect.scoped(shares.reserve("a", 60)))
      assert.isTrue(yield* Effect.scoped(shares.reserve("b", 60)))
    })
  )

  it.effect("that have grown alone may be larger than the bound", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const shares = makeShares({ perOwner: 10, total: 20 })
        const share = yield* shares.openReservation("a")
        assert.isTrue(share.grow(15))
        assert.isTrue(share.grow(15))
        assert.isFalse(yield* shares.reserve("b", 1))
        assert.isFalse(yield* shares.reserve("a", 1))
      })
    )
  )

  it.effect("that were refused give nothing back", () =>
    Effect.gen(function* () {
      const shares = makeShares({ perOwner: 1 })
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* shares.reserve("a")
          yield* Effect.scoped(shares.reserve("a"))
          assert.isFalse(yield* shares.reserve("a"))
        })
      )
    })
  )
})
