import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { trouble } from "../support/failovers.ts"
import { bodyAs, Gateway, layerTestGateway } from "../support/gateway.ts"
import { createVideo, errorOf, finishVideo, orderVideo } from "../support/orders.ts"
import { newestHold, timelineOf } from "../support/timelines.ts"

/** One model by two protocols that offer different things, and by a channel without a key before them. */
const catalogFor = (simulatorUrl: string): typeof CatalogWrite.Encoded => ({
  channels: [
    { id: "ch-keyless", name: "No key", base_url: `${simulatorUrl}/vp_d` },
    { id: "ch-e", name: "E", base_url: `${simulatorUrl}/vp_e`, api_key: "vendor-key-e" },
    { id: "ch-d", name: "D", base_url: `${simulatorUrl}/vp_d`, api_key: "vendor-key-d" }
  ],
  models: [
    {
      id: "clip-1",
      modality: "video",
      protocol: "vp_d",
      prices: {
        kind: "second_video",
        per_second: { "540p": "0.3", "720p": "0.5", "1080p": "0.8", "4K": "2" }
      }
    }
  ],
  mounts: [
    { model: "clip-1", channel: "ch-d", upstream_model: "vendor-clip-1", priority: 2 },
    { model: "clip-1", channel: "ch-keyless", upstream_model: "vendor-clip-1" },
    {
      model: "clip-1",
      channel: "ch-e",
      protocol: "vp_e",
      upstream_model: "viduq3-pro",
      priority: 1
    }
  ]
})

const Listed = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      durations: Schema.Struct({ min: Schema.Int, max: Schema.Int }),
      resolutions: Schema.Array(Schema.String)
    })
  )
})

const SkuInvalid = Schema.Struct({
  error: Schema.Struct({ allowed: Schema.Unknown, nearest: Schema.Unknown })
})

layer(layerTestGateway("embedded", undefined, { catalogFor }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("a model on several mounts", (it) => {
  it.effect("an order goes to the first mount that offers it, at the model's price", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const rows = [
        [{ duration: 5, resolution: "720p" }, "vp_e", "97.5"],
        [{ duration: 2, resolution: "540p" }, "vp_e", "99.4"],
        [{ duration: 5, resolution: "4K" }, "vp_d", "90"],
        [{}, "vp_e", "97.5"]
      ] as const
      for (const [order, protocol, left] of rows) {
        const who = yield* gateway.customer("100")
        const id = yield* createVideo(who, { model: "clip-1", ...order })
        assert.strictEqual((yield* finishVideo(who, id)).task_status, "succeeded")
        const { body } = yield* gateway.admin(`/tasks/${id}`)
        assert.deepInclude(body, { protocol })
        assert.strictEqual((yield* gateway.balance(who)).balance, left)
      }
    })
  )

  it.effect("where none offers it, the error names what all of them offer", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const rows = [
        [{ duration: 17 }, "duration", { min: 1, max: 16, smart: false }, 16],
        [{ duration: 2, resolution: "4K" }, "duration", { min: 3, max: 15, smart: false }, 3],
        [{ resolution: "480p" }, "resolution", ["540p", "720p", "1080p", "4K"], "540p"]
      ] as const
      for (const [order, param, allowed, nearest] of rows) {
        const refused = yield* orderVideo(who, { model: "clip-1", ...order })
        assert.strictEqual(refused.status, 400, refused.text)
        assert.deepInclude(yield* errorOf(refused), { code: "video_sku_invalid", param })
        const { error } = yield* bodyAs(SkuInvalid, refused)
        assert.deepStrictEqual({ ...error }, { allowed, nearest })
      }
      assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "0" })
    })
  )

  it.effect("the list of models tells what all of them offer together", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { key } = yield* gateway.customer("0")
      const { data } = yield* bodyAs(Listed, yield* gateway.call("/v1/models", { key }))
      assert.deepStrictEqual(data, [
        {
          id: "clip-1",
          durations: { min: 1, max: 16 },
          resolutions: ["540p", "720p", "1080p", "4K"]
        }
      ])
    })
  )

  it.effect("where only a channel without a key would offer it, it is unavailable", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const catalog = catalogFor(gateway.simulator.url)
      const mounts = catalog.mounts.filter(({ channel }) => channel !== "ch-d")
      yield* gateway.admin("/catalog", { method: "PUT", json: { ...catalog, mounts } })
      const who = yield* gateway.customer("100")
      const refused = yield* orderVideo(who, { model: "clip-1", resolution: "4K" })
      assert.strictEqual(refused.status, 503, refused.text)
      assert.deepInclude(yield* errorOf(refused), { code: "channel_unavailable", param: "model" })
    })
  )
})

/** One model by a protocol that takes no resolution and by one that does, and bills more for some. */
const filmCatalog = (simulatorUrl: string): typeof CatalogWrite.Encoded => ({
  channels: [
    {
      id: "ch-b",
      name: "B",
      base_url: `${simulatorUrl}/vp_b`,
      api_key: "vendor-key-bbbb",
      app_id: "app"
    },
    { id: "ch-a", name: "A", base_url: `${simulatorUrl}/vp_a`, api_key: "vendor-key-aaaa" }
  ],
  models: [
    {
      id: "film-1",
      modality: "video",
      protocol: "vp_a",
      prices: {
        kind: "token_video",
        per_million_tokens: { base: { without_video: "46" }, "1080p": { without_video: "51" } }
      }
    }
  ],
  mounts: [
    { model: "film-1", channel: "ch-b", protocol: "vp_b", upstream_model: "sim-film-3" },
    { model: "film-1", channel: "ch-a", upstream_model: "sim-film-2", priority: 1 }
  ]
})

layer(layerTestGateway("postgres", undefined, { catalogFor: filmCatalog }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("mounts that would cost differently", (it) => {
  it.effect("an order goes on only to mounts at which it costs the same", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      yield* trouble("bbbb", "sim:refuse=503")
      const who = yield* gateway.customer("100")
      const same = yield* orderVideo(who, { model: "film-1", resolution: "720p" })
      assert.strictEqual(same.status, 200, same.text)
      const dearer = yield* orderVideo(who, { model: "film-1", resolution: "1080p" })
      assert.strictEqual(dearer.status, 502, dearer.text)
      const { attempts } = yield* timelineOf(yield* newestHold(who.organizationId))
      assert.deepStrictEqual(
        attempts.map(({ channel }) => channel),
        ["ch-b"]
      )
    })
  )
})
