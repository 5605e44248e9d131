import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { layerSimulator } from "../../src/simulator/Simulator.ts"
import { booked, json, orderedAs, read, send as sendAny, unanswered } from "./support.ts"

const path = "/vp_b/v2/video/tasks"

const send = (
  method: string,
  to: string,
  { headers = {}, ...rest }: Parameters<typeof sendAny>[2] = {}
) => sendAny(method, to, { ...rest, headers: { "x-application-id": "app-1", ...headers } })

const text = (words: string) => ({ type: "text", text: words })
const media = (type: string, role: string) => ({
  type,
  role,
  [type]: { url: "https://x.test/a" }
})
const order = (prompt: string, more: object = {}) => ({
  model: "m-1",
  content: [text(prompt)],
  ...more
})

const Submitted = Schema.Struct({ task_id: Schema.String })
const Status = Schema.Struct({ status: Schema.String })
const Succeeded = Schema.Struct({
  status: Schema.Literal("succeeded"),
  duration: Schema.Int,
  usage: Schema.Struct({ completion_tokens: Schema.Int, total_tokens: Schema.Int })
})
const Failure = Schema.Struct({
  error: Schema.Struct({ code: Schema.String, param: Schema.optionalKey(Schema.String) })
})

const submit = (body: object) =>
  Effect.map(send("POST", path, { body }), (answer) => read(Submitted, answer).task_id)
const poll = (id: string) => send("GET", `${path}/${id}`)

layer(layerSimulator({ port: 0 }))("vp_b", (it) => {
  it.effect("a task is queued, runs and succeeds, each in the vendor's form", () =>
    Effect.gen(function* () {
      const answer = yield* send("POST", path, { body: order("a lighthouse", { duration: 7 }) })
      const { task_id } = read(Submitted, answer)
      assert.match(task_id, /^vbt-[0-9a-f]{12}$/)
      assert.deepStrictEqual(json(answer), { task_id, status: "queued", request_id: "RID" })
      const at = Math.floor(Date.parse((yield* orderedAs(task_id)).at) / 1000)
      const common = { task_id, model: "m-1", error: null, created_at: at, updated_at: at }
      assert.deepStrictEqual(json(yield* poll(task_id)), { ...common, status: "queued" })
      assert.deepStrictEqual(json(yield* poll(task_id)), { ...common, status: "running" })
      const done = yield* poll(task_id)
      const video_url = /"video_url":"([^"]+)"/.exec(done.text)?.[1] ?? ""
      assert.match(video_url, new RegExp(`/media/videos/7/${task_id}\\.mp4\\?Expires=\\d+`))
      assert.deepStrictEqual(json(done), {
        ...common,
        status: "succeeded",
        content: { video_url },
        duration: 7,
        usage: { completion_tokens: 152100, total_tokens: 152100 }
      })
    })
  )

  it.effect("the book holds the vendor's defaults and no resolution", () =>
    Effect.gen(function* () {
      const content = [text("p"), media("image_url", "reference_image")]
      const { order: kept } = yield* orderedAs(yield* submit(order("", { content })))
      const { prompt_sha256: _, ...rest } = kept
      assert.deepStrictEqual(rest, {
        seconds: 5,
        resolution: null,
        ratio: "16:9",
        n: null,
        size: null,
        inputs: { images: 1, videos: 0, audios: 0 },
        generate_audio: true
      })
    })
  )

  it.effect.each([
    [{ duration: 4 }, 4, Math.floor((1280 * 720 * 97) / 1024)],
    [{ duration: 15, ratio: "1:1" }, 15, (960 * 960 * 361) / 1024],
    [
      { duration: 5, content: [text("sim:slow=0"), media("video_url", "reference_video")] },
      5,
      (1280 * 720 * 217) / 1024
    ]
  ] as const)("tokens are those of 720p: %j", ([more, seconds, tokens]) =>
    Effect.gen(function* () {
      const done = read(Succeeded, yield* poll(yield* submit(order("t sim:slow=0", more))))
      assert.strictEqual(done.duration, seconds)
      assert.deepStrictEqual(done.usage, { completion_tokens: tokens, total_tokens: tokens })
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

  it.effect("a resolution is refused with the vendor's body and nothing is booked", () =>
    Effect.gen(function* () {
      const before = (yield* booked).length
      const answer = yield* send("POST", path, { body: order("x", { resolution: "720p" }) })
      assert.strictEqual(answer.status, 400)
      assert.deepStrictEqual(json(answer), {
        error: {
          code: "InvalidParameter",
          message:
            "The parameter `resolution` specified in the request is not part of the interface. Request id: RID",
          param: "resolution",
          type: "BadRequest"
        }
      })
      assert.strictEqual((yield* booked).length, before)
    })
  )

  it.effect.each([
    [{ duration: 0 }, "InvalidParameter", "duration"],
    [{ duration: 3 }, "InvalidParameter", "duration"],
    [{ duration: 16 }, "InvalidParameter", "duration"],
    [{ duration: -2 }, "InvalidParameter", "duration"],
    [{ duration: "5" }, "InvalidParameter", "duration"],
    [{ duration: 4.5 }, "InvalidParameter", "duration"],
    [{ ratio: "2:1" }, "InvalidParameter", "ratio"],
    [{ generate_audio: 1 }, "InvalidParameter", "generate_audio"],
    [{ model: undefined }, "MissingParameter", "model"],
    [{ content: undefined }, "MissingParameter", "content"],
    [{ content: [] }, "InvalidParameter", "content"],
    [{ content: [text("x"), media("audio_url", "reference_audio")] }, "InvalidParameter", "content"]
  ] as const)("refuses %j", ([more, code, param]) =>
    Effect.gen(function* () {
      const answer = yield* send("POST", path, { body: order("x", more) })
      assert.strictEqual(answer.status, 400)
      assert.deepStrictEqual(read(Failure, answer), { error: { code, param } })
    })
  )

  it.effect.each([
    ["", 400, { code: "MissingParameter", param: "X-Application-Id" }],
    ["bad-app", 403, { code: "ApplicationMismatch" }]
  ] as const)("the application %j is refused on submit and poll", ([id, status, error]) =>
    Effect.gen(function* () {
      const headers = { "x-application-id": id }
      for (const answer of [
        yield* send("POST", path, { headers, body: order("x") }),
        yield* send("GET", `${path}/vbt-1`, { headers })
      ]) {
        assert.strictEqual(answer.status, status)
        assert.deepStrictEqual(read(Failure, answer).error, error)
      }
    })
  )

  it.effect.each([[null], ["Bearer bad-key"], ["Token good-key"]] as const)(
    "the authorization %j is refused on submit and poll",
    ([authorization]) =>
      Effect.gen(function* () {
        for (const answer of [
          yield* send("POST", path, { authorization, body: order("x") }),
          yield* send("GET", `${path}/vbt-1`, { authorization })
        ]) {
          assert.strictEqual(answer.status, 401)
          assert.strictEqual(read(Failure, answer).error.code, "AuthenticationError")
        }
      })
  )

  it.effect("unknown tasks, paths and models are not found", () =>
    Effect.gen(function* () {
      for (const [answer, code] of [
        [yield* poll("vbt-0"), "ResourceNotFound"],
        [yield* send("GET", "/vp_b/api/v3/contents/generations/tasks/vbt-0"), "ResourceNotFound"],
        [
          yield* send("POST", path, { body: order("x", { model: "missing-1" }) }),
          "InvalidEndpointOrModel.NotFound"
        ]
      ] as const) {
        assert.strictEqual(answer.status, 404)
        assert.strictEqual(read(Failure, answer).error.code, code)
      }
    })
  )

  it.effect.each([
    ["sim:moderate-input", 400, "InputTextSensitiveContentDetected"],
    ["sim:rate", 429, "RateLimitExceeded"],
    ["sim:http500", 500, "InternalServiceError"],
    ["sim:refuse=402", 402, "AccountOverdueError"],
    ["sim:refuse=418", 418, "InvalidParameter"]
  ] as const)("%s refuses the order and books nothing", ([word, status, code]) =>
    Effect.gen(function* () {
      const before = (yield* booked).length
      const answer = yield* send("POST", path, { body: order(`x ${word}`) })
      assert.strictEqual(answer.status, status)
      assert.strictEqual(read(Failure, answer).error.code, code)
      assert.strictEqual(answer.headers.get("retry-after"), word === "sim:rate" ? "1" : null)
      assert.strictEqual((yield* booked).length, before)
    })
  )

  it.effect.each([
    ["sim:slow=3", ["queued", "queued", "running", "succeeded"]],
    ["sim:poll500=1 sim:slow=0", [500, "succeeded"]],
    ["sim:fail sim:slow=0", ["failed"]],
    ["sim:cancel sim:slow=0", ["cancelled"]],
    ["sim:expire sim:slow=0", ["expired"]],
    ["sim:unknown-status sim:slow=0", ["hibernating", "hibernating"]],
    ["sim:forget", [404, 404]]
  ] as const)("polls of %s", ([words, statuses]) =>
    Effect.gen(function* () {
      const id = yield* submit(order(`x ${words}`))
      const seen = yield* Effect.forEach(statuses, () =>
        Effect.map(poll(id), (answer) =>
          answer.status === 200 ? read(Status, answer).status : answer.status
        )
      )
      assert.deepStrictEqual<ReadonlyArray<string | number>>(seen, statuses)
    })
  )

  it.effect("a refused output says so in the poll, without video and usage", () =>
    Effect.gen(function* () {
      const id = yield* submit(order("x sim:moderate-output sim:slow=0"))
      const answer = yield* poll(id)
      assert.strictEqual(read(Failure, answer).error.code, "OutputVideoSensitiveContentDetected")
      assert.notMatch(answer.text, /content"|usage|duration/)
    })
  )

  it.effect("sim:usage and sim:nousage change what is claimed", () =>
    Effect.gen(function* () {
      const odd = yield* poll(yield* submit(order("x sim:slow=0 sim:usage=-1")))
      assert.include(odd.text, '"usage":{"completion_tokens":-1,"total_tokens":108900}')
      const none = yield* poll(yield* submit(order("x sim:slow=0 sim:nousage")))
      assert.include(none.text, '"status":"succeeded"')
      assert.notInclude(none.text, "usage")
    })
  )

  it.effect("sim:lost needs a good application and books the order", () =>
    Effect.gen(function* () {
      const before = (yield* booked).length
      assert.isFalse(yield* unanswered(path, order("x sim:lost")))
      assert.strictEqual((yield* booked).length, before)
      const lost = yield* Effect.exit(send("POST", path, { body: order("x sim:lost") }))
      assert.strictEqual(lost._tag, "Failure")
      assert.strictEqual((yield* booked).length, before + 1)
    })
  )
})
