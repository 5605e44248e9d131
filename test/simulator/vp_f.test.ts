import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { layerSimulator } from "../../src/simulator/Simulator.ts"
import { booked, json, orderedAs, read, send as sendAny } from "./support.ts"

const path = "/vp_f/api/v1/services/aigc/video-generation/video-synthesis"

const send = (body: unknown, options: Parameters<typeof sendAny>[2] = {}) =>
  sendAny("POST", path, { body, headers: { "x-dashscope-async": "enable" }, ...options })
const poll = (id: string) => sendAny("GET", `/vp_f/api/v1/tasks/${id}`)

const text26 = (prompt: string, parameters: object = {}, input: object = {}) => ({
  model: "wan2.6-t2v",
  input: { prompt, ...input },
  parameters: { size: "1280*720", duration: 5, ...parameters }
})
const other = (model: string, input: object, parameters: object = {}) => ({
  model,
  input,
  parameters: { duration: 5, ...parameters }
})
const img_url = "https://x.test/a.png"
const video = "https://x.test/v.mp4?x=1"
const items = (...types: ReadonlyArray<string>) => types.map((type) => ({ type, url: img_url }))

const Submitted = Schema.Struct({
  output: Schema.Struct({ task_id: Schema.String, task_status: Schema.Literal("PENDING") })
})
const Status = Schema.Struct({ output: Schema.Struct({ task_status: Schema.String }) })
const Failed = Schema.Struct({
  output: Schema.Struct({
    task_status: Schema.Literal("FAILED"),
    code: Schema.String,
    message: Schema.String
  })
})
const Failure = Schema.Struct({ code: Schema.String, message: Schema.String })
const Usage = Schema.Struct({ usage: Schema.Record(Schema.String, Schema.Json) })

const submit = (body: object) =>
  Effect.map(send(body), (answer) => read(Submitted, answer).output.task_id)

layer(layerSimulator({ port: 0 }))("vp_f", (it) => {
  it.effect("a task is pending, runs and succeeds, each in the vendor's form", () =>
    Effect.gen(function* () {
      const answer = yield* send(text26("a lighthouse"))
      const { task_id } = read(Submitted, answer).output
      assert.match(task_id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
      assert.deepStrictEqual(json(answer), {
        output: { task_id, task_status: "PENDING" },
        request_id: "RID"
      })
      const submit_time = (yield* orderedAs(task_id)).at.replace("T", " ").replace("Z", "")
      assert.match(submit_time, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/)
      const times = { submit_time, scheduled_time: submit_time }
      assert.deepStrictEqual(json(yield* poll(task_id)), {
        request_id: "RID",
        output: { task_id, task_status: "PENDING", submit_time }
      })
      assert.deepStrictEqual(json(yield* poll(task_id)), {
        request_id: "RID",
        output: { task_id, task_status: "RUNNING", ...times }
      })
      const done = yield* poll(task_id)
      const video_url = /"video_url":"([^"]+)"/.exec(done.text)?.[1] ?? ""
      assert.match(video_url, new RegExp(`/media/videos/5/${task_id}\\.mp4\\?Expires=\\d+`))
      assert.deepStrictEqual(json(done), {
        request_id: "RID",
        output: {
          task_id,
          task_status: "SUCCEEDED",
          ...times,
          end_time: submit_time,
          orig_prompt: "a lighthouse",
          actual_prompt: "a lighthouse In soft light, slowly.",
          video_url
        },
        usage: {
          duration: 5,
          input_video_duration: 0,
          output_video_duration: 5,
          SR: 720,
          size: "1280*720",
          video_count: 1
        }
      })
    })
  )

  it.effect.each([
    [
      other("wan2.7-t2v", { prompt: "p sim:slow=0" }, { resolution: "720P", ratio: "9:16" }),
      { duration: 5, input_video_duration: 0, SR: 720, ratio: "9:16" }
    ],
    [
      other("wan2.7-i2v", { prompt: "p sim:slow=0", media: items("first_frame") }),
      { duration: 5, input_video_duration: 0, SR: 1080, ratio: "16:9" }
    ],
    [
      other("wan2.6-r2v", { prompt: "p sim:slow=0", reference_urls: [img_url, video] }),
      { duration: 9, input_video_duration: 4, SR: 1080, size: "1920*1080" }
    ]
  ] as const)("the usage of a model has its version's fields: %j", ([body, usage]) =>
    Effect.gen(function* () {
      const done = read(Usage, yield* poll(yield* submit(body)))
      assert.deepStrictEqual<unknown>(done.usage, {
        ...usage,
        output_video_duration: 5,
        video_count: 1
      })
    })
  )

  it.effect("an unwanted rewriting leaves only the prompt given", () =>
    Effect.gen(function* () {
      const id = yield* submit(text26("p sim:slow=0", { prompt_extend: false }))
      const { text } = yield* poll(id)
      assert.include(text, '"orig_prompt":"p sim:slow=0"')
      assert.notInclude(text, "actual_prompt")
    })
  )

  it.effect.each([
    [
      { model: "wan2.6-t2v", input: { prompt: "p" }, parameters: {} },
      { resolution: "1080p", ratio: "16:9", size: "1920*1080" },
      [0, 0, 0]
    ],
    [
      text26("p", { size: "832*1088" }, { audio_url: img_url }),
      { resolution: "720p", ratio: "3:4", size: "832*1088" },
      [0, 0, 1]
    ],
    [
      other("wan2.7-t2v-cn", { prompt: "p" }),
      { resolution: "1080p", ratio: "16:9", size: null },
      [0, 0, 0]
    ],
    [
      other("wan2.6-i2v", { prompt: "p", img_url }, { resolution: "720P" }),
      { resolution: "720p", ratio: null, size: null },
      [1, 0, 0]
    ],
    [
      other("wan2.7-i2v", { media: items("first_frame", "last_frame", "driving_audio") }),
      { resolution: "1080p", ratio: null, size: null },
      [2, 0, 1]
    ],
    [
      other("wan2.7-r2v", {
        prompt: "p",
        media: items("reference_image", "first_frame", "reference_video")
      }),
      { resolution: "1080p", ratio: "16:9", size: null },
      [2, 1, 0]
    ],
    [
      other("wan2.6-r2v", { prompt: "p", reference_urls: [img_url, video] }),
      { resolution: "1080p", ratio: "16:9", size: "1920*1080" },
      [1, 1, 0]
    ]
  ] as const)("the book holds the vendor's defaults and counts: %j", ([body, kept, counts]) =>
    Effect.gen(function* () {
      const { order } = yield* orderedAs(yield* submit(body))
      const { prompt_sha256: _, ...rest } = order
      const [images, videos, audios] = counts
      assert.deepStrictEqual<unknown>(rest, {
        ...kept,
        seconds: 5,
        n: null,
        inputs: { images, videos, audios },
        generate_audio: true
      })
    })
  )

  it.effect("a submit without the async header is refused in the vendor's words", () =>
    Effect.gen(function* () {
      const before = (yield* booked).length
      const answer = yield* send(text26("p"), { headers: {} })
      assert.strictEqual(answer.status, 403)
      assert.deepStrictEqual(json(answer), {
        code: "AccessDenied",
        message: "current user api does not support synchronous calls.",
        request_id: "RID"
      })
      assert.strictEqual((yield* booked).length, before)
    })
  )

  const image27 = (media: ReadonlyArray<object>, parameters: object = {}) =>
    other("wan2.7-i2v", { prompt: "p", media }, parameters)
  const reference27 = (media: ReadonlyArray<object>, parameters: object = {}) =>
    other("wan2.7-r2v", { prompt: "p", media }, parameters)
  const reference26 = (images: number, videos: number, parameters: object = {}) =>
    other(
      "wan2.6-r2v",
      {
        prompt: "p",
        reference_urls: [...Array(images).fill(img_url), ...Array(videos).fill(video)]
      },
      parameters
    )

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
    [text26("p", { resolution: "720P" }), "InvalidParameter"],
    [text26("p", { ratio: "16:9" }), "InvalidParameter"],
    [text26("p", { audio: true }), "InvalidParameter"],
    [text26("p", { seed: -1 }), "InvalidParameter"],
    [text26("p", { shot_type: "some" }), "InvalidParameter"],
    [text26(""), "InvalidParameter"],
    [text26("x".repeat(1501)), "InvalidParameter"],
    [text26("p", {}, { negative_prompt: "x".repeat(501) }), "InvalidParameter"],
    [text26("p", {}, { img_url }), "InvalidParameter"],
    [text26("p", {}, { audio_url: "asset://1" }), "InvalidParameter"],
    [{ ...text26("p"), duration: 5 }, "InvalidParameter"],
    [other("wan2.7-t2v", { prompt: "p" }, { size: "1280*720" }), "InvalidParameter"],
    [other("wan2.7-t2v", { prompt: "p" }, { resolution: "720p" }), "InvalidParameter"],
    [other("wan2.7-t2v", { prompt: "p" }, { ratio: "21:9" }), "InvalidParameter"],
    [other("wan2.7-t2v", { prompt: "p" }, { shot_type: "multi" }), "InvalidParameter"],
    [other("wan2.7-t2v", { prompt: "x".repeat(5001) }), "InvalidParameter"],
    [other("wan2.6-i2v", { prompt: "p" }), "InvalidParameter"],
    [other("wan2.6-i2v", { prompt: "p", img_url }, { size: "1280*720" }), "InvalidParameter"],
    [other("wan2.6-i2v", { prompt: "p", img_url }, { audio: true }), "InvalidParameter"],
    [other("wan2.6-i2v", { prompt: "p", media: items("first_frame") }), "InvalidParameter"],
    [image27([]), "InvalidParameter"],
    [image27(items("last_frame")), "InvalidParameter"],
    [image27(items("first_frame", "first_frame")), "InvalidParameter"],
    [image27(items("first_frame", "first_clip")), "InvalidParameter"],
    [image27(items("first_clip", "driving_audio")), "InvalidParameter"],
    [image27(items("reference_image")), "InvalidParameter"],
    [image27([{ type: "first_frame" }]), "InvalidParameter"],
    [image27(items("first_frame"), { ratio: "16:9" }), "InvalidParameter"],
    [other("wan2.7-i2v", { img_url, media: items("first_frame") }), "InvalidParameter"],
    [other("wan2.7-i2v", { audio_url: img_url, media: items("first_frame") }), "InvalidParameter"],
    [reference26(0, 0), "InvalidParameter"],
    [reference26(6, 0), "InvalidParameter"],
    [reference26(0, 4), "InvalidParameter"],
    [reference26(3, 3), "InvalidParameter"],
    [reference26(1, 0, { duration: 11 }), "InvalidParameter"],
    [reference26(1, 0, { resolution: "720P" }), "InvalidParameter"],
    [reference27(items("first_frame")), "InvalidParameter"],
    [reference27(items("first_frame", "first_frame", "reference_image")), "InvalidParameter"],
    [reference27(items(...Array(6).fill("reference_image"))), "InvalidParameter"],
    [reference27(items("reference_video"), { duration: 11 }), "InvalidParameter"],
    [reference27(items("driving_audio")), "InvalidParameter"]
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
        yield* message(text26("p", { resolution: "720P" })),
        "Field not supported by the model: parameters.resolution"
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
    [reference27(items("reference_video", ...Array(4).fill("reference_image"), "first_frame"))]
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

  it.effect.each([[null], ["Token good-key"], ["Bearer bad-key"]] as const)(
    "the authorization %j is refused on submit and poll",
    ([authorization]) =>
      Effect.gen(function* () {
        for (const answer of [
          yield* send(text26("p"), { authorization }),
          yield* sendAny("GET", "/vp_f/api/v1/tasks/1", { authorization })
        ]) {
          assert.strictEqual(answer.status, 401)
          assert.deepStrictEqual(json(answer), {
            code: "InvalidApiKey",
            message: "Invalid API-key provided.",
            request_id: "RID"
          })
        }
      })
  )

  it.effect("an unknown task is UNKNOWN, an unknown path or model is not found", () =>
    Effect.gen(function* () {
      const unknown = yield* poll("1234")
      assert.strictEqual(unknown.status, 200)
      assert.deepStrictEqual(json(unknown), {
        request_id: "RID",
        output: { task_id: "1234", task_status: "UNKNOWN" }
      })
      for (const answer of [
        yield* send({ ...text26("p"), model: "missing-1" }),
        yield* sendAny("POST", "/vp_f/v1/videos", { body: {} })
      ]) {
        assert.strictEqual(answer.status, 404)
        assert.strictEqual(read(Failure, answer).code, "ModelNotFound")
      }
    })
  )

  it.effect.each([
    ["sim:moderate-input", 400, "DataInspectionFailed"],
    ["sim:rate", 429, "Throttling.RateQuota"],
    ["sim:http500", 500, "InternalError"],
    ["sim:refuse=402", 402, "Arrearage"],
    ["sim:refuse=403", 403, "AccessDenied"],
    ["sim:refuse=408", 408, "RequestTimeOut"],
    ["sim:refuse=413", 413, "BadRequest.TooLarge"],
    ["sim:refuse=418", 418, "InvalidParameter"],
    ["sim:refuse=504", 504, "InternalError.Timeout"]
  ] as const)("%s refuses the order and books nothing", ([word, status, code]) =>
    Effect.gen(function* () {
      const before = (yield* booked).length
      const answer = yield* send(text26(`p ${word}`))
      assert.strictEqual(answer.status, status)
      assert.strictEqual(read(Failure, answer).code, code)
      assert.strictEqual(answer.headers.get("retry-after"), word === "sim:rate" ? "1" : null)
      assert.strictEqual((yield* booked).length, before)
    })
  )

  it.effect.each([
    ["sim:slow=3", ["PENDING", "PENDING", "RUNNING", "SUCCEEDED"]],
    ["sim:poll500=1 sim:slow=0", [500, "SUCCEEDED"]],
    ["sim:fail sim:slow=0", ["FAILED"]],
    ["sim:cancel sim:slow=1", ["PENDING", "CANCELED"]],
    ["sim:expire sim:slow=1", ["PENDING", "UNKNOWN", "UNKNOWN"]],
    ["sim:unknown-status", ["hibernating", "hibernating", "hibernating"]],
    ["sim:forget", ["UNKNOWN", "UNKNOWN"]]
  ] as const)("polls of %s", ([words, statuses]) =>
    Effect.gen(function* () {
      const id = yield* submit(text26(`p ${words}`))
      const seen = yield* Effect.forEach(statuses, () =>
        Effect.map(poll(id), (answer) =>
          answer.status === 200 ? read(Status, answer).output.task_status : answer.status
        )
      )
      assert.deepStrictEqual<ReadonlyArray<string | number>>(seen, statuses)
    })
  )

  it.effect.each([
    ["sim:moderate-output", "DataInspectionFailed"],
    ["sim:fail", "InternalError"]
  ] as const)("%s says %s in the poll, without video and usage", ([word, code]) =>
    Effect.gen(function* () {
      const answer = yield* poll(yield* submit(text26(`p ${word} sim:slow=0`)))
      assert.strictEqual(read(Failed, answer).output.code, code)
      assert.notMatch(answer.text, /usage|video_url/)
    })
  )

  it.effect("sim:usage and sim:nousage change what is claimed", () =>
    Effect.gen(function* () {
      const odd = yield* poll(yield* submit(text26("p sim:slow=0 sim:usage=1e309")))
      assert.include(
        odd.text,
        '"usage":{"duration":1e309,"input_video_duration":0,"output_video_duration":1e309,'
      )
      const none = yield* poll(yield* submit(text26("p sim:slow=0 sim:nousage")))
      assert.include(none.text, '"task_status":"SUCCEEDED"')
      assert.notInclude(none.text, '"usage"')
    })
  )
})
