import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { layerSimulator } from "../../src/simulator/Simulator.ts"
import { booked, orderedAs, read, send as sendAny } from "./support.ts"
import { img_url, items, other, poll, Status, Submitted, submit, video } from "./vp_f.orders.ts"

const Done = Schema.Struct({
  output: Schema.Struct({ video_url: Schema.String }),
  usage: Schema.Record(Schema.String, Schema.Json)
})

const all = (input: object, parameters: object) => ({ model: "wan3.0-video", input, parameters })

layer(layerSimulator({ port: 0 }))("the models of vp_f", (it) => {
  it.effect.each([
    [
      all(
        { prompt: "a" },
        { duration: 5, resolution: "720P", ratio: "16:9", audio: false, watermark: null }
      ),
      { seconds: 5, resolution: "720p", ratio: "16:9", generate_audio: false },
      [0, 0, 0]
    ],
    [
      all({ prompt: "a", negative_prompt: "b" }, {}),
      { seconds: 5, resolution: "1080p", ratio: "adaptive", generate_audio: true },
      [0, 0, 0]
    ],
    [
      all({ prompt: "a", media: items("first_frame", "last_frame") }, { resolution: "480P" }),
      { seconds: 5, resolution: "480p", ratio: "adaptive", generate_audio: true },
      [2, 0, 0]
    ],
    [
      all(
        { media: items("reference_image", "reference_video", "reference_audio") },
        { duration: -1, ratio: "21:9" }
      ),
      { seconds: -1, resolution: "1080p", ratio: "21:9", generate_audio: true },
      [1, 1, 1]
    ]
  ] as const)("the third generation is booked as ordered: %j", ([body, kept, counts]) =>
    Effect.gen(function* () {
      const { order } = yield* orderedAs(yield* submit(body))
      const { prompt_sha256: _, ...rest } = order
      const [images, videos, audios] = counts
      assert.deepStrictEqual<unknown>(rest, {
        ...kept,
        n: null,
        size: null,
        inputs: { images, videos, audios }
      })
    })
  )

  it.effect("usage counts input and output seconds together, each also by itself", () =>
    Effect.gen(function* () {
      const media = [{ type: "reference_video", url: video }]
      const id = yield* submit(all({ prompt: "p sim:slow=0", media }, { duration: 6 }))
      assert.deepStrictEqual(read(Done, yield* poll(id)).usage, {
        duration: 10,
        input_video_duration: 4,
        output_video_duration: 6,
        SR: 1080,
        ratio: "16:9",
        video_count: 1
      })
    })
  )

  it.effect("a length left to the model is its own, counted, booked and fetchable", () =>
    Effect.gen(function* () {
      const chosen = yield* Effect.forEach(Array.from({ length: 8 }), () =>
        Effect.gen(function* () {
          const id = yield* submit(all({ prompt: "p sim:slow=0" }, { duration: -1 }))
          const { output, usage } = read(Done, yield* poll(id))
          assert.strictEqual((yield* sendAny("GET", output.video_url)).status, 200)
          const last = (yield* booked).findLast((entry) => entry.upstream_id === id)
          if (last === undefined || last.event === "accepted") return assert.fail("not ended")
          const seconds = last.produced.seconds ?? 0
          assert.strictEqual(usage.duration, seconds)
          return seconds
        })
      )
      assert.isTrue(chosen.every((seconds) => seconds >= 2 && seconds <= 30))
      assert.isAbove(new Set(chosen).size, 1)
    })
  )

  it.effect.each([
    [other("wan2.6-t2v", { prompt: "p" }, { audio: false }), true],
    [other("wan2.6-i2v", { prompt: "p", img_url }, { audio: false }), true],
    [other("wan2.6-i2v-flash", { prompt: "p", img_url }, { audio: false }), false],
    [other("wan2.6-r2v", { prompt: "p", reference_urls: [img_url] }, { audio: false }), true],
    [
      other("wan2.6-r2v-flash", { prompt: "p", reference_urls: [img_url] }, { audio: false }),
      false
    ],
    [other("wan2.7-r2v", { prompt: "p", media: items("reference_image") }, { audio: false }), true]
  ] as const)("%j sounds although it is told not to, unless it has the switch", ([body, sounds]) =>
    Effect.gen(function* () {
      const { order } = yield* orderedAs(yield* submit(body))
      assert.strictEqual(order.generate_audio, sounds)
    })
  )

  it.effect("a size that the model does not know is not what is rendered", () =>
    Effect.gen(function* () {
      const body = other("wan2.7-t2v", { prompt: "p" }, { size: "1280*720" })
      const { order } = yield* orderedAs(yield* submit(body))
      assert.strictEqual(order.resolution, "1080p")
    })
  )

  it.effect("images are tasks too, at their own path and the same polls", () =>
    Effect.gen(function* () {
      const messages = [{ role: "user", content: [{ text: "a boat sim:slow=1" }] }]
      const body = { model: "wan2.7-image", input: { messages }, parameters: { n: 2 } }
      const answer = yield* sendAny(
        "POST",
        "/vp_f/api/v1/services/aigc/image-generation/generation",
        { body, headers: { "x-dashscope-async": "enable" } }
      )
      const { task_id } = read(Submitted, answer).output
      assert.strictEqual(read(Status, yield* poll(task_id)).output.task_status, "PENDING")
      const done = yield* poll(task_id)
      assert.strictEqual(done.text.match(/"image":"http/g)?.length, 2)
      assert.include(done.text, '"usage":{"image_count":2,')
    })
  )
})
