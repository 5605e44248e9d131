/** Videos with a surcharge for each reference image beyond a number: every book of them agrees. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Schema } from "effect"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { OperatorReceiptView } from "../../src/http/api/receipts.ts"
import { list, UsageEntry } from "../../src/http/api/shared.ts"
import { toDecimal, toNano } from "../support/amounts.ts"
import { csvRows } from "../support/csvRows.ts"
import { databasesInTurn } from "../support/databases.ts"
import { focusOf } from "../support/focusFile.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import { createVideo, finishVideo } from "../support/orders.ts"
import { quoteOf } from "../support/quotes.ts"

type Catalog = typeof CatalogWrite.Encoded
type Prices = NonNullable<Catalog["models"][number]["prices"]>

const bySecond = (beyond: number, surcharge: string): Prices => ({
  kind: "video_table",
  unit: "second",
  input_seconds: true,
  reference_surcharge: { beyond, price: surcharge },
  lines: [{ price: "0.6" }]
})

/** A model by seconds, and one by tokens whose vendor alone bills references. */
const catalogFor =
  (prices: Prices = bySecond(2, "0.1")) =>
  (simulatorUrl: string): Catalog => ({
    channels: [
      { id: "ch-a", name: "A", base_url: `${simulatorUrl}/vp_a`, api_key: "vendor-key-a" },
      { id: "ch-d", name: "D", base_url: `${simulatorUrl}/vp_d`, api_key: "vendor-key-d" }
    ],
    models: [
      { id: "billed", modality: "video", protocol: "vp_d", prices },
      {
        id: "counted",
        modality: "video",
        protocol: "vp_a",
        prices: { kind: "video_table", unit: "token", lines: [{ price: "46" }] }
      }
    ],
    mounts: [
      {
        model: "billed",
        channel: "ch-d",
        upstream_model: "kling-v3-omni",
        cost: {
          kind: "video_table",
          unit: "clip",
          reference_surcharge: { beyond: 1, price: "0.02" },
          lines: [{ price: "1" }]
        }
      },
      {
        model: "counted",
        channel: "ch-a",
        upstream_model: "doubao-seedance-2-0",
        cost: {
          kind: "video_table",
          unit: "token",
          reference_surcharge: { beyond: 0, price: "0.03" },
          lines: [{ price: "10" }]
        }
      }
    ]
  })

const images = (count: number) =>
  Array.from({ length: count }, (_, index) => `https://files.test/${index}.png`)

const QuoteAnswer = Schema.Struct({
  hold: Schema.String,
  expected_charge: Schema.String,
  formula: Schema.String,
  inputs: Schema.Struct({
    reference_surcharge: Schema.optionalKey(
      Schema.Struct({
        references: Schema.Int,
        beyond: Schema.Int,
        unit_price: Schema.String
      })
    )
  })
})

const latest = Effect.fnUntraced(function* (who: Customer) {
  const gateway = yield* Gateway
  const usage = yield* gateway.call("/v1/usage?limit=1", { key: who.key })
  const { data } = yield* bodyAs(list(UsageEntry), usage)
  return data[0] ?? assert.fail("no usage")
})

const receiptOf = Effect.fnUntraced(function* (who: Customer, id: string) {
  const gateway = yield* Gateway
  const path = `/organizations/${who.organizationId}/usage/${id}`
  return yield* bodyAs(OperatorReceiptView, yield* gateway.admin(path))
})

/** Orders, finishes and returns the newest charge. */
const ordered = Effect.fnUntraced(function* (who: Customer, order: object) {
  yield* finishVideo(who, yield* createVideo(who, { prompt: "a", ...order }))
  return yield* latest(who)
})

const Replayed = Schema.Struct({
  replay: Schema.Struct({
    data: Schema.Array(
      Schema.Struct({
        model: Schema.String,
        difference: Schema.String,
        cost_before: Schema.String,
        cost_after: Schema.String,
        unpriced: Schema.Int
      })
    )
  })
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, quickSettings, { catalogFor: catalogFor() }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`a surcharge for reference images (${kind})`, (it) => {
    it.effect("is quoted, held, charged and explained", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const order = { model: "billed", prompt: "a", images: images(4) }
        const surcharge = { references: 4, beyond: 2, unit_price: "0.1" }
        const quote = yield* bodyAs(QuoteAnswer, yield* quoteOf(who, order))
        assert.deepInclude(quote, {
          hold: "3.2",
          expected_charge: "3.2",
          formula: "5 s x 0.6 + 2 reference images x 0.1 = 3.2",
          inputs: { reference_surcharge: surcharge }
        })
        yield* gateway.simulator.clearRequests
        const usage = yield* ordered(who, order)
        const [submit] = yield* gateway.simulator.requests
        assert.strictEqual(JSON.stringify(submit?.body).split('"refer_image"').length - 1, 4)
        const parts = [{ kind: "reference", units: 2, unit_price: "0.1" }] as const
        assert.deepInclude(usage, { output: 5, unit_price: "0.6", charge: "3.2", parts })
        const receipt = yield* receiptOf(who, usage.id)
        assert.deepInclude(receipt, { hold: "3.2", difference: "0", parts, cost: "1.06" })
        assert.deepNestedInclude(receipt, { "inputs.reference_surcharge": surcharge })
        const history = yield* gateway.admin(`/tasks/${usage.task_id}`)
        assert.deepNestedInclude(history.body, { "quote.reference_surcharge": surcharge })
        assert.include(
          receipt.explanation,
          "5 seconds at 0.6 CNY each, the price of any order, and 2 reference images beyond 2 at 0.1 CNY each; exactly the 3.2 that was held was charged."
        )
        assert.deepInclude(yield* gateway.balance(who), { balance: "96.8", held: "0" })
        yield* gateway.verify
      })
    )

    it.effect("is of the images that are sent as references alone", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const holdOf = (order: object) =>
          Effect.gen(function* () {
            const answer = yield* quoteOf(who, { model: "billed", prompt: "a", ...order })
            return (yield* bodyAs(QuoteAnswer, answer)).hold
          })
        assert.strictEqual(yield* holdOf({ images: images(1) }), "3")
        assert.strictEqual(yield* holdOf({ images: images(2) }), "3")
        const [url = ""] = images(1)
        const role = (name: string) => ({ type: "image_url", role: name, image_url: { url } })
        const content = ["first_frame", "reference_image", "reference_image"].map(role)
        assert.strictEqual(yield* holdOf({ content }), "3")
        assert.strictEqual(yield* holdOf({ content: [...content, role("reference_image")] }), "3.1")
      })
    )

    it.effect("is returned with the hold of an order that fails", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const order = { model: "billed", prompt: "a sim:fail", images: images(4) }
        const id = yield* createVideo(who, order)
        assert.deepInclude(yield* gateway.balance(who), { held: "3.2" })
        const answer = yield* gateway.call(`/v1/videos/${id}?wait=30`, { key: who.key })
        assert.include(answer.text, '"task_status":"failed"')
        assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "0" })
        yield* gateway.verify
      })
    )

    it.effect("stands in the statement, FOCUS and the file of a month as in the ledger", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const month = DateTime.formatIsoDateUtc(yield* DateTime.now).slice(0, 7)
        yield* ordered(who, { model: "billed", images: images(5) })
        yield* ordered(who, { model: "billed" })
        const path = `/organizations/${who.organizationId}/statements/${month}`
        const statement = yield* gateway.admin(path)
        assert.deepNestedInclude(statement.body, { "charges.gross": "6.3" })
        const { "1.2": focus } = yield* focusOf(path)
        assert.deepStrictEqual(
          focus.map((row) => [
            row.SkuMeter,
            row.PricingQuantity,
            row.PricingUnit,
            row.ListUnitPrice,
            row.BilledCost
          ]),
          [
            ["seconds", "5", "Seconds", "0.6", "3"],
            ["reference", "3", "References", "0.1", "0.3"],
            ["seconds", "5", "Seconds", "0.6", "3"]
          ]
        )
        const csv = { headers: { accept: "text/csv" } }
        const rows = (yield* csvRows((yield* gateway.admin(path, csv)).text)).filter(
          (row) => row.kind === "charge"
        )
        assert.deepStrictEqual(
          rows.map(({ amount, output, parts }) => [amount, output, parts]),
          [
            ["-3.3", "5", '{"reference":"3 x 0.1"}'],
            ["-3", "5", ""]
          ]
        )
        const series = yield* gateway.call("/v1/usage/series", { key: who.key })
        assert.include(series.text, '"units":10,"unit":"second"')
      })
    )

    it.effect("is replayed to the last unit, for charges and costs", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const month = DateTime.formatIsoDateUtc(yield* DateTime.now).slice(0, 7)
        const replayOf = (catalog: Catalog, name: string) =>
          Effect.gen(function* () {
            const answer = yield* gateway.admin(`/catalog/preview?replay=${month}`, {
              json: catalog
            })
            const { replay } = yield* bodyAs(Replayed, answer)
            return replay.data.find(({ model }) => model === name) ?? assert.fail(answer.text)
          })
        const dearer = catalogFor(bySecond(1, "0.7"))(gateway.simulator.url)
        yield* ordered(who, { model: "billed", images: images(2) })
        yield* ordered(who, { model: "counted", images: images(3) })
        const before = yield* replayOf(dearer, "billed")
        yield* ordered(who, { model: "billed", images: images(4) })
        yield* ordered(who, { model: "billed", images: images(4) })
        for (const name of ["billed", "counted"]) {
          const same = yield* replayOf(catalogFor()(gateway.simulator.url), name)
          assert.deepInclude(same, { difference: "0", unpriced: 0, cost_after: same.cost_before })
        }
        const after = yield* replayOf(dearer, "billed")
        // Each order has three images beyond the first at 0.7, in place of two beyond the second at 0.1.
        assert.strictEqual(toDecimal(toNano(after.difference) - toNano(before.difference)), "3.8")
        assert.strictEqual(after.unpriced, 0)
      })
    )
  })
}
