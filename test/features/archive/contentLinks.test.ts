/** Links to files open one file, for a day, also after the master key was replaced. */
import { assert, it } from "@effect/vitest"
import { Clock, Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { ContentLinks, layerContentLinks } from "../../../src/services/results/ContentLinks.ts"

const masterKey = (byte: number) => Redacted.make(new Uint8Array(32).fill(byte))

const owners = { organizationId: "org_1", members: ["mem_1", "mem_2"] }
const file = { ...owners, id: "image_1", n: 1 }

const tokenOf = Effect.gen(function* () {
  const links = yield* ContentLinks
  const path = links.path("image", file, yield* Clock.currentTimeMillis)
  return new URL(path, "http://gateway.test").searchParams.get("token") ?? ""
})

const opens = (token: string, { id, n }: { readonly id: string; readonly n: number } = file) =>
  Effect.flatMap(ContentLinks, (links) => links.verify(token, { id, n }))

it.effect("a link opens its file for a day", () =>
  Effect.gen(function* () {
    const token = yield* tokenOf
    yield* TestClock.adjust("23 hours")
    assert.deepStrictEqual(yield* opens(token), owners)
    yield* TestClock.adjust("1 hour")
    assert.isNull(yield* opens(token))
  }).pipe(Effect.provide(layerContentLinks(masterKey(1))))
)

it.effect("a link opens nothing else, and no changed one opens anything", () =>
  Effect.gen(function* () {
    const token = yield* tokenOf
    const [end = "", organizationId = "", members = "", mac = ""] = token.split(".")
    assert.isNull(yield* opens(token, { id: "image_1", n: 0 }))
    assert.isNull(yield* opens(token, { id: "image_2", n: 1 }))
    assert.strictEqual(members, "mem_1~mem_2")
    assert.isNull(yield* opens(`${end}.org_2.${members}.${mac}`))
    assert.isNull(yield* opens(`${end}.${organizationId}.mem_1.${mac}`))
    assert.isNull(yield* opens(`${end}.${organizationId}.mem_3~mem_2.${mac}`))
    assert.isNull(yield* opens(`${Number(end) + 1}.${organizationId}.${members}.${mac}`))
    assert.isNull(yield* opens(`${end}.${organizationId}.${members}.${"A".repeat(43)}`))
  }).pipe(Effect.provide(layerContentLinks(masterKey(1))))
)

it.effect("links of the previous master key open until their end, those of others do not", () =>
  Effect.gen(function* () {
    const old = yield* Effect.provide(tokenOf, layerContentLinks(masterKey(1)))
    const rotated = layerContentLinks(masterKey(2), masterKey(1))
    assert.deepStrictEqual(yield* Effect.provide(opens(old), rotated), owners)
    assert.isNull(yield* Effect.provide(opens(old), layerContentLinks(masterKey(2))))
  })
)
