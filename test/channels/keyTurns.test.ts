import { assert, it } from "@effect/vitest"
import { Effect, Exit, Layer, Redacted } from "effect"
import { layerChannelHealth } from "../../src/channels/ChannelHealth.ts"
import { makeKeyTurns } from "../../src/channels/keyTurns.ts"
import { VendorRefused } from "../../src/domain/VendorOutcome.ts"
import { ChannelRecords } from "../../src/services/channels/ChannelRecords.ts"

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

const refused = new VendorRefused({
  effectiveStatus: 402,
  status: 402,
  proof: "account_empty",
  body: null,
  message: "no",
  retryAfterSeconds: null
})

it.effect.each([
  ["before anything of the answer was used, the next key is called with", true, ["one", "two"]],
  ["afterwards no other key is, as it would be made twice", false, ["one"]]
] as const)("a key is refused: %s", ([, mayRepeat, expected]) =>
  Effect.gen(function* () {
    const turns = yield* makeKeyTurns
    const called: Array<string> = []
    const exit = yield* Effect.exit(
      turns.forOrder(
        [account("one"), account("two")],
        ({ keyName }) =>
          Effect.andThen(
            Effect.sync(() => called.push(keyName)),
            Effect.fail(refused)
          ),
        () => mayRepeat
      )
    )
    assert.deepStrictEqual(exit, Exit.fail(refused))
    assert.deepStrictEqual(called, [...expected])
  }).pipe(
    Effect.provide(
      layerChannelHealth.pipe(
        Layer.provide(
          Layer.mock(ChannelRecords, {
            cooldowns: Effect.succeed([]),
            beginCooldown: () => Effect.void
          })
        )
      )
    )
  )
)
