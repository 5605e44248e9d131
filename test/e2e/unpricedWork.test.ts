import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { bodyAs, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { errorOf } from "../support/orders.ts"
import { protocolCatalog } from "../support/protocolCatalog.ts"
import { TALK_PRICES } from "../support/textCatalog.ts"

/** Image models of every protocol, and one of text. */
const catalogFor = (simulatorUrl: string): typeof CatalogWrite.Encoded => {
  const catalog = protocolCatalog(simulatorUrl)
  return {
    channels: [
      ...catalog.channels,
      { id: "ch-t", name: "T", base_url: `${simulatorUrl}/openai/v1`, api_key: "vendor-key-t" }
    ],
    models: [
      ...catalog.models,
      { id: "talk-1", modality: "chat", protocol: "openai", prices: TALK_PRICES },
      { id: "vector-1", modality: "embedding", protocol: "openai", prices: TALK_PRICES }
    ],
    mounts: [
      ...catalog.mounts,
      { model: "talk-1", channel: "ch-t" },
      { model: "vector-1", channel: "ch-t" }
    ]
  }
}

const Entries = Schema.Struct({ data: Schema.Array(Schema.Unknown) })

const passedOn = ["paint-a", "relay-paint-standard"] as const
const translated = ["paint-b", "relay-paint-messages"] as const

type Json = Readonly<Record<string, unknown>>

/** Each is refused as a quote and as an order, with the same error, and none is held for or sent. */
const allRefused = Effect.fnUntraced(function* (
  path: string,
  rows: ReadonlyArray<readonly [param: string, message: string, body: Json]>
) {
  const gateway = yield* Gateway
  const who = yield* gateway.customer("10")
  const before = (yield* gateway.simulator.book).length
  for (const [param, message, json] of rows) {
    const label = JSON.stringify(json)
    const quoted = yield* gateway.call("/v1/quotes", { key: who.key, json })
    const ordered = yield* gateway.call(path, { key: who.key, json })
    assert.deepStrictEqual([quoted.status, ordered.status], [400, 400], label)
    const error = yield* errorOf(ordered)
    assert.deepStrictEqual(yield* errorOf(quoted), error)
    assert.deepInclude(error, { code: "invalid_request", param }, label)
    assert.include(error.message, message, label)
  }
  assert.strictEqual((yield* gateway.simulator.book).length, before)
  assert.deepInclude(yield* gateway.balance(who), { balance: "10", held: "0" })
  const ledger = yield* gateway.admin(`/organizations/${who.organizationId}/ledger`)
  assert.lengthOf((yield* bodyAs(Entries, ledger)).data, 1, "only the deposit")
})

const paint = (model: string, fields: Json) => ({ model, prompt: "a lighthouse", ...fields })

layer(layerTestGateway("embedded", quickSettings, { catalogFor }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("work that no price covers", (it) => {
  const streamed = [
    ["stream", "true", "Expected true or false"],
    ["stream", 1, "Expected true or false"],
    ["stream", {}, "Expected true or false"],
    ["partial_images", 2, "Expected 0, or stream: true beside it"],
    ["partial_images", true, "Expected a whole number from 0 to 3"]
  ] as const
  const whole = ["stream", true, "this model's images are answered whole"] as const

  it.effect.each([...passedOn, ...translated])("is refused of %s: what is no stream", (model) =>
    allRefused(
      "/v1/images/generations",
      (model === "paint-a" ? streamed : [...streamed, whole]).map(([field, value, message]) => [
        field,
        message,
        paint(model, { [field]: value })
      ])
    )
  )

  const counts = [
    ["batch_size", { batch_size: 4 }],
    ["num_images", { num_images: 4 }],
    ["numImages", { numImages: 4 }],
    ["NUM-IMAGES", { "NUM-IMAGES": 4 }],
    ["num_outputs", { num_outputs: "4" }],
    ["num_images_per_prompt", { num_images_per_prompt: 4 }],
    ["batch_count", { batch_count: 4 }],
    ["n_iter", { n_iter: 4 }],
    ["samples", { samples: 4 }],
    ["count", { count: 4 }],
    ["image_count", { image_count: 4 }],
    ["images_count", { images_count: 4 }],
    ["numberOfImages", { numberOfImages: 4 }],
    ["number_of_images", { number_of_images: 4 }],
    ["sampleCount", { sampleCount: 4 }],
    ["candidate_count", { candidate_count: 4 }],
    ["numberResults", { numberResults: 4 }],
    ["max_images", { max_images: 4 }],
    ["N", { N: 4 }],
    ["ｎ", { ｎ: 4 }],
    ["parameters.n", { parameters: { n: 4 } }],
    ["extra_body.n", { extra_body: { n: 4 } }],
    ["instances[1].sampleCount", { instances: [{}, { sampleCount: 4 }] }],
    ["batch_size", { n: 4, batch_size: 4 }],
    ["batch_size", { batch_size: true }],
    ["sequential_image_generation", { sequential_image_generation: "auto" }],
    [
      "sequential_image_generation_options.max_images",
      { sequential_image_generation_options: { max_images: 15 } }
    ],
    ["enable_sequential", { enable_sequential: true }]
  ] as const

  it.effect.each(passedOn)("is refused of %s: more images than n", (model) =>
    allRefused(
      "/v1/images/generations",
      counts.map(([path, fields]) => [
        path,
        `${path}: n is the field for the number of images`,
        paint(model, fields)
      ])
    )
  )

  it.effect.each(passedOn)("is refused of %s: another delivery, model or tier", (model) =>
    allRefused(
      "/v1/images/generations",
      [
        ["parameters.stream", { parameters: { stream: true } }] as const,
        ["Stream", { Stream: true }] as const,
        ["\u017ftream", { "\u017ftream": true }] as const,
        ["async", { async: true }] as const,
        ["parameters.callback_url", { parameters: { callback_url: "https://a.test" } }] as const,
        ["config.webhook_config", { config: { webhook_config: {} } }] as const,
        ["storageUri", { storageUri: "gs://a" }] as const,
        ["Model", { Model: "dear" }] as const,
        ["extra_body.model", { extra_body: { model: "dear" } }] as const,
        ["fallbacks", { fallbacks: ["dear"] }] as const,
        ["extra_body.models", { extra_body: { models: ["dear"] } }] as const,
        ["mock_response", { mock_response: "x" }] as const,
        ["service_tier", { service_tier: "priority" }] as const
      ].map(([path, fields]) => [path, `${path}: `, paint(model, fields)])
    )
  )

  it.effect("is told of in full", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const answer = yield* gateway.call("/v1/images/generations", {
        key: who.key,
        json: { model: "paint-a", prompt: "x", num_images: 4, parameters: { n: 2, stream: true } }
      })
      assert.deepNestedInclude(answer.body, {
        "error.faults": [
          { path: "num_images", message: "n is the field for the number of images" },
          { path: "parameters.n", message: "n is the field for the number of images" },
          {
            path: "parameters.stream",
            message: "stream and partial_images are the fields for this"
          }
        ]
      })
    })
  )

  it.effect.each([
    ["paint-a", { stream: false, partial_images: 0, n: 2 }, "9.66"],
    ["paint-a", { stream: null, partial_images: null }, "9.83"],
    ["paint-a", { user: "n", quality: "high", batch_size: 1, background: "auto" }, "9.83"],
    ["paint-a", { sequential_image_generation: "disabled", metadata: { n: "4" } }, "9.83"],
    ["relay-paint-standard", { stream: false, batch_size: 1, n: 2 }, "9.66"],
    ["paint-b", { batch_size: 4, parameters: { n: 4, stream: true }, stream: false }, "9.83"],
    ["relay-paint-messages", { num_images: 4, Stream: true, N: 4 }, "9.83"]
  ] as const)("is none: %s takes %j", ([model, fields, balance]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const json = { model, prompt: "a lighthouse", ...fields }
      const answer = yield* gateway.call("/v1/images/generations", { key: who.key, json })
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepInclude(yield* gateway.balance(who), { balance, held: "0" })
    })
  )

  it.effect("is refused of chats", () =>
    allRefused(
      "/v1/chat/completions",
      [
        ["best_of", { best_of: 20 }] as const,
        ["candidateCount", { candidateCount: 20 }] as const,
        ["N", { n: 1, N: 20 }] as const,
        ["MODEL", { MODEL: "dear" }] as const,
        ["models", { models: ["dear"] }] as const,
        ["extra_body.deployment_id", { extra_body: { deployment_id: "dear" } }] as const,
        ["web_search_options", { web_search_options: {} }] as const,
        ["tools[0]", { tools: [{ type: "web_search" }] }] as const,
        ["service_tier", { service_tier: "priority" }] as const
      ].map(([path, fields]) => [
        path,
        `${path}: `,
        { model: "talk-1", messages: [{ role: "user", content: "x" }], ...fields }
      ])
    )
  )

  const long = "so it goes ".repeat(6000)
  const part = (fields: object) => ({
    model: "talk-1",
    max_tokens: 1,
    messages: [{ role: "user", content: [{ type: "text", text: "what is it?", ...fields }] }]
  })

  const texts = [
    ["/v1/chat/completions", part({ file: {}, text: long })],
    ["/v1/chat/completions", part({ video: "https://a.test/1.mp4", text: long })],
    ["/v1/chat/completions", part({ image: { url: "https://a.test/1.png", caption: long } })],
    ["/v1/chat/completions", part({ file: [long] })],
    [
      "/v1/chat/completions",
      part({
        file: { file_data: `data:text/plain;base64,${Buffer.from(long).toString("base64")}` }
      })
    ],
    ["/v1/chat/completions", part({ [long]: 1 })],
    ["/v1/chat/completions", { ...part({}), user: long }],
    ["/v1/chat/completions", { ...part({}), whatever: Array.from({ length: 20_000 }, () => true) }],
    ["/v1/embeddings", { model: "vector-1", input: "x", instruction: long }]
  ] as const

  it.effect("is held for where it is text", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const before = (yield* gateway.simulator.book).length
      const who = yield* gateway.customer("0.02")
      for (const [path, json] of texts) {
        const answer = yield* gateway.call(path, { key: who.key, json })
        const label = `${JSON.stringify(json).slice(0, 200)}: ${answer.text.slice(0, 200)}`
        assert.strictEqual(answer.status, 402, label)
      }
      assert.strictEqual((yield* gateway.simulator.book).length, before)
    })
  )
})
