import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { json, read, send } from "./support.ts"

const textPath = "/vp_d/text-to-video/k-3"
const imagePath = "/vp_d/image-to-video/k-3"
const omniPath = "/vp_d/omni-video/k-3-omni"

const prompt = (text: string) => ({ type: "prompt", text })
const item = (type: string) => ({ type, url: "https://x.test/a" })

const Submitted = Schema.Struct({ data: Schema.Struct({ id: Schema.String }) })
const Polled = Schema.Struct({
  data: Schema.Array(Schema.Struct({ id: Schema.String, status: Schema.String }))
})
const Failure = Schema.Struct({ code: Schema.Int, message: Schema.String })

const submit = (path: string, body: object) =>
  Effect.map(send("POST", path, { body }), (answer) => read(Submitted, answer).data.id)
const poll = (ids: string) => send("GET", `/vp_d/tasks?task_ids=${ids}`)
const pollStatuses = (id: string, count: number) =>
  Effect.forEach(Array.from({ length: count }), () =>
    Effect.map(poll(id), (answer) =>
      answer.status === 200
        ? read(Polled, answer)
            .data.map(({ status }) => status)
            .join()
        : answer.status
    )
  )
const bookOf = (id: string) =>
  Effect.flatMap(Simulator, ({ book }) =>
    Effect.map(book, (entries) => entries.filter((entry) => entry.upstream_id === id))
  )

layer(layerSimulator({ port: 0 }))("vp_d", (it) => {
  it.effect("a task is submitted, processed and succeeds, each in the vendor's form", () =>
    Effect.gen(function* () {
      const answer = yield* send("POST", textPath, {
        body: {
          prompt: "a lighthouse",
          settings: { resolution: "1080p", aspect_ratio: "9:16", duration: 7, audio: "native" },
          options: { external_task_id: "gw-1", watermark_info: { enabled: true } }
        }
      })
      const { id } = read(Submitted, answer).data
      const [accepted] = yield* bookOf(id)
      const at = Date.parse(accepted?.at ?? "")
      const stamps = { create_time: at, update_time: at }
      const row = { id, status: "submitted", message: "", external_id: "gw-1", ...stamps }
      const envelope = { code: 0, message: "SUCCEED", request_id: "RID" }
      assert.deepStrictEqual(json(answer), { ...envelope, data: row })
      assert.deepStrictEqual(json(yield* poll(id)), {
        ...envelope,
        data: [{ ...row, billing: [] }]
      })
      assert.deepStrictEqual(json(yield* poll(id)), {
        ...envelope,
        data: [{ ...row, status: "processing", billing: [] }]
      })
      const done = yield* poll(id)
      const find = (name: string) => new RegExp(`"${name}":"([^"]+)"`).exec(done.text)?.[1] ?? ""
      const [url, watermark_url] = [find("url"), find("watermark_url")]
      const signed = "\\?Expires=\\d+&Signature=\\w+$"
      assert.match(url, new RegExp(`/media/videos/7/${id}\\.mp4${signed}`))
      assert.match(watermark_url, new RegExp(`/media/videos/7/${id}\\.watermarked\\.mp4${signed}`))
      assert.strictEqual((yield* send("GET", watermark_url)).status, 200)
      assert.deepStrictEqual(json(done), {
        ...envelope,
        data: [
          {
            ...row,
            status: "succeeded",
            outputs: [{ type: "video", url, duration: "7.041", watermark_url }],
            billing: [{ charge_type: "unit", amount: "6.3", package_type: "video" }]
          }
        ]
      })
    })
  )

  it.effect("the book holds the vendor's defaults", () =>
    Effect.gen(function* () {
      const id = yield* submit(imagePath, { contents: [prompt("p"), item("first_frame")] })
      const [entry] = yield* bookOf(id)
      if (entry?.event !== "accepted") return assert.fail("not booked")
      const { prompt_sha256: _, ...order } = entry.order
      assert.deepStrictEqual(order, {
        seconds: 5,
        resolution: "720p",
        ratio: null,
        n: null,
        size: null,
        inputs: { images: 1, videos: 0, audios: 0 },
        generate_audio: false
      })
    })
  )

  it.effect("an order without a mark has no marked file", () =>
    Effect.gen(function* () {
      const id = yield* submit(textPath, { prompt: "sim:slow=0" })
      assert.notInclude((yield* poll(id)).text, "watermark_url")
    })
  )

  it.effect("several tasks are polled at once, by id or by the client's own id", () =>
    Effect.gen(function* () {
      const first = yield* submit(textPath, { prompt: "sim:slow=0" })
      const second = yield* submit(textPath, {
        prompt: "sim:slow=9",
        options: { external_task_id: "gw-2" }
      })
      assert.deepStrictEqual(read(Polled, yield* poll(`${first},17,${second}`)).data, [
        { id: first, status: "succeeded" },
        { id: second, status: "submitted" }
      ])
      const byToken = yield* send("GET", "/vp_d/tasks?external_task_ids=gw-2,gw-none")
      assert.deepStrictEqual(read(Polled, byToken).data, [{ id: second, status: "submitted" }])
      assert.strictEqual((yield* send("GET", "/vp_d/tasks")).status, 400)
    })
  )

  it.effect("a field the mode does not have is refused with the vendor's body", () =>
    Effect.gen(function* () {
      const contents = [prompt("p"), item("first_frame")]
      const body = { contents, settings: { aspect_ratio: "16:9" } }
      const answer = yield* send("POST", imagePath, { body })
      assert.strictEqual(answer.status, 400)
      assert.deepStrictEqual(json(answer), {
        code: 1201,
        message: "Invalid value: settings.aspect_ratio is not supported here",
        request_id: "RID"
      })
    })
  )

  const omni3 = "/vp_d/omni-video/kling-3.0-omni"
  const text26 = "/vp_d/text-to-video/kling-2.6"
  const shaped = { aspect_ratio: "1:1" }
  const turbo = "/vp_d/text-to-video/k-3-turbo"
  const turboImage = "/vp_d/image-to-video/k-3-turbo"
  const both = [prompt("p"), item("first_frame")]
  it.effect.each([
    [textPath, {}, 1200],
    [textPath, "not json", 1200],
    [textPath, { prompt: "" }, 1201],
    [textPath, { prompt: "x".repeat(3073) }, 1201],
    [textPath, { prompt: "p", settings: { duration: 2 } }, 1201],
    [textPath, { prompt: "p", settings: { duration: 16 } }, 1201],
    [textPath, { prompt: "p", settings: { duration: "5" } }, 1201],
    [textPath, { prompt: "p", settings: { resolution: "4K" } }, 1201],
    [textPath, { prompt: "p", settings: { resolution: "480p" } }, 1201],
    [textPath, { prompt: "p", settings: { aspect_ratio: "4:3" } }, 1201],
    [textPath, { prompt: "p", settings: { audio: true } }, 1201],
    [textPath, { prompt: "p", settings: { audio: "original" } }, 1201],
    [textPath, { prompt: "p", settings: { multi_shot: "no" } }, 1201],
    [turbo, { prompt: "p", settings: { resolution: "4k" } }, 1201],
    [turbo, { prompt: "p", settings: { audio: "off" } }, 1201],
    [turbo, { prompt: "p", settings: { multi_shot: false } }, 1201],
    [turboImage, { contents: [prompt("x".repeat(2501)), item("first_frame")] }, 1201],
    [imagePath, { prompt: "p" }, 1200],
    [imagePath, { contents: [] }, 1200],
    [imagePath, { contents: [item("first_frame")] }, 1200],
    [imagePath, { contents: [prompt("p")] }, 1200],
    [imagePath, { contents: [prompt("p"), item("last_frame")] }, 1200],
    [imagePath, { contents: [...both, item("first_frame")] }, 1201],
    [imagePath, { contents: [...both, item("refer_image")] }, 1201],
    [imagePath, { contents: [...both, item("refer_audio")] }, 1201],
    [imagePath, { contents: [prompt("p"), { type: "first_frame" }] }, 1200],
    [omniPath, { contents: [prompt("p"), item("refer_audio")] }, 1201],
    [omniPath, { contents: [prompt("p"), { type: "refer_audio" }] }, 1201],
    [omniPath, { contents: [prompt("p"), item("last_frame")] }, 1201],
    [omniPath, { contents: [prompt("p"), item("feature_video"), item("feature_video")] }, 1201],
    [
      omniPath,
      { contents: [prompt("p"), item("feature_video")], settings: { audio: "native" } },
      1201
    ],
    [
      omniPath,
      { contents: [prompt("p"), item("feature_video")], settings: { aspect_ratio: "1:1" } },
      1201
    ],
    [omniPath, { contents: both, settings: { aspect_ratio: "1:1" } }, 1201],
    [omniPath, { contents: [prompt("p"), item("base_video")] }, 1201],
    [omni3, { contents: [prompt("p")] }, 1200],
    [omni3, { contents: [prompt("p"), item("refer_image")] }, 1200],
    [omni3, { contents: both, settings: { multi_shot: true } }, 1201],
    [omni3, { contents: [prompt("p")], settings: { ...shaped, multi_shot: true } }, 1201],
    [text26, { prompt: "p", settings: { duration: 7 } }, 1201],
    [text26, { prompt: "p", settings: { resolution: "4k" } }, 1201],
    ["/vp_d/text-to-video/kling-2.5-turbo", { prompt: "p", settings: { duration: 6 } }, 1201],
    ["/vp_d/text-to-video/kling-3.0-turbo", { prompt: "p", settings: { audio: "off" } }, 1201],
    [turboImage, { contents: [...both, item("last_frame")] }, 1201]
  ] as const)("%s refuses %j", ([path, body, code]) =>
    Effect.gen(function* () {
      const answer = yield* send("POST", path, { body })
      assert.strictEqual(answer.status, 400)
      assert.strictEqual(read(Failure, answer).code, code)
    })
  )

  it.effect.each([
    [turbo, { prompt: "p", settings: { resolution: "1080p", aspect_ratio: "1:1" } }],
    [textPath, { prompt: "x".repeat(3072), settings: { resolution: "4k", multi_shot: true } }],
    [imagePath, { contents: [...both, item("last_frame")], settings: { audio: "native" } }],
    [omniPath, { contents: [prompt("p"), item("refer_image")], settings: { aspect_ratio: "1:1" } }],
    [omniPath, { contents: [prompt("p"), item("feature_video")], settings: { audio: "original" } }],
    [omniPath, { contents: [prompt("p"), item("base_video")], settings: { multi_shot: false } }],
    [omni3, { contents: [prompt("p")], settings: shaped }],
    [omni3, { contents: both }],
    [omni3, { contents: [prompt("p"), item("refer_image")], settings: shaped }],
    [omni3, { contents: [prompt("p"), item("feature_video")], settings: { multi_shot: true } }],
    ["/vp_d/omni-video/kling-o1", { contents: both }],
    ["/vp_d/image-to-video/kling-3.0", { contents: [...both, item("last_frame")] }],
    [text26, { prompt: "p", settings: { duration: 10, audio: "native" } }],
    [textPath, { prompt: "p", duration: 5, settings: { audio: null, cfg: 1 }, options: null }]
  ] as const)("%s takes %j", ([path, body]) => submit(path, body))

  it.effect.each([
    ["/vp_d/omni-video/k-3", 1203],
    ["/vp_d/omni-video/kling-3.0", 1203],
    ["/vp_d/omni-video/kling-3.0-turbo", 1203],
    ["/vp_d/text-to-video/kling-3.0-omni", 1203],
    ["/vp_d/image-to-video/kling-3.0-omni", 1203],
    ["/vp_d/text-to-video/kling-o1", 1203],
    ["/vp_d/text-to-video/missing-1", 1203],
    ["/vp_d/v1/videos/text2video", 1202]
  ] as const)("%s is not found", ([path, code]) =>
    Effect.gen(function* () {
      const answer = yield* send("POST", path, { body: { prompt: "p", contents: [prompt("p")] } })
      assert.strictEqual(answer.status, 404)
      assert.strictEqual(read(Failure, answer).code, code)
    })
  )

  it.effect.each([
    [null, 1001],
    ["Bearer", 1001],
    ["Token good-key", 1002],
    ["Bearer bad-key", 1000]
  ] as const)("the authorization %j is refused with its code", ([authorization, code]) =>
    Effect.gen(function* () {
      for (const answer of [
        yield* send("POST", textPath, { authorization, body: { prompt: "p" } }),
        yield* send("GET", "/vp_d/tasks?task_ids=1", { authorization })
      ]) {
        assert.strictEqual(answer.status, 401)
        assert.strictEqual(read(Failure, answer).code, code)
      }
    })
  )

  it.effect.each([
    ["sim:moderate-input", 400, 1301],
    ["sim:rate", 429, 1302],
    ["sim:http500", 500, 5000],
    ["sim:refuse=402", 402, 1101],
    ["sim:refuse=403", 403, 1103],
    ["sim:refuse=404", 404, 1202],
    ["sim:refuse=408", 408, 5002],
    ["sim:refuse=418", 418, 1200],
    ["sim:refuse=502", 502, 5000],
    ["sim:refuse=503", 503, 5001],
    ["sim:refuse=504", 504, 5002]
  ] as const)("%s in an item refuses the order", ([word, status, code]) =>
    Effect.gen(function* () {
      const contents = [prompt(`p ${word}`), item("first_frame")]
      const answer = yield* send("POST", imagePath, { body: { contents } })
      assert.strictEqual(answer.status, status)
      assert.strictEqual(read(Failure, answer).code, code)
      assert.strictEqual(answer.headers.get("retry-after"), word === "sim:rate" ? "1" : null)
    })
  )

  it.effect.each([
    ["sim:slow=4", 5, ["submitted", "submitted", "processing", "processing", "succeeded"]],
    ["sim:poll500=1 sim:slow=0", 2, [500, "succeeded"]],
    ["sim:fail sim:slow=0", 1, ["failed"]],
    ["sim:cancel sim:slow=0", 1, ["failed"]],
    ["sim:expire sim:slow=0", 1, ["failed"]],
    ["sim:unknown-status", 3, ["hibernating", "hibernating", "hibernating"]],
    ["sim:forget", 2, ["", ""]]
  ] as const)("polls of %s", ([words, count, statuses]) =>
    Effect.gen(function* () {
      const id = yield* submit(omniPath, { contents: [prompt(`p ${words}`)] })
      assert.deepStrictEqual<ReadonlyArray<string | number>>(
        yield* pollStatuses(id, count),
        statuses
      )
    })
  )

  it.effect("a refused output ends the task with a message and no bill", () =>
    Effect.gen(function* () {
      const id = yield* submit(textPath, { prompt: "p sim:moderate-output sim:slow=0" })
      const { text } = yield* poll(id)
      assert.include(text, '"status":"failed","message":"risk control"')
      assert.include(text, '"billing":[{"amount":"0"}]')
      assert.notInclude(text, "outputs")
      assert.deepStrictEqual(
        (yield* bookOf(id)).map(({ event }) => event),
        ["accepted", "failed"]
      )
    })
  )
})
