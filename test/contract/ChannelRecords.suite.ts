/** What every store of how channels are doing must do. */
import { assert, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { ChannelRecords, type Restable } from "../../src/services/channels/ChannelRecords.ts"
import type { Stores } from "../support/ledger.ts"

const freshId = Effect.flatMap(SecureRandom.SecureRandom, (random) => random.uuidV7())

const why = { reason: "timeout", status: null }
const HOUR = { least: 3600, most: 10_000 }
/** Over as soon as it has begun. */
const OVER = { least: 0, most: 0 }

const restOf = Effect.fnUntraced(function* (of: Restable) {
  const { rests } = yield* ChannelRecords
  return (yield* rests).find(
    ({ channelId, keyName }) => channelId === of.channelId && keyName === of.keyName
  )
})

export const channelRecordsSuite = (it: Vitest.MethodsNonLive<Stores>): void => {
  it.effect.each([null, "a key"])("a rest begins once, and ends: key %s", (keyName) =>
    Effect.gen(function* () {
      const records = yield* ChannelRecords
      const of = { channelId: yield* freshId, keyName }
      yield* records.beginRest(of, why, HOUR)
      const begun = yield* restOf(of)
      assert.deepInclude(begun, { ...of, ...why })
      assert.closeTo(begun?.secondsLeft ?? 0, 3600, 5)
      yield* records.beginRest(of, { reason: "other", status: 500 }, HOUR)
      assert.deepInclude(yield* restOf(of), why)
      assert.isFalse(yield* records.takeTrial(of))
      yield* records.endRest(of)
      assert.isUndefined(yield* restOf(of))
      assert.isFalse(yield* records.takeTrial(of))
    })
  )

  it.effect("a channel and its keys rest apart", () =>
    Effect.gen(function* () {
      const records = yield* ChannelRecords
      const channelId = yield* freshId
      yield* records.beginRest({ channelId, keyName: "one" }, why, HOUR)
      assert.isUndefined(yield* restOf({ channelId, keyName: null }))
      assert.isUndefined(yield* restOf({ channelId, keyName: "two" }))
    })
  )

  it.effect("what has rested is tried by one alone, until that one gives it back", () =>
    Effect.gen(function* () {
      const records = yield* ChannelRecords
      const of = { channelId: yield* freshId, keyName: null }
      yield* records.beginRest(of, why, OVER)
      assert.strictEqual((yield* restOf(of))?.secondsLeft, 0)
      const taken = yield* Effect.all(
        Array.from({ length: 8 }, () => records.takeTrial(of)),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(
        taken.filter((isTaken) => isTaken),
        1
      )
      yield* records.giveTrialBack(of)
      assert.isTrue(yield* records.takeTrial(of))
      assert.isFalse(yield* records.takeTrial(of))
    })
  )

  it.effect("each trial that fails makes the rest twice as long, up to the longest", () =>
    Effect.gen(function* () {
      const records = yield* ChannelRecords
      const of = { channelId: yield* freshId, keyName: null }
      const fails = Effect.gen(function* () {
        yield* Effect.sleep("2 millis")
        yield* records.beginRest(of, why, { least: 1e-6, most: 3e-6 })
        return yield* restOf(of)
      })
      const first = yield* fails
      assert.strictEqual(first?.seconds, 1e-6)
      assert.strictEqual((yield* fails)?.seconds, 2e-6)
      const longest = yield* fails
      assert.strictEqual(longest?.seconds, 3e-6)
      assert.deepStrictEqual(longest?.since, first?.since)
      yield* records.endRest(of)
      const again = yield* fails
      assert.strictEqual(again?.seconds, 1e-6)
      assert.notDeepEqual(again?.since, first?.since)
    })
  )

  it.effect("counts add up, by channel, and what came before the end of a rest is left out", () =>
    Effect.gen(function* () {
      const records = yield* ChannelRecords
      const [one, other] = [yield* freshId, yield* freshId]
      const count = (channelId: string, name: string, count: number) => ({ channelId, name, count })
      yield* records.add([count(one, "made", 2), count(other, "made", 5)], [])
      const latest = yield* records.add([count(one, "made", 1), count(one, "timeout", 4)], [])
      assert.sameDeepMembers([...latest], [count(one, "made", 3), count(one, "timeout", 4)])
      const { counts } = yield* records.hour
      assert.deepInclude([...counts], count(other, "made", 5))

      yield* records.beginRest({ channelId: one, keyName: null }, why, OVER)
      yield* records.endRest({ channelId: one, keyName: null })
      // At most those of the ten seconds after the ones in which it ended.
      const after = yield* records.add([count(one, "timeout", 1)], [])
      assert.isTrue(after.every((one) => one.count === 1 && one.name === "timeout"))
      const hour = yield* records.hour
      assert.deepInclude([...hour.counts], count(one, "timeout", 5))
    })
  )

  it.effect("the last failure of a channel is kept", () =>
    Effect.gen(function* () {
      const records = yield* ChannelRecords
      const channelId = yield* freshId
      const failure = (message: string, at: number) => ({
        channelId,
        at: new Date(at),
        ...why,
        message
      })
      const made = [{ channelId, name: "timeout", count: 1 }]
      yield* records.add(made, [failure("second", 2000)])
      yield* records.add(made, [failure("first", 1000)])
      const { failures } = yield* records.hour
      assert.deepStrictEqual(
        failures.filter((one) => one.channelId === channelId),
        [failure("second", 2000)]
      )
    })
  )
}
