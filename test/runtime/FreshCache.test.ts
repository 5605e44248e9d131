import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Changes, makeMarks } from "../../src/runtime/Changes.ts"
import { makeFreshCache } from "../../src/runtime/FreshCache.ts"
import { defaultSettings } from "../../src/runtime/Settings.ts"

/** A cache over one stored word, with every look-up passing `gate` after it has read. */
const make = Effect.fnUntraced(function* (listening: boolean) {
  const store = { word: "old", reads: 0, gate: Effect.void, isBroken: false }
  const { invalidate, ...marks } = yield* makeMarks(() => listening)
  const find = yield* makeFreshCache({
    topic: "keys",
    capacity: 10,
    lookup: () =>
      Effect.suspend(() => {
        const { word, isBroken, gate } = store
        store.reads += 1
        return Effect.andThen(gate, isBroken ? Effect.fail("broken") : Effect.succeed(word))
      })
  }).pipe(
    Effect.provideService(Changes, {
      ...marks,
      changeAndNotify: () => Effect.die("nothing is changed through the service here")
    })
  )
  return { store, invalidate, find }
})

it.effect("a look-up overtaken by a change answers nobody who asks after the change", () =>
  Effect.gen(function* () {
    const { store, invalidate, find } = yield* make(true)
    const gate = yield* Deferred.make<void>()
    store.gate = Deferred.await(gate)
    const before = yield* Effect.forkChild(find("k"), { startImmediately: true })
    store.gate = Effect.void
    store.word = "new"
    yield* invalidate(["keys"])
    const after = yield* Effect.forkChild(find("k"), { startImmediately: true })
    yield* Deferred.succeed(gate, undefined)
    assert.strictEqual(yield* Fiber.join(after), "new")
    assert.strictEqual(yield* Fiber.join(before), "old")
    assert.strictEqual(yield* find("k"), "new")
    assert.strictEqual(store.reads, 2)
  })
)

it.effect("a change of another topic leaves what is kept in use", () =>
  Effect.gen(function* () {
    const { store, invalidate, find } = yield* make(true)
    yield* find("k")
    yield* invalidate(["catalog"])
    yield* find("k")
    assert.strictEqual(store.reads, 1)
  })
)

it.effect.each([
  ["listening", true, defaultSettings.cacheSeconds],
  ["not listening", false, defaultSettings.unheardCacheSeconds]
] as const)(
  "while %s, what was read is used for its time and then read again",
  ([, isListening, seconds]) =>
    Effect.gen(function* () {
      const { store, find } = yield* make(isListening)
      yield* find("k")
      yield* TestClock.adjust(`${seconds} seconds`)
      yield* find("k")
      assert.strictEqual(store.reads, 1)
      yield* TestClock.adjust("1 millis")
      yield* find("k")
      assert.strictEqual(store.reads, 2)
    })
)

it.effect("a look-up that failed is not kept", () =>
  Effect.gen(function* () {
    const { store, find } = yield* make(true)
    store.isBroken = true
    assert.strictEqual(yield* Effect.flip(find("k")), "broken")
    store.isBroken = false
    assert.strictEqual(yield* find("k"), "old")
  })
)

it.effect("a full cache drops what was read longest ago, one at a time", () =>
  Effect.gen(function* () {
    const { store, find } = yield* make(true)
    const keys = Array.from({ length: 11 }, (_, index) => `k${index}`)
    for (const key of keys) yield* find(key)
    for (const key of keys.slice(1)) yield* find(key)
    assert.strictEqual(store.reads, 11)
    yield* find("k0")
    for (const key of keys.slice(2)) yield* find(key)
    assert.strictEqual(store.reads, 12)
  })
)

it.effect("a guard stands before what is not kept alone, and an answer that fails ends it", () =>
  Effect.gen(function* () {
    const { store, invalidate, find } = yield* make(true)
    const guarded = find("k", () => Effect.fail("guarded"))
    assert.strictEqual(yield* Effect.flip(guarded), "guarded")
    assert.strictEqual(store.reads, 0)
    yield* find("k")
    assert.strictEqual(yield* guarded, "old")
    store.word = "new"
    yield* invalidate(["keys"])
    assert.strictEqual(yield* guarded, "new")
    store.isBroken = true
    yield* invalidate(["keys"])
    assert.strictEqual(yield* Effect.flip(guarded), "broken")
    assert.strictEqual(yield* Effect.flip(guarded), "guarded")
  })
)
