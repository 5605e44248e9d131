import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { makeRequestRates } from "../../src/runtime/RequestRates.ts"

describe("a bucket of 60 requests a minute", () => {
  it.effect("lets 60 through at once, and then one a second", () =>
    Effect.gen(function* () {
      const rates = makeRequestRates()
      const take = rates.consume("key_1", 60)
      for (let left = 59; left >= 0; left--) {
        assert.deepInclude(yield* take, { isAllowed: true, remaining: left, limit: 60 })
      }
      assert.deepInclude(yield* take, { isAllowed: false, remaining: 0, retryMillis: 1000 })
      yield* TestClock.adjust("999 millis")
      assert.deepInclude(yield* take, { isAllowed: false, retryMillis: 1 })
      yield* TestClock.adjust("1 millis")
      assert.deepInclude(yield* take, { isAllowed: true, remaining: 0 })
      assert.isFalse((yield* take).isAllowed)
    })
  )

  it.effect("is full again a second after each request, and holds no more than 60", () =>
    Effect.gen(function* () {
      const rates = makeRequestRates()
      const take = rates.consume("key_1", 60)
      assert.strictEqual((yield* take).resetMillis, 1000)
      assert.strictEqual((yield* take).resetMillis, 2000)
      yield* TestClock.adjust("1 day")
      assert.deepInclude(yield* take, { remaining: 59, resetMillis: 1000 })
    })
  )

  it.effect("can be looked at, which counts nothing", () =>
    Effect.gen(function* () {
      const rates = makeRequestRates()
      const look = rates.peek("key_1", 60)
      const full = { isAllowed: true, limit: 60, remaining: 60, resetMillis: 0, retryMillis: 0 }
      assert.deepStrictEqual(yield* look, full)
      yield* Effect.repeat(rates.consume("key_1", 60), { times: 59 })
      assert.deepInclude(yield* look, { isAllowed: false, remaining: 0, retryMillis: 1000 })
      yield* TestClock.adjust("1 second")
      yield* Effect.repeat(look, { times: 100 })
      assert.deepInclude(yield* look, { isAllowed: true, remaining: 1, retryMillis: 0 })
    })
  )

  it.effect("costs a refused request nothing more", () =>
    Effect.gen(function* () {
      const rates = makeRequestRates()
      yield* Effect.repeat(rates.consume("key_1", 60), { times: 500 })
      yield* TestClock.adjust("1 second")
      assert.isTrue((yield* rates.consume("key_1", 60)).isAllowed)
    })
  )
})

describe("buckets", () => {
  it.effect("are apart, each with its own rate", () =>
    Effect.gen(function* () {
      const rates = makeRequestRates()
      assert.isTrue((yield* rates.consume("key_1", 1)).isAllowed)
      assert.deepInclude(yield* rates.consume("key_1", 1), {
        isAllowed: false,
        retryMillis: 60_000
      })
      assert.isTrue((yield* rates.consume("key_2", 1)).isAllowed)
    })
  )

  it.effect("count all requests of rates that do not divide a minute", () =>
    Effect.gen(function* () {
      for (const perMinute of [7, 999, 600_000]) {
        const rates = makeRequestRates()
        let allowed = 0
        while ((yield* rates.consume("key_1", perMinute)).isAllowed) allowed++
        assert.strictEqual(allowed, perMinute)
      }
    })
  )

  it.effect("of keys that have been idle are not kept", () =>
    Effect.gen(function* () {
      const rates = makeRequestRates()
      for (let round = 0; round < 20; round++) {
        for (let key = 0; key < 1000; key++) yield* rates.consume(`key_${round}_${key}`, 60)
        yield* TestClock.adjust("2 seconds")
      }
      assert.isAtMost(rates.bucketCount(), 3000)
    })
  )
})
