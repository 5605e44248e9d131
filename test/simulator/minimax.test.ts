import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { layerSimulator } from "../../src/simulator/Simulator.ts"
import { booked, json, orderedAs, read, send } from "./support.ts"

const path = "/minimax/v2/video_generation"
const taskPath = (id: string) => `/minimax/v2/query/video_generation/${id}`
const text = { type: "text", text: "a lighthouse" }
const media = (type: "image" | "video" | "audio", role: string) => ({
  type: `${type}_url`,
  [`${type}_url`]: { url: `https://x.test/${type}` },
  role
})
const order = (more: object = {}) => ({
  model: "MiniMax-H3",
  content: [text],
  duration: 5,
  resolution: "768P",
  ratio: "16:9",
  ...more
})

const Submitted = Schema.Struct({ task_id: Schema.String })
const Failure = Schema.Struct({
  type: Schema.Literal("error"),
  error: Schema.Struct({ type: Schema.String, message: Schema.String })
})

const submit = (more: object = {}) =>
  Effect.map(send("POST", path, { body: order(more) }), (answer) => read(Submitted, answer).task_id)

const repeat = (count: number, block: object) => [text, ...Array(count).fill(block)]

layer(layerSimulator({ port: 0 }))("minimax", (it) => {
  it.effect("a task is queued, runs and is done, with the seconds that are billed", () =>
    Effect.gen(function* () {
      const id = yield* submit({ content: [text, media("video", "reference_video")] })
      assert.deepInclude((yield* orderedAs(id)).order, { seconds: 5, resolution: "768P" })
      for (const status of ["queued", "running", "succeeded"]) {
        assert.nestedPropertyVal(json(yield* send("GET", taskPath(id))), "task.status", status)
      }
      const done = json(yield* send("GET", taskPath(id)))
      assert.nestedProperty(done, "task.content.url")
      assert.deepNestedInclude(done, {
        "task.usage": { total_seconds: 9, input_seconds: 4, output_seconds: 5, input_images: 0 }
      })
    })
  )

  it.effect.each([
    ["no text", { content: [media("image", "first_frame")] }],
    ["two texts", { content: [text, text] }],
    ["a text alone without a ratio", { ratio: null }],
    ["an adaptive ratio for a text alone", { ratio: "adaptive" }],
    ["a short video", { duration: 3 }],
    ["a long video", { duration: 16 }],
    ["no length", { duration: null }],
    ["another resolution", { resolution: "1080P" }],
    ["a resolution in small letters", { resolution: "768p" }],
    ["the larger resolution of the faster model", { model: "MiniMax-H3-Max", resolution: "2K" }],
    ["ten reference images", { content: repeat(10, media("image", "reference_image")) }],
    ["two first frames", { content: repeat(2, media("image", "first_frame")) }],
    ["a sound alone", { content: [text, media("audio", "reference_audio")] }],
    [
      "a frame beside a reference",
      { content: [text, media("image", "first_frame"), media("image", "reference_image")] }
    ]
  ] as const)("refuses %s", ([, more]) =>
    Effect.gen(function* () {
      const before = (yield* booked).length
      const answer = yield* send("POST", path, { body: order(more) })
      assert.strictEqual(answer.status, 400)
      assert.strictEqual(read(Failure, answer).error.type, "bad_request_error")
      assert.strictEqual((yield* booked).length, before)
    })
  )

  it.effect("a queued task is cancelled, a running one is not, and an ended one is deleted", () =>
    Effect.gen(function* () {
      const remove = (id: string) => send("DELETE", `${path}/${id}`)
      const queuedId = yield* submit({ content: [{ ...text, text: "a sim:waits" }] })
      assert.strictEqual((yield* remove(queuedId)).status, 200)
      const cancelled = json(yield* send("GET", taskPath(queuedId)))
      assert.nestedPropertyVal(cancelled, "task.status", "cancelled")

      const openId = yield* submit()
      yield* send("GET", taskPath(openId))
      yield* send("GET", taskPath(openId))
      assert.strictEqual((yield* remove(openId)).status, 400)
      yield* send("GET", taskPath(openId))
      assert.strictEqual((yield* remove(openId)).status, 200)
      const gone = yield* send("GET", taskPath(openId))
      assert.strictEqual(gone.status, 400)
      assert.include(read(Failure, gone).error.message, "invalid task_id")
    })
  )

  it.effect("a marked video is another file", () =>
    Effect.gen(function* () {
      const content = [{ ...text, text: "a sim:slow=0" }]
      const urls = yield* Effect.forEach([true, false], (aigc_watermark) =>
        Effect.gen(function* () {
          const id = yield* submit({ content, aigc_watermark })
          return JSON.stringify(json(yield* send("GET", taskPath(id))))
        })
      )
      assert.deepStrictEqual(
        urls.map((url) => url.includes(".watermarked.mp4")),
        [true, false]
      )
    })
  )
})
