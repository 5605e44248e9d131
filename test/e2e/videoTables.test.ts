/** Videos priced by tables over facts of the order: what is held, sent, charged and told. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Schema } from "effect"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { CatalogReplay } from "../../src/features/catalog/CatalogReplay.ts"
import { databasesInTurn } from "../support/databases.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import { createVideo, errorOf, finishVideo, orderVideo } from "../support/orders.ts"
import { quoteOf } from "../support/quotes.ts"

const bySound = [
  { resolution: "720p", sound: false, price: "0.6" },
  { resolution: "720p", sound: true, price: "0.9" },
  { resolution: "1080p", price: "1.2" }
] as const

const catalogFor = (simulatorUrl: string): typeof CatalogWrite.Encoded => ({
  channels: [
    { id: "ch-a", name: "A", base_url: `${simulatorUrl}/vp_a`, api_key: "vendor-key-a" },
    { id: "ch-d", name: "D", base_url: `${simulatorUrl}/vp_d`, api_key: "vendor-key-d" },
    { id: "ch-f", name: "F", base_url: `${simulatorUrl}/vp_f`, api_key: "vendor-key-f" }
  ],
  models: [
    {
      id: "sounding",
      modality: "video",
      protocol: "vp_d",
      prices: { kind: "video_table", unit: "second", lines: bySound }
    },
    {
      id: "whole",
      modality: "video",
      protocol: "vp_d",
      prices: { kind: "video_table", unit: "clip", lines: [{ price: "2.5" }] }
    },
    {
      id: "chosen",
      modality: "video",
      protocol: "vp_f",
      limits: { smart: true },
      prices: { kind: "video_table", unit: "second", lines: [{ price: "0.5" }] }
    },
    {
      id: "sharp",
      modality: "video",
      protocol: "vp_f",
      prices: {
        kind: "video_table",
        unit: "second",
        lines: [
          { resolution: "720p", price: "0.3" },
          { resolution: "1080p", price: "0.5" }
        ]
      }
    },
    {
      id: "counted",
      modality: "video",
      protocol: "vp_a",
      prices: {
        kind: "video_table",
        unit: "token",
        least_input_tokens: 400_000,
        lines: [
          { sound: true, price: "46" },
          { sound: false, price: "23" }
        ]
      }
    }
  ],
  mounts: [
    {
      model: "sounding",
      channel: "ch-d",
      upstream_model: "kling-v3",
      cost: { kind: "video_table", unit: "second", lines: [{ price: "0.5" }] }
    },
    { model: "whole", channel: "ch-d", upstream_model: "kling-v3" },
    { model: "chosen", channel: "ch-f", upstream_model: "wan3.0-video" },
    { model: "sharp", channel: "ch-f", upstream_model: "wan2.7-t2v" },
    { model: "counted", channel: "ch-a", upstream_model: "doubao-seedance-2-0" }
  ]
})

const QuoteAnswer = Schema.Struct({
  kind: Schema.String,
  unit: Schema.String,
  hold: Schema.String,
  expected_charge: Schema.String,
  formula: Schema.String,
  inputs: Schema.Struct({ sound: Schema.NullOr(Schema.Boolean), mode: Schema.String })
})
const Usage = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      unit: Schema.String,
      output: Schema.Int,
      charge: Schema.String,
      basis: Schema.String
    })
  )
})
const Series = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({
      model: Schema.String,
      unit: Schema.NullOr(Schema.String),
      units: Schema.NullOr(Schema.Int),
      charge: Schema.String,
      cost: Schema.String
    })
  )
})

const newestUsage = Effect.fnUntraced(function* (who: Customer) {
  const gateway = yield* Gateway
  const { data } = yield* bodyAs(Usage, yield* gateway.call("/v1/usage", { key: who.key }))
  return data[0] ?? assert.fail("no usage")
})

/** Orders, finishes and returns the newest charge. */
const ordered = Effect.fnUntraced(function* (who: Customer, order: object) {
  yield* finishVideo(who, yield* createVideo(who, { prompt: "a", ...order }))
  return yield* newestUsage(who)
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, quickSettings, { catalogFor }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`price tables of videos (${kind})`, (it) => {
    it.effect.each([
      [{}, "3", "off", "the price of 720p without sound;"],
      [{ generate_audio: true }, "4.5", "native", "720p with sound"],
      [{ generate_audio: true, resolution: "1080p" }, "6", "native", "1080p with sound"],
      [{ image: "https://files.test/1.png" }, "3", "off", "the price of 720p without sound;"]
    ] as const)(
      "seconds of %j are charged %s and sent with sound %s",
      ([order, charge, sound, facts]) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const model = "sounding"
          const quote = yield* bodyAs(
            QuoteAnswer,
            yield* quoteOf(who, { model, prompt: "a", ...order })
          )
          assert.deepInclude(quote, { kind: "video_table", unit: "second", hold: charge })
          yield* gateway.simulator.clearRequests
          const usage = yield* ordered(who, { model, ...order })
          assert.deepInclude(usage, { unit: "second", output: 5, charge, basis: "ordered_seconds" })
          const [submit] = yield* gateway.simulator.requests
          assert.include(JSON.stringify(submit?.body), `"audio":"${sound}"`)
          const receipt = yield* gateway.call(`/v1/usage/${usage.id}`, { key: who.key })
          assert.include(receipt.text, facts)
          assert.deepInclude(yield* gateway.balance(who), { held: "0" })
        })
    )

    it.effect("a video is charged as a whole, and tokens with a minimum are held", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const clip = yield* ordered(who, { model: "whole", duration: 10 })
        assert.deepInclude(clip, { unit: "clip", output: 1, charge: "2.5", basis: "ordered_clip" })
        const order = { model: "counted", prompt: "a", generate_audio: false }
        const withVideo = { ...order, video: "https://files.test/1.mp4" }
        const text = yield* bodyAs(QuoteAnswer, yield* quoteOf(who, order))
        assert.deepInclude(text, { hold: "2.7324", expected_charge: "2.484" })
        const video = yield* bodyAs(QuoteAnswer, yield* quoteOf(who, withVideo))
        // An address is not measured, so the most seconds that a reference video may have are held.
        assert.deepInclude(video, { hold: "10.9296", inputs: { sound: false, mode: "reference" } })
        const charged = yield* ordered(who, order)
        assert.deepInclude(charged, { unit: "token", basis: "upstream_usage" })
      })
    )

    it.effect("a length that the model chooses is held at the longest of its vendor", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const order = { model: "chosen", prompt: "a", duration: -1 }
        const quote = yield* bodyAs(QuoteAnswer, yield* quoteOf(who, order))
        assert.deepInclude(quote, { hold: "15", formula: "30 s x 0.5 = 15" })
      })
    )

    it.effect("a lower resolution that the vendor reports is charged by its line", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const order = { model: "sharp", prompt: "a sim:renders=720p", resolution: "1080p" }
        assert.deepInclude(yield* bodyAs(QuoteAnswer, yield* quoteOf(who, order)), { hold: "2.5" })
        const charged = yield* ordered(who, order)
        assert.deepInclude(charged, { output: 5, charge: "1.5" })
        assert.include(
          (yield* gateway.call(`/v1/usage/${charged.id}`, { key: who.key })).text,
          "0.3 CNY each, the price of 720p, which the vendor reported in place of 1080p"
        )
        assert.deepInclude(yield* gateway.balance(who), { balance: "98.5", held: "0" })
        yield* gateway.verify
      })
    )

    it.effect("without a line the order is refused before the hold, with what is priced", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        yield* gateway.simulator.clearRequests
        const answer = yield* orderVideo(who, { model: "sounding", prompt: "a", resolution: "4K" })
        const error = yield* errorOf(answer)
        assert.deepInclude(error, { code: "billing_unavailable", param: "resolution" })
        assert.include(error.message, "720p without sound; 720p with sound; 1080p")
        assert.deepStrictEqual(yield* gateway.simulator.requests, [])
        assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "0" })
      })
    )

    it.effect("series, books and a replay of the month have the same units and amounts", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        yield* ordered(who, { model: "sounding", generate_audio: true })
        yield* ordered(who, { model: "sounding", duration: 10 })
        yield* ordered(who, { model: "whole" })
        const path = `/usage/series?interval=month&by=model&organization_id=${who.organizationId}`
        const { data } = yield* bodyAs(Series, yield* gateway.admin(path))
        assert.deepStrictEqual(
          data.map(({ model, unit, units, charge, cost }) => [model, unit, units, charge, cost]),
          [
            ["sounding", "second", 15, "10.5", "7.5"],
            ["whole", "clip", 1, "2.5", "0"]
          ]
        )
        const month = DateTime.formatIsoDateUtc(yield* DateTime.now).slice(0, 7)
        const answer = yield* gateway.admin(`/catalog/preview?replay=${month}`, {
          json: catalogFor(gateway.simulator.url)
        })
        const { replay } = yield* bodyAs(Schema.Struct({ replay: CatalogReplay }), answer)
        assert.deepInclude(replay.totals, { difference: "0", unpriced: 0 })
        assert.isAtLeast(replay.totals.count, 3)
        yield* gateway.verify
      })
    )
  })
}
