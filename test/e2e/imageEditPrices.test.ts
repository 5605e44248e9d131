/** Images whose price depends on whether the order has input images. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { databasesInTurn } from "../support/databases.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings,
  testCatalog
} from "../support/gateway.ts"
import { orderImages } from "../support/orders.ts"

const catalogFor = (simulatorUrl: string): ReturnType<typeof testCatalog> => {
  const base = testCatalog(simulatorUrl)
  return {
    ...base,
    models: base.models.map((model) =>
      model.id === "paint-1"
        ? {
            ...model,
            prices: {
              kind: "image",
              per_image: [
                { quality: "high", price: "0.3" },
                { quality: "high", edit: true, price: "0.4" },
                { edit: true, price: "0.2" },
                { price: "0.1" }
              ]
            }
          }
        : model
    )
  }
}

const image = "https://media.test/a.png"
const edit = (who: Customer, json: object) =>
  Effect.flatMap(Gateway, (gateway) =>
    gateway.call("/v1/images/edits", { key: who.key, json: { prompt: "a lighthouse", ...json } })
  )

const Usage = Schema.Struct({
  data: Schema.Array(Schema.Struct({ id: Schema.String, charge: Schema.String }))
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, quickSettings, { catalogFor }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`prices of edits (${kind})`, (it) => {
    it.effect.each([
      ["new images", orderImages, { n: 2 }, "0.2"],
      ["an edit", edit, { image, n: 2 }, "0.4"],
      ["reference images of a generation", orderImages, { image: [image] }, "0.2"],
      ["new images of a priced quality", orderImages, { quality: "high" }, "0.3"],
      ["an edit of a priced quality", edit, { image, quality: "high" }, "0.4"]
    ] as const)("%s", ([, order, body, charge]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const answer = yield* order(who, { model: "paint-1", ...body })
        assert.strictEqual(answer.status, 200, answer.text)
        const { data } = yield* bodyAs(Usage, yield* gateway.call("/v1/usage", { key: who.key }))
        assert.deepStrictEqual(
          data.map((one) => one.charge),
          [charge]
        )
        const receipt = yield* gateway.call(`/v1/usage/${data[0]?.id}`, { key: who.key })
        assert.deepNestedInclude(receipt.body, { hold: charge })
        yield* gateway.verify
      })
    )

    it.effect("the quote names the edit that is billed, and a replay prices it again", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const json = { model: "paint-1", prompt: "x", image, quality: "high" }
        const quote = yield* gateway.call("/v1/quotes", { key: who.key, json })
        assert.deepNestedInclude(quote.body, { "inputs.edit": true, hold: "0.4" })
        yield* orderImages(who, json)
        const month = new Date().toISOString().slice(0, 7)
        const preview = yield* gateway.admin(`/catalog/preview?replay=${month}`, {
          json: catalogFor(gateway.simulator.url)
        })
        assert.deepNestedInclude(preview.body, { "replay.totals.difference": "0" })
      })
    )
  })
}
