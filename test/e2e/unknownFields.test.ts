import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Customer, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { errorOf } from "../support/orders.ts"
import { textCatalog } from "../support/textCatalog.ts"

type Json = Readonly<Record<string, unknown>>

const film = (fields: Json) => ({ model: "film-1", prompt: "a lighthouse", ...fields })
const paint = (fields: Json) => ({ model: "paint-1", prompt: "a lighthouse", ...fields })
const talk = (fields: Json) => ({
  model: "talk-1",
  messages: [{ role: "user", content: "x" }],
  ...fields
})

const ORDER =
  "model, prompt, content, shots, images, image, image_url, audio, audio_url, audios, video, video_url, " +
  "videos, duration, resolution, ratio, generate_audio, user, metadata, callback_url, " +
  "max_wait"
const OWN = "seed, camera_fixed, watermark, return_last_frame, omni_reference_task_type"
const TAKEN = `Video orders of "film-1" take ${ORDER}, and of the vendor's own ${OWN}`

/** The error of an order that is refused, as a quote too. */
const refusal = Effect.fnUntraced(function* (who: Customer, path: string, json: Json) {
  const gateway = yield* Gateway
  const error = yield* errorOf(yield* gateway.call(`/v1/${path}`, { key: who.key, json }))
  assert.deepStrictEqual(
    yield* errorOf(yield* gateway.call("/v1/quotes", { key: who.key, json })),
    error
  )
  return error
})

const NONE = "There is no such field"

layer(layerTestGateway("embedded", quickSettings, { catalogFor: textCatalog() }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("a field of a video order that is not known", (it) => {
  it.effect("is refused by its name, with the one that was meant", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      for (const [field, value, meant] of [
        ["seconds", 10, "duration"],
        ["durration", 10, "duration"],
        ["Duration", 10, "duration"],
        ["aspect_ratio", "16:9", "ratio"],
        ["aspectRatio", "16:9", "ratio"],
        ["size", "1280x720", "resolution"],
        ["resoluton", "1080p", "resolution"],
        ["promt", "x", "prompt"],
        ["generateAudio", true, "generate_audio"],
        ["image_urls", [], "images"],
        ["n", 4, null],
        ["sede", 7, "seed"],
        ["cameraFixed", true, "camera_fixed"],
        ["__proto__x", 7, null]
      ] as const) {
        const error = yield* refusal(who, "videos/generations", film({ [field]: value }))
        const question = meant === null ? "" : `; did you mean ${meant}?`
        assert.deepInclude(error, {
          code: "invalid_request",
          param: field,
          message: `${field}: ${NONE}${meant === null ? "." : question} ${TAKEN}`,
          faults: [{ path: field, message: `${NONE}${question}` }]
        })
      }
      assert.deepInclude(yield* gateway.balance(who), { balance: "10", held: "0" })
    })
  )

  it.effect("is told of beside the others, at most 20", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const call = (json: Json) =>
        gateway.call("/v1/videos/generations", { key: who.key, json: film(json) })
      const three = { seconds: 10, shot_type: "multi", fps: 7, seed: 7 }
      assert.deepNestedInclude((yield* call(three)).body, {
        "error.faults": [
          { path: "shot_type", message: "This model has no such field; vp_c, vp_f, fal have one" },
          { path: "seconds", message: `${NONE}; did you mean duration?` },
          { path: "fps", message: NONE }
        ]
      })
      assert.strictEqual((yield* call({ shot_type: null })).status, 200)
      const many = Object.fromEntries(
        Array.from({ length: 1000 }, (_, index) => [`${index}${"x".repeat(1000)}`, 1])
      )
      const { status, text } = yield* call(many)
      assert.strictEqual(status, 400)
      assert.isBelow(text.length, 6000)
    })
  )

  it.effect("is refused in a block of content", () =>
    Effect.gen(function* () {
      const who = yield* (yield* Gateway).customer("10")
      const image = { type: "image_url", image_url: "https://a.test/1.png" }
      for (const [block, param] of [
        [{ type: "text", text: "x", duration: 15 }, "content[0].duration"],
        [{ ...image, text: "x" }, "content[0].text"],
        [{ ...image, rôle: "first_frame" }, "content[0].rôle"]
      ] as const) {
        const error = yield* refusal(who, "videos/generations", film({ content: [block] }))
        assert.deepInclude(error, { code: "invalid_request", param })
      }
    })
  )

  it.effect("may be a user or notes, which reach no vendor", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const json = film({ user: "canary-user", metadata: { duration: "15", note: "canary-note" } })
      const quote = yield* gateway.call("/v1/quotes", { key: who.key, json })
      assert.deepInclude(quote.body, { hold: "4.968" })
      const answer = yield* gateway.call("/v1/videos/generations", { key: who.key, json })
      assert.strictEqual(answer.status, 200, answer.text)
      assert.notInclude(JSON.stringify(yield* gateway.simulator.book), "canary")
    })
  )

  it.effect.each([
    ["videos/generations", "duration", film({ duration: "5" }), "a whole number of seconds"],
    ["videos/generations", "generate_audio", film({ generate_audio: "true" }), "true or false"],
    ["images/generations", "n", paint({ n: "2" }), "a whole number from 1 to 10"],
    ["chat/completions", "max_tokens", talk({ max_tokens: "10" }), "a whole number from 1 to"],
    ["chat/completions", "n", talk({ n: "2" }), "a whole number from 1 to 128"],
    ["chat/completions", "stream", talk({ stream: "true" }), "true or false"]
  ] as const)("of %s: %s is to be written without quotes", ([path, param, json, expected]) =>
    Effect.gen(function* () {
      const who = yield* (yield* Gateway).customer("10")
      const error = yield* refusal(who, path, json)
      assert.deepInclude(error, { code: "invalid_request", param })
      assert.include(error.message, `${param}: Expected ${expected}`)
      assert.include(error.message, ", without quotes")
    })
  )

  it.effect("is not what a mistyped model is: the nearest is named", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const narrow = yield* gateway.customer("10", { key: { models: ["clip-1"] } })
      const near = (id: string) => `, did you mean "${id}"?`
      for (const [customer, path, json, hint] of [
        [who, "videos/generations", film({ model: "film1" }), near("film-1")],
        [who, "videos/generations", film({ model: "FILM-1" }), near("film-1")],
        [who, "videos/generations", film({ model: "fiml-1" }), near("film-1")],
        [who, "images/generations", paint({ model: "piant-1" }), near("paint-1")],
        [who, "chat/completions", talk({ model: "talk-11" }), near("talk-1")],
        [who, "videos/generations", film({ model: "something else" }), "; GET /v1/models"],
        [narrow, "videos/generations", film({ model: "film1" }), "; GET /v1/models"],
        [narrow, "videos/generations", film({ model: "clip1" }), near("clip-1")]
      ] as const) {
        const error = yield* refusal(customer, path, json)
        assert.deepInclude(error, { code: "model_not_found", param: "model" })
        assert.include(error.message, hint)
      }
      const long = yield* refusal(who, "chat/completions", talk({ model: "x".repeat(100_000) }))
      assert.isBelow(long.message.length, 400)
    })
  )

  it.effect("is named in no other modality than the one that is ordered", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const json = paint({ model: "film1" })
      const answer = yield* gateway.call("/v1/images/generations", { key: who.key, json })
      assert.notInclude((yield* errorOf(answer)).message, "did you mean")
    })
  )
})
