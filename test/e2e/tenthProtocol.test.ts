import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { brokenVendor, type ReceivedRequest, type WrittenReply } from "../support/brokenVendor.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings,
  testCatalog
} from "../support/gateway.ts"
import { layerToyAdapters, layerToyProtocols } from "../support/toyProtocol.ts"

type Catalog = typeof CatalogWrite.Encoded

const perSecond = { kind: "second_video", per_second: { "540p": "0.5", "1080p": "0.9" } } as const
const perToken = {
  kind: "token_video",
  per_million_tokens: { base: { without_video: "46" } }
} as const

const toyCatalog = (
  simulatorUrl: string,
  vendorUrl: string,
  filmPrices: typeof perSecond | typeof perToken
): Catalog => {
  const catalog = testCatalog(simulatorUrl)
  return {
    channels: [
      ...catalog.channels,
      { id: "ch-toy", name: "Toys", base_url: vendorUrl, api_key: "toy-key" }
    ],
    models: [
      { id: "toy-film", modality: "video", protocol: "vp_toy", prices: filmPrices },
      {
        id: "toy-paint",
        modality: "image",
        protocol: "ip_toy",
        prices: { kind: "image", per_image: "0.3" }
      },
      ...catalog.models
    ],
    mounts: [
      { model: "toy-film", channel: "ch-toy", upstream_model: "bear-1" },
      { model: "toy-paint", channel: "ch-toy" },
      ...catalog.mounts
    ]
  }
}

/** Busy at the first look at each job, then as the order's words have it. */
const toyVendor = () => {
  const said = new Map<string, string>()
  const seen = new Set<string>()
  return (request: ReceivedRequest): WrittenReply => {
    const { method, target, body } = request
    if (target === "/drawings") return { body: { files: ["https://toys.test/1.png"] } }
    if (method === "POST") {
      if (body.includes("rude")) return { status: 422, body: { oops: "that is rude" } }
      const job = `job-${said.size + 1}`
      said.set(`/jobs/${job}`, body)
      return { body: { job } }
    }
    if (!seen.has(target)) {
      seen.add(target)
      return { body: { state: "busy" } }
    }
    return said.get(target)?.includes("doomed") === true
      ? { body: { state: "broken", why: "the bear fell over" } }
      : { body: { state: "done", file: "https://toys.test/1.mp4" } }
  }
}

/** A vendor and a catalog that mounts it; what it was sent is in the answer's `requests`. */
const openShop = Effect.gen(function* () {
  const gateway = yield* Gateway
  const vendor = yield* brokenVendor(toyVendor())
  const loaded = yield* gateway.admin("/catalog", {
    method: "PUT",
    json: toyCatalog(gateway.simulator.url, vendor.url, perSecond)
  })
  assert.strictEqual(loaded.status, 200, loaded.text)
  assert.notInclude(loaded.text, "_toy")
  return vendor
})

const order = Effect.fnUntraced(function* (who: Customer, json: Readonly<Record<string, unknown>>) {
  const gateway = yield* Gateway
  return yield* gateway.call("/v1/videos/generations", {
    key: who.key,
    json: { model: "toy-film", prompt: "a bear", ...json }
  })
})

const Created = Schema.Struct({ id: Schema.String })
const List = Schema.Struct({ data: Schema.Array(Schema.Record(Schema.String, Schema.Unknown)) })

const layerToyGateway = layerTestGateway("embedded", quickSettings, {
  adapters: layerToyAdapters
}).pipe(Layer.provide(layerToyProtocols))

layer(layerToyGateway, { excludeTestServices: true, timeout: "60 seconds" })(
  "a protocol added by layers",
  (it) => {
    it.effect("is listed with its limits, and its catalog is held to its row", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { key } = yield* gateway.customer("0")
        const { url } = yield* openShop
        const listed = yield* gateway.call("/v1/models?modality=video", { key })
        const [film] = (yield* bodyAs(List, listed)).data
        assert.deepInclude(film, {
          id: "toy-film",
          durations: { min: 6, max: 12, default: 6, smart: false },
          resolutions: ["540p", "1080p"]
        })
        const refused = yield* gateway.admin("/catalog", {
          method: "PUT",
          json: toyCatalog(gateway.simulator.url, url, perToken)
        })
        assert.strictEqual(refused.status, 400)
        assert.deepNestedInclude(refused.body, {
          "error.param": "models[0].prices.kind",
          "error.faults[0].message":
            "vp_toy is billed by second_video, but the price is token_video"
        })
      }).pipe(Effect.scoped)
    )

    it.effect("makes a video from hold to charge", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const vendor = yield* openShop
        const created = yield* order(who, { duration: 8, resolution: "1080P" })
        assert.strictEqual(created.status, 200, created.text)
        assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "7.2" })

        const { id } = yield* bodyAs(Created, created)
        const done = yield* gateway.call(`/v1/videos/${id}?wait=30`, { key: who.key })
        assert.deepInclude(done.body, {
          task_status: "succeeded",
          content: { video_url: "https://toys.test/1.mp4" }
        })
        assert.deepInclude(yield* gateway.balance(who), { balance: "92.8", held: "0" })
        const usage = yield* gateway.call("/v1/usage", { key: who.key })
        const [entry] = (yield* bodyAs(List, usage)).data
        assert.deepInclude(entry, { model: "toy-film", output: 8, charge: "7.2" })
        const [submitted] = yield* vendor.requests
        assert.strictEqual(submitted?.headers.authorization, "Bearer toy-key")
        assert.deepStrictEqual(JSON.parse(submitted?.body ?? ""), {
          toy: "bear-1",
          say: "a bear",
          seconds: 8,
          lines: "1080p"
        })
        yield* gateway.verify
      }).pipe(Effect.scoped)
    )

    it.effect("takes its own default tier, and refuses what its row does not offer", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const vendor = yield* openShop
        for (const [wish, nearest] of [
          [{ duration: 5 }, 6],
          [{ duration: 6, resolution: "720p" }, "540p"]
        ] as const) {
          const refused = yield* order(who, wish)
          assert.strictEqual(refused.status, 400)
          assert.deepNestedInclude(refused.body, {
            "error.code": "video_sku_invalid",
            "error.nearest": nearest
          })
        }
        assert.deepStrictEqual(yield* vendor.requests, [])
        yield* bodyAs(Created, yield* order(who, {}))
        assert.propertyVal(yield* gateway.balance(who), "held", "3")
      }).pipe(Effect.scoped)
    )

    it.effect("costs nothing when the vendor refuses or fails", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        yield* openShop
        const refused = yield* order(who, { prompt: "a rude bear" })
        assert.strictEqual(refused.status, 422)
        assert.deepNestedInclude(refused.body, {
          "error.code": "upstream_error",
          "error.upstream": { status: 422, body: { oops: "that is rude" } }
        })
        const { id } = yield* bodyAs(Created, yield* order(who, { prompt: "a doomed bear" }))
        const failed = yield* gateway.call(`/v1/videos/${id}?wait=30`, { key: who.key })
        assert.deepNestedInclude(failed.body, {
          task_status: "failed",
          "error.message": "the bear fell over"
        })
        assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "0" })
        yield* gateway.verify
      }).pipe(Effect.scoped)
    )

    it.effect("makes images", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const vendor = yield* openShop
        const made = yield* gateway.call("/v1/images/generations", {
          key: who.key,
          json: { model: "toy-paint", prompt: "a bear", n: 2 }
        })
        assert.deepStrictEqual(made.body, {
          created: 1,
          data: [{ url: "https://toys.test/1.png" }]
        })
        assert.deepInclude(yield* gateway.balance(who), { balance: "99.4", held: "0" })
        const drawn = (yield* vendor.requests).find(({ method }) => method === "POST")
        assert.deepStrictEqual(JSON.parse(drawn?.body ?? ""), {
          toy: "toy-paint",
          say: "a bear",
          count: 2
        })
      }).pipe(Effect.scoped)
    )

    it.effect("leaves its tasks open until their deadline when nobody speaks it any more", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const sql = yield* SqlClient.SqlClient
        const who = yield* gateway.customer("100")
        yield* openShop
        const { id } = yield* bodyAs(Created, yield* order(who, {}))
        const read = (waitSeconds: number) =>
          gateway.call(`/v1/videos/${id}?wait=${waitSeconds}`, { key: who.key })

        yield* sql`UPDATE tasks SET protocol = 'vp_gone' WHERE id = ${id}`
        const other = yield* bodyAs(Created, yield* order(who, {}))
        const done = yield* gateway.call(`/v1/videos/${other.id}?wait=30`, { key: who.key })
        assert.propertyVal(done.body, "task_status", "succeeded")
        assert.propertyVal((yield* read(0)).body, "task_status", "processing")
        assert.propertyVal(yield* gateway.balance(who), "held", "3")

        yield* sql`UPDATE tasks SET deadline = now() WHERE id = ${id}`
        const ended = yield* read(30)
        assert.deepNestedInclude(ended.body, {
          task_status: "failed",
          "error.code": "deadline_exceeded"
        })
        assert.deepInclude(yield* gateway.balance(who), { balance: "97", held: "0" })
        yield* gateway.verify
      }).pipe(Effect.scoped)
    )
  }
)
