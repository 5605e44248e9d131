import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { layerSimulator } from "../../src/simulator/Simulator.ts"
import { booked, json, orderedAs, read, send as sendAny } from "./support.ts"
import {
  Failed,
  Failure,
  img_url,
  items,
  other,
  poll,
  Status,
  Submitted,
  send,
  submit,
  text26,
  video
} from "./vp_f.orders.ts"

const Usage = Schema.Struct({ usage: Schema.Record(Schema.String, Schema.Json) })

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
