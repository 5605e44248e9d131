/** What a video model offers beyond and within its protocol's row, through the whole gateway. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { bodyAs, Gateway, layerTestGateway } from "../support/gateway.ts"
import { createVideo, errorOf, finishVideo, orderVideo } from "../support/orders.ts"

const perSecond = {
  kind: "second_video" as const,
  per_second: { "720p": "0.5", "1080p": "0.8", "4K": "2" }
}
const perToken = {
  kind: "token_video" as const,
  per_million_tokens: { base: { without_video: "70", with_video: "42" } }
}

const IMAGE = "https://media.test/sea.png"

/** Models that are newer than the rows of their protocols. */
const catalogFor = (simulatorUrl: string): typeof CatalogWrite.Encoded => ({
  channels: [
    { id: "ch-a", name: "A", base_url: `${simulatorUrl}/vp_a`, api_key: "vendor-key-a" },
    { id: "ch-d", name: "D", base_url: `${simulatorUrl}/vp_d`, api_key: "vendor-key-d" },
    { id: "ch-d2", name: "D2", base_url: `${simulatorUrl}/vp_d`, api_key: "vendor-key-d2" }
  ],
  models: [
    {
      id: "kling-4",
      modality: "video",
      protocol: "vp_d",
      prices: perSecond,
      limits: { seconds: [3, 30], resolutions: ["720p", "1080p", "4K"] }
    },
    {
      id: "seedance-25",
      modality: "video",
      protocol: "vp_a",
      prices: perToken,
      limits: { seconds: [4, 30], smart: true }
    },
    {
      id: "h3",
      modality: "video",
      protocol: "vp_a",
      prices: perToken,
      limits: { seconds: [4, 30], smart: true, resolutions: ["720p", "768p", "2K"] }
    },
    {
      id: "steps",
      modality: "video",
      protocol: "vp_d",
      prices: perSecond,
      limits: {
        seconds: { one_of: [4, 6, 8] },
        ratios: ["9:16", "1:1"],
        inputs: { first_frame: 1 },
        max_prompt: 20,
        silent: false
      }
    },
    {
      id: "two-mounts",
      modality: "video",
      protocol: "vp_d",
      prices: perSecond,
      limits: { seconds: [3, 30] }
    },
    {
      id: "dear-first",
      modality: "video",
      protocol: "vp_d",
      prices: perSecond,
      limits: { seconds: [3, 30] }
    },
    { id: "short-texts", modality: "video", protocol: "vp_d", prices: perSecond }
  ],
  mounts: [
    { model: "kling-4", channel: "ch-d", upstream_model: "kling-v4" },
    { model: "seedance-25", channel: "ch-a", upstream_model: "doubao-seedance-2-5" },
    { model: "h3", channel: "ch-a", upstream_model: "minimax-h3" },
    { model: "steps", channel: "ch-d", upstream_model: "kling-v4" },
    {
      model: "two-mounts",
      channel: "ch-d",
      upstream_model: "kling-v4",
      limits: { seconds: [3, 10], resolutions: ["720p"] }
    },
    { model: "two-mounts", channel: "ch-d2", upstream_model: "kling-v4", priority: 1 },
    {
      model: "dear-first",
      channel: "ch-d",
      upstream_model: "kling-v4",
      limits: { seconds: [10, 30], resolutions: ["1080p", "4K"] }
    },
    { model: "dear-first", channel: "ch-d2", upstream_model: "kling-v4", priority: 1 },
    { model: "short-texts", channel: "ch-d", limits: { max_prompt: 10, silent: false } },
    {
      model: "short-texts",
      channel: "ch-d2",
      priority: 1,
      limits: { max_prompt: 40, silent: false }
    }
  ]
})

const Listed = Schema.Struct({ data: Schema.Array(Schema.Record(Schema.String, Schema.Unknown)) })
const Refused = Schema.Struct({ error: Schema.Record(Schema.String, Schema.Unknown) })
const Task = Schema.Struct({ attempts: Schema.Array(Schema.Struct({ channel: Schema.String })) })

layer(layerTestGateway("embedded", undefined, { catalogFor }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("a video model with limits", (it) => {
  it.effect.each([
    ["kling-4", { duration: 30, resolution: "4k" }, "40"],
    ["kling-4", {}, "97.5"],
    ["steps", {}, "98"],
    ["steps", { duration: 8, ratio: "9:16" }, "96"]
  ] as const)("%s makes %o", ([model, order, balance]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const id = yield* createVideo(who, { model, prompt: "a lighthouse", ...order })
      assert.strictEqual((yield* finishVideo(who, id)).task_status, "succeeded")
      assert.strictEqual((yield* gateway.balance(who)).balance, balance)
    })
  )

  it.effect.each([
    // 86400 tokens a second, at 70 per million, for 30 seconds.
    [{ duration: 30, resolution: "2K" }, "181.44"],
    // 24480 tokens a second.
    [{ duration: 30, resolution: "768p" }, "51.408"],
    // The model chooses: the most that it may make is held.
    [{ duration: -1, resolution: "720p" }, "45.36"]
  ] as const)("is held for what it may be: %o costs %s", ([order, hold]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { key } = yield* gateway.customer("1000")
      const json = { model: "h3", prompt: "a lighthouse", ...order }
      const quote = yield* gateway.call("/v1/quotes", { key, json })
      assert.deepInclude(quote.body, { hold }, quote.text)
    })
  )

  it.effect("a token-billed model makes 30 seconds at its vendor", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("1000")
      for (const [model, duration] of [
        ["seedance-25", 30],
        ["seedance-25", -1],
        ["h3", 30]
      ] as const) {
        const id = yield* createVideo(who, { model, prompt: "a sea", duration })
        assert.strictEqual((yield* finishVideo(who, id)).task_status, "succeeded")
      }
    })
  )

  it.effect.each([
    [
      "kling-4",
      { duration: 31 },
      { param: "duration", allowed: { min: 3, max: 30, smart: false }, nearest: 30 }
    ],
    [
      "steps",
      { duration: 7 },
      { param: "duration", allowed: { one_of: [4, 6, 8], smart: false }, nearest: 6 }
    ],
    [
      "two-mounts",
      { duration: 40 },
      { param: "duration", allowed: { min: 3, max: 30, smart: false }, nearest: 30 }
    ],
    [
      "h3",
      { resolution: "1080p" },
      { param: "resolution", allowed: ["720p", "768p", "2K"], nearest: "768p" }
    ],
    ["steps", { ratio: "16:9" }, { code: "invalid_request", param: "ratio" }],
    ["steps", { generate_audio: false }, { code: "invalid_request", param: "generate_audio" }],
    [
      "steps",
      { prompt: "a lighthouse at dusk, far" },
      { code: "invalid_request", param: "prompt" }
    ],
    [
      "steps",
      { images: ["https://media.example/1.png", "https://media.example/2.png"] },
      { code: "invalid_request", param: "image" }
    ],
    ["steps", { video: "https://media.example/1.mp4" }, { code: "invalid_request", param: "video" }]
  ] as const)("%s refuses %o before anything is held", ([model, order, facts]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const answer = yield* orderVideo(who, { model, prompt: "a lighthouse", ...order })
      assert.strictEqual(answer.status, 400, answer.text)
      const { error } = yield* bodyAs(Refused, answer)
      assert.deepInclude(error, facts)
      assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "0" })
    })
  )

  it.effect("an order from a text alone is sent the first ratio of the limits", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const sent = Effect.map(
        gateway.simulator.requests,
        (requests) => requests.findLast(({ method }) => method === "POST")?.body
      )
      yield* createVideo(who, { model: "steps", prompt: "a sea" })
      assert.deepNestedInclude(yield* sent, { "settings.aspect_ratio": "9:16" })
      yield* createVideo(who, { model: "steps", prompt: "a sea", ratio: "1:1" })
      assert.deepNestedInclude(yield* sent, { "settings.aspect_ratio": "1:1" })
      yield* createVideo(who, { model: "steps", prompt: "a sea", image: IMAGE })
      assert.notNestedProperty(yield* sent, "settings.aspect_ratio")
    })
  )

  it.effect.each([
    [{ duration: 8 }, "ch-d"],
    [{ duration: 20 }, "ch-d2"],
    [{ duration: 8, resolution: "1080p" }, "ch-d2"]
  ] as const)("an order %o goes to the mount that makes it, %s", ([order, channel]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const id = yield* createVideo(who, { model: "two-mounts", prompt: "a sea", ...order })
      const { attempts } = yield* bodyAs(Task, yield* gateway.admin(`/tasks/${id}`))
      assert.deepStrictEqual(attempts, [{ channel }])
    })
  )

  it.effect.each([
    [{}, "ch-d2", "97.5"],
    [{ resolution: "720p" }, "ch-d2", "97.5"],
    [{ duration: 10 }, "ch-d2", "95"],
    [{ duration: 10, resolution: "1080p" }, "ch-d", "92"],
    [{ resolution: "1080p" }, "ch-d2", "96"]
  ] as const)("a default is the model's, whatever its first mount makes: %o", (row) =>
    Effect.gen(function* () {
      const [order, channel, available] = row
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const id = yield* createVideo(who, { model: "dear-first", prompt: "a sea", ...order })
      assert.strictEqual((yield* gateway.balance(who)).available, available)
      const { attempts } = yield* bodyAs(Task, yield* gateway.admin(`/tasks/${id}`))
      assert.deepStrictEqual(attempts, [{ channel }])
    })
  )

  it.effect("the list of models shows what can be ordered", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { key } = yield* gateway.customer("0")
      const { data } = yield* bodyAs(Listed, yield* gateway.call("/v1/models", { key }))
      const entry = (id: string) => data.find((one) => one.id === id)
      assert.deepInclude(entry("kling-4"), {
        durations: { min: 3, max: 30, default: 5, smart: false },
        resolutions: ["720p", "1080p", "4K"],
        limits: { seconds: [3, 30], resolutions: ["720p", "1080p", "4K"] }
      })
      assert.notProperty(entry("kling-4"), "takes")
      assert.deepInclude(entry("seedance-25"), {
        durations: { min: 4, max: 30, default: 5, smart: true },
        resolutions: ["480p", "720p", "1080p", "4K"]
      })
      assert.deepInclude(entry("h3"), { resolutions: ["720p", "768p", "2K"] })
      assert.deepInclude(entry("steps"), {
        durations: { min: 4, max: 8, only: [4, 6, 8], default: 4, smart: false },
        ratios: ["9:16", "1:1"],
        takes: [
          {
            inputs: [{ first_frame: 1 }],
            durations: { min: 4, max: 8, only: [4, 6, 8], smart: false },
            resolutions: ["720p", "1080p", "4K"],
            sound: "always"
          }
        ]
      })
      assert.deepInclude(entry("two-mounts"), {
        durations: { min: 3, max: 30, default: 5, smart: false },
        resolutions: ["720p", "1080p", "4K"]
      })
      // Both mounts exclude silent videos, and the second one takes the longer texts.
      assert.deepInclude(entry("short-texts"), { max_prompt: 40, silent: false })
      assert.notProperty(entry("short-texts"), "sound")
      assert.notProperty(entry("kling-4"), "max_prompt")
    })
  )

  it.effect.each([
    [{ model: "kling-4", seconds: "30", size: "1920x1080" }, "1920x1080"],
    [{ model: "steps", seconds: "4" }, "720x1280"],
    [{ model: "h3", seconds: "30", size: "1366x768" }, "1366x768"]
  ] as const)("OpenAI's form orders %o", ([order, size]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { key } = yield* gateway.customer("1000")
      const json = { prompt: "a lighthouse", ...order }
      const answer = yield* gateway.call("/v1/videos", { key, json })
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepInclude(answer.body, { seconds: order.seconds, size })
    })
  )

  it.effect("OpenAI's form names the nearest seconds and sizes", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { key } = yield* gateway.customer("100")
      const refused = Effect.fnUntraced(function* (json: object) {
        const answer = yield* gateway.call("/v1/videos", { key, json: { prompt: "a", ...json } })
        return yield* errorOf(answer)
      })
      assert.deepInclude(yield* refused({ model: "kling-4", seconds: "31" }), { param: "seconds" })
      assert.deepInclude(yield* refused({ model: "steps", size: "1280x720" }), { param: "size" })
    })
  )

  it.effect("a catalog is checked with its limits, and warned of what the vendor has not", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const catalog = catalogFor(gateway.simulator.url)
      const preview = Effect.fnUntraced(function* (limits: object, upstream_model: string) {
        const [model] = catalog.models
        return yield* gateway.admin("/catalog/preview", {
          json: {
            ...catalog,
            models: [{ ...model, limits }],
            mounts: [{ model: "kling-4", channel: "ch-d", upstream_model }]
          }
        })
      })
      const narrower = yield* preview({ seconds: [30, 3] }, "kling-v4")
      assert.strictEqual(narrower.status, 400, narrower.text)
      assert.deepInclude((yield* bodyAs(Refused, narrower)).error, {
        param: "models[0].limits.seconds"
      })
      const Warned = Schema.Struct({
        warnings: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))
      })
      const { warnings } = yield* bodyAs(Warned, yield* preview({ seconds: [3, 30] }, "kling-v3"))
      assert.deepStrictEqual(
        warnings.map(({ path }) => path),
        ["models[0].limits.seconds"]
      )
    })
  )
})
