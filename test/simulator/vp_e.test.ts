import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { layerSimulator } from "../../src/simulator/Simulator.ts"
import { booked, json, orderedAs, read, send as sendAny } from "./support.ts"

const text = "/vp_e/ent/v2/text2video"
const image = "/vp_e/ent/v2/img2video"
const frames = "/vp_e/ent/v2/start-end2video"
const reference = "/vp_e/ent/v2/reference2video"

const send = (method: string, to: string, options: Parameters<typeof sendAny>[2] = {}) =>
  sendAny(method, to, { authorization: "Token key-of-the-test", ...options })

const order = (prompt: string, more: object = {}) => ({ model: "m-3", prompt, ...more })
const picture = "https://x.test/a.png"
const inline = "data:image/png;base64,AAAA"
const pictures = (count: number) => ({ images: Array<string>(count).fill(picture) })

const Submitted = Schema.Struct({ task_id: Schema.String, state: Schema.Literal("created") })
const State = Schema.Struct({ state: Schema.String })
const Polled = Schema.Struct({
  state: Schema.String,
  err_code: Schema.String,
  credits: Schema.Int,
  creations: Schema.Array(Schema.Json)
})
const Failure = Schema.Struct({ code: Schema.Int, reason: Schema.String })

const submit = (path: string, body: object) =>
  Effect.map(send("POST", path, { body }), (answer) => read(Submitted, answer).task_id)
const poll = (id: string) => send("GET", `/vp_e/ent/v2/tasks/${id}/creations`)

layer(layerSimulator({ port: 0 }))("vp_e", (it) => {
  it.effect("a task is created, queued, processed and done, each in the vendor's form", () =>
    Effect.gen(function* () {
      const body = order("a lighthouse sim:slow=3", {
        duration: 5,
        resolution: "720p",
        aspect_ratio: "9:16",
        seed: 66,
        payload: "gw-1",
        watermark: true
      })
      const answer = yield* send("POST", text, { body })
      const id = read(Submitted, answer).task_id
      const accepted = yield* orderedAs(id)
      assert.deepStrictEqual(json(answer), {
        task_id: id,
        state: "created",
        model: "m-3",
        prompt: "a lighthouse sim:slow=3",
        images: [],
        duration: 5,
        seed: 66,
        aspect_ratio: "9:16",
        resolution: "720p",
        movement_amplitude: "auto",
        payload: "gw-1",
        credits: 20,
        off_peak: false,
        created_at: `${accepted.at.slice(0, 23)}002956Z`
      })
      const row = { id, err_code: "", credits: 20, payload: "gw-1", bgm: false, off_peak: false }
      for (const state of ["created", "queueing", "processing"]) {
        assert.deepStrictEqual(json(yield* poll(id)), { ...row, state, creations: [] })
      }
      const done = yield* poll(id)
      const find = (name: string) => new RegExp(`"${name}":"([^"]+)"`).exec(done.text)?.[1] ?? ""
      const [url, cover_url] = [find("url"), find("cover_url")]
      const watermarked_url = find("watermarked_url")
      assert.match(url, new RegExp(`/media/videos/5/${id}\\.mp4\\?Expires=\\d+`))
      assert.match(watermarked_url, new RegExp(`/media/videos/5/${id}\\.watermarked\\.mp4\\?`))
      for (const address of [cover_url, watermarked_url]) {
        assert.strictEqual((yield* send("GET", address)).status, 200)
      }
      const creation = { id: /"creations":\[\{"id":"(\d+)"/.exec(done.text)?.[1], url, cover_url }
      assert.deepStrictEqual<unknown>(json(done), {
        ...row,
        state: "success",
        creations: [{ ...creation, watermarked_url }]
      })
      assert.strictEqual((yield* poll(id)).text, done.text)
    })
  )

  it.effect("the book holds the vendor's defaults, a ratio only where the mode has one", () =>
    Effect.gen(function* () {
      for (const [path, more, ratio] of [
        [text, {}, "16:9"],
        [image, pictures(1), null],
        [frames, pictures(2), null],
        [reference, pictures(3), "16:9"]
      ] as const) {
        const { order: kept, ...entry } = yield* orderedAs(yield* submit(path, order("p", more)))
        const { prompt_sha256: _, ...rest } = kept
        assert.strictEqual(entry.client_token, null)
        assert.deepStrictEqual(rest, {
          seconds: 5,
          resolution: "720p",
          ratio,
          n: null,
          size: null,
          inputs: { images: "images" in more ? more.images.length : 0, videos: 0, audios: 0 },
          generate_audio: true
        })
      }
    })
  )

  it.effect("a bad value is refused with the vendor's body and nothing is booked", () =>
    Effect.gen(function* () {
      const before = (yield* booked).length
      const answer = yield* send("POST", text, { body: order("p", { duration: 17 }) })
      assert.strictEqual(answer.status, 400)
      assert.deepStrictEqual(json(answer), {
        code: 400,
        reason: "FieldInvalid",
        message: "invalid field: duration",
        metadata: { trace_id: "RID" }
      })
      assert.strictEqual((yield* booked).length, before)
    })
  )

  it.effect.each([
    [text, "not json", "BadRequest"],
    [text, { prompt: "p" }, "FieldLacking"],
    [text, { model: "m-3" }, "FieldLacking"],
    [text, order(""), "FieldInvalid"],
    [text, order("x".repeat(5001)), "FieldInvalid"],
    [text, order("p", { duration: 0 }), "FieldInvalid"],
    [text, order("p", { duration: "5" }), "FieldInvalid"],
    [text, order("p", { duration: -1 }), "FieldInvalid"],
    [text, order("p", { resolution: "480p" }), "FieldInvalid"],
    [text, order("p", { aspect_ratio: "21:9" }), "FieldInvalid"],
    [text, order("p", { audio: "on" }), "FieldInvalid"],
    [text, order("p", { payload: "x".repeat(1048577) }), "FieldInvalid"],
    [text, order("p", { images: [] }), "FieldUnwanted"],
    [text, order("p", { videos: [] }), "FieldUnwanted"],
    [image, order("p"), "FieldLacking"],
    [image, order("p", pictures(0)), "FieldItemCountOutOfRange"],
    [image, order("p", pictures(2)), "FieldItemCountOutOfRange"],
    [image, order("p", { images: ["file:///etc/passwd"] }), "FieldInvalid"],
    [image, order("p", { images: ["data:image/gif;base64,AAAA"] }), "ImageFormatInvalid"],
    [image, order("p", { images: picture }), "FieldInvalid"],
    [frames, order("p", pictures(1)), "FieldItemCountOutOfRange"],
    [frames, order("p", pictures(3)), "FieldItemCountOutOfRange"],
    [reference, { model: "m-3", ...pictures(1) }, "FieldLacking"],
    [reference, order("p", pictures(0)), "FieldItemCountOutOfRange"],
    [reference, order("p", pictures(8)), "FieldItemCountOutOfRange"],
    [reference, order("p", { ...pictures(1), duration: 2 }), "FieldInvalid"],
    [reference, order("p", { ...pictures(1), audio_type: "loud" }), "FieldInvalid"],
    [reference, order("p", { ...pictures(1), sounds: [picture] }), "FieldUnwanted"],
    [reference, order("p", { ...pictures(1), videos: [picture] }), "FieldUnwanted"],
    [text, order("p", { model: "missing-1" }), "ModelUnavailable"],
    [text, order("p", { model: "viduq3" }), "ModelUnavailable"],
    [image, order("p", { ...pictures(1), model: "viduq3" }), "ModelUnavailable"],
    [frames, order("p", { ...pictures(2), model: "viduq3-mix" }), "ModelUnavailable"],
    [reference, order("p", { ...pictures(2), model: "viduq3-pro" }), "ModelUnavailable"],
    [reference, order("p", { ...pictures(1), model: "viduq3-pro-cn" }), "ModelUnavailable"],
    [text, order("p", { model: "viduq3-pro-fast" }), "ModelUnavailable"],
    [frames, order("p", { ...pictures(2), model: "viduq3-pro-fast" }), "ModelUnavailable"],
    [reference, order("p", { ...pictures(1), model: "viduq3-pro-fast" }), "ModelUnavailable"]
  ] as const)("%s refuses %j", ([path, body, reason]) =>
    Effect.gen(function* () {
      const answer = yield* send("POST", path, { body })
      assert.strictEqual(answer.status, 400)
      assert.deepStrictEqual(read(Failure, answer), { code: 400, reason })
    })
  )

  it.effect.each([
    [text, order("x".repeat(5000), { duration: 1, resolution: "540p" })],
    [text, order("p", { duration: 16, resolution: "1080p", style: "anime", bgm: true })],
    [text, order("p", { model: "viduq3-turbo", audio: false })],
    [image, { model: "viduq3-pro", images: [inline], duration: 1 }],
    [frames, { model: "m-3", images: [inline, picture] }],
    [reference, order("p", { ...pictures(7), duration: 3, audio_type: "all" })],
    [reference, order("p", { ...pictures(1), duration: 16, model: "viduq3-mix" })],
    [reference, order("p", { ...pictures(2), model: "viduq3" })],
    [reference, order("p", { ...pictures(2), model: "viduq3-turbo-glb" })],
    [image, order("p", { ...pictures(1), model: "viduq3-pro-fast" })],
    [frames, order("p", { ...pictures(2), model: "viduq3-pro" })],
    [text, order("p", { ratio: "16:9", fps: 24, seed: null, videos: null, images: null })],
    [image, order("p", { ...pictures(1), aspect_ratio: "16:9" })]
  ] as const)("%s takes %j", ([path, body]) => submit(path, body))

  it.effect.each([[null], ["Bearer key"], ["Token bad-key"], ["Token "]] as const)(
    "the authorization %j is refused on submit and poll",
    ([authorization]) =>
      Effect.gen(function* () {
        for (const answer of [
          yield* send("POST", text, { authorization, body: order("p") }),
          yield* send("GET", "/vp_e/ent/v2/tasks/1/creations", { authorization })
        ]) {
          assert.strictEqual(answer.status, 401)
          assert.deepStrictEqual(read(Failure, answer), { code: 401, reason: "Unauthorized" })
        }
      })
  )

  it.effect("unknown tasks and paths are not found", () =>
    Effect.gen(function* () {
      for (const [answer, reason] of [
        [yield* poll("17"), "TaskNotFound"],
        [yield* send("POST", "/vp_e/v1/text2video", { body: {} }), "NotFound"]
      ] as const) {
        assert.strictEqual(answer.status, 404)
        assert.strictEqual(read(Failure, answer).reason, reason)
      }
    })
  )

  it.effect.each([
    ["sim:moderate-input", 400, "AuditSubmitIllegal"],
    ["sim:rate", 429, "TooManyRequests"],
    ["sim:http500", 500, "InternalServiceFailure"],
    ["sim:refuse=400", 400, "BadRequest"],
    ["sim:refuse=402", 402, "CreditInsufficient"],
    ["sim:refuse=403", 403, "Forbidden"],
    ["sim:refuse=409", 409, "Conflict"],
    ["sim:refuse=503", 503, "InternalServiceFailure"]
  ] as const)("%s refuses the order and books nothing", ([word, status, reason]) =>
    Effect.gen(function* () {
      const before = (yield* booked).length
      const answer = yield* send("POST", image, { body: order(`p ${word}`, pictures(1)) })
      assert.strictEqual(answer.status, status)
      assert.deepStrictEqual(read(Failure, answer), { code: status, reason })
      assert.strictEqual(answer.headers.get("retry-after"), word === "sim:rate" ? "1" : null)
      assert.strictEqual((yield* booked).length, before)
    })
  )

  it.effect.each([
    ["", ["created", "queueing", "success"]],
    ["sim:poll500=1 sim:slow=0", [500, "success"]],
    ["sim:unknown-status", ["hibernating", "hibernating", "hibernating"]],
    ["sim:forget", [404, 404]]
  ] as const)("polls of %j", ([words, states]) =>
    Effect.gen(function* () {
      const id = yield* submit(text, order(`p ${words}`))
      const seen = yield* Effect.forEach(states, () =>
        Effect.map(poll(id), (answer) =>
          answer.status === 200 ? read(State, answer).state : answer.status
        )
      )
      assert.deepStrictEqual<ReadonlyArray<string | number>>(seen, states)
    })
  )

  it.effect.each([
    ["sim:moderate-output", "CreationPolicyViolation"],
    ["sim:fail", "InternalServiceFailure"],
    ["sim:cancel", "UserCancelled"],
    ["sim:expire", "Canceled"]
  ] as const)("%s ends the task failed, with %s and no credits", ([word, code]) =>
    Effect.gen(function* () {
      const id = yield* submit(reference, order(`p ${word} sim:slow=0`, pictures(1)))
      assert.deepStrictEqual(read(Polled, yield* poll(id)), {
        state: "failed",
        err_code: code,
        credits: 0,
        creations: []
      })
      const ended = (yield* booked).find(
        (entry) => entry.upstream_id === id && entry.event !== "accepted"
      )
      assert.strictEqual(ended?.event, "failed")
    })
  )
})
