import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { layerSimulator } from "../../src/simulator/Simulator.ts"
import { booked, json, orderedAs, read, send } from "./support.ts"

const path = "/vp_a/api/v3/contents/generations/tasks"

const pro10 = "doubao-seedance-1-0-pro-250528"
const fast10 = "seedance-1-0-pro-fast-251015"
const pro15 = "doubao-seedance-1-5-pro-251215"
const standard20 = "doubao-seedance-2-0-260128"
const fast20 = "dreamina-seedance-2-0-fast-260128"
const standard25 = "dreamina-seedance-2-5-260628"
const unknown = "sim-film-2"

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

const order = (model: string, media: ReadonlyArray<object>, more: object = {}) => ({
  model,
  content: [text("p"), ...media],
  ...more
})

const Submitted = Schema.Struct({ id: Schema.String })
const Failure = Schema.Struct({
  error: Schema.Struct({ code: Schema.String, message: Schema.String, param: Schema.String })
})
const Coded = Schema.Struct({ error: Schema.Struct({ code: Schema.String }) })
const Status = Schema.Struct({ id: Schema.String, status: Schema.String })
const List = Schema.Struct({ total: Schema.Int, items: Schema.Array(Status) })
const Done = Schema.Struct({
  duration: Schema.Int,
  usage: Schema.Struct({ completion_tokens: Schema.Int })
})

const submit = (body: object, authorization = "Bearer key-of-the-test") =>
  Effect.map(send("POST", path, { body, authorization }), (answer) => read(Submitted, answer).id)
const said = (words: string) => ({ model: unknown, content: [text(words)] })
const poll = (id: string) => send("GET", `${path}/${id}`)
const remove = (id: string) => send("DELETE", `${path}/${id}`)
const statusOf = (id: string) => Effect.map(poll(id), (answer) => read(Status, answer).status)

layer(layerSimulator({ port: 0 }))("the models of vp_a", (it) => {
  it.effect.each([
    [pro10, [image("reference_image")], "r2v"],
    [pro15, [image("reference_image")], "r2v"],
    [pro15, [image(), image()], "r2v"],
    [pro15, [video], "r2v"],
    [pro10, [image("reference_image"), audio], "r2v"],
    [fast10, [image("first_frame"), image("last_frame")], "flf2v"]
  ] as const)("%s does not take %j", ([model, media, type]) =>
    Effect.gen(function* () {
      const answer = yield* send("POST", path, { body: order(model, media) })
      assert.strictEqual(answer.status, 400)
      const { error } = read(Failure, answer)
      assert.strictEqual(error.code, "InvalidParameter")
      assert.include(
        error.message,
        `the specified task_type ${type} does not support model ${model}`
      )
    })
  )

  it.effect.each([
    [standard20, [image(), image("first_frame")], "content"],
    [standard20, [audio], "content"],
    [standard20, Array(10).fill(image("reference_image")), "content"],
    [standard25, Array(31).fill(image("reference_image")), "content"],
    [pro10, [image("last_frame")], "content"]
  ] as const)("%s refuses the content %j", ([model, media, param]) =>
    Effect.gen(function* () {
      const answer = yield* send("POST", path, { body: order(model, media) })
      assert.strictEqual(read(Failure, answer).error.param, param)
    })
  )

  it.effect.each([
    [pro10, { duration: 1 }, "duration"],
    [pro10, { duration: 13 }, "duration"],
    [pro10, { duration: -1 }, "duration"],
    [pro15, { duration: 3 }, "duration"],
    [pro15, { duration: 13 }, "duration"],
    [standard20, { duration: 3 }, "duration"],
    [standard20, { duration: 16 }, "duration"],
    [standard25, { duration: 31 }, "duration"],
    [unknown, { duration: 16 }, "duration"],
    [pro10, { resolution: "4k" }, "resolution"],
    [fast20, { resolution: "1080p" }, "resolution"],
    [pro10, { ratio: "adaptive" }, "ratio"],
    [standard20, { camera_fixed: true }, "camera_fixed"],
    [standard25, { camera_fixed: false }, "camera_fixed"],
    [standard20, { service_tier: "flex" }, "service_tier"],
    [pro10, { draft: true }, "draft"],
    [standard20, { draft: true }, "draft"],
    [pro15, { frames: 29 }, "frames"],
    [standard20, { frames: 29 }, "frames"],
    [pro10, { frames: 30 }, "frames"],
    [pro10, { priority: 1 }, "priority"],
    [pro15, { priority: 1 }, "priority"]
  ] as const)("%s refuses %j", ([model, more, param]) =>
    Effect.gen(function* () {
      const before = (yield* booked).length
      const answer = yield* send("POST", path, { body: order(model, [], more) })
      assert.strictEqual(answer.status, 400)
      const { error } = read(Failure, answer)
      assert.strictEqual(error.code, "InvalidParameter")
      assert.strictEqual(error.param, param)
      assert.strictEqual((yield* booked).length, before)
    })
  )

  it.effect("an option of another model is refused in the vendor's words", () =>
    Effect.gen(function* () {
      const answer = yield* send("POST", path, { body: order(pro10, [], { draft: true }) })
      assert.strictEqual(
        read(Failure, answer).error.message.replace(/ Request id.*/, ""),
        `The parameter \`draft\` specified in the request is not valid: the specified parameter \`draft\` is not supported for model ${pro10} in t2v, must be empty.`
      )
    })
  )

  it.effect.each([
    [pro10, [image()], { duration: 2, camera_fixed: true, service_tier: "flex" }],
    [pro10, [image("first_frame"), image("last_frame")], { duration: 12, ratio: "adaptive" }],
    [pro15, [], { duration: -1, draft: true, camera_fixed: false, ratio: "adaptive" }],
    [pro15, [image()], { duration: 4, service_tier: "default" }],
    [standard20, [image()], { duration: 4, priority: 9, service_tier: "default" }],
    [standard20, [image(), image()], { duration: 15, resolution: "4k" }],
    [standard25, [audio], { duration: 30, output_format: "mov" }],
    [standard25, Array(30).fill(image("reference_image")), { duration: -1 }],
    [unknown, [image(), video], { camera_fixed: true, draft: true, priority: 1, frames: 33 }],
    [standard20, [], { camera_fixed: null, draft: null, frames: null, duration: null, tools: [] }]
  ] as const)("%s takes %j with %j", ([model, media, more]) => submit(order(model, media, more)))

  it.effect("a draft's task stands for its text", () =>
    submit({ model: pro15, content: [{ type: "draft_task", draft_task: { id: "cgt-1" } }] })
  )

  it.effect.each([
    [pro10, { resolution: "480p", duration: 2 }, 2, (864 * 480 * 49) / 1024],
    [pro10, { resolution: "720p", frames: 57 }, 2, (1248 * 704 * 57) / 1024],
    [pro15, { resolution: "1080p", duration: 4 }, 4, (1920 * 1088 * 97) / 1024],
    [standard20, { resolution: "480p", duration: 4 }, 4, (864 * 496 * 97) / 1024],
    [standard25, { resolution: "480p", duration: 30 }, 30, (854 * 480 * 721) / 1024]
  ] as const)("%s renders %j in its own sizes", ([model, more, seconds, tokens]) =>
    Effect.gen(function* () {
      const body = { ...order(model, [], more), content: [text("p sim:slow=0")] }
      const done = read(Done, yield* poll(yield* submit(body)))
      assert.strictEqual(done.duration, seconds)
      assert.strictEqual(done.usage.completion_tokens, Math.floor(tokens))
    })
  )

  it.effect("the first generation makes no sound, the others do", () =>
    Effect.gen(function* () {
      for (const [model, more, sounds] of [
        [pro10, { generate_audio: true }, false],
        [pro15, {}, true],
        [standard20, { generate_audio: false }, false]
      ] as const) {
        const { order: kept } = yield* orderedAs(yield* submit(order(model, [], more)))
        assert.strictEqual(kept.generate_audio, sounds)
      }
    })
  )

  it.effect("sim:textusage says its counts in text", () =>
    Effect.gen(function* () {
      const { text } = yield* poll(yield* submit(said("p sim:slow=0 sim:textusage")))
      assert.include(text, '"usage":{"completion_tokens":"108900","total_tokens":"108900"}')
    })
  )

  it.effect("sim:cancel=WORD ends with that word", () =>
    Effect.gen(function* () {
      const id = yield* submit(said("p sim:slow=0 sim:cancel=canceled"))
      assert.strictEqual(yield* statusOf(id), "canceled")
    })
  )

  it.effect("a queued task is cancelled, a running one is not, an ended one is forgotten", () =>
    Effect.gen(function* () {
      const waiting = yield* submit(said("p"))
      assert.strictEqual((yield* remove(waiting)).status, 200)
      assert.strictEqual(yield* statusOf(waiting), "cancelled")
      assert.strictEqual((yield* booked).at(-1)?.event, "cancelled")

      const seen = yield* submit(said("p"))
      assert.strictEqual(yield* statusOf(seen), "queued")
      assert.strictEqual((yield* remove(seen)).status, 200)

      const running = yield* submit(said("p"))
      assert.strictEqual(yield* statusOf(running), "queued")
      assert.strictEqual(yield* statusOf(running), "running")
      const refused = yield* remove(running)
      assert.strictEqual(refused.status, 409)
      assert.strictEqual(read(Coded, refused).error.code, "InvalidAction.RunningTaskDeletion")
      assert.strictEqual(yield* statusOf(running), "succeeded")
      assert.strictEqual((yield* remove(running)).status, 200)
      assert.strictEqual((yield* poll(running)).status, 404)
      assert.strictEqual((yield* remove(running)).status, 404)
    })
  )

  it.effect("the list has the account's tasks, newest first and by the page", () =>
    Effect.gen(function* () {
      const authorization = "Bearer key-of-the-list"
      const list = (query: string) => send("GET", `${path}?${query}`, { authorization })
      yield* submit(said("another account's"))
      const ids = yield* Effect.forEach(["a", "b", "c"], (words) =>
        submit(said(words), authorization)
      )
      const newest = ids.toReversed()
      const idsOf = (answer: { readonly text: string }) =>
        read(List, answer).items.map(({ id }) => id)
      const first = yield* list("page_num=1&page_size=2")
      assert.strictEqual(read(List, first).total, 3)
      assert.deepStrictEqual(idsOf(first), newest.slice(0, 2))
      assert.deepStrictEqual(idsOf(yield* list("page_num=2&page_size=2")), newest.slice(2))
      assert.deepStrictEqual(json(yield* list("filter.status=succeeded")), { total: 0, items: [] })
      assert.strictEqual(read(Failure, yield* list("page_size=0")).error.param, "page_size")

      const named = `filter.task_ids=${ids[0]}&filter.task_ids=${ids[2]}`
      for (const status of ["queued", "running", "succeeded"]) {
        assert.deepStrictEqual(
          read(List, yield* list(named)).items.map((item) => item.status),
          [status, status]
        )
      }
      const succeeded = yield* list("filter.status=succeeded")
      assert.deepStrictEqual(idsOf(succeeded), [ids[2], ids[0]])
      assert.include(succeeded.text, '"content":{"video_url":"http')
    })
  )
})
