import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { json, read, send } from "./support.ts"

const path = "/vp_a/api/v3/contents/generations/tasks"

const text = (words: string) => ({ type: "text", text: words })
const image = (role?: string) => ({
  type: "image_url",
  image_url: { url: "https://x.test/i.png" },
  ...(role === undefined ? {} : { role })
})
const video = { type: "video_url", role: "reference_video", video_url: { url: "asset://v1" } }
const audio = {
  type: "audio_url",
  role: "reference_audio",
  audio_url: { url: "data:audio/mp3;base64,AAAA" }
}
const order = (prompt: string, more: object = {}) => ({
  model: "m-1",
  content: [text(prompt)],
  duration: 5,
  resolution: "720p",
  ...more
})

const Submitted = Schema.Struct({ id: Schema.String })
const Status = Schema.Struct({ status: Schema.String })
const Succeeded = Schema.Struct({
  status: Schema.Literal("succeeded"),
  duration: Schema.Int,
  content: Schema.Struct({ video_url: Schema.String }),
  usage: Schema.Struct({ completion_tokens: Schema.Int, total_tokens: Schema.Int })
})
const Failure = Schema.Struct({
  error: Schema.Struct({ code: Schema.String, param: Schema.optionalKey(Schema.String) })
})

const submit = (body: object) =>
  Effect.map(send("POST", path, { body }), (answer) => read(Submitted, answer).id)
const poll = (id: string) => send("GET", `${path}/${id}`)
const booked = Effect.flatMap(Simulator, ({ book }) => Effect.map(book, (all) => all.length))

layer(layerSimulator({ port: 0 }))("vp_a", (it) => {
  it.effect("a task is queued, runs and succeeds with its usage", () =>
    Effect.gen(function* () {
      const id = yield* submit(order("a lighthouse"))
      assert.match(id, /^cgt-\d{14}-[a-z0-9]{5}$/)
      assert.strictEqual(read(Status, yield* poll(id)).status, "queued")
      assert.strictEqual(read(Status, yield* poll(id)).status, "running")
      const first = yield* poll(id)
      const { url } = yield* Simulator
      const done = read(Succeeded, first)
      assert.deepStrictEqual(done.usage, { completion_tokens: 108900, total_tokens: 108900 })
      assert.strictEqual(done.duration, 5)
      assert.isTrue(done.content.video_url.startsWith(`${url}/media/videos/5/${id}.mp4?Expires=`))
      assert.strictEqual((yield* poll(id)).text, first.text)
    })
  )

  it.effect("the path of a base address that ends in v1 is served too", () =>
    Effect.gen(function* () {
      const v1 = "/vp_a/v1/contents/generations/tasks"
      const { id } = read(Submitted, yield* send("POST", v1, { body: order("v1 sim:slow=0") }))
      assert.strictEqual(read(Status, yield* send("GET", `${v1}/${id}`)).status, "succeeded")
    })
  )

  it.effect.each([
    [{ duration: 15, resolution: "4k", ratio: "16:9" }, 15, (3840 * 2160 * 361) / 1024],
    [
      { duration: 4, resolution: "480p", ratio: "adaptive" },
      4,
      Math.floor((864 * 496 * 97) / 1024)
    ],
    [
      { duration: 5, resolution: "1080p", ratio: "9:16" },
      5,
      Math.floor((1080 * 1920 * 121) / 1024)
    ],
    [{ duration: 5, ratio: "21:9" }, 5, Math.floor((1470 * 630 * 121) / 1024)],
    [{ duration: 5, content: [text("v sim:slow=0"), video, video] }, 5, (1280 * 720 * 313) / 1024]
  ] as const)(
    "tokens count the frames rendered and the reference videos: %j",
    ([more, seconds, tokens]) =>
      Effect.gen(function* () {
        const done = read(Succeeded, yield* poll(yield* submit(order("t sim:slow=0", more))))
        assert.strictEqual(done.duration, seconds)
        assert.strictEqual(done.usage.completion_tokens, tokens)
      })
  )

  it.effect("a duration of -1 is a length of 4 to 15 seconds that stays", () =>
    Effect.gen(function* () {
      const id = yield* submit(order("smart sim:slow=0", { duration: -1 }))
      const { duration, usage } = read(Succeeded, yield* poll(id))
      assert.isTrue(duration >= 4 && duration <= 15)
      assert.strictEqual(usage.total_tokens, 900 * (24 * duration + 1))
      assert.strictEqual(read(Succeeded, yield* poll(id)).duration, duration)
    })
  )

  it.effect("a bad value is refused with the vendor's body and nothing is booked", () =>
    Effect.gen(function* () {
      const before = yield* booked
      const answer = yield* send("POST", path, { body: order("x", { duration: 3 }) })
      assert.strictEqual(answer.status, 400)
      assert.deepStrictEqual(json(answer), {
        error: {
          code: "InvalidParameter",
          message:
            "The parameter `duration` specified in the request is not valid. Request id: RID",
          param: "duration",
          type: "BadRequest"
        }
      })
      assert.strictEqual(yield* booked, before)
    })
  )

  it.effect.each([
    [{ duration: "5" }, "InvalidParameter", "duration"],
    [{ duration: 16 }, "InvalidParameter", "duration"],
    [{ duration: 5.5 }, "InvalidParameter", "duration"],
    [{ resolution: "4K" }, "InvalidParameter", "resolution"],
    [{ resolution: "540p" }, "InvalidParameter", "resolution"],
    [{ ratio: "2:1" }, "InvalidParameter", "ratio"],
    [{ generate_audio: "true" }, "InvalidParameter", "generate_audio"],
    [{ execution_expires_after: 60 }, "InvalidParameter", "execution_expires_after"],
    [{ model: undefined }, "MissingParameter", "model"],
    [{ content: undefined }, "MissingParameter", "content"],
    [{ content: [] }, "InvalidParameter", "content"],
    [{ content: [{ type: "text" }] }, "MissingParameter", "content[0].text"],
    [{ content: [{ type: "sound", text: "x" }] }, "InvalidParameter", "content[0]"],
    [{ content: [image("style")] }, "InvalidParameter", "content[0].role"],
    [
      { content: [{ type: "image_url", image_url: {} }] },
      "MissingParameter",
      "content[0].image_url.url"
    ],
    [
      { content: [text("x"), { ...video, role: undefined }] },
      "MissingParameter",
      "content[1].role"
    ],
    [
      { content: [{ ...image(), image_url: { url: "file:///etc/passwd" } }] },
      "InvalidParameter",
      "content[0].image_url.url"
    ],
    [{ content: Array(10).fill(image("reference_image")) }, "InvalidParameter", "content"],
    [{ content: [text("x"), ...Array(4).fill(video)] }, "InvalidParameter", "content"],
    [{ content: [video, ...Array(4).fill(audio)] }, "InvalidParameter", "content"],
    [{ content: [image("first_frame"), image("reference_image")] }, "InvalidParameter", "content"],
    [{ content: [image("first_frame"), video] }, "InvalidParameter", "content"],
    [{ content: [image("last_frame")] }, "InvalidParameter", "content"],
    [{ content: [image("first_frame"), image()] }, "InvalidParameter", "content"],
    [{ content: [text("x"), audio] }, "InvalidParameter", "content"]
  ] as const)("refuses %j", ([more, code, param]) =>
    Effect.gen(function* () {
      const answer = yield* send("POST", path, { body: order("x", more) })
      assert.strictEqual(answer.status, 400)
      assert.deepStrictEqual(read(Failure, answer), { error: { code, param } })
    })
  )

  it.effect.each([
    [[image("first_frame"), image("last_frame")]],
    [[text("x"), ...Array(9).fill(image("reference_image")), ...Array(3).fill(video)]],
    [[text("x"), video, ...Array(3).fill(audio)]],
    [[image("reference_image"), audio]],
    [[image(), image()]],
    [[image(), video]],
    [[image(), image("last_frame")]]
  ] as const)("takes media the vendor takes: %j", ([content]) => submit(order("x", { content })))

  it.effect.each([
    [null],
    [""],
    ["Bearer "],
    ["Bearer bad-key"],
    ["Token good-key"],
    ["good-key"]
  ] as const)("the authorization %j is refused on submit and poll", ([authorization]) =>
    Effect.gen(function* () {
      for (const answer of [
        yield* send("POST", path, { authorization, body: order("x") }),
        yield* send("GET", `${path}/cgt-1`, { authorization })
      ]) {
        assert.strictEqual(answer.status, 401)
        assert.deepStrictEqual(json(answer), {
          error: {
            code: "AuthenticationError",
            message: "The API key in the request is missing or invalid. Request id: RID",
            type: "Unauthorized"
          }
        })
      }
    })
  )

  it.effect("an unknown task, path and model are not found", () =>
    Effect.gen(function* () {
      const unknownTask = yield* poll("cgt-20260101120000-aaaaa")
      assert.strictEqual(unknownTask.status, 404)
      assert.strictEqual(read(Failure, unknownTask).error.code, "ResourceNotFound")
      assert.strictEqual((yield* send("POST", "/vp_a/contents", { body: {} })).status, 404)
      const unknownModel = yield* send("POST", path, { body: order("x", { model: "missing-1" }) })
      assert.strictEqual(unknownModel.status, 404)
      assert.strictEqual(read(Failure, unknownModel).error.code, "InvalidEndpointOrModel.NotFound")
    })
  )

  it.effect("a task of another protocol is unknown", () =>
    Effect.gen(function* () {
      const id = yield* submit(order("x"))
      const answer = yield* send("GET", `/vp_d/tasks?task_ids=${id}`)
      assert.deepStrictEqual(json(answer), {
        code: 0,
        message: "SUCCEED",
        request_id: "RID",
        data: []
      })
    })
  )
})
