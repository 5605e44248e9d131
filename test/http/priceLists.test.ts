/** Price lists by the clock, their default of marks, and what other organisations learn: in memory. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import {
  type Customer,
  layerGatewayTesting,
  ScriptedVendors,
  TestingGateway
} from "media-gateway/testing"

const Created = Schema.Struct({ id: Schema.String })
const Quote = Schema.Struct({ hold: Schema.String })

const decode = <S extends Schema.Top & { readonly DecodingServices: never }>(
  schema: S,
  body: unknown
) => Effect.orDie(Schema.decodeUnknownEffect(schema)(body))

const admin = Effect.fnUntraced(function* (
  path: string,
  options: { readonly method?: string; readonly json?: object } = {}
) {
  const gateway = yield* TestingGateway
  const answer = yield* gateway.call(`/admin/v1${path}`, { key: gateway.adminToken, ...options })
  assert.isBelow(answer.status, 300, JSON.stringify(answer.body))
  return answer.body
})

const createList = (json: object) =>
  Effect.map(
    Effect.flatMap(admin("/price-lists", { json }), (body) => decode(Created, body)),
    ({ id }) => id
  )

const putOn = ({ organizationId }: Customer, price_list: string | null) =>
  admin(`/organizations/${organizationId}`, { method: "PATCH", json: { price_list } })

const holdOf = Effect.fnUntraced(function* (who: Customer, json: object) {
  const gateway = yield* TestingGateway
  const answer = yield* gateway.call("/v1/quotes", {
    key: who.key,
    json: { prompt: "a lighthouse", ...json }
  })
  return (yield* decode(Quote, answer.body)).hold
})

const paint = { model: "paint-1" }

// An hour behind UTC: the test's clock begins in the last hour of 1969 there.
layer(layerGatewayTesting({ settings: { timeZone: "Atlantic/Azores" } }))("by the clock", (it) => {
  it.effect(
    "a version holds from its day in the deployment's zone, and the one before until then",
    () =>
      Effect.gen(function* () {
        const gateway = yield* TestingGateway
        const who = yield* gateway.customer()
        const id = yield* createList({ name: "1970", factor: "0.5", holds_from: "1970-01-01" })
        yield* putOn(who, id)
        const read = admin(`/price-lists/${id}`)
        assert.deepInclude(yield* read, { is_in_force: false, until_then: null })
        yield* TestClock.adjust("3599 seconds")
        assert.strictEqual(yield* holdOf(who, paint), "0.2")
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* holdOf(who, paint), "0.1")
        assert.deepInclude(yield* read, { is_in_force: true, until_then: null })

        const replace = (json: object) => admin(`/price-lists/${id}`, { method: "PUT", json })
        const dearer = { name: "1971", factor: "2", holds_from: "1971-01-01" }
        assert.deepInclude(yield* replace(dearer), {
          version: 2,
          factor: "2",
          is_in_force: false,
          until_then: { version: 1, factor: "0.5", prices: null, holds_from: "1970-01-01" }
        })
        // A repeat is no further version.
        assert.deepInclude(yield* replace(dearer), { version: 2 })
        assert.strictEqual(yield* holdOf(who, paint), "0.1")
        yield* replace({ ...dearer, factor: "4", holds_from: null })
        assert.strictEqual(yield* holdOf(who, paint), "0.8")
      })
  )
})

layer(layerGatewayTesting())("of one organisation", (it) => {
  it.effect("other organisations learn neither of a list nor of its prices", () =>
    Effect.gen(function* () {
      const gateway = yield* TestingGateway
      const [member, other] = [yield* gateway.customer(), yield* gateway.customer()]
      const before = (yield* gateway.call("/v1/models", { key: other.key })).body
      const name = "A name that no member reads"
      const id = yield* createList({
        name,
        prices: { "paint-1": { kind: "image", per_image: "0.123123" } }
      })
      yield* putOn(member, id)
      yield* gateway.call("/v1/images/generations", {
        key: member.key,
        json: { ...paint, prompt: "a lighthouse" }
      })
      assert.deepStrictEqual((yield* gateway.call("/v1/models", { key: other.key })).body, before)
      const readable = ["/v1/models", "/v1/usage", "/v1/orders", "/v1/balance", "/v1/key"]
      for (const path of readable) {
        for (const { key } of [member, other]) {
          const { body } = yield* gateway.call(path, { key })
          const text = JSON.stringify(body)
          assert.notInclude(text, name)
          assert.notInclude(text, id)
        }
      }
      assert.strictEqual(yield* holdOf(member, paint), "0.123123")
      assert.strictEqual(yield* holdOf(other, paint), "0.2")
    })
  )

  it.effect("a list prices a model of every kind, also one that the catalog leaves unpriced", () =>
    Effect.gen(function* () {
      const gateway = yield* TestingGateway
      const who = yield* gateway.customer()
      const plain = yield* gateway.customer()
      const catalog = yield* admin("/catalog")
      const { models, ...others } = yield* decode(
        Schema.StructWithRest(
          Schema.Struct({
            models: Schema.Array(
              Schema.StructWithRest(Schema.Struct({ id: Schema.String }), [
                Schema.Record(Schema.String, Schema.Unknown)
              ])
            )
          }),
          [Schema.Record(Schema.String, Schema.Unknown)]
        ),
        catalog
      )
      const unpriced = models.map(({ prices, ...model }) =>
        model.id === "paint-2" ? model : { ...model, prices }
      )
      yield* admin("/catalog", { method: "PUT", json: { ...others, models: unpriced } })
      const id = yield* createList({
        name: "Every kind",
        prices: {
          "film-1": {
            kind: "video_table",
            unit: "token",
            lines: [{ price: "23" }]
          },
          "clip-1": {
            kind: "video_table",
            unit: "clip",
            lines: [{ price: "1.5" }]
          },
          "paint-1": { kind: "image", per_image: { "*": { "*": "0.3", "1024x1024": "0.25" } } },
          "paint-2": { kind: "image", per_image: "0.05" },
          "talk-1": { kind: "tokens", per_million_input: "1", per_million_output: "4" }
        }
      })
      yield* putOn(who, id)
      const film = { model: "film-1", duration: 5, resolution: "720p" }
      const talk = {
        model: "talk-1",
        messages: [{ role: "user", content: "hello" }],
        max_tokens: 1000
      }
      assert.strictEqual(yield* holdOf(who, { model: "clip-1", duration: 9 }), "1.5")
      assert.strictEqual(yield* holdOf(who, film), "2.7324")
      assert.strictEqual(yield* holdOf(plain, film), "4.968")
      assert.strictEqual(yield* holdOf(who, { ...paint, size: "1024x1024" }), "0.25")
      assert.strictEqual(yield* holdOf(who, { model: "paint-2" }), "0.05")
      const [own, listed] = [yield* holdOf(who, talk), yield* holdOf(plain, talk)]
      assert.strictEqual(Number(own) * 2, Number(listed))
      const refused = yield* gateway.call("/v1/quotes", {
        key: plain.key,
        json: { model: "paint-2", prompt: "x" }
      })
      assert.include(JSON.stringify(refused.body), "billing_unavailable")
      // Without a price for what is ordered, the order is refused and not charged by the catalog.
      yield* admin(`/price-lists/${id}`, {
        method: "PUT",
        json: {
          name: "Every kind",
          prices: { "clip-1": { kind: "second_video", per_second: { "1080p": "1" } } }
        }
      })
      const without = yield* gateway.call("/v1/quotes", {
        key: who.key,
        json: { model: "clip-1", prompt: "x" }
      })
      assert.include(JSON.stringify(without.body), "billing_unavailable")
    })
  )
})

const marks = [null, true, false].flatMap((list) =>
  [null, true, false].flatMap((organization) =>
    [undefined, true, false].map((client) => ({ list, organization, client }))
  )
)

for (const deployment of [false, true]) {
  layer(layerGatewayTesting({ settings: { watermark: deployment } }))(
    `where GATEWAY_WATERMARK is ${deployment}`,
    (it) => {
      it.effect.each(marks)(
        "an order is marked by the client's $client, the organisation's $organization or the list's $list",
        ({ list, organization, client }) =>
          Effect.gen(function* () {
            const gateway = yield* TestingGateway
            const who = yield* gateway.customer()
            const name = `${list} ${organization} ${client}`
            yield* putOn(who, yield* createList({ name, factor: "1", watermark: list }))
            yield* admin(`/organizations/${who.organizationId}`, {
              method: "PATCH",
              json: { watermark: organization }
            })
            const expected = client ?? organization ?? list ?? deployment
            const { body } = yield* gateway.call("/v1/models/paint-2", { key: who.key })
            const isShown = JSON.stringify(body).includes('"default":true')
            assert.strictEqual(isShown, organization ?? list ?? deployment)
            yield* gateway.call("/v1/images/generations", {
              key: who.key,
              json: {
                model: "paint-2",
                prompt: "a lighthouse",
                ...(client === undefined ? {} : { watermark: client })
              }
            })
            const orders = yield* (yield* ScriptedVendors).imageOrders
            const sent: Readonly<Record<string, unknown>> = orders.at(-1)?.order.body ?? {}
            assert.strictEqual(sent.watermark === true, expected)
          })
      )
    }
  )
}
