/** One organisation's orders on which a vendor fails, and what others at the same channel see of it. */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { channelNow, channelUntil, passRests } from "../support/channels.ts"
import { databasesInTurn } from "../support/databases.ts"
import { channelOf, trouble } from "../support/failovers.ts"
import { type Customer, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { errorOf, orderImages } from "../support/orders.ts"

/** Rests end when the test says so. */
const settings = {
  ...quickSettings,
  breakerCalls: 10,
  channelCooldownSeconds: 3600,
  maxCooldownSeconds: 86_400,
  keyRefusalsPerMinute: 0,
  // One order hangs at the end.
  shutdownSeconds: 0.2
}

const CHANNEL = channelOf("ip_a", "aaaa")
const models = ["paint-1", "paint-2", "paint-3"] as const
type Model = (typeof models)[number]

const catalogFor = (simulatorUrl: string): typeof CatalogWrite.Encoded => ({
  channels: [
    {
      id: CHANNEL,
      name: "A",
      base_url: `${simulatorUrl}/ip_a/v1`,
      api_key: "vendor-key-aaaa"
    }
  ],
  models: models.map((id) => ({
    id,
    modality: "image",
    protocol: "ip_a",
    prices: { kind: "image", per_image: "0.2" }
  })),
  mounts: models.map((model) => ({ model, channel: CHANNEL, upstream_model: `vendor-${model}` }))
})

const POISON = "sim:refuse=500"

const order = (who: Customer, prompt = "a lighthouse", model: Model = "paint-1") =>
  orderImages(who, { model, prompt })

const orders = (who: Customer, count: number, prompt?: string, model?: Model) =>
  Effect.map(
    Effect.forEach(Array.from({ length: count }), () => order(who, prompt, model), {
      concurrency: "unbounded"
    }),
    (answers) => answers.map(({ status }) => status)
  )

const all = (statuses: ReadonlyArray<number>) => [...new Set(statuses)]

/** Orders until one is answered so, each after the good one's, of which none may be refused. */
const until = (who: Customer, status: number, beside: Effect.Effect<void, never, Gateway>) =>
  Effect.andThen(beside, order(who, POISON)).pipe(
    Effect.delay("20 millis"),
    Effect.repeat({ until: (answer) => answer.status === status }),
    Effect.timeout("20 seconds"),
    Effect.orDie
  )

const customer = (deposit: string) =>
  Effect.flatMap(Gateway, (gateway) => gateway.customer(deposit))

const isServed = (who: Customer) =>
  Effect.map(order(who), (answer) => assert.strictEqual(answer.status, 200, answer.text))

/** All that rests does so no more. */
const enable = Effect.flatMap(Gateway, (gateway) =>
  gateway.admin(`/channels/${CHANNEL}/enable`, { method: "POST" })
)

/** Nothing rests, and what was ordered before says nothing. */
const fresh = Effect.gen(function* () {
  yield* trouble("aaaa", "")
  yield* enable
  const sql = yield* SqlClient.SqlClient
  const who = yield* customer("1")
  yield* isServed(who)
  const ends = sql`SELECT FROM call_ends WHERE organization_id = ${who.organizationId}`
  yield* ends.pipe(
    Effect.delay("20 millis"),
    Effect.repeat({ until: ({ length }) => length > 0 }),
    Effect.timeout("20 seconds")
  )
  yield* sql`DELETE FROM call_ends`
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, settings, { catalogFor }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`orders that a vendor fails on (${kind})`, (it) => {
    it.effect("slow their own organisation, while others' are made", () =>
      Effect.gen(function* () {
        const [bad, good] = [yield* customer("100"), yield* customer("100")]
        const goodIsServed = isServed(good)
        yield* goodIsServed
        assert.deepStrictEqual(all(yield* orders(bad, 12, POISON)), [502])
        const refused = yield* until(bad, 503, goodIsServed)
        const error = yield* errorOf(refused)
        assert.strictEqual(error.code, "channel_unavailable")
        assert.include(error.message, "no orders of this organisation")
        assert.isAbove(Number(refused.headers.get("retry-after")), 3500)
        assert.deepStrictEqual(all(yield* orders(good, 20)), [200])
        const channel = yield* channelNow(CHANNEL)
        assert.strictEqual(channel.state, "closed")
        assert.isNull(channel.rest)
        assert.lengthOf(channel.model_rests, 0)
        assert.lengthOf(channel.slowed_organizations, 1)
        const own = { organization_id: bad.organizationId, model: "paint-1" }
        assert.deepInclude(channel.slowed_organizations[0], { ...own, status: 500 })
        // Its other models are another matter.
        assert.strictEqual((yield* order(bad, "a boat", "paint-2")).status, 200)

        // Its trial decides for itself alone.
        yield* passRests
        assert.strictEqual((yield* until(bad, 502, goodIsServed)).status, 502)
        assert.strictEqual((yield* order(bad)).status, 503)
        yield* goodIsServed
        const longer = (yield* channelNow(CHANNEL)).slowed_organizations[0]
        assert.closeTo((Date.parse(longer?.until ?? "") - Date.now()) / 3_600_000, 2, 0.1)
        yield* passRests
        yield* Effect.repeat(Effect.delay(order(bad), "20 millis"), {
          until: ({ status }) => status === 200
        }).pipe(Effect.timeout("20 seconds"))
        assert.lengthOf((yield* channelNow(CHANNEL)).slowed_organizations, 0)
      })
    )

    it.effect("of the only one there rest its model, and the next organisation is served", () =>
      Effect.gen(function* () {
        yield* fresh
        const [bad, good] = [yield* customer("100"), yield* customer("100")]
        yield* until(bad, 503, Effect.void)
        const alone = yield* channelNow(CHANNEL)
        assert.strictEqual(alone.state, "closed")
        assert.deepStrictEqual(
          alone.model_rests.map(({ model, reason }) => [model, reason]),
          [["paint-1", "vendor_error"]]
        )
        assert.deepStrictEqual(all(yield* orders(good, 5)), [200])
        const { model_rests, slowed_organizations } = yield* channelUntil(
          CHANNEL,
          (channel) => channel.model_rests.length === 0
        )
        assert.lengthOf(model_rests, 0)
        assert.lengthOf(slowed_organizations, 1)
        assert.strictEqual((yield* order(bad)).status, 503)
        yield* enable
        assert.strictEqual((yield* order(bad)).status, 200)
      })
    )

    it.effect("of all rest the model, and no single one keeps it from being tried", () =>
      Effect.gen(function* () {
        yield* fresh
        const sql = yield* SqlClient.SqlClient
        const [bad, other, good] = [
          yield* customer("100"),
          yield* customer("100"),
          yield* customer("100")
        ]
        const poor = yield* customer("0.1")
        yield* trouble("aaaa", POISON)
        yield* Effect.all([orders(bad, 6), orders(other, 6)], { concurrency: 2 })
        const { model_rests, slowed_organizations } = yield* channelUntil(
          CHANNEL,
          (channel) => channel.model_rests.length > 0
        )
        assert.deepStrictEqual(
          model_rests.map(({ model }) => model),
          ["paint-1"]
        )
        assert.lengthOf(slowed_organizations, 0)
        const refused = yield* order(good)
        assert.strictEqual(refused.status, 503, refused.text)
        assert.include((yield* errorOf(refused)).message, "its vendor fails")
        yield* trouble("aaaa", "")
        assert.strictEqual((yield* order(good, undefined, "paint-2")).status, 200)

        // Who tries it cannot pay, or makes it fail, or hangs: the next one's order is made.
        yield* passRests
        const tried = (who: Customer, status: number, prompt?: string) =>
          order(who, prompt).pipe(
            Effect.delay("20 millis"),
            Effect.repeat({ until: (answer) => answer.status === status }),
            Effect.timeout("20 seconds"),
            Effect.orDie
          )
        const trying = Effect.map(
          sql<{ readonly by: string | null }>`SELECT max(tried_by) AS by FROM rests`,
          ([row]) => row?.by ?? null
        )
        yield* tried(poor, 402)
        assert.isNull(yield* trying)
        yield* tried(bad, 502, POISON)
        const rested = yield* channelNow(CHANNEL)
        assert.lengthOf(rested.model_rests, 1)
        assert.isAtMost(Date.parse(rested.model_rests[0]?.until ?? ""), Date.now() + 1000)
        assert.strictEqual(rested.slowed_organizations[0]?.organization_id, bad.organizationId)
        const hanging = yield* Effect.forkChild(tried(other, 200, "sim:hang"))
        yield* trying.pipe(
          Effect.delay("20 millis"),
          Effect.repeat({ until: (by) => by === other.organizationId }),
          Effect.timeout("20 seconds")
        )
        assert.strictEqual((yield* order(good)).status, 503)
        // Its head start passes.
        yield* sql`UPDATE rests SET tried_until = tried_until - interval '6 seconds'`
        yield* tried(good, 200)
        assert.lengthOf((yield* channelNow(CHANNEL)).model_rests, 0)
        yield* Fiber.interrupt(hanging)
      })
    )

    it.effect("of all at several models rest the whole channel", () =>
      Effect.gen(function* () {
        yield* fresh
        const [one, other] = [yield* customer("100"), yield* customer("100")]
        yield* trouble("aaaa", POISON)
        yield* Effect.all(
          [one, other].flatMap((who) =>
            (["paint-2", "paint-3"] as const).map((model) => orders(who, 4, undefined, model))
          ),
          { concurrency: "unbounded" }
        )
        const { rest, state } = yield* channelUntil(CHANNEL, (channel) => channel.rest !== null)
        assert.strictEqual(state, "open")
        assert.deepInclude(rest, { model: null, reason: "vendor_error", status: 500 })
        yield* trouble("aaaa", "")
        assert.strictEqual((yield* order(other)).status, 503)
        const enabled = yield* enable
        assert.deepInclude(enabled.body, { state: "closed", rest: null })
        assert.strictEqual((yield* order(other)).status, 200)
      })
    )
  })
}
