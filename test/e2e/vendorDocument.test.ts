/** Vendors that documents describe, through the whole gateway: built-in ones, and one of the catalog. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { toyDocument } from "../domain/queue/documents.ts"
import { brokenVendor, type ReceivedRequest, type WrittenReply } from "../support/brokenVendor.ts"
import { bodyAs, type Customer, Gateway, layerTestGateway } from "../support/gateway.ts"

type Catalog = typeof CatalogWrite.Encoded

const IMAGE = "https://media.test/1.png"

const perSecond = {
  kind: "second_video",
  per_second: { "720p": "0.5", "1080p": "0.9" }
} as const

const falVideos = {
  "clip-9": "fal-ai/bytedance/seedance/v1/pro/text-to-video",
  "shots-3": "fal-ai/kling-video/v3/pro/text-to-video",
  "shots-3-image": "fal-ai/kling-video/v3/pro/image-to-video",
  "shots-4": "fal-ai/kling-video/v4/text-to-video",
  "shots-4-image": "fal-ai/kling-video/v4/image-to-video"
}

const builtInCatalog = (simulatorUrl: string): Catalog => ({
  channels: [
    { id: "fal", name: "fal", base_url: `${simulatorUrl}/fal`, api_key: "fal-key" },
    {
      id: "replicate",
      name: "Replicate",
      base_url: `${simulatorUrl}/replicate/v1`,
      api_key: "replicate-key"
    }
  ],
  models: [
    ...Object.keys(falVideos).map((id) => ({
      id,
      modality: "video" as const,
      protocol: "fal",
      prices: perSecond
    })),
    {
      id: "paint-10",
      modality: "image",
      protocol: "replicate",
      prices: { kind: "image", per_image: "0.02" }
    },
    {
      id: "upscale-9",
      modality: "image",
      protocol: "fal",
      prices: { kind: "image", per_image: "0.2" }
    }
  ],
  mounts: [
    ...Object.entries(falVideos).map(([model, upstream_model]) => ({
      model,
      channel: "fal",
      upstream_model
    })),
    {
      model: "paint-10",
      channel: "replicate",
      upstream_model: "black-forest-labs/flux-schnell"
    },
    { model: "upscale-9", channel: "fal", upstream_model: "fal-ai/clarity-upscaler" }
  ]
})

/** The catalog with the invented vendor; `protocols` may be anything, as an operator may write it. */
const toyCatalog = (simulatorUrl: string, vendorUrl: string, protocols: unknown) => {
  const { channels, models, mounts } = builtInCatalog(simulatorUrl)
  return {
    channels: [...channels, { id: "toys", name: "Toys", base_url: vendorUrl, api_key: "toy-key" }],
    models: [
      ...models,
      { id: "toy-film", modality: "video", protocol: "toy_queue", prices: perSecond }
    ],
    mounts: [...mounts, { model: "toy-film", channel: "toys", upstream_model: "film/one" }],
    protocols
  }
}

/** Busy at the first look at a job, and then done. */
const toyVendor = () => {
  const targets = new Set<string>()
  return ({ method, target, headers }: ReceivedRequest): WrittenReply => {
    if (headers["x-toy-key"] !== "toy-key")
      return { status: 401, body: { error: { text: "who?" } } }
    if (method === "POST") return { body: { job: { id: "j/1", state: "new" } } }
    if (!targets.has(target)) {
      targets.add(target)
      return { body: { job: { state: "busy" } } }
    }
    return { body: { job: { state: "done", files: [{ href: "https://toys.test/1.mp4" }] } } }
  }
}

const shots = [
  { prompt: "a bear", seconds: 4 },
  { prompt: "its cub", seconds: 5 }
]

/** The body of the last order that the simulated vendors were sent. */
const lastSent = Effect.gen(function* () {
  const { simulator } = yield* Gateway
  const requests = yield* simulator.requests
  return requests.findLast(({ method }) => method === "POST")?.body
})

const Created = Schema.Struct({ id: Schema.String })
const Faults = Schema.Struct({
  error: Schema.Struct({ faults: Schema.Array(Schema.Struct({ path: Schema.String })) })
})

const orderVideo = Effect.fnUntraced(function* (who: Customer, json: object) {
  const gateway = yield* Gateway
  return yield* gateway.call("/v1/videos/generations", { key: who.key, json })
})

const putCatalog = Effect.fnUntraced(function* (json: unknown) {
  const gateway = yield* Gateway
  return yield* gateway.admin("/catalog", { method: "PUT", json })
})

const faultPaths = Effect.fnUntraced(function* (protocols: unknown) {
  const { simulator } = yield* Gateway
  const answer = yield* putCatalog(toyCatalog(simulator.url, "http://toys.test", protocols))
  assert.strictEqual(answer.status, 400, answer.text)
  const { error } = yield* bodyAs(Faults, answer)
  return error.faults.map(({ path }) => path)
})

layer(layerTestGateway("embedded", undefined, { catalogFor: builtInCatalog }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("a vendor by document", (it) => {
  it.effect("makes a video of fal from hold to charge", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const creation = yield* orderVideo(who, {
        model: "clip-9",
        prompt: "a bear",
        duration: 7,
        seed: 4
      })
      assert.strictEqual(creation.status, 200, creation.text)
      assert.propertyVal(yield* gateway.balance(who), "held", "3.5")
      const { id } = yield* bodyAs(Created, creation)
      const done = yield* gateway.call(`/v1/videos/${id}?wait=30`, { key: who.key })
      assert.propertyVal(done.body, "task_status", "succeeded", done.text)
      assert.deepInclude(yield* gateway.balance(who), { balance: "6.5", held: "0" })
      yield* gateway.verify
    })
  )

  it.effect.each([
    [
      "shots-3",
      { generate_audio: false },
      {
        duration: "9",
        aspect_ratio: "16:9",
        generate_audio: false,
        multi_prompt: [
          { prompt: "a bear", duration: "4" },
          { prompt: "its cub", duration: "5" }
        ]
      }
    ],
    [
      "shots-3-image",
      { image: IMAGE, shot_type: "customize", duration: 9, prompt: "" },
      {
        duration: "9",
        start_image_url: IMAGE,
        shot_type: "customize",
        multi_prompt: [
          { prompt: "a bear", duration: "4" },
          { prompt: "its cub", duration: "5" }
        ]
      }
    ],
    [
      "shots-4",
      { ratio: "9:16" },
      {
        duration: 9,
        resolution: "720p",
        aspect_ratio: "9:16",
        multi_prompt: [
          { prompt: "a bear", duration: 4 },
          { prompt: "its cub", duration: 5 }
        ]
      }
    ]
  ] as const)("makes a video of shots, whose lengths are its length: %s", ([model, fields, wire]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const order = { model, shots, ...fields }
      const quote = yield* gateway.call("/v1/quotes", { key: who.key, json: order })
      assert.propertyVal(quote.body, "hold", "4.5", quote.text)
      const creation = yield* orderVideo(who, order)
      assert.strictEqual(creation.status, 200, creation.text)
      assert.propertyVal(yield* gateway.balance(who), "held", "4.5")
      assert.deepStrictEqual(yield* lastSent, wire)
      const { id } = yield* bodyAs(Created, creation)
      const done = yield* gateway.call(`/v1/videos/${id}?wait=30`, { key: who.key })
      assert.propertyVal(done.body, "task_status", "succeeded", done.text)
      assert.deepInclude(yield* gateway.balance(who), { balance: "5.5", held: "0" })
      const book = yield* gateway.simulator.book
      const ended = book.findLast((entry) => entry.event === "succeeded")
      assert.deepInclude(ended, { produced: { seconds: 9, images: null, completion_tokens: null } })
      yield* gateway.verify
    })
  )

  it.effect("the limits of shots are those of the document", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const listed = yield* gateway.call("/v1/models/shots-4", { key: who.key })
      assert.deepNestedInclude(listed.body, { shots: { max: 10, seconds: { min: 3, max: 30 } } })
      const other = yield* gateway.call("/v1/models/clip-9", { key: who.key })
      assert.notProperty(other.body, "shots")
    })
  )

  it.effect.each([
    ["a model without shots", { model: "clip-9" }, "shots", "takes no list of shots"],
    ["a prompt beside them", { prompt: "a bear" }, "prompt", "none beside shots"],
    [
      "a text in the content beside them",
      { content: [{ type: "text", text: "a bear" }] },
      "content[0].text",
      "none beside shots"
    ],
    ["another duration", { duration: 8 }, "duration", "have 9 seconds in all, not 8"],
    [
      "a length of the model's choice",
      { duration: -1 },
      "duration",
      "have 9 seconds in all, not -1"
    ],
    ["none", { shots: [] }, "shots", "an array of 1 to 64 shots"],
    [
      "another duration in a flag",
      { shots: [...shots, { prompt: "x --duration 7", seconds: 3 }] },
      "duration",
      "not 7"
    ],
    [
      "too short a shot",
      { shots: [...shots, { prompt: "x", seconds: 2 }] },
      "shots[2].seconds",
      "Expected 3 to 15"
    ],
    [
      "a part of a second",
      { shots: [...shots, { prompt: "x", seconds: 2.5 }] },
      "shots[2].seconds",
      "a whole number"
    ],
    [
      "an unknown field",
      { shots: [{ prompt: "x", seconds: 4, duration: 4 }] },
      "shots[0].duration",
      "mean seconds?"
    ],
    [
      "a shot of flags alone",
      { shots: [...shots, { prompt: "--ratio 1:1", seconds: 3 }] },
      "shots[2].prompt",
      "a text"
    ],
    [
      "too many of them",
      { shots: Array(6).fill({ prompt: "x", seconds: 3 }) },
      "shots",
      "at most 5 shots"
    ],
    [
      "too long a video",
      { shots: [...shots, ...shots] },
      "duration",
      "takes whole seconds from 3 to 15"
    ],
    [
      "too long a text",
      { shots: [{ prompt: "x".repeat(100_001), seconds: 4 }] },
      "shots[0].prompt",
      "at most 100000"
    ],
    [
      "another name",
      { shots: null, prompt: "x", multi_prompt: shots },
      "multi_prompt",
      "did you mean shots?"
    ]
  ] as const)("refuses shots before the hold: %s", ([, fields, param, message]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const order = { model: "shots-3", shots, ...fields }
      const refusal = yield* orderVideo(who, order)
      assert.strictEqual(refusal.status, 400, refusal.text)
      assert.deepNestedInclude(refusal.body, { "error.param": param }, refusal.text)
      assert.include(refusal.text, message)
      const quote = yield* gateway.call("/v1/quotes", { key: who.key, json: order })
      assert.deepNestedInclude(quote.body, { "error.param": param }, quote.text)
      assert.deepInclude(yield* gateway.balance(who), { balance: "10", held: "0" })
    })
  )

  it.effect(
    "takes no resolution of a model without a field for it but the one that is billed",
    () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("10")
        const order = { model: "shots-3", prompt: "a bear", duration: 4 }
        for (const resolution of ["1080p", "480p", "4K"]) {
          const refusal = yield* orderVideo(who, { ...order, resolution })
          assert.strictEqual(refusal.status, 400, refusal.text)
          assert.deepNestedInclude(refusal.body, {
            "error.code": "video_sku_invalid",
            "error.param": "resolution",
            "error.allowed": ["720p"],
            "error.nearest": "720p"
          })
        }
        const flagged = yield* orderVideo(who, { ...order, prompt: "a bear --resolution 1080p" })
        assert.deepNestedInclude(flagged.body, { "error.param": "resolution" }, flagged.text)
        assert.deepInclude(yield* gateway.balance(who), { balance: "10", held: "0" })
        const creation = yield* orderVideo(who, { ...order, resolution: "720P" })
        assert.strictEqual(creation.status, 200, creation.text)
        assert.propertyVal(yield* gateway.balance(who), "held", "2")
        assert.notProperty(yield* lastSent, "resolution")
        const { id } = yield* bodyAs(Created, creation)
        const done = yield* gateway.call(`/v1/videos/${id}?wait=30`, { key: who.key })
        assert.propertyVal(done.body, "task_status", "succeeded", done.text)
        yield* gateway.verify
      })
  )

  it.effect("sends frames between the first and the last one in their order", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("30")
      const frame = (role: string, name: string) => ({
        type: "image_url",
        role,
        image_url: `https://media.test/${name}.png`
      })
      const middle = Array.from({ length: 8 }, (_, index) => `m${index}`)
      const content = [
        { type: "text", text: "a bear" },
        frame("first_frame", "a"),
        frame("last_frame", "z"),
        ...middle.map((name) => frame("middle_frame", name))
      ]
      const creation = yield* orderVideo(who, { model: "shots-4-image", duration: 20, content })
      assert.strictEqual(creation.status, 200, creation.text)
      assert.propertyVal(yield* gateway.balance(who), "held", "10")
      assert.deepStrictEqual(yield* lastSent, {
        prompt: "a bear",
        duration: 20,
        resolution: "720p",
        start_image_url: "https://media.test/a.png",
        end_image_url: "https://media.test/z.png",
        middle_image_urls: middle.map((name) => `https://media.test/${name}.png`)
      })
      const { id } = yield* bodyAs(Created, creation)
      const done = yield* gateway.call(`/v1/videos/${id}?wait=30`, { key: who.key })
      assert.propertyVal(done.body, "task_status", "succeeded", done.text)
      for (const [json, message] of [
        [
          { model: "shots-4-image", content: [...content, frame("middle_frame", "n")] },
          "9 of middle_frame"
        ],
        [{ model: "shots-3-image", content }, "role middle_frame"]
      ] as const) {
        const refusal = yield* orderVideo(who, json)
        assert.strictEqual(refusal.status, 400, refusal.text)
        assert.include(refusal.text, message)
      }
      yield* gateway.verify
    })
  )

  it.effect("makes images of Replicate, and one of fal from another", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const order = (json: object) => gateway.call("/v1/images/generations", { key: who.key, json })
      const made = yield* order({ model: "paint-10", prompt: "a bear", n: 2, size: "1344x768" })
      assert.strictEqual(made.status, 200, made.text)
      const larger = yield* order({ model: "upscale-9", prompt: "a bear sim:slow=0", image: IMAGE })
      assert.strictEqual(larger.status, 200, larger.text)
      assert.deepInclude(yield* gateway.balance(who), { balance: "9.76", held: "0" })
      for (const [json, param] of [
        [{ model: "paint-10", prompt: "x", size: "2K" }, "size"],
        [{ model: "paint-10", prompt: "x", n: 5 }, "n"],
        [{ model: "upscale-9", prompt: "x" }, "image"]
      ] as const) {
        const refusal = yield* order(json)
        assert.strictEqual(refusal.status, 400, refusal.text)
        assert.deepNestedInclude(refusal.body, { "error.param": param })
      }
      yield* gateway.verify
    })
  )

  it.effect("may stand in the catalog, and is in force at once", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const vendor = yield* brokenVendor(toyVendor())
      const loaded = yield* putCatalog(toyCatalog(gateway.simulator.url, vendor.url, [toyDocument]))
      assert.strictEqual(loaded.status, 200, loaded.text)
      assert.deepNestedInclude(loaded.body, { "changes.protocols.added": ["toy_queue"] })
      const stored = yield* gateway.admin("/catalog")
      assert.deepNestedInclude(stored.body, { "protocols[0].id": "toy_queue" })

      const listed = yield* gateway.call("/v1/models/toy-film", { key: who.key })
      assert.deepNestedInclude(listed.body, {
        "durations.only": [4, 8],
        "parameters.mood.values": ["calm", "wild"],
        ratios: ["16:9", "9:16"],
        resolutions: ["720p", "1080p"]
      })

      const refusal = yield* orderVideo(who, { model: "toy-film", prompt: "x", duration: 6 })
      assert.deepNestedInclude(refusal.body, { "error.nearest": 4 })
      for (const [fields, param] of [
        [{ ratio: "4:3" }, "ratio"],
        [{ mood: "angry" }, "mood"],
        [{ tags: ["a", "b", "c"] }, "tags"],
        [{ tags: ["sea --duration 8"] }, "tags"],
        [{ things: [] }, "things"]
      ] as const) {
        const order = { model: "toy-film", prompt: "x", duration: 8, ...fields }
        const invalidOrder = yield* orderVideo(who, order)
        assert.strictEqual(invalidOrder.status, 400, invalidOrder.text)
        assert.deepNestedInclude(invalidOrder.body, {
          "error.code": "invalid_request",
          "error.param": param
        })
      }
      assert.deepInclude(yield* gateway.balance(who), { balance: "10", held: "0" })
      const creation = yield* orderVideo(who, {
        model: "toy-film",
        prompt: "a bear",
        duration: 8,
        mood: "calm",
        tags: ["sea", "night"]
      })
      assert.strictEqual(creation.status, 200, creation.text)
      const { id } = yield* bodyAs(Created, creation)
      const done = yield* gateway.call(`/v1/videos/${id}?wait=30`, { key: who.key })
      assert.deepNestedInclude(done.body, {
        task_status: "succeeded",
        "content.video_url": "https://toys.test/1.mp4"
      })
      const [submitted] = yield* vendor.requests
      assert.strictEqual(submitted?.target, "/v2/film/one/jobs")
      assert.strictEqual(submitted?.headers["x-toy"], "1")
      assert.deepInclude(JSON.parse(submitted?.body ?? ""), {
        say: "a bear",
        shape: "16:9",
        length: "long",
        lines: 720,
        options: { tier: "normal", mood: "calm", tags: ["sea", "night"] }
      })
      assert.deepInclude(yield* gateway.balance(who), { balance: "6", held: "0" })

      const removal = yield* putCatalog(builtInCatalog(gateway.simulator.url))
      assert.deepNestedInclude(removal.body, { "changes.protocols.removed": ["toy_queue"] })
      yield* gateway.verify
    }).pipe(Effect.scoped)
  )

  it.effect("is refused with every fault by its path", () =>
    Effect.gen(function* () {
      const { calls, answers, models } = toyDocument
      const shape = yield* faultPaths([
        { ...toyDocument, key: { header: "X-Key" }, answers: { ...answers, id: ["job"] } }
      ])
      assert.sameMembers([...shape], ["protocols[0].key.header", "protocols[0].answers.id[0]"])
      const contradictions = yield* faultPaths([
        { ...toyDocument, id: "vp_a" },
        {
          ...toyDocument,
          calls: { ...calls, status: { method: "GET", path: "/jobs" } },
          models: models.slice(1)
        }
      ])
      assert.includeMembers(
        [...contradictions],
        ["protocols[0].id", "protocols[1].calls.status.path", "mounts[7].upstream_model"]
      )
    })
  )
})
