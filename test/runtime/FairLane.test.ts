import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { MAX_SHARED, makeFairLane } from "../../src/runtime/FairLane.ts"

const bounds = { total: 2, perOwner: 1, maxWaiting: 3 }

/** A lane, and pieces of work that say when they begin and run until they are let go. */
const makeWork = (lane: Effect.Success<ReturnType<typeof makeFairLane>>) => {
  const begun: Array<string> = []
  const start = Effect.fnUntraced(function* (
    owner: string,
    name: string,
    options: { readonly sharesPermit?: boolean } = {}
  ) {
    const end = yield* Deferred.make<void>()
    const work = Effect.andThen(
      Effect.sync(() => void begun.push(name)),
      Deferred.await(end)
    )
    const fiber = yield* Effect.forkChild(lane.inTurn(owner, work, options), {
      startImmediately: true
    })
    return { fiber, end: Effect.andThen(Deferred.succeed(end, undefined), Fiber.join(fiber)) }
  })
  const untilBegun = (count: number) =>
    Effect.repeat(Effect.sleep("1 millis"), { until: () => begun.length === count })
  return { begun, start, untilBegun }
}

it.live("owners take turns, and one with many waiting delays its own work alone", () =>
  Effect.gen(function* () {
    const lane = yield* makeFairLane({ ...bounds, total: 1 })
    const { begun, start, untilBegun } = makeWork(lane)
    const many = yield* Effect.forEach(["a1", "a2", "a3"], (name) => start("a", name))
    const others = [yield* start("b", "b1"), yield* start("c", "c1")]
    assert.deepStrictEqual(lane.count(), { running: 1, waiting: 4 })
    assert.isTrue(lane.hasRoom("a"))
    const fourth = yield* start("a", "a4")
    assert.isFalse(lane.hasRoom("a"))
    assert.isTrue(lane.hasRoom("b"))
    const [a1, a2, a3] = many
    const [b1, c1] = others
    for (const [index, work] of [a1, a2, b1, c1, a3, fourth].entries()) {
      yield* untilBegun(index + 1)
      yield* work?.end ?? Effect.void
    }
    assert.deepStrictEqual(begun, ["a1", "a2", "b1", "c1", "a3", "a4"])
    yield* Effect.repeat(Effect.sleep("1 millis"), { until: () => lane.count().running === 0 })
  })
)

it.live("of one owner no more run than it may have, while the places of others stay free", () =>
  Effect.gen(function* () {
    const lane = yield* makeFairLane(bounds)
    const { begun, start, untilBegun } = makeWork(lane)
    yield* Effect.forEach(["a1", "a2"], (name) => start("a", name))
    yield* start("b", "b1")
    assert.deepStrictEqual(begun, ["a1", "b1"])
    yield* start("c", "c1")
    assert.deepStrictEqual(lane.count(), { running: 2, waiting: 2 })
    assert.deepStrictEqual(begun, ["a1", "b1"])
    yield* untilBegun(2)
  }).pipe(Effect.scoped)
)

it.live("work that is given up leaves its place, whether it waits or runs", () =>
  Effect.gen(function* () {
    const lane = yield* makeFairLane(bounds)
    const { begun, start, untilBegun } = makeWork(lane)
    const [a1, a2, a3] = yield* Effect.forEach(["a1", "a2", "a3"], (name) => start("a", name))
    yield* Fiber.interrupt(a2?.fiber ?? (yield* Effect.die("there is none")))
    assert.deepStrictEqual(lane.count(), { running: 1, waiting: 1 })
    yield* Fiber.interrupt(a1?.fiber ?? (yield* Effect.die("there is none")))
    yield* untilBegun(2)
    yield* a3?.end ?? Effect.void
    assert.deepStrictEqual(begun, ["a1", "a3"])
    // A place rests for a moment before it is free.
    yield* Effect.repeat(Effect.sleep("1 millis"), { until: () => lane.count().running === 0 })
    assert.deepStrictEqual(lane.count(), { running: 0, waiting: 0 })
  })
)

it.live("work that shares a permit runs together, and frees it when the last of it has ended", () =>
  Effect.gen(function* () {
    const lane = yield* makeFairLane({ ...bounds, total: 1, maxWaiting: 100 })
    const { begun, start, untilBegun } = makeWork(lane)
    const shared = Array.from({ length: MAX_SHARED + 1 }, (_, index) => `a${index + 1}`)
    const other = yield* start("b", "b1")
    const works = yield* Effect.forEach(shared, (name) => start("a", name, { sharesPermit: true }))
    yield* start("a", "alone")
    const turnOfC = yield* start("c", "c1")
    yield* other.end
    yield* untilBegun(1 + MAX_SHARED)
    assert.deepStrictEqual(begun, ["b1", ...shared.slice(0, MAX_SHARED)])
    assert.deepStrictEqual(lane.count(), { running: 1, waiting: 3 })

    const [first, ...others] = works.slice(0, MAX_SHARED)
    for (const { end } of others) yield* end
    assert.deepStrictEqual(lane.count(), { running: 1, waiting: 3 })
    yield* first?.end ?? Effect.void
    yield* untilBegun(2 + MAX_SHARED)
    assert.strictEqual(begun.at(-1), "c1")
    yield* turnOfC.end
    yield* untilBegun(3 + MAX_SHARED)
    assert.deepStrictEqual(lane.count(), { running: 1, waiting: 1 })
    assert.strictEqual(begun.at(-1), shared.at(-1))
  }).pipe(Effect.scoped)
)

it.effect("a permit cools down for as long as its work took, by the gateway's clock", () =>
  Effect.gen(function* () {
    const lane = yield* makeFairLane({ ...bounds, total: 1 })
    const { begun, start } = makeWork(lane)
    const [long, other] = [yield* start("a", "a1"), yield* start("b", "b1")]
    yield* TestClock.adjust("20 millis")
    yield* long.end
    yield* TestClock.adjust("19 millis")
    assert.deepStrictEqual(begun, ["a1"])
    yield* TestClock.adjust("1 millis")
    assert.deepStrictEqual(begun, ["a1", "b1"])
    // By a clock that stands still, work takes no time, and no cooldown would end.
    yield* other.end
    yield* lane.inTurn("a", Effect.void)
    assert.deepStrictEqual(lane.count(), { running: 0, waiting: 0 })
  })
)
