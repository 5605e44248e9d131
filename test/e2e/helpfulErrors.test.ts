import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { bodyAs, Gateway, layerTestGateway, testCatalog } from "../support/gateway.ts"
import type { HttpAnswer } from "../support/http.ts"
import { orderImages, orderVideo } from "../support/orders.ts"

/** Beside the usual models: prices with gaps, and a model that may choose its length. */
const catalogFor = (simulatorUrl: string): typeof CatalogWrite.Encoded => {
  const catalog = testCatalog(simulatorUrl)
  const filmOnly1080p = {
    kind: "token_video" as const,
    per_million_tokens: { "1080p": { without_video: "51" } }
  }
  return {
    ...catalog,
    channels: [
      ...catalog.channels,
      { id: "ch-b", name: "B", base_url: `${simulatorUrl}/vp_b`, api_key: "k", app_id: "app-7" }
    ],
    models: [
      ...catalog.models,
      { id: "film-smart", modality: "video", protocol: "vp_b", prices: filmOnly1080p }
    ],
    mounts: [...catalog.mounts, { model: "film-smart", channel: "ch-b" }]
  }
}

const seconds = { min: 5, max: 15, smart: false }
const offered = ["480p", "720p", "1080p", "4K"]

const Failed = Schema.Struct({ error: Schema.Record(Schema.String, Schema.Unknown) })

/** Everything but the message and its entry in the reference. */
const factsOf = (answer: HttpAnswer) =>
  Effect.map(
    bodyAs(Failed, answer),
    ({ error: { message: _message, doc_url: _docUrl, ...facts } }) => facts
  )

layer(layerTestGateway("embedded", undefined, { catalogFor }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("an error says what would do instead", (it) => {
  it.effect.each([
    [
      { duration: 3 },
      "duration",
      seconds,
      5,
      "duration 3 is not offered: this model takes whole seconds from 5 to 15. The nearest is 5."
    ],
    [
      { duration: 99 },
      "duration",
      seconds,
      15,
      "duration 99 is not offered: this model takes whole seconds from 5 to 15. The nearest is 15."
    ],
    [
      { duration: -1 },
      "duration",
      seconds,
      5,
      "duration -1 is not offered: this model takes whole seconds from 5 to 15. The nearest is 5."
    ],
    [
      { prompt: "x --duration soon" },
      "duration",
      seconds,
      5,
      'duration "soon" is not offered: this model takes whole seconds from 5 to 15. The nearest is 5.'
    ],
    [
      { prompt: "x --dur=12.6" },
      "duration",
      seconds,
      13,
      'duration "12.6" is not offered: this model takes whole seconds from 5 to 15. The nearest is 13.'
    ],
    [
      { prompt: "x --duration" },
      "duration",
      seconds,
      5,
      'duration "" is not offered: this model takes whole seconds from 5 to 15. The nearest is 5.'
    ],
    [
      { resolution: "8K" },
      "resolution",
      offered,
      "4K",
      'resolution "8K" is not offered: this model takes 480p, 720p, 1080p, 4K. The nearest is 4K.'
    ],
    [
      { resolution: "900p" },
      "resolution",
      offered,
      "720p",
      'resolution "900p" is not offered: this model takes 480p, 720p, 1080p, 4K. The nearest is 720p.'
    ],
    [
      { resolution: "sharp" },
      "resolution",
      offered,
      "720p",
      'resolution "sharp" is not offered: this model takes 480p, 720p, 1080p, 4K. The nearest is 720p.'
    ],
    [
      { prompt: "x --rs" },
      "resolution",
      offered,
      "720p",
      'resolution "" is not offered: this model takes 480p, 720p, 1080p, 4K. The nearest is 720p.'
    ]
  ] as const)(
    "%j: what is offered, and the nearest of it",
    ([order, param, allowed, nearest, message]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const answer = yield* orderVideo(who, { model: "film-1", ...order })
        assert.strictEqual(answer.status, 400)
        assert.deepNestedInclude(answer.body, { "error.message": message })
        assert.deepStrictEqual(yield* factsOf(answer), {
          type: "invalid_request_error",
          param,
          code: "video_sku_invalid",
          allowed,
          nearest
        })
      })
  )

  it.effect("a length the model may choose is named as such", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const answer = yield* orderVideo(who, { model: "film-smart", duration: -2 })
      assert.deepNestedInclude(answer.body, {
        "error.message":
          "duration -2 is not offered: this model takes whole seconds from 4 to 15, or -1 to let the model choose. The nearest is 4.",
        "error.allowed": { min: 4, max: 15, smart: true },
        "error.nearest": 4
      })
    })
  )

  it.effect.each([
    [
      { model: "clip-1", resolution: "4K" },
      ["720p", "1080p"],
      "No price is configured for 4K, so this order cannot be billed. Priced are: 720p, 1080p."
    ],
    [
      { model: "film-base-less" },
      ["1080p"],
      "No price is configured for 720p, so this order cannot be billed. Priced are: 1080p."
    ],
    [
      { model: "film-base-less", video: "https://files.test/in.mp4" },
      [],
      "No price is configured for 720p with a reference video, so this order cannot be billed. No other resolution has one either."
    ],
    [
      { model: "film-unpriced" },
      [],
      "No price is configured for this model, so this order cannot be billed"
    ]
  ] as const)("%j without a price: which resolutions have one", ([order, priced, message]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const answer = yield* orderVideo(who, order)
      assert.strictEqual(answer.status, 400)
      assert.deepNestedInclude(answer.body, { "error.message": message })
      assert.deepStrictEqual(yield* factsOf(answer), {
        type: "billing_error",
        param: "resolution",
        code: "billing_unavailable",
        priced
      })
    })
  )

  it.effect("an empty pool: what is required and what is available", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("1.5")
      const answer = yield* orderVideo(who, { model: "film-1" })
      assert.strictEqual(answer.status, 402)
      assert.deepNestedInclude(answer.body, {
        "error.message": "This request needs 4.968 CNY, and 1.5 is available"
      })
      assert.deepStrictEqual(yield* factsOf(answer), {
        type: "billing_error",
        param: null,
        code: "insufficient_balance",
        required: "4.968",
        available: "1.5"
      })
    })
  )

  it.effect("a spent cap: when its month ends, and what of it is used", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100", { monthlyCap: "5" })
      assert.strictEqual((yield* orderImages(who, { model: "paint-1" })).status, 200)
      const answer = yield* orderVideo(who, { model: "film-1" })
      assert.strictEqual(answer.status, 429)
      const now = new Date()
      const next = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1))
      assert.deepNestedInclude(answer.body, {
        "error.message": `This request needs 4.968 CNY; of this month's cap of 5, 0.2 is used. The next month begins at ${next.toISOString()}`
      })
      const wait = Number(answer.headers.get("retry-after"))
      assert.isAbove(wait, 0)
      assert.deepStrictEqual(yield* factsOf(answer), {
        type: "billing_error",
        param: null,
        code: "member_cap_exceeded",
        cap: "5",
        used: "0.2",
        required: "4.968",
        retry_after: wait
      })
    })
  )
})
