import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { layerSimulator } from "../../src/simulator/Simulator.ts"
import { json, orderedAs, read, send } from "./support.ts"
import {
  IdA,
  IdD,
  imageD,
  orderA,
  orderD,
  orderE,
  orderF,
  place,
  pollTimes,
  submitA,
  submitE,
  submitF,
  textD
} from "./vp_c.orders.ts"

const BlockFailure = Schema.Struct({
  error: Schema.Struct({ code: Schema.String, param: Schema.String })
})
const CodeFailure = Schema.Struct({ code: Schema.Int })
const Usage = Schema.Struct({ usage: Schema.Struct({ completion_tokens: Schema.Int }) })

layer(layerSimulator({ port: 0 }))("the families of vp_c", (it) => {
  it.effect.each([
    [{ prompt: undefined }, "MissingParameter", "prompt"],
    [{ prompt: "another word" }, "InvalidParameter", "prompt"],
    [{ prompt: 7 }, "InvalidParameter", "prompt"],
    [{ duration: 3 }, "InvalidParameter", "duration"],
    [{ resolution: "4K" }, "InvalidParameter", "resolution"],
    [{ content: [] }, "InvalidParameter", "content"]
  ] as const)("family a refuses %j", ([more, code, param]) =>
    Effect.gen(function* () {
      const answer = yield* send("POST", submitA, { body: orderA("x", more) })
      assert.strictEqual(answer.status, 400)
      assert.deepStrictEqual(read(BlockFailure, answer).error, { code, param })
    })
  )

  it.effect("family a counts tokens like its vendor and needs no prompt without a text", () =>
    Effect.gen(function* () {
      const done = yield* send("GET", yield* place("a", "x sim:slow=0"))
      assert.strictEqual(read(Usage, done).usage.completion_tokens, 108900)
      const content = [{ type: "image_url", image_url: { url: "https://x.test/i.png" } }]
      const body = orderA("", { content, prompt: undefined, duration: -1 })
      const { id } = read(IdA, yield* send("POST", submitA, { body }))
      assert.strictEqual((yield* orderedAs(id)).order.seconds, -1)
    })
  )

  it.effect("family d answers in the older interface's form", () =>
    Effect.gen(function* () {
      const body = orderD("a boat", { duration: "7", mode: "pro", sound: "on" })
      const answer = yield* send("POST", textD, { body })
      const { task_id } = read(IdD, answer).data
      const accepted = yield* orderedAs(task_id)
      const at = Date.parse(accepted.at)
      const times = { created_at: at, updated_at: at }
      const envelope = { code: 0, message: "SUCCEED", request_id: "RID" }
      assert.deepStrictEqual(json(answer), {
        ...envelope,
        data: { task_id, task_status: "submitted", ...times }
      })
      assert.deepStrictEqual(accepted.order, {
        ...accepted.order,
        seconds: 7,
        resolution: "1080p",
        ratio: "16:9",
        inputs: { images: 0, videos: 0, audios: 0 },
        generate_audio: true
      })
      yield* pollTimes(`${textD}/${task_id}`, 2)
      const done = yield* send("GET", `${textD}/${task_id}`)
      const url = /"url":"([^"]+)"/.exec(done.text)?.[1] ?? ""
      assert.deepStrictEqual(json(done), {
        ...envelope,
        data: {
          task_id,
          task_status: "succeed",
          ...times,
          task_status_msg: "",
          final_unit_deduction: "6.3",
          task_result: { videos: [{ id: `${task_id}-1`, url, duration: "7.041" }] }
        }
      })
    })
  )

  it.effect("family d tells in the poll why a task failed, and which task is unknown", () =>
    Effect.gen(function* () {
      const failed = yield* send("GET", yield* place("d", "x sim:moderate-output sim:slow=0"))
      assert.include(failed.text, '"task_status_msg":"risk control"')
      const unknown = yield* send("GET", `${imageD}/17`)
      assert.strictEqual(read(CodeFailure, unknown).code, 1203)
    })
  )

  const image = "https://x.test/i.png"
  it.effect.each([
    [textD, orderD("x", { duration: 5 }), 1201],
    [textD, orderD("x", { duration: "2" }), 1201],
    [textD, orderD("x", { duration: "16" }), 1201],
    [textD, orderD("x", { duration: "5.0" }), 1201],
    [textD, orderD("x", { mode: "720p" }), 1201],
    [textD, orderD("x", { sound: true }), 1201],
    [textD, orderD("x", { aspect_ratio: "4:3" }), 1201],
    [textD, orderD("x", { image }), 1201],
    [textD, orderD("x", { image }), 1201],
    [textD, orderD("x".repeat(2501)), 1201],
    [textD, { prompt: "x" }, 1200],
    [textD, { model_name: "m-1" }, 1200],
    [imageD, orderD("x"), 1200],
    [imageD, orderD("x", { image, aspect_ratio: "16:9" }), 1201],
    [imageD, orderD("x", { image: "file:///etc/passwd" }), 1201]
  ] as const)("%s refuses %j", ([path, body, code]) =>
    Effect.gen(function* () {
      const answer = yield* send("POST", path, { body })
      assert.strictEqual(answer.status, 400)
      assert.strictEqual(read(CodeFailure, answer).code, code)
    })
  )

  it.effect("family d books the defaults of an image, counted", () =>
    Effect.gen(function* () {
      const body = { model_name: "kling-v3-cn", image, mode: "4k", duration: "15" }
      const { data } = read(IdD, yield* send("POST", imageD, { body }))
      const { order } = yield* orderedAs(data.task_id)
      assert.deepStrictEqual(order, {
        ...order,
        seconds: 15,
        resolution: "4k",
        ratio: null,
        inputs: { images: 1, videos: 0, audios: 0 },
        generate_audio: false
      })
    })
  )

  it.effect.each([
    [submitE, orderE("x", { videos: [] }), '"reason":"FieldUnwanted"'],
    ["/vp_c/vidu/ent/v2/img2video", orderE("x", { images: [] }), "FieldItemCountOutOfRange"],
    [submitF, orderF("x", { parameters: { size: "1280x720" } }), "The size is not match"],
    [submitF, orderF("x", { model: undefined }), "BadRequest.EmptyModel"]
  ] as const)("%s refuses %j in its vendor's form", ([path, body, part]) =>
    Effect.gen(function* () {
      const answer = yield* send("POST", path, { body })
      assert.strictEqual(answer.status, 400)
      assert.include(answer.text, part)
    })
  )
})
