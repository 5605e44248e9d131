import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { booked, json, orderedAs, read, send as sendAny } from "./support.ts"

const MODEL = "veo-3.1-generate-preview"
const submitPath = (model = MODEL) => `/veo/v1beta/models/${model}:predictLongRunning`
const drawPath = (model = "gemini-3-pro-image-preview") =>
  `/gemini/v1beta/models/${model}:generateContent`

const keyHeader = { "x-goog-api-key": "key-of-the-test" }
const send = (
  method: string,
  to: string,
  body?: unknown,
  headers: Record<string, string> = keyHeader
) => sendAny(method, to, { headers, ...(body === undefined ? {} : { body }) })

const image = { bytesBase64Encoded: "AAAA", mimeType: "image/png" }
const order = (instance: object, parameters: object = {}) => ({
  instances: [{ prompt: "a lighthouse", ...instance }],
  parameters
})

const Named = Schema.Struct({ name: Schema.String })
const Failure = Schema.Struct({
  error: Schema.Struct({ code: Schema.Int, message: Schema.String, status: Schema.String })
})

const fileOf = (name: string) => `/veo/v1beta/files/${name.split("/").at(-1)}:download?alt=media`

const submit = (instance: object, parameters: object = {}) =>
  Effect.map(
    send("POST", submitPath(), order(instance, parameters)),
    (answer) => read(Named, answer).name
  )

layer(layerSimulator({ port: 0 }))("veo", (it) => {
  it.effect("an operation is not done, and then has the address of a file", () =>
    Effect.gen(function* () {
      const name = yield* submit({}, { seed: 7, aspectRatio: "9:16", resolution: "1080p" })
      assert.match(name, new RegExp(`^models/${MODEL}/operations/\\w+$`))
      const { order } = yield* orderedAs(name)
      assert.deepInclude(order, { seconds: 8, resolution: "1080p", ratio: "9:16" })
      assert.deepStrictEqual(json(yield* send("GET", `/veo/v1beta/${name}`)), { name })
      yield* send("GET", `/veo/v1beta/${name}`)
      const done = json(yield* send("GET", `/veo/v1beta/${name}`))
      assert.nestedPropertyVal(done, "done", true)
      const samples = "response.generateVideoResponse.generatedSamples"
      assert.nestedProperty(done, `${samples}[0].video.uri`)
    })
  )

  it.effect.each([
    ["a length between", submitPath(), order({}, { durationSeconds: 5 })],
    ["another ratio", submitPath(), order({}, { aspectRatio: "1:1" })],
    ["sound as a field", submitPath(), order({}, { generateAudio: true })],
    ["several videos", submitPath(), order({}, { sampleCount: 2 })],
    ["bytes in another form", submitPath(), order({ image: { inlineData: {}, ...image } })],
    ["a last frame alone", submitPath(), order({ lastFrame: image })],
    [
      "four references",
      submitPath(),
      order({ referenceImages: Array(4).fill({ image, referenceType: "asset" }) })
    ],
    [
      "references in a short video",
      submitPath(),
      order({ referenceImages: [{ image, referenceType: "asset" }] }, { durationSeconds: 4 })
    ],
    ["4k in a short video", submitPath(), order({}, { durationSeconds: 6, resolution: "4k" })],
    [
      "4k of the lite model",
      submitPath("veo-3.1-lite-generate-preview"),
      order({}, { resolution: "4k" })
    ],
    [
      "two frames of an older model",
      submitPath("veo-3.0-generate-001"),
      order({ image, lastFrame: image })
    ],
    ["nothing to make it from", submitPath(), { instances: [{}] }],
    [
      "an address",
      drawPath(),
      { contents: [{ parts: [{ fileData: { fileUri: "https://x.test/1.png" } }] }] }
    ],
    [
      "a size of the older image model",
      drawPath("gemini-2.5-flash-image"),
      {
        contents: [{ parts: [{ text: "a" }] }],
        generationConfig: { imageConfig: { imageSize: "2K" } }
      }
    ]
  ] as const)("refuses %s", ([, path, body]) =>
    Effect.gen(function* () {
      const before = (yield* booked).length
      const answer = yield* send("POST", path, body)
      assert.strictEqual(answer.status, 400)
      assert.deepInclude(read(Failure, answer).error, { code: 400, status: "INVALID_ARGUMENT" })
      assert.strictEqual((yield* booked).length, before)
    })
  )

  it.effect("an extension goes on from a video of its account, and has both", () =>
    Effect.gen(function* () {
      const { url } = yield* Simulator
      const name = yield* submit({ prompt: "a sim:slow=0" }, { durationSeconds: 6 })
      yield* send("GET", `/veo/v1beta/${name}`)
      const longer = yield* submit({ prompt: "b sim:slow=0", video: { uri: url + fileOf(name) } })
      yield* send("GET", `/veo/v1beta/${longer}`)
      const ends = (yield* booked).filter(({ event }) => event === "succeeded")
      assert.deepNestedInclude(ends.at(-1), { upstream_id: longer, "produced.seconds": 13 })
      assert.deepNestedInclude(yield* orderedAs(longer), { "order.inputs.videos": 1 })
      const file = yield* send("GET", fileOf(longer))
      assert.strictEqual(file.status, 302)
      for (const [instance, parameters, key] of [
        [{}, { durationSeconds: 6 }],
        [{}, { resolution: "1080p" }],
        [{ image }, {}],
        [{ referenceImages: [{ image, referenceType: "asset" }] }, {}],
        [{ video: { uri: "https://files.test/v1beta/files/a:download" } }, {}],
        [{ video: { uri: url + fileOf(yield* submit({}, { resolution: "1080p" })) } }, {}],
        [{}, {}, "key-of-another"]
      ] as const) {
        const body = order({ video: { uri: url + fileOf(name) }, ...instance }, parameters)
        const headers = key === undefined ? keyHeader : { "x-goog-api-key": key }
        const answer = yield* send("POST", submitPath(), body, headers)
        assert.strictEqual(answer.status, 400, JSON.stringify(instance))
      }
    })
  )

  it.effect("a video is extended until it has 141 seconds", () =>
    Effect.gen(function* () {
      const { url } = yield* Simulator
      let name = yield* submit({ prompt: "a sim:slow=0" })
      for (let seconds = 8; seconds < 148; seconds += 7) {
        yield* send("GET", `/veo/v1beta/${name}`)
        name = yield* submit({ prompt: "a sim:slow=0", video: { uri: url + fileOf(name) } })
      }
      yield* send("GET", `/veo/v1beta/${name}`)
      const ends = (yield* booked).filter(({ event }) => event === "succeeded")
      assert.deepNestedInclude(ends.at(-1), { "produced.seconds": 148 })
      const answer = yield* send(
        "POST",
        submitPath(),
        order({ video: { uri: url + fileOf(name) } })
      )
      assert.strictEqual(answer.status, 400)
      assert.include(answer.text, "longer than 141 seconds")
    })
  )

  it.effect("ignores fields that it does not know, and lengths may be texts", () =>
    Effect.gen(function* () {
      const name = yield* submit({ mood: "calm" }, { durationSeconds: "6", mood: "calm" })
      assert.propertyVal((yield* orderedAs(name)).order, "seconds", 6)
    })
  )

  it.effect("a key is missing, wrong, or that of another account", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* send("POST", submitPath(), order({}), {})).status, 403)
      const wrong = yield* send("POST", submitPath(), order({}), { "x-goog-api-key": "bad-key" })
      assert.strictEqual(wrong.status, 400)
      assert.nestedPropertyVal(json(wrong), "error.details[0].reason", "API_KEY_INVALID")
      const name = yield* submit({ prompt: "a sim:slow=0" })
      yield* send("GET", `/veo/v1beta/${name}`)
      const file = fileOf(name)
      assert.strictEqual((yield* send("GET", file, undefined, {})).status, 403)
      const other = yield* send("GET", file, undefined, { "x-goog-api-key": "key-of-another" })
      assert.strictEqual(other.status, 403)
    })
  )

  it.effect("a model or a method that does not exist", () =>
    Effect.gen(function* () {
      for (const path of [
        submitPath("missing-1"),
        `/veo/v1beta/models/${MODEL}:predict`,
        drawPath("missing-1")
      ]) {
        const answer = yield* send("POST", path, order({}))
        assert.strictEqual(answer.status, 404, path)
        assert.nestedPropertyVal(json(answer), "error.status", "NOT_FOUND")
      }
    })
  )
})
