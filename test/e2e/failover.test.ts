import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { layerAdapters } from "../../src/adapters/liveAdapters.ts"
import { layerVendorLimits } from "../../src/adapters/wire/limits.ts"
import {
  accounts,
  channelOf,
  failoverCatalog,
  type Kind,
  kinds,
  trouble
} from "../support/failovers.ts"
import { bodyAs, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { errorOf, finishVideo } from "../support/orders.ts"
import { newestHold, timelineOf } from "../support/timelines.ts"

/** Words for an account whose vendor certainly makes nothing, why the order goes on, and the status. */
const passing = [
  ["sim:refuse=401", "credentials_refused", 401],
  ["sim:refuse=402", "account_empty", 402],
  ["sim:refuse=403", "credentials_refused", 403],
  ["sim:refuse=404", "model_unknown", 404],
  ["sim:refuse=429", "rate_limited", 429],
  ["sim:refuse=503", "overloaded", 503]
] as const

/** Words for what is final at the first channel: its content is refused, or a job may be there. */
const final = [
  ["sim:refuse=400", 400, false],
  ["sim:refuse=422", 422, false],
  ["sim:moderate-input", 400, false],
  ["sim:refuse=500", 502, true],
  ["sim:refuse=502", 502, true],
  ["sim:lost", 502, true]
] as const

/** Since the mark, the accounts that took an order on. */
const makers = Effect.fnUntraced(function* (
  mark: number
): Effect.fn.Return<ReadonlyArray<string>, never, Gateway> {
  const { simulator } = yield* Gateway
  return (yield* simulator.book)
    .slice(mark)
    .flatMap((entry) => (entry.event === "accepted" ? [entry.key_hint] : []))
})

const Orphans = Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })) })

/** Orders with this trouble at the first accounts, and tells what came of it. */
const orderWith = Effect.fnUntraced(function* (kind: Kind, words: ReadonlyArray<string>) {
  const gateway = yield* Gateway
  for (const [index, account] of accounts.entries()) yield* trouble(account, words[index] ?? "")
  const mark = (yield* gateway.simulator.book).length
  const who = yield* gateway.customer("100")
  const answer = yield* kind.order(who, "a lighthouse")
  if (kind.name === "video" && answer.status === 200) {
    yield* finishVideo(who, (yield* bodyAs(Schema.Struct({ id: Schema.String }), answer)).id)
  }
  for (const account of accounts) yield* trouble(account, "")
  const id = yield* newestHold(who.organizationId)
  const { attempts, upstream_calls } = yield* timelineOf(id)
  const { data: orphans } = yield* bodyAs(Orphans, yield* gateway.admin("/orphans?limit=100"))
  return {
    answer,
    attempts,
    calls: upstream_calls.filter(({ purpose }) => purpose !== "poll"),
    made: yield* makers(mark),
    isOrphan: orphans.some((orphan) => orphan.id === id),
    balance: yield* gateway.balance(who),
    who
  }
})

layer(layerTestGateway("postgres", quickSettings, { catalogFor: failoverCatalog() }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("failover", (it) => {
  it.effect.each(kinds)(
    "$name: a channel that makes nothing is passed over, at every place, and one job is made",
    (kind) =>
      Effect.gen(function* () {
        for (const [words, reason, status] of passing) {
          for (const failing of [1, 2]) {
            const label = `${words} at ${failing}`
            const ended = yield* orderWith(
              kind,
              accounts.slice(0, failing).map(() => words)
            )
            assert.strictEqual(ended.answer.status, 200, `${label}: ${ended.answer.text}`)
            assert.deepStrictEqual(ended.made, accounts.slice(failing, failing + 1), label)
            assert.deepStrictEqual(
              ended.attempts.map(({ channel, reason, status }) => ({ channel, reason, status })),
              accounts.slice(0, failing + 1).map((account, index) => ({
                channel: channelOf(kind.protocol, account),
                reason: index < failing ? reason : null,
                status: index < failing ? status : null
              })),
              label
            )
            assert.deepStrictEqual(
              ended.calls.map(({ channel, status }) => ({ channel, status })),
              accounts.slice(0, failing + 1).map((account, index) => ({
                channel: channelOf(kind.protocol, account),
                status: index < failing ? status : 200
              })),
              label
            )
            assert.isFalse(ended.isOrphan, label)
            assert.strictEqual(ended.balance.held, "0", label)
            assert.notStrictEqual(ended.balance.balance, "100", label)
          }
        }
        yield* (yield* Gateway).verify
      })
  )

  it.effect.each(kinds)(
    "$name: three channels are called at most, and the last one's refusal is answered",
    (kind) =>
      Effect.gen(function* () {
        for (const [words, , status] of passing) {
          const last = status === 429 ? "sim:refuse=503" : "sim:refuse=429"
          const ended = yield* orderWith(kind, [words, words, last])
          assert.strictEqual(ended.answer.status, 503 - (last.endsWith("503") ? 1 : 0), words)
          assert.strictEqual((yield* errorOf(ended.answer)).code, "upstream_error")
          assert.deepStrictEqual(ended.made, [], words)
          assert.deepStrictEqual(
            ended.attempts.map(({ channel }) => channel),
            accounts.slice(0, 3).map((account) => channelOf(kind.protocol, account)),
            words
          )
          assert.deepInclude(ended.balance, { balance: "100", held: "0" }, words)
          assert.isFalse(ended.isOrphan, words)
        }
      })
  )

  it.effect.each(kinds)(
    "$name: a refusal of the content and a job that may be there are final, at every place",
    (kind) =>
      Effect.gen(function* () {
        for (const [words, status, inDoubt] of final) {
          for (const before of [0, 1, 2]) {
            const label = `${words} after ${before}`
            const ended = yield* orderWith(kind, [
              ...accounts.slice(0, before).map(() => "sim:refuse=503"),
              words
            ])
            assert.strictEqual(ended.answer.status, status, `${label}: ${ended.answer.text}`)
            assert.strictEqual(ended.attempts.length, before + 1, label)
            const made = words === "sim:lost" ? accounts.slice(before, before + 1) : []
            assert.deepStrictEqual(ended.made, made, label)
            assert.deepInclude(ended.balance, { balance: "100", held: "0" }, label)
            assert.strictEqual(ended.isOrphan, inDoubt, label)
          }
        }
      })
  )

  it.effect("a receipt tells the operator of every attempt, and its member of none", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const [, image] = kinds
      assert.isDefined(image)
      const { who } = yield* orderWith(image, ["sim:refuse=429"])
      const own = yield* gateway.call("/v1/usage", { key: who.key })
      const [, id = ""] = /"id":"(us_[^"]+)"/.exec(own.text) ?? []
      const receipt = yield* gateway.admin(`/organizations/${who.organizationId}/usage/${id}`)
      const Attempts = Schema.Struct({
        attempts: Schema.Array(
          Schema.Struct({ channel: Schema.String, reason: Schema.NullOr(Schema.String) })
        )
      })
      assert.deepStrictEqual((yield* bodyAs(Attempts, receipt)).attempts, [
        { channel: "ip_a-aaaa", reason: "rate_limited" },
        { channel: "ip_a-bbbb", reason: null }
      ])
      const members = yield* gateway.call(`/v1/usage/${id}`, { key: who.key })
      assert.strictEqual(members.status, 200)
      assert.notMatch(members.text, /ip_a-|attempts|channel/)
    })
  )

  it.effect("nothing listens at the first channel's address: the next one makes it", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const catalog = failoverCatalog(["aaaa"])(gateway.simulator.url)
      yield* gateway.admin("/catalog", { method: "PUT", json: catalog })
      for (const kind of kinds) {
        const ended = yield* orderWith(kind, [])
        assert.strictEqual(ended.answer.status, 200, ended.answer.text)
        assert.deepStrictEqual(ended.made, ["bbbb"])
        assert.strictEqual(ended.attempts[0]?.reason, "unreachable")
      }
      yield* gateway.verify
    })
  )
})

/** Vendors have three quarters of it. */
const hasty: typeof quickSettings = {
  ...quickSettings,
  submitDeadlineSeconds: 2,
  imageDeadlineSeconds: 2,
  textDeadlineSeconds: 2,
  textTokensPerHour: 1_000_000_000,
  textStreamDeadlineSeconds: 2
}

layer(
  layerTestGateway("postgres", hasty, {
    catalogFor: failoverCatalog(),
    adapters: layerAdapters.pipe(Layer.provide(layerVendorLimits))
  }),
  { excludeTestServices: true, timeout: "60 seconds" }
)("a channel that does not answer", (it) => {
  it.effect.each(kinds)("$name: is final, as a job may be there", (kind) =>
    Effect.gen(function* () {
      const ended = yield* orderWith(kind, ["sim:hang"])
      assert.strictEqual(ended.answer.status, 504, ended.answer.text)
      assert.strictEqual(ended.answer.headers.get("x-should-retry"), "false")
      assert.strictEqual(ended.attempts.length, 1)
      assert.deepStrictEqual(ended.made, ["aaaa"])
      assert.isTrue(ended.isOrphan)
      assert.deepInclude(ended.balance, { balance: "100", held: "0" })
    })
  )
})
