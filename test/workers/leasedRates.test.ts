import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { makeRequestRates, type Rate, type RequestRates } from "../../src/runtime/RequestRates.ts"
import { makeLeasedRates } from "../../src/workers/leasedRates.ts"

/** Two workers over one bucket, and how often it was asked. */
const twoWorkers = Effect.gen(function* () {
  const context = yield* Effect.context<never>()
  const bucket = makeRequestRates()
  const asked = { times: 0 }
  const worker = (): RequestRates =>
    makeLeasedRates({
      workers: 2,
      ask: (owner, perMinute, wanted) => {
        asked.times++
        return Effect.runPromiseWith(context)(bucket.takeSome(owner, perMinute, wanted))
      }
    })
  return { workers: [worker(), worker()] as const, asked }
})

const allowed = (rates: ReadonlyArray<Rate>): number => rates.filter((rate) => rate.allowed).length

describe("a key's rate over two workers", () => {
  it.effect("lets the whole bucket through, wherever requests come, and no more", () =>
    Effect.gen(function* () {
      const { workers } = yield* twoWorkers
      const crowd = yield* Effect.forEach(
        Array.from({ length: 300 }, (_, index) => workers[index % 3 === 0 ? 0 : 1]),
        (worker) => worker.take("key_1", 60),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(allowed(crowd), 60)
      for (const { retryMillis } of crowd.filter((rate) => !rate.allowed)) {
        assert.strictEqual(retryMillis, 1000)
      }
      yield* TestClock.adjust("1 second")
      const next = yield* Effect.forEach([0, 1, 0, 1] as const, (index) =>
        workers[index].take("key_1", 60)
      )
      assert.strictEqual(allowed(next), 1)
    })
  )

  it.effect("can be used up at one of them but for what the other has taken in advance", () =>
    Effect.gen(function* () {
      const { workers, asked } = yield* twoWorkers
      assert.isTrue((yield* workers[1].take("key_1", 6400)).allowed)
      const rates = yield* Effect.forEach(Array.from({ length: 7000 }), () =>
        workers[0].take("key_1", 6400)
      )
      assert.isAtLeast(allowed(rates), 6400 * (1 - 1 / 64))
      assert.isAtMost(allowed(rates), 6399)
      assert.isBelow(asked.times, 200)
    })
  )

  it.effect("asks nobody while it knows that the bucket is empty", () =>
    Effect.gen(function* () {
      const { workers, asked } = yield* twoWorkers
      const [worker] = workers
      assert.isTrue((yield* worker.take("key_1", 1)).allowed)
      assert.isFalse((yield* worker.take("key_1", 1)).allowed)
      const before = asked.times
      const rate = yield* worker.take("key_1", 1)
      assert.deepInclude(rate, { allowed: false, remaining: 0, limit: 1, retryMillis: 60_000 })
      assert.strictEqual(asked.times, before)
    })
  )

  it.effect("does not keep what it took for longer than the bucket takes to fill", () =>
    Effect.gen(function* () {
      const { workers } = yield* twoWorkers
      assert.isTrue((yield* workers[1].take("key_1", 6400)).allowed)
      yield* TestClock.adjust("1 minute")
      const crowd = yield* Effect.forEach(
        Array.from({ length: 8000 }, (_, index) => workers[index % 2 === 0 ? 0 : 1]),
        (worker) => worker.take("key_1", 6400)
      )
      assert.isAtMost(allowed(crowd), 6400)
    })
  )

  it.effect("of keys that are quiet is not kept", () =>
    Effect.gen(function* () {
      const { workers } = yield* twoWorkers
      const [worker] = workers
      for (let index = 0; index < 1024; index++) yield* worker.take(`key_${index}`, 60)
      yield* TestClock.adjust("2 minutes")
      yield* worker.take("another", 60)
      assert.strictEqual(worker.kept(), 1)
    })
  )
})
