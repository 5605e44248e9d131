/** Edits, streams and options of images, as the official package sends them. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { toFile } from "openai"
import { Gateway, layerTestGateway, quickSettings, testCatalog } from "../support/gateway.ts"
import { done, openaiOf, rejection } from "../support/officialClients.ts"

/** A PNG begins with these bytes. */
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3])

const catalogFor = (url: string) => {
  const catalog = testCatalog(url)
  const table = {
    auto: { "1024x1024": "0.3", auto: "0.25" },
    high: { "1024x1024": "0.5", "256x256": "0.1" },
    "*": { "*": "0.4" }
  }
  return {
    ...catalog,
    channels: [
      ...catalog.channels,
      { id: "ch-b", name: "B", base_url: `${url}/ip_b`, api_key: "vendor-key-b" }
    ],
    models: [
      ...catalog.models,
      {
        id: "tiers",
        modality: "image" as const,
        protocol: "ip_a",
        prices: { kind: "image" as const, per_image: table }
      },
      {
        id: "native",
        modality: "image" as const,
        protocol: "ip_b",
        prices: { kind: "image" as const, per_image: "0.2" }
      }
    ],
    mounts: [
      ...catalog.mounts,
      { model: "tiers", channel: "ch-i", cost: { kind: "image" as const, per_image: table } },
      { model: "native", channel: "ch-b", upstream_model: "wan2.7-image" }
    ]
  }
}

const picture = (name: string) => toFile(PNG, name, { type: "image/png" })
const lighthouse = { model: "paint-1", prompt: "a lighthouse", size: "64x64" as const }

layer(layerTestGateway("postgres", quickSettings, { catalogFor }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("images of the openai package", (it) => {
  const lastSent = Effect.gen(function* () {
    const gateway = yield* Gateway
    return (yield* gateway.simulator.requests).at(-1)
  })

  it.effect("are edits of one file, of several with a mask, and of addresses", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const client = yield* openaiOf(who)
      const marker = { media_type: "image/png", bytes: PNG.length }

      const one = yield* done(async () =>
        client.images.edit({ ...lighthouse, image: await picture("a.png"), n: 2 })
      )
      assert.strictEqual(one.data?.length, 2)
      const first = yield* lastSent
      assert.match(first?.path ?? "", /\/images\/edits$/)
      assert.match(first?.headers["content-type"] ?? "", /^multipart\/form-data/)
      const form = first?.body
      assert.deepInclude(form, { model: "vendor-paint-1", n: "2", size: "64x64" })
      assert.containsSubset(form, { image: marker })
      assert.strictEqual((yield* gateway.balance(who)).balance, "9.6")

      yield* done(async () =>
        client.images.edit({
          ...lighthouse,
          image: [await picture("a.png"), await picture("b.png")],
          mask: await picture("mask.png"),
          output_compression: 80
        })
      )
      assert.containsSubset((yield* lastSent)?.body, {
        "image[]": [marker, marker],
        mask: marker,
        output_compression: "80"
      })

      const addressed = yield* gateway.call("/v1/images/edits", {
        key: who.key,
        json: {
          ...lighthouse,
          images: [{ image_url: "https://media.test/1.png" }],
          mask: { image_url: "https://media.test/2.png" }
        }
      })
      assert.strictEqual(addressed.status, 200, addressed.text)
      assert.deepInclude((yield* lastSent)?.body, {
        images: [{ image_url: "https://media.test/1.png" }],
        mask: { image_url: "https://media.test/2.png" }
      })
      // A vendor without edits makes new images with the same references.
      const native = yield* done(async () =>
        client.images.edit({ ...lighthouse, model: "native", image: await picture("a.png") })
      )
      assert.strictEqual(native.data?.length, 1)
      assert.containsSubset((yield* lastSent)?.body, {
        input: { messages: [{ content: [{ image: marker }, { text: "a lighthouse" }] }] },
        parameters: { n: 1 }
      })
      assert.strictEqual((yield* gateway.balance(who)).balance, "9")
      yield* gateway.verify
    })
  )

  it.effect("come while they are made, unfinished and finished, and are charged by n", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const client = yield* openaiOf(who)
      const made = yield* done(async () => {
        const stream = await client.images.generate({
          ...lighthouse,
          n: 2,
          stream: true,
          partial_images: 2
        })
        const types: Array<string> = []
        for await (const event of stream) {
          assert.isTrue(
            Buffer.from(event.b64_json, "base64").subarray(0, 4).equals(PNG.subarray(0, 4))
          )
          types.push(event.type)
        }
        return types
      })
      const partial = "image_generation.partial_image"
      const completed = "image_generation.completed"
      assert.deepStrictEqual(made, [partial, partial, completed, partial, partial, completed])
      assert.strictEqual((yield* gateway.balance(who)).balance, "9.6")

      const edited = yield* done(async () => {
        const stream = await client.images.edit({
          ...lighthouse,
          image: await picture("a.png"),
          stream: true,
          partial_images: 1
        })
        const types: Array<string> = []
        for await (const event of stream) types.push(event.type)
        return types
      })
      assert.deepStrictEqual(edited, ["image_edit.partial_image", "image_edit.completed"])
      assert.strictEqual((yield* gateway.balance(who)).balance, "9.4")
      yield* gateway.verify
    })
  )

  it.effect.each([
    [{ quality: "high", size: "1024x1024" }, "0.5", { quality: "high", size: "1024x1024" }],
    [{ quality: "HIGH", size: "0256x256" }, "0.1", { quality: "high", size: "256x256" }],
    [{ size: "1024x1024" }, "0.3", { quality: "auto", size: "1024x1024" }],
    [{}, "0.25", { quality: "auto" }],
    [{ quality: "auto", size: null }, "0.25", { quality: "auto" }],
    [{ quality: "low", size: "1x1" }, "0.4", { quality: "low", size: "1x1" }]
  ] as const)("%j cost %s by a table, and the vendor is told %j", ([said, price, sent]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("1")
      const order = { model: "tiers", prompt: "a lighthouse", ...said }
      const quoted = yield* gateway.call("/v1/quotes", { key: who.key, json: order })
      assert.deepInclude(quoted.body, { hold: price, unit_price: price })
      const answer = yield* gateway.call("/v1/images/generations", { key: who.key, json: order })
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepInclude((yield* lastSent)?.body, sent)
      const usage = yield* gateway.call("/v1/usage", { key: who.key })
      assert.containsSubset(usage.body, { data: [{ charge: price, unit_price: price, output: 1 }] })
      yield* gateway.verify
    })
  )

  it.effect.each([
    ["tiers", { quality: "high", size: "512x512" }, "billing_unavailable", "size"],
    ["tiers", { quality: "auto", size: "2x2" }, "billing_unavailable", "size"],
    ["paint-1", { background: "green" }, "invalid_request", "background"],
    ["paint-1", { quality: 5 }, "invalid_request", "quality"],
    ["paint-1", { quality: "hi\u0000gh" }, "invalid_request", "quality"],
    ["paint-1", { output_compression: 101 }, "invalid_request", "output_compression"],
    ["paint-1", { partial_images: 4, stream: true }, "invalid_request", "partial_images"],
    ["paint-1", { partial_images: 1 }, "invalid_request", "partial_images"],
    ["paint-1", { frame_count: 4 }, "invalid_request", "frame_count"],
    ["native", { quality: "high" }, "invalid_request", "quality"],
    ["native", { background: "opaque" }, "invalid_request", "background"],
    ["native", { seed: "7" }, "invalid_request", "seed"],
    ["native", { negative_prompt: "x".repeat(501) }, "invalid_request", "negative_prompt"],
    ["native", { stream: true }, "invalid_request", "stream"]
  ] as const)("of %s with %j are refused: %s, %s", ([model, said, code, param]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      yield* gateway.simulator.clearRequests
      const json = { model, prompt: "a lighthouse", ...said }
      const refused = yield* gateway.call("/v1/images/generations", { key: who.key, json })
      assert.containsSubset(refused.body, { error: { code, param } })
      assert.deepStrictEqual(yield* gateway.simulator.requests, [])
      assert.deepInclude(yield* gateway.balance(who), { balance: "10", held: "0" })
    })
  )

  it.effect("cannot be edited without pictures, with too many, or where there is no mask", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const client = yield* openaiOf(who)
      yield* gateway.simulator.clearRequests
      const some = yield* done(() =>
        Promise.all(Array.from({ length: 17 }, () => picture("a.png")))
      )
      const [image = yield* done(() => picture("a.png"))] = some
      for (const [params, param] of [
        [{ image: [] }, "image"],
        [{ image: some }, "image"],
        [{ image, model: "native", mask: image }, "mask"],
        [{ image: some.slice(0, 10), model: "native" }, "image"],
        [{ image, model: "native", stream: true as const }, "stream"],
        [{ image, n: 11 }, "n"]
      ] as const) {
        const error = yield* rejection(() =>
          client.images.edit({ ...lighthouse, ...params, image: [params.image].flat() })
        )
        assert.deepInclude(error, { status: 400, param })
      }
      const later = yield* gateway.call("/v1/images/generations", {
        key: who.key,
        headers: { prefer: "respond-async" },
        json: { ...lighthouse, stream: true }
      })
      assert.containsSubset(later.body, { error: { code: "invalid_request", param: "stream" } })
      assert.deepStrictEqual(yield* gateway.simulator.requests, [])
    })
  )

  it.effect("tell what their models take", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("0")
      const listed = yield* gateway.call("/v1/models?modality=image", { key: who.key })
      assert.containsSubset(listed.body, {
        data: [
          { id: "paint-1", references: { max: 16, mask: true }, streams: true },
          { id: "tiers", prices: { per_image: { high: { "1024x1024": "0.5" } } } },
          {
            id: "native",
            references: { max: 9, mask: false },
            streams: false,
            parameters: { seed: { type: "integer" } }
          }
        ]
      })
    })
  )

  it.effect("are asked for once under one key, and their streams are not kept", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const options = {
        key: who.key,
        headers: { "idempotency-key": "one" },
        json: { ...lighthouse, stream: true }
      }
      const first = yield* gateway.call("/v1/images/generations", options)
      assert.match(first.text, /event: image_generation\.completed/)
      const again = yield* gateway.call("/v1/images/generations", options)
      assert.strictEqual(again.status, 409)
      assert.containsSubset(again.body, { error: { code: "idempotency_conflict" } })
      assert.strictEqual((yield* gateway.balance(who)).balance, "9.8")
    })
  )

  it.effect.each([
    ["sim:errors=0", 502, "10"],
    ["sim:breaks=0", 502, "10"],
    ["sim:moderate-output", 400, "10"],
    ["sim:errors=1", 200, "9.8"],
    ["sim:breaks=1", 200, "9.8"]
  ] as const)("that break off by %s answer %i and leave %s", ([word, status, left]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const json = { ...lighthouse, prompt: word, stream: true, partial_images: 2 }
      const answer = yield* gateway.call("/v1/images/generations", { key: who.key, json })
      assert.strictEqual(answer.status, status, answer.text)
      if (status === 200) {
        assert.match(answer.text, /partial_image[\s\S]*"code":"upstream_error"/)
        assert.notMatch(answer.text, /completed/)
      }
      assert.deepInclude(yield* gateway.balance(who), { balance: left, held: "0" })
      yield* gateway.verify
    })
  )
})
