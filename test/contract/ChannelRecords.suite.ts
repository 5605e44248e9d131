/** What every store of how channels are doing must do. */
import { assert, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import {
  type CallEnds,
  ChannelRecords,
  type CooldownTarget,
  keyTarget
} from "../../src/services/channels/ChannelRecords.ts"
import type { Stores } from "../support/ledger.ts"

const freshId = Effect.flatMap(SecureRandom.SecureRandom, (random) => random.uuidV7())

const failure = { reason: "timeout", status: null }
const why = { ...failure, isAlone: false }

const channelOf = (channelId: string): CooldownTarget => ({
  channelId,
  keyName: null,
  model: null,
  organizationId: null
})
const HOUR = { min: 3600, max: 10_000 }
/** Over as soon as it has begun. */
const OVER = { min: 0, max: 0 }

const restOf = Effect.fnUntraced(function* (of: CooldownTarget) {
  const { cooldowns } = yield* ChannelRecords
  return (yield* cooldowns).find(
    (rest) =>
      rest.channelId === of.channelId &&
      rest.keyName === of.keyName &&
      rest.model === of.model &&
      rest.organizationId === of.organizationId
  )
})

export const channelRecordsSuite = (it: Vitest.MethodsNonLive<Stores>): void => {
  it.effect.each([
    ["of a channel", { keyName: null, model: null, organizationId: null }],
    ["of a key", { keyName: "a key", model: null, organizationId: null }],
    ["of a model", { keyName: null, model: "paint-1", organizationId: null }],
    ["of an organisation", { keyName: null, model: null, organizationId: "org_1" }],
    ["of an organisation and a model", { keyName: null, model: "a", organizationId: "org_1" }]
  ] as const)("a rest %s begins once, and ends", ([, scope]) =>
    Effect.gen(function* () {
      const records = yield* ChannelRecords
      const of = { channelId: yield* freshId, ...scope }
      yield* records.beginCooldown(of, why, HOUR)
      const begun = yield* restOf(of)
      assert.deepInclude(begun, { ...of, ...why })
      assert.closeTo(begun?.secondsLeft ?? 0, 3600, 5)
      yield* records.beginCooldown(of, { ...why, reason: "other", status: 500 }, HOUR)
      assert.deepInclude(yield* restOf(of), why)
      assert.isFalse(yield* records.takeTrial(of, null))
      yield* records.endCooldown(of)
      assert.isUndefined(yield* restOf(of))
      assert.isFalse(yield* records.takeTrial(of, null))
    })
  )

  it.effect("a channel, its models, its keys and organisations there rest apart", () =>
    Effect.gen(function* () {
      const records = yield* ChannelRecords
      const channelId = yield* freshId
      const all: ReadonlyArray<CooldownTarget> = [
        channelOf(channelId),
        keyTarget(channelId, "one"),
        keyTarget(channelId, "two"),
        { ...channelOf(channelId), model: "a" },
        { ...channelOf(channelId), organizationId: "org_1" },
        { ...channelOf(channelId), model: "a", organizationId: "org_1" }
      ]
      for (const of of all) {
        yield* records.beginCooldown(of, why, HOUR)
        const { cooldowns } = yield* ChannelRecords
        const found = (yield* cooldowns).filter((rest) => rest.channelId === channelId)
        assert.lengthOf(found, 1)
        assert.deepInclude(found[0], of)
        yield* records.endCooldown(of)
      }
    })
  )

  it.effect("what has rested is tried by one alone, until that one gives it back", () =>
    Effect.gen(function* () {
      const records = yield* ChannelRecords
      const of = channelOf(yield* freshId)
      yield* records.beginCooldown(of, why, OVER)
      assert.strictEqual((yield* restOf(of))?.secondsLeft, 0)
      const taken = yield* Effect.all(
        Array.from({ length: 8 }, () => records.takeTrial(of, null)),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(
        taken.filter((isTaken) => isTaken),
        1
      )
      yield* records.giveTrialBack(of)
      assert.isTrue(yield* records.takeTrial(of, null))
      assert.isFalse(yield* records.takeTrial(of, null))
    })
  )

  it.effect("each trial that fails makes the rest twice as long, up to the longest", () =>
    Effect.gen(function* () {
      const records = yield* ChannelRecords
      const of = channelOf(yield* freshId)
      const fails = Effect.gen(function* () {
        yield* Effect.sleep("2 millis")
        yield* records.beginCooldown(of, why, { min: 1e-6, max: 3e-6 })
        return yield* restOf(of)
      })
      const first = yield* fails
      assert.strictEqual(first?.seconds, 1e-6)
      assert.strictEqual((yield* fails)?.seconds, 2e-6)
      const longest = yield* fails
      assert.strictEqual(longest?.seconds, 3e-6)
      assert.deepStrictEqual(longest?.since, first?.since)
      yield* records.endCooldown(of)
      const again = yield* fails
      assert.strictEqual(again?.seconds, 1e-6)
      assert.notDeepEqual(again?.since, first?.since)
    })
  )

  it.effect("a failed trial makes a rest of all longer once another organisation's fails too", () =>
    Effect.gen(function* () {
      const records = yield* ChannelRecords
      const of = channelOf(yield* freshId)
      yield* records.beginCooldown(of, why, { min: 1e-6, max: 1e-6 })
      yield* Effect.sleep("2 millis")
      assert.isTrue(yield* records.takeTrial(of, "org_1"))
      assert.isFalse(yield* records.failTrial(of, "org_1", 3600))
      // Whoever comes next may try at once.
      assert.isTrue(yield* records.takeTrial(of, "org_1"))
      assert.isFalse(yield* records.failTrial(of, "org_1", 3600))
      assert.deepInclude(yield* restOf(of), { seconds: 1e-6, secondsLeft: 0 })
      assert.isTrue(yield* records.takeTrial(of, "org_2"))
      assert.isTrue(yield* records.failTrial(of, "org_2", 3600))
      assert.deepInclude(yield* restOf(of), { seconds: 2e-6 })
      yield* Effect.sleep("2 millis")
      // It takes two of them again.
      assert.isFalse(yield* records.failTrial(of, "org_2", 3600))
      assert.isTrue(yield* records.failTrial(of, "org_1", 3e-6))
      assert.deepInclude(yield* restOf(of), { seconds: 3e-6 })
      yield* records.endCooldown(of)
      assert.isFalse(yield* records.failTrial(of, "org_2", 3600))
      assert.isUndefined(yield* restOf(of))
    })
  )

  it.effect("an organisation was alone until another one's order is made", () =>
    Effect.gen(function* () {
      const records = yield* ChannelRecords
      const of = { ...channelOf(yield* freshId), model: "a", organizationId: "org_1" }
      yield* records.beginCooldown(of, { ...why, isAlone: true }, OVER)
      assert.deepInclude(yield* restOf(of), { isAlone: true })
      // A longer rest is the same one.
      yield* records.beginCooldown(of, why, HOUR)
      assert.deepInclude(yield* restOf(of), { isAlone: true })
      yield* records.contradict(of)
      assert.deepInclude(yield* restOf(of), { isAlone: false })
    })
  )

  it.effect("counts of channels add up", () =>
    Effect.gen(function* () {
      const records = yield* ChannelRecords
      const channelId = yield* freshId
      const count = (name: string, count: number) => ({ channelId, name, count })
      const add = (...counts: ReadonlyArray<ReturnType<typeof count>>) =>
        records.add({ counts, ends: [], failures: [] })
      yield* add(count("made", 2))
      yield* add(count("made", 1), count("timeout", 4))
      const { counts } = yield* records.hour
      assert.sameDeepMembers(
        counts.filter((one) => one.channelId === channelId),
        [count("made", 3), count("timeout", 4)]
      )
    })
  )

  it.effect("ends of calls add up, and what came before the end of a rest is left out", () =>
    Effect.gen(function* () {
      const records = yield* ChannelRecords
      const [channelId, other] = [yield* freshId, yield* freshId]
      const ends = (model: string, organizationId: string, succeeded: number, failed: number) => ({
        channelId,
        model,
        organizationId,
        succeeded,
        failed
      })
      const add = (...ends: ReadonlyArray<CallEnds>) =>
        records.add({ counts: [], ends, failures: [] })
      const latest = Effect.map(records.latestEnds([channelId]), (all) => [...all])
      yield* add(ends("a", "org_1", 2, 1), ends("a", "org_2", 0, 3), ends("b", "org_1", 5, 0))
      yield* add(ends("a", "org_1", 1, 1), { ...ends("a", "org_1", 9, 9), channelId: other })
      assert.sameDeepMembers(yield* latest, [
        ends("a", "org_1", 3, 2),
        ends("a", "org_2", 0, 3),
        ends("b", "org_1", 5, 0)
      ])
      assert.lengthOf(yield* records.latestEnds([]), 0)

      const over = (scope: Partial<CooldownTarget>) => {
        const of = { ...channelOf(channelId), ...scope }
        return Effect.andThen(records.beginCooldown(of, why, OVER), records.endCooldown(of))
      }
      yield* over({ keyName: "one" })
      assert.lengthOf(yield* latest, 3)
      yield* over({ model: "a", organizationId: "org_1" })
      assert.sameDeepMembers(yield* latest, [ends("a", "org_2", 0, 3), ends("b", "org_1", 5, 0)])
      yield* over({ model: "a" })
      assert.sameDeepMembers(yield* latest, [ends("b", "org_1", 5, 0)])
      yield* over({})
      assert.lengthOf(yield* latest, 0)
    })
  )

  it.effect("the last failure of a channel is kept", () =>
    Effect.gen(function* () {
      const records = yield* ChannelRecords
      const channelId = yield* freshId
      const failed = (message: string, at: number) => ({
        channelId,
        at: new Date(at),
        ...failure,
        message
      })
      const add = (one: ReturnType<typeof failed>) =>
        records.add({ counts: [], ends: [], failures: [one] })
      yield* add(failed("second", 2000))
      yield* add(failed("first", 1000))
      const { failures } = yield* records.hour
      assert.deepStrictEqual(
        failures.filter((one) => one.channelId === channelId),
        [failed("second", 2000)]
      )
    })
  )
}
