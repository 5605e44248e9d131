import { assert, it } from "@effect/vitest"
import { Effect, Exit, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { layerChannelHealth } from "../../src/channels/ChannelHealth.ts"
import { makeKeyTurns } from "../../src/channels/keyTurns.ts"
import {
  type KnownRefusal,
  type VendorFailure,
  VendorLost,
  VendorRefused,
  VendorUnreachable
} from "../../src/domain/VendorOutcome.ts"
import { layerChannelRecordsMemory } from "../../src/testing/memory/ChannelRecordsMemory.ts"
import { layerMemoryStore } from "../../src/testing/memory/MemoryStore.ts"

const account = (keyName: string) => ({
  channelId: "ch",
  keyName,
  baseUrl: "http://vendor.test",
  apiKey: Redacted.make(keyName),
  appId: null,
  origin: "http://vendor.test",
  version: 1,
  isSuperseded: false
})
const [one, two, three] = [account("one"), account("two"), account("three")]

const refused = (proof?: KnownRefusal) =>
  new VendorRefused({
    effectiveStatus: 402,
    status: 402,
    body: null,
    message: "no",
    retryAfterSeconds: null,
    ...(proof === undefined ? {} : { proof })
  })
const keyRefusal = refused("account_empty")
const lost = new VendorLost({
  reason: "timeout",
  message: "no",
  status: null,
  retryAfterSeconds: null
})

const layerHealth = layerChannelHealth.pipe(
  Layer.provideMerge(layerChannelRecordsMemory),
  Layer.provide(layerMemoryStore)
)

/** Calls that fail with some of the keys, and what each of them was called with. */
const callsWith = (failures: Readonly<Record<string, VendorFailure>>) => {
  const called: Array<string> = []
  const call = ({ keyName }: { readonly keyName: string }) =>
    Effect.suspend(() => {
      called.push(keyName)
      const failure = failures[keyName]
      return failure === undefined ? Effect.succeed(keyName) : Effect.fail(failure)
    })
  return { called, call }
}

it.effect("orders take turns among the keys", () =>
  Effect.gen(function* () {
    const turns = yield* makeKeyTurns
    const { called, call } = callsWith({})
    for (let order = 0; order < 4; order++) yield* turns.forOrder([one, two, three], call)
    assert.deepStrictEqual(called, ["one", "two", "three", "one"])
  }).pipe(Effect.provide(layerHealth))
)

it.effect.each([
  ["before anything of the answer was used, the next key is called with", true, ["one", "two"]],
  ["afterwards no other key is, as it would be made twice", false, ["one"]]
] as const)("a key is refused: %s", ([, mayRepeat, expected]) =>
  Effect.gen(function* () {
    const turns = yield* makeKeyTurns
    const { called, call } = callsWith({ one: keyRefusal, two: keyRefusal })
    const exit = yield* Effect.exit(turns.forOrder([one, two], call, () => mayRepeat))
    assert.deepStrictEqual(exit, Exit.fail(keyRefusal))
    assert.deepStrictEqual(called, [...expected])
  }).pipe(Effect.provide(layerHealth))
)

it.effect.each([
  ["a refused key", true, refused("credentials_refused")],
  ["an account without money", true, refused("account_empty")],
  ["a refusal of what was ordered", false, refused("refused")],
  ["an error that nothing is known of", false, refused()],
  ["an answer that never came", false, lost],
  ["a vendor that cannot be reached", false, new VendorUnreachable({ message: "no" })]
] as const)("after %s, the next key is called with: %s", ([, isNext, failure]) =>
  Effect.gen(function* () {
    const turns = yield* makeKeyTurns
    const { called, call } = callsWith({ one: failure })
    const exit = yield* Effect.exit(turns.forOrder([one, two], call))
    assert.deepStrictEqual(called, isNext ? ["one", "two"] : ["one"])
    assert.deepStrictEqual(exit, isNext ? Exit.succeed("two") : Exit.fail(failure))
  }).pipe(Effect.provide(layerHealth))
)

it.effect("a refused key is passed over until its cooldown is over, and then serves again", () =>
  Effect.gen(function* () {
    const turns = yield* makeKeyTurns
    yield* turns.forOrder([one, two], callsWith({ one: keyRefusal }).call)
    const { called, call } = callsWith({})
    for (let order = 0; order < 4; order++) yield* turns.forOrder([one, two], call)
    assert.deepStrictEqual(called, ["two", "two", "two", "two"])
    yield* TestClock.adjust("1 hour")
    called.length = 0
    for (let order = 0; order < 4; order++) yield* turns.forOrder([one, two], call)
    assert.deepStrictEqual(called.toSorted(), ["one", "one", "two", "two"])
  }).pipe(Effect.provide(layerHealth))
)

it.effect("where all keys cool down, the first one is called with all the same", () =>
  Effect.gen(function* () {
    const turns = yield* makeKeyTurns
    const refusing = callsWith({ one: keyRefusal, two: keyRefusal })
    yield* Effect.exit(turns.forOrder([one, two], refusing.call))
    const { called, call } = callsWith({})
    yield* turns.forOrder([one, two], call)
    assert.deepStrictEqual(called, ["two"])
  }).pipe(Effect.provide(layerHealth))
)

it.effect(
  "a task is asked about with the key that made it, and with another if that is refused",
  () =>
    Effect.gen(function* () {
      const turns = yield* makeKeyTurns
      const task = { accountVersion: 1, keyName: "two" }
      const first = callsWith({})
      yield* turns.forTask([one, two, three], task, first.call)
      assert.deepStrictEqual(first.called, ["two"])
      const second = callsWith({ two: refused("credentials_refused") })
      yield* turns.forTask([one, two, three], task, second.call)
      assert.deepStrictEqual(second.called, ["two", "three"])
    }).pipe(Effect.provide(layerHealth))
)
