import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { loadClip } from "../../src/simulator/media/clip.ts"
import { brokenVendor } from "../support/brokenVendor.ts"
import { bodyAs, Gateway, layerTestGateway, testCatalog } from "../support/gateway.ts"

type Catalog = typeof CatalogWrite.Encoded

const tokenPrices = {
  kind: "token_video",
  per_million_tokens: { base: { without_video: "46", with_video: "28" } }
} as const
const secondPrices = { kind: "second_video", per_second: { "720p": "0.6" } } as const

const Created = Schema.Struct({ id: Schema.String })
const Refused = Schema.Struct({
  error: Schema.Struct({ code: Schema.String, param: Schema.NullOr(Schema.String) })
})

/** The test catalog with one model more, on a channel of its own. */
const load = Effect.fnUntraced(function* (
  channel: Omit<Catalog["channels"][number], "id" | "name" | "api_key">,
  model: Omit<Catalog["models"][number], "id" | "modality">,
  protocol: string | null
) {
  const gateway = yield* Gateway
  const catalog = testCatalog(gateway.simulator.url)
  const answer = yield* gateway.admin("/catalog", {
    method: "PUT",
    json: {
      channels: [...catalog.channels, { ...channel, id: "ch-x", name: "X", api_key: "k" }],
      models: [...catalog.models, { ...model, id: "film-x", modality: "video" }],
      mounts: [
        ...catalog.mounts,
        { model: "film-x", channel: "ch-x", protocol, upstream_model: "upstream-x" }
      ]
    }
  })
  assert.strictEqual(answer.status, 200, answer.text)
})

const order = Effect.fnUntraced(function* (key: string, json: Readonly<Record<string, unknown>>) {
  const gateway = yield* Gateway
  return yield* gateway.call("/v1/videos/generations", {
    key,
    json: { model: "film-x", prompt: "a lighthouse", ...json }
  })
})

layer(layerTestGateway("embedded"), { excludeTestServices: true, timeout: "60 seconds" })(
  "protocols",
  (it) => {
    it.effect("a relayed task is asked for as it was ordered when the catalog says otherwise", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        let ended = false
        const vendor = yield* brokenVendor(({ method }) => ({
          body:
            method === "POST"
              ? { id: "t-1" }
              : ended
                ? {
                    id: "t-1",
                    status: "succeeded",
                    content: { video_url: "https://files.test/o.mp4" },
                    usage: { completion_tokens: 108_900 }
                  }
                : { id: "t-1", status: "running" }
        }))
        const channel = { base_url: `${vendor.url}/v1` }
        yield* load(channel, { protocol: "vp_a", prices: tokenPrices }, "vp_c")
        const { id } = yield* bodyAs(Created, yield* order(who.key, { duration: -1 }))
        assert.strictEqual((yield* gateway.balance(who)).held, "14.904")

        yield* load(channel, { protocol: "vp_d", prices: secondPrices }, "vp_c")
        ended = true
        const done = yield* gateway.call(`/v1/videos/${id}?wait=30`, { key: who.key })

        assert.propertyVal(done.body, "task_status", "succeeded")
        assert.deepInclude(yield* gateway.balance(who), { balance: "94.9906", held: "0" })
        const targets = (yield* vendor.requests).map(({ method, target }) => `${method} ${target}`)
        assert.deepStrictEqual(
          [...new Set(targets)],
          ["POST /doubao/v1/videos/generations/submit", "GET /doubao/v1/videos/generations/t-1"]
        )
        yield* gateway.verify
      }).pipe(Effect.scoped)
    )

    it.effect("a model listed under the relay's own protocol cannot be ordered", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        yield* load(
          { base_url: "http://127.0.0.1:9" },
          { protocol: "vp_c", prices: tokenPrices },
          null
        )
        const answer = yield* order(who.key, {})
        assert.strictEqual(answer.status, 400)
        const { error } = yield* bodyAs(Refused, answer)
        assert.deepStrictEqual(error, { code: "video_unsupported_protocol", param: "model" })
        assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "0" })
      })
    )

    it.effect("vp_b without an application id is unavailable, and with one it is called", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const vendor = yield* brokenVendor({ body: { task_id: "t-2", status: "queued" } })
        const model = { protocol: "vp_b", prices: tokenPrices }

        yield* load({ base_url: vendor.url }, model, null)
        const answer = yield* order(who.key, { resolution: "1080p" })
        assert.strictEqual(answer.status, 503)
        const { error } = yield* bodyAs(Refused, answer)
        assert.deepStrictEqual(error, { code: "channel_unavailable", param: "model" })
        assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "0" })
        assert.deepStrictEqual(yield* vendor.requests, [])

        yield* load({ base_url: vendor.url, app_id: "app-7" }, model, null)
        yield* bodyAs(Created, yield* order(who.key, { resolution: "1080p" }))
        assert.strictEqual((yield* gateway.balance(who)).held, "4.968")
        const [request] = yield* vendor.requests
        assert.propertyVal(request?.headers, "x-application-id", "app-7")
        assert.notInclude(request?.body, "resolution")
      }).pipe(Effect.scoped)
    )

    it.effect("inline reference videos are prepaid by their real length", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1000")
        const clip = yield* loadClip
        const inline = (bytes: Uint8Array) =>
          `data:video/mp4;base64,${Buffer.from(bytes).toString("base64")}`
        const heldFor = Effect.fnUntraced(function* (videos: ReadonlyArray<string>) {
          const before = Number((yield* gateway.balance(who)).held)
          const json = { model: "film-1", prompt: "a lighthouse sim:slow=100000", videos }
          yield* bodyAs(Created, yield* order(who.key, json))
          return (Number((yield* gateway.balance(who)).held) - before).toFixed(5)
        })
        const remote = "https://files.test/in.mp4"
        assert.strictEqual(yield* heldFor([remote]), "5.44320")
        assert.strictEqual(yield* heldFor([inline(clip(2))]), "5.44320")
        assert.strictEqual(yield* heldFor([inline(clip(7)), inline(clip(5))]), "10.28160")
        assert.strictEqual(yield* heldFor([inline(clip(7)), remote]), "7.25760")
        assert.strictEqual(yield* heldFor([inline(Buffer.from("no video"))]), "5.44320")
      })
    )
  }
)
