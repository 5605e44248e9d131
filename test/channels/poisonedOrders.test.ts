/** A minute of one organisation's orders that fail and another's that do not, by a clock of the test. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { ChannelHealth, layerChannelHealth } from "../../src/channels/ChannelHealth.ts"
import { VendorLost } from "../../src/domain/VendorOutcome.ts"
import { ChannelRecords } from "../../src/services/channels/ChannelRecords.ts"
import { layerChannelRecordsMemory } from "../../src/testing/memory/ChannelRecordsMemory.ts"
import { layerMemoryStore } from "../../src/testing/memory/MemoryStore.ts"

const failure = new VendorLost({
  reason: "timeout",
  message: "no",
  status: null,
  retryAfterSeconds: null
})

const layerHealth = layerChannelHealth.pipe(
  Layer.provideMerge(layerChannelRecordsMemory),
  Layer.provide(layerMemoryStore)
)

const lane = (organizationId: string) => ({ channelId: "ch", model: "paint-1", organizationId })

/** Whether the order went to the vendor, which fails it or not. */
const order = Effect.fnUntraced(function* (organizationId: string, isPoisoned: boolean) {
  const health = yield* ChannelHealth
  const state = yield* health.breakerState(lane(organizationId))
  if (state._tag === "Open") return false
  const end = isPoisoned ? failure : null
  health.recordEnd(lane(organizationId), { failure: end, millis: 10 }, () => null)
  if (state._tag === "HalfOpen") yield* health.endTrial(lane(organizationId), state.trials, end)
  return true
})

/** How many of the orders go to the vendor. */
const orderMany = Effect.fnUntraced(function* (
  organizationId: string,
  isPoisoned: boolean,
  count: number
) {
  const areCalled = yield* Effect.replicateEffect(order(organizationId, isPoisoned), count)
  return areCalled.filter((isCalled) => isCalled).length
})

/** Orders with the poison in the second: twelve at first, and two a second after. */
const poisonedIn = (second: number, firstSecond: number): number => {
  if (second < firstSecond) return 0
  return second === firstSecond ? 12 : 2
}

it.effect.each([
  ["they come first", 0],
  ["they come among the other's", 10]
] as const)("12 poisoned orders and 2 a second after refuse nobody else's: %s", ([, firstSecond]) =>
  Effect.gen(function* () {
    let [good, bad] = [0, 0]
    for (let second = 0; second < 60; second++) {
      bad += yield* orderMany("bad", true, poisonedIn(second, firstSecond))
      good += yield* orderMany("good", false, 2)
      yield* TestClock.adjust("1 second")
    }
    assert.strictEqual(good, 120)
    // Those before it was noticed, and its trials.
    assert.isAtMost(bad, 12 + 2 + 3)
    const cooldowns = yield* (yield* ChannelRecords).cooldowns
    assert.deepStrictEqual(
      cooldowns.map(({ organizationId, model, isAlone }) => ({ organizationId, model, isAlone })),
      [{ organizationId: "bad", model: "paint-1", isAlone: false }]
    )
  }).pipe(Effect.provide(layerHealth))
)

it.effect("more organisations than are counted one by one are one of many", () =>
  Effect.gen(function* () {
    const health = yield* ChannelHealth
    const records = yield* ChannelRecords
    for (let index = 0; index < 10_000; index++) {
      health.recordEnd(lane(`org_${index}`), { failure, millis: 10 }, () => null)
    }
    yield* TestClock.adjust("1 second")
    assert.isAtMost((yield* records.latestEnds(["ch"])).length, 65)
    const cooldowns = yield* records.cooldowns
    assert.deepStrictEqual(
      cooldowns.map(({ organizationId, model }) => [organizationId, model]),
      [[null, "paint-1"]]
    )
  }).pipe(Effect.provide(layerHealth))
)
