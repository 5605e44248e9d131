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
    { id: "clip-9", modality: "video", protocol: "fal", prices: perSecond },
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
    {
      model: "clip-9",
      channel: "fal",
      upstream_model: "fal-ai/bytedance/seedance/v1/pro/text-to-video"
    },
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
        resolutions: ["720p", "1080p"]
      })

      const refusal = yield* orderVideo(who, { model: "toy-film", prompt: "x", duration: 6 })
      assert.deepNestedInclude(refusal.body, { "error.nearest": 4 })
      for (const [fields, param] of [
        [{ mood: "angry" }, "mood"],
        [{ tags: ["a", "b", "c"] }, "tags"],
        [{ tags: ["sea --duration 8"] }, "tags"],
        [{ things: [] }, "things"]
      ] as const) {
        const order = { model: "toy-film", prompt: "x", duration: 8, ...fields }
        const invalidOrder = yield* orderVideo(who, order)
        assert.strictEqual(invalidOrder.status, 400, invalidOrder.text)
        assert.deepNestedInclude(invalidOrder.body, { "error.param": param })
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
        ["protocols[0].id", "protocols[1].calls.status.path", "mounts[3].upstream_model"]
      )
    })
  )
})
