import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { layerSimulator } from "../../src/simulator/Simulator.ts"
import { booked, read } from "./support.ts"
import {
  Failed,
  Failure,
  img_url,
  items,
  other,
  poll,
  Status,
  send,
  submit,
  text26,
  video
} from "./vp_f.orders.ts"

const image27 = (media: ReadonlyArray<object>, parameters: object = {}) =>
  other("wan2.7-i2v", { prompt: "p", media }, parameters)
const reference27 = (media: ReadonlyArray<object>, parameters: object = {}) =>
  other("wan2.7-r2v", { prompt: "p", media }, parameters)
const all = (input: object, parameters: object = {}) => other("wan3.0-video", input, parameters)
const reference26 = (images: number, videos: number, parameters: object = {}) =>
  other(
    "wan2.6-r2v",
    {
      prompt: "p",
      reference_urls: [...Array(images).fill(img_url), ...Array(videos).fill(video)]
    },
    parameters
  )

layer(layerSimulator({ port: 0 }))("the fields of vp_f", (it) => {
  it.effect.each([
    ["not json", "InvalidParameter"],
    [{ input: { prompt: "p" }, parameters: {} }, "BadRequest.EmptyModel"],
    [{ model: "wan2.6-t2v", parameters: {} }, "BadRequest.EmptyInput"],
    [{ model: "wan2.6-t2v", input: { prompt: "p" } }, "BadRequest.EmptyParameters"],
    [text26("p", { size: "1280x720" }), "InvalidParameter"],
    [text26("p", { size: "720p" }), "InvalidParameter"],
    [text26("p", { size: "1024*1024" }), "InvalidParameter"],
    [text26("p", { duration: "5" }), "InvalidParameter"],
    [text26("p", { duration: 1 }), "InvalidParameter"],
    [text26("p", { duration: 16 }), "InvalidParameter"],
    [text26("p", { duration: 2.5 }), "InvalidParameter"],
    [text26("p", { seed: -1 }), "InvalidParameter"],
    [text26("p", { shot_type: "some" }), "InvalidParameter"],
    [text26(""), "InvalidParameter"],
    [text26("x".repeat(1501)), "InvalidParameter"],
    [text26("p", {}, { negative_prompt: "x".repeat(501) }), "InvalidParameter"],
    [text26("p", {}, { img_url }), "InvalidParameter"],
    [text26("p", {}, { audio_url: "asset://1" }), "InvalidParameter"],
    [other("wan2.7-t2v", { prompt: "p" }, { resolution: "720p" }), "InvalidParameter"],
    [other("wan2.7-t2v", { prompt: "p" }, { ratio: "21:9" }), "InvalidParameter"],
    [other("wan2.7-t2v", { prompt: "x".repeat(5001) }), "InvalidParameter"],
    [other("wan2.6-i2v", { prompt: "p" }), "InvalidParameter"],
    [other("wan2.6-i2v", { prompt: "p", media: items("first_frame") }), "InvalidParameter"],
    [image27([]), "InvalidParameter"],
    [image27(items("last_frame")), "InvalidParameter"],
    [image27(items("first_frame", "first_frame")), "InvalidParameter"],
    [image27(items("first_frame", "first_clip")), "InvalidParameter"],
    [image27(items("first_clip", "driving_audio")), "InvalidParameter"],
    [image27(items("reference_image")), "InvalidParameter"],
    [image27([{ type: "first_frame" }]), "InvalidParameter"],
    [reference26(0, 0), "InvalidParameter"],
    [reference26(6, 0), "InvalidParameter"],
    [reference26(0, 4), "InvalidParameter"],
    [reference26(3, 3), "InvalidParameter"],
    [reference26(1, 0, { duration: 11 }), "InvalidParameter"],
    [reference27(items("first_frame")), "InvalidParameter"],
    [reference27(items("first_frame", "first_frame", "reference_image")), "InvalidParameter"],
    [reference27(items(...Array(6).fill("reference_image"))), "InvalidParameter"],
    [reference27(items("reference_video"), { duration: 11 }), "InvalidParameter"],
    [reference27(items("driving_audio")), "InvalidParameter"],
    [all({}), "InvalidParameter"],
    [all({ prompt: "p" }, { duration: 1 }), "InvalidParameter"],
    [all({ prompt: "p" }, { duration: 31 }), "InvalidParameter"],
    [all({ prompt: "p" }, { duration: "5" }), "InvalidParameter"],
    [all({ prompt: "p" }, { resolution: "480p" }), "InvalidParameter"],
    [all({ prompt: "p" }, { ratio: "2:1" }), "InvalidParameter"],
    [all({ media: items("first_frame", "first_frame") }), "InvalidParameter"],
    [all({ media: items("first_frame", "reference_image") }), "InvalidParameter"],
    [all({ media: items("driving_audio") }), "InvalidParameter"],
    [all({ media: items(...Array(11).fill("reference_image")) }), "InvalidParameter"],
    [text26("p", { duration: -1 }), "InvalidParameter"]
  ] as const)("refuses %j", ([body, code]) =>
    Effect.gen(function* () {
      const answer = yield* send(body)
      assert.strictEqual(answer.status, 400)
      assert.strictEqual(read(Failure, answer).code, code)
    })
  )

  it.effect("the faults are named", () =>
    Effect.gen(function* () {
      const message = (body: object) =>
        Effect.map(send(body), (answer) => read(Failure, answer).message)
      assert.strictEqual(
        yield* message(text26("p", { size: "1280x720" })),
        "The size is not match the allowed size"
      )
      assert.strictEqual(
        yield* message(text26("p", {}, { img_url })),
        "Field not supported by the model: input.img_url"
      )
      assert.strictEqual(
        yield* message(text26("p", { duration: "5" })),
        "Field not valid: parameters.duration"
      )
    })
  )

  it.effect.each([
    [text26("x".repeat(1500), { size: "1632*1248", duration: 15, shot_type: "multi" })],
    [other("sim-wave", { prompt: "p" }, { resolution: "720P" })],
    [other("wan2.6-i2v-flash", { prompt: "p", img_url, audio_url: img_url }, { audio: false })],
    [image27(items("first_frame", "driving_audio"))],
    [image27(items("last_frame", "first_frame"), { duration: 2 })],
    [image27(items("first_clip"))],
    [image27(items("first_clip", "last_frame"))],
    [reference26(2, 3, { size: "960*960", duration: 10, audio: false })],
    [reference27(items("reference_image"), { duration: 15, ratio: "1:1" })],
    [reference27(items("reference_video", ...Array(4).fill("reference_image"), "first_frame"))],
    [reference27([{ type: "reference_image", url: img_url, reference_voice: img_url }])],
    [text26("p", { audio: true, resolution: "720P" }, { extend_prompt: true })],
    [text26("p", { seed: null, shot_type: null }, { negative_prompt: null })],
    [other("wan2.6-i2v", { prompt: "p", negative_prompt: "q", img_url }, { audio: false })],
    [other("wan2.7-i2v", { negative_prompt: "q", media: items("first_frame") })],
    [other("wan2.6-r2v", { prompt: "p", negative_prompt: "q", reference_urls: [img_url] })],
    [other("wan2.7-r2v", { prompt: "p", negative_prompt: "q", media: items("reference_image") })],
    [all({ prompt: "p", negative_prompt: "q" }, { ratio: "21:9", resolution: "480P" })],
    [all({ media: items("first_frame", "last_frame") }, { ratio: "adaptive", duration: 30 })],
    [all({ prompt: "p", media: items("reference_audio") }, { duration: -1 })]
  ] as const)("takes %j", ([body]) => submit(body))

  it.effect.each([
    [other("wan2.7-i2v", { prompt: "p sim:slow=1", img_url })],
    [other("wan2.7-r2v", { prompt: "p sim:slow=1", reference_urls: [img_url] })]
  ] as const)("fields of 2.6 are taken by 2.7 and fail at work: %j", ([body]) =>
    Effect.gen(function* () {
      const id = yield* submit(body)
      assert.strictEqual(read(Status, yield* poll(id)).output.task_status, "PENDING")
      const answer = yield* poll(id)
      assert.deepStrictEqual(read(Failed, answer).output, {
        task_status: "FAILED",
        code: "InvalidParameter",
        message: "Field required: input.media"
      })
      assert.notInclude(answer.text, "usage")
      const last = (yield* booked).findLast((entry) => entry.upstream_id === id)
      if (last === undefined || last.event === "accepted") return assert.fail("not ended")
      assert.strictEqual(last.reason, "unusable")
    })
  )
})
