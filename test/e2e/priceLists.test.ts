/** Prices of organisations: quote, hold and charge of each by the list that it is on. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Schema } from "effect"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { CatalogReplay } from "../../src/features/catalog/CatalogReplay.ts"
import { csvRows } from "../support/csvRows.ts"
import { databasesInTurn } from "../support/databases.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  testCatalog
} from "../support/gateway.ts"
import { createVideo, errorOf, finishVideo, orderImages } from "../support/orders.ts"
import { createPriceList, putOnList } from "../support/priceLists.ts"

const Quote = Schema.Struct({ hold: Schema.String, unit_price: Schema.String })
const Receipt = Schema.Struct({
  hold: Schema.String,
  charge: Schema.String,
  unit_price: Schema.String,
  explanation: Schema.String
})
const Timeline = Schema.Struct({
  quote: Schema.Struct({ amount: Schema.String }),
  price_list: Schema.NullOr(Schema.Struct({ id: Schema.String, name: Schema.String }))
})
const Models = Schema.Struct({
  data: Schema.Array(Schema.Struct({ id: Schema.String, prices: Schema.Unknown }))
})

const Listed = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({ charge: Schema.String, price_list: Schema.NullOr(Schema.String) })
  ),
  totals: Schema.optionalKey(
    Schema.Struct({
      count: Schema.Int,
      charge: Schema.String,
      reported_cost: Schema.String,
      without_reported_cost: Schema.Int
    })
  )
})

const Short = Schema.Struct({
  error: Schema.Struct({
    code: Schema.String,
    required: Schema.String,
    available: Schema.String
  })
})

const quoteOf = Effect.fnUntraced(function* (who: Customer, json: object) {
  const gateway = yield* Gateway
  const answer = yield* gateway.call("/v1/quotes", {
    key: who.key,
    json: { prompt: "a lighthouse", ...json }
  })
  return yield* bodyAs(Quote, answer)
})

const receiptOf = Effect.fnUntraced(function* (who: Customer, taskId: string) {
  const gateway = yield* Gateway
  return yield* bodyAs(Receipt, yield* gateway.call(`/v1/usage/us_${taskId}`, { key: who.key }))
})

const timelineOf = Effect.fnUntraced(function* (taskId: string) {
  const gateway = yield* Gateway
  return yield* bodyAs(Timeline, yield* gateway.admin(`/tasks/${taskId}`))
})

/** The prices that the customer is shown of a model. */
const shownTo = Effect.fnUntraced(function* (who: Customer, model: string) {
  const gateway = yield* Gateway
  const list = yield* bodyAs(Models, yield* gateway.call("/v1/models", { key: who.key }))
  const { body } = yield* gateway.call(`/v1/models/${model}`, { key: who.key })
  const listed = list.data.find(({ id }) => id === model)?.prices
  assert.deepInclude(body, { prices: listed })
  return listed
})

const clip = { model: "clip-1", duration: 5 }
const clipPrices = (price: string) => ({
  kind: "second_video",
  per_second: { "720p": price, "1080p": "0.9" }
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind), { excludeTestServices: true, timeout: "60 seconds" })(
    `price lists (${kind})`,
    (it) => {
      it.effect("two organisations order the same model, each at its own price", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const [plain, cheap, special] = [
            yield* gateway.customer("100"),
            yield* gateway.customer("100"),
            yield* gateway.customer("100")
          ]
          yield* putOnList(cheap, yield* createPriceList({ name: "Partner", factor: "0.85" }))
          const own = { name: "Special", prices: { "clip-1": clipPrices("0.123456789") } }
          const specialList = yield* createPriceList(own)
          yield* putOnList(special, specialList)

          const expected = [
            [plain, "3", "0.6", null],
            [cheap, "2.55", "0.51", "Partner"],
            [special, "0.617283945", "0.123456789", "Special"]
          ] as const
          for (const [who, hold, unitPrice, name] of expected) {
            assert.deepStrictEqual(yield* quoteOf(who, clip), { hold, unit_price: unitPrice })
            const id = yield* createVideo(who, clip)
            assert.deepInclude(yield* gateway.balance(who), { held: hold })
            yield* finishVideo(who, id)
            const receipt = yield* receiptOf(who, id)
            assert.deepInclude(receipt, { hold, charge: hold, unit_price: unitPrice })
            const timeline = yield* timelineOf(id)
            assert.strictEqual(timeline.quote.amount, hold)
            assert.strictEqual(timeline.price_list?.name ?? null, name)
            // A member learns that its price list was applied, and no name of a list.
            assert.strictEqual(receipt.explanation.includes("your price list"), name !== null)
            assert.notInclude(receipt.explanation, name ?? "Partner")
            const { text } = yield* gateway.admin(
              `/organizations/${who.organizationId}/usage/us_${id}`
            )
            if (name !== null) assert.include(text, `the price list \\"${name}\\"`)
            else assert.notInclude(text, "price list")
          }

          // Models without a price of their own keep the catalog's, and are not priced by the list.
          assert.deepInclude(yield* quoteOf(special, { model: "paint-1" }), { unit_price: "0.2" })
          assert.deepInclude(yield* quoteOf(cheap, { model: "paint-1" }), { unit_price: "0.17" })
          const film = yield* createVideo(special, { model: "film-1" })
          assert.isNull((yield* timelineOf(film)).price_list)

          assert.deepStrictEqual(yield* shownTo(plain, "clip-1"), {
            kind: "second_video",
            per_second: { "720p": "0.6", "1080p": "1" }
          })
          assert.deepStrictEqual(yield* shownTo(cheap, "clip-1"), {
            kind: "second_video",
            per_second: { "720p": "0.51", "1080p": "0.85" }
          })
          assert.deepStrictEqual(yield* shownTo(special, "clip-1"), clipPrices("0.123456789"))
          assert.deepStrictEqual(yield* shownTo(special, "film-1"), yield* shownTo(plain, "film-1"))
          yield* gateway.verify
        })
      )

      it.effect("operators list and add up orders by the list that priced them", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const partner = yield* createPriceList({ name: "Listed", factor: "0.85" })
          yield* orderImages(who, { model: "paint-1" })
          yield* putOnList(who, partner)
          yield* orderImages(who, { model: "paint-1", n: 2 })
          const path = `/organizations/${who.organizationId}/usage`
          const today = DateTime.formatIsoDateUtc(yield* DateTime.now)
          for (const [list, id, charge] of [
            [partner, partner, "0.34"],
            ["none", null, "0.2"]
          ] as const) {
            const own = `organization_id=${who.organizationId}&price_list=${list}`
            const answer = yield* gateway.admin(`/orders?${own}&totals=true&from=${today}`)
            const { data, totals } = yield* bodyAs(Listed, answer)
            assert.deepStrictEqual(data, [{ charge, price_list: id }])
            assert.deepStrictEqual(totals, {
              count: 1,
              charge,
              reported_cost: "0",
              without_reported_cost: 1
            })
          }
          const { data } = yield* bodyAs(Listed, yield* gateway.admin(path))
          assert.deepStrictEqual(
            data.map(({ price_list }) => price_list),
            [partner, null]
          )
          const csv = yield* gateway.admin(path, { headers: { accept: "text/csv" } })
          assert.deepStrictEqual(
            (yield* csvRows(csv.text)).map(({ charge, price_list }) => [charge, price_list]),
            [
              ["0.34", partner],
              ["0.2", ""]
            ]
          )
          for (const own of ["orders", "usage"]) {
            const { text } = yield* gateway.call(`/v1/${own}`, { key: who.key })
            assert.notInclude(text, "price_list")
          }
        })
      )

      it.effect("a moved organisation pays the new price from its next order on", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const half = yield* createPriceList({ name: "Half", factor: "0.5" })
          const double = yield* createPriceList({ name: "Double", factor: "2" })
          yield* putOnList(who, half)
          const slow = { ...clip, prompt: "x sim:slow=1" }
          const running = yield* createVideo(who, slow)
          yield* putOnList(who, double)
          const next = yield* createVideo(who, slow)
          // The list itself may change as well while a task runs.
          const replaced = yield* gateway.admin(`/price-lists/${double}`, {
            method: "PUT",
            json: { name: "Double", factor: "3" }
          })
          assert.deepInclude(replaced.body, { version: 2, factor: "3", is_in_force: true })
          const last = yield* createVideo(who, clip)
          const refused = yield* gateway.admin(`/organizations/${who.organizationId}`, {
            method: "PATCH",
            json: { price_list: "Half", name: "not written" }
          })
          assert.strictEqual(refused.status, 400)
          assert.deepInclude(yield* errorOf(refused), {
            param: "price_list",
            message: `price_list: Expected the id of a price list, or null; did you mean ${half}?`
          })
          assert.notInclude(
            (yield* gateway.admin(`/organizations/${who.organizationId}`)).text,
            "not written"
          )
          yield* putOnList(who, null)
          const plain = yield* createVideo(who, clip)
          const charges = [
            [running, "1.5"],
            [next, "6"],
            [last, "9"],
            [plain, "3"]
          ] as const
          for (const [id, charge] of charges) {
            yield* finishVideo(who, id)
            assert.deepInclude(yield* receiptOf(who, id), { hold: charge, charge })
          }
          yield* gateway.verify
        })
      )

      it.effect("a list is removed only when no organisation is on it, and its orders stay", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const customers = [yield* gateway.customer("100"), yield* gateway.customer("100")]
          const [who = assert.fail()] = customers
          const json = { name: "Leaving", factor: "0.5" }
          const id = yield* createPriceList(json)
          for (const one of customers) yield* putOnList(one, id)
          const path = `/price-lists/${id}`
          assert.deepInclude((yield* gateway.admin(path)).body, { organizations: 2 })
          const taken = yield* gateway.admin("/price-lists", { json })
          assert.deepInclude(yield* errorOf(taken), { param: "name" })
          const task = yield* createVideo(who, clip)
          yield* finishVideo(who, task)
          const refused = yield* gateway.admin(path, { method: "DELETE" })
          assert.strictEqual(refused.status, 409)
          assert.include((yield* errorOf(refused)).message, "2 organisations")
          for (const one of customers) yield* putOnList(one, null)
          const removed = yield* gateway.admin(path, { method: "DELETE" })
          assert.deepInclude(removed.body, { id, deleted: true })
          assert.strictEqual((yield* gateway.admin(path)).status, 404)
          assert.notInclude((yield* gateway.admin("/price-lists?limit=100")).text, id)
          assert.deepStrictEqual((yield* timelineOf(task)).price_list, { id, name: "Leaving" })
          const gone = yield* gateway.admin(`/organizations/${who.organizationId}`, {
            method: "PATCH",
            json: { price_list: id }
          })
          assert.strictEqual(gone.status, 400)
          assert.deepInclude(yield* quoteOf(who, clip), { hold: "3" })
          // The name is free again.
          yield* createPriceList(json)
        })
      )

      it.effect("lists and catalogs that do not fit each other are refused, with every fault", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const faultsOf = Effect.fnUntraced(function* (json: object) {
            const answer = yield* gateway.admin("/price-lists", { json: { name: "Bad", ...json } })
            assert.strictEqual(answer.status, 400, answer.text)
            const { faults, message, param } = yield* errorOf(answer)
            const [, text = ""] = message.split(/: (.*)/s)
            return faults ?? [{ path: param, message: text }]
          })
          const inexact = yield* faultsOf({ factor: "0.000001" })
          assert.isAbove(inexact.length, 5)
          assert.deepStrictEqual(
            inexact.map(({ path }) => path),
            inexact.map(() => "factor")
          )
          assert.deepInclude(inexact[0], {
            message:
              '46, per_million_tokens.base.without_video of "film-1", times 0.000001 has more than 3 decimals per million tokens; the nearest that fits every price: 0.001'
          })
          for (const factor of ["0", "-1", "1.0000000001", "1001", "x", 0.5]) {
            assert.deepInclude((yield* faultsOf({ factor }))[0], { path: "factor" })
          }
          for (const json of [{}, { factor: "1", prices: {} }]) {
            assert.include(["factor", "prices"], (yield* faultsOf(json)).map(({ path }) => path)[0])
          }
          assert.deepInclude((yield* faultsOf({ factor: "1", holds_from: "2026-02-30" }))[0], {
            path: "holds_from"
          })
          const faults = yield* faultsOf({
            prices: {
              "film-9": clipPrices("1"),
              "film-1": clipPrices("1"),
              "clip-1": { kind: "second_video", per_second: { "540p": "1" } },
              "paint-1": { kind: "tokens", per_million_input: "1" }
            }
          })
          assert.deepStrictEqual(faults, [
            { path: "prices.film-9", message: 'no model has this id; did you mean "film-1"?' },
            {
              path: "prices.film-1.kind",
              message: "vp_a is billed by token_video, but the price is second_video"
            },
            {
              path: "prices.paint-1.kind",
              message: "a model of modality image cannot be priced by tokens"
            },
            {
              path: "prices.clip-1",
              message:
                'mounts[1]: vp_d makes 720p, 1080p, 4K, and "clip-1" has prices for 540p alone'
            }
          ])

          const [cheap, special] = [
            { name: "Thirds", factor: "0.125" },
            { name: "Own", prices: { "clip-1": clipPrices("0.7") } }
          ]
          for (const list of [cheap, special]) yield* createPriceList(list)
          const catalog = testCatalog(gateway.simulator.url)
          const withModels = (change: (model: Model) => Model | null) => ({
            ...catalog,
            models: catalog.models.flatMap((model) => change(model) ?? []),
            mounts: catalog.mounts.filter(({ model }) =>
              catalog.models.some((one) => one.id === model && change(one) !== null)
            )
          })
          type Model = (typeof CatalogWrite.Encoded)["models"][number]
          const preview = (json: object) => gateway.admin("/catalog/preview", { json })
          const pricedAt = (price: string) =>
            withModels((model) =>
              model.id === "paint-1"
                ? { ...model, prices: { kind: "image", per_image: price } }
                : model
            )
          assert.strictEqual((yield* preview(pricedAt("0.00000008"))).status, 200)
          const refused = yield* preview(pricedAt("0.000000001"))
          assert.include((yield* errorOf(refused)).message, "models[2].prices.per_image")
          assert.include(
            refused.text,
            '0.000000001 times 0.125, the factor of the price list \\"Thirds\\", has more than 9 decimals'
          )
          const remodelled = yield* preview(
            withModels((model) =>
              model.id === "clip-1"
                ? {
                    ...model,
                    protocol: "vp_a",
                    prices: { kind: "token_video", per_million_tokens: {} }
                  }
                : model
            )
          )
          assert.strictEqual(remodelled.status, 400)
          assert.include(remodelled.text, 'by the price list \\"Own\\"')
          const removed = yield* preview(
            withModels((model) => (model.id === "clip-1" ? null : model))
          )
          assert.strictEqual(removed.status, 200, removed.text)
          assert.include(
            removed.text,
            'the price list \\"Own\\" has a price of \\"clip-1\\", which no model has as its id'
          )
        })
      )

      it.effect("a replay tells what a month would have come to under another list", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const half = yield* createPriceList({ name: "Replay half", factor: "0.5" })
          const double = yield* createPriceList({ name: "Replay double", factor: "2" })
          const own = yield* createPriceList({
            name: "Replay own",
            prices: { "clip-1": clipPrices("0.7") },
            holds_from: "2999-01-01"
          })
          yield* putOnList(who, half)
          yield* finishVideo(who, yield* createVideo(who, clip))
          yield* orderImages(who, { model: "paint-1", n: 3 })
          const month = DateTime.formatIsoDateUtc(yield* DateTime.now).slice(0, 7)
          const replayOf = (query: string) =>
            gateway.admin(
              `/catalog/preview?replay=${month}&organization_id=${who.organizationId}${query}`,
              { json: testCatalog(gateway.simulator.url) }
            )
          const expected = [
            ["", "1.8", "0"],
            [`&price_list=${half}`, "1.8", "0"],
            ["&price_list=none", "3.6", "1.8"],
            [`&price_list=${double}`, "7.2", "5.4"],
            // What holds only later can be replayed before.
            [`&price_list=${own}`, "4.1", "2.3"]
          ] as const
          for (const [query, after, difference] of expected) {
            const answer = yield* replayOf(query)
            const { replay } = yield* bodyAs(Schema.Struct({ replay: CatalogReplay }), answer)
            assert.deepInclude(replay.totals, {
              count: 2,
              charge_before: "1.8",
              charge_after: after,
              difference,
              unpriced: 0
            })
          }
          yield* putOnList(who, double)
          assert.include((yield* replayOf("")).text, '"charge_after":"7.2"')
          // A list that does not hold yet leaves the catalog's prices.
          yield* putOnList(who, own)
          assert.include((yield* replayOf("")).text, '"charge_after":"3.6"')
          assert.deepInclude(yield* errorOf(yield* replayOf("&price_list=Replay%20half")), {
            param: "price_list",
            message: `price_list: Expected the id of a price list, or none; did you mean ${half}?`
          })
        })
      )

      it.effect(
        "orders are taken on credit where holds may use it, and nothing is withdrawn on it",
        () =>
          Effect.gen(function* () {
            const gateway = yield* Gateway
            const who = yield* gateway.customer("0.5")
            const path = `/organizations/${who.organizationId}`
            const patch = (json: object) => gateway.admin(path, { method: "PATCH", json })
            const order = () => orderImages(who, { model: "paint-1", n: 2 })
            assert.deepInclude((yield* patch({ credit: "0.7" })).body, {
              credit: "0.7",
              holds_on_credit: false,
              available: "0.5"
            })
            assert.strictEqual((yield* order()).status, 200)
            const without = yield* order()
            assert.deepInclude((yield* bodyAs(Short, without)).error, {
              code: "insufficient_balance",
              required: "0.4",
              available: "0.1"
            })
            assert.deepInclude((yield* patch({ holds_on_credit: true })).body, {
              balance: "0.1",
              available: "0.8"
            })
            assert.deepInclude(yield* gateway.balance(who), { balance: "0.1", available: "0.8" })
            const withdrawal = { kind: "withdrawal", amount: "0.2", reason: "x", reference: "w" }
            const withdrawn = yield* gateway.admin(`${path}/adjustments`, { json: withdrawal })
            assert.strictEqual(withdrawn.status, 402)
            const answers = yield* Effect.all(Array.from({ length: 6 }, order), {
              concurrency: "unbounded"
            })
            const statuses = answers.map(({ status }) => status).toSorted()
            assert.deepStrictEqual(statuses, [200, 200, 402, 402, 402, 402])
            assert.deepInclude(yield* gateway.balance(who), { balance: "-0.7", available: "0" })
            assert.deepInclude((yield* patch({ credit: "0.1" })).body, { available: "-0.6" })
            yield* gateway.verify
            assert.deepInclude((yield* bodyAs(Short, yield* order())).error, { available: "-0.6" })
          })
      )

      it.effect("orders under the simultaneous replacement of a list have one of its prices", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1000")
          const id = yield* createPriceList({ name: "Race", factor: "1" })
          yield* putOnList(who, id)
          const replace = (factor: number) =>
            gateway.admin(`/price-lists/${id}`, {
              method: "PUT",
              json: { name: "Race", factor: String(factor) }
            })
          const [orders] = yield* Effect.all(
            [
              Effect.forEach(
                Array.from({ length: 20 }),
                () => orderImages(who, { model: "paint-1" }),
                { concurrency: 4 }
              ),
              Effect.forEach([2, 3, 4, 5], replace)
            ],
            { concurrency: "unbounded" }
          )
          assert.isTrue(orders.every(({ status }) => status === 200))
          assert.deepInclude(yield* quoteOf(who, { model: "paint-1" }), { hold: "1" })
          yield* gateway.verify
        })
      )
    }
  )
}
