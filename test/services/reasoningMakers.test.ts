/** Reasoning goes back to the channel and origin that made it, also after the master key was replaced. */
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import {
  layerReasoningMakers,
  ReasoningMakers
} from "../../src/services/results/ReasoningMakers.ts"

const masterKey = (byte: number) => Redacted.make(new Uint8Array(32).fill(byte))

const account = { channelId: "ch-1", baseUrl: "https://one.test/v1" }

const makerOf = (of: Partial<typeof account>, organizationId = "org_1") =>
  Effect.map(ReasoningMakers, (makers) => makers.of(organizationId, { ...account, ...of }))

it.effect("reasoning is read again by its own channel at the same origin alone", () =>
  Effect.gen(function* () {
    const text = (yield* makerOf({})).wrap("secret.text")
    assert.strictEqual((yield* makerOf({})).unwrap(text), "secret.text")
    const moved = yield* makerOf({ baseUrl: "https://one.test/v2" })
    assert.strictEqual(moved.unwrap(text), "secret.text")
    assert.isNull((yield* makerOf({ baseUrl: "https://two.test/v1" })).unwrap(text))
    assert.isNull((yield* makerOf({ channelId: "ch-2" })).unwrap(text))
    assert.isNull((yield* makerOf({}, "org_2")).unwrap(text))
    assert.isNull((yield* makerOf({})).unwrap("secret.text"))
    assert.notInclude(text, "ch-1")
  }).pipe(Effect.provide(layerReasoningMakers(masterKey(1))))
)

it.effect("reasoning that was named under the previous master key is read again", () =>
  Effect.gen(function* () {
    const old = yield* Effect.provide(makerOf({}), layerReasoningMakers(masterKey(1)))
    const rotated = layerReasoningMakers(masterKey(2), masterKey(1))
    const maker = yield* Effect.provide(makerOf({}), rotated)
    assert.strictEqual(maker.unwrap(old.wrap("secret")), "secret")
    const without = yield* Effect.provide(makerOf({}), layerReasoningMakers(masterKey(2)))
    assert.isNull(without.unwrap(old.wrap("secret")))
  })
)
