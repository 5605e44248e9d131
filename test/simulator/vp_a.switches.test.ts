import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { json, read, send, unanswered } from "./support.ts"

const path = "/vp_a/api/v3/contents/generations/tasks"

const text = (words: string) => ({ type: "text", text: words })
const order = (prompt: string, more: object = {}) => ({
  model: "m-1",
  content: [text(prompt)],
  duration: 5,
  resolution: "720p",
  ...more
})

const Submitted = Schema.Struct({ id: Schema.String })
const Status = Schema.Struct({ status: Schema.String })
const Failure = Schema.Struct({ error: Schema.Struct({ code: Schema.String }) })

const submit = (body: object) =>
  Effect.map(send("POST", path, { body }), (answer) => read(Submitted, answer).id)
const poll = (id: string) => send("GET", `${path}/${id}`)
const pollStatuses = (id: string, count: number) =>
  Effect.forEach(Array.from({ length: count }), () =>
    Effect.map(poll(id), (answer) =>
      answer.status === 200 ? read(Status, answer).status : answer.status
    )
  )
const booked = Effect.flatMap(Simulator, ({ book }) => Effect.map(book, (all) => all.length))

layer(layerSimulator({ port: 0 }))("vp_a switches", (it) => {
  it.effect.each([
    ["sim:moderate-input", 400, "InputTextSensitiveContentDetected"],
    ["sim:rate", 429, "RateLimitExceeded.EndpointRPMExceeded"],
    ["sim:http500", 500, "InternalServiceError"],
    ["sim:refuse=402", 402, "AccountOverdueError"],
    ["sim:refuse=403", 403, "AccountOverdueError"],
    ["sim:refuse=418", 418, "InvalidParameter"],
    ["sim:refuse=503", 503, "InternalServiceError"]
  ] as const)("%s refuses the order and books nothing", ([word, status, code]) =>
    Effect.gen(function* () {
      const before = yield* booked
      const answer = yield* send("POST", path, { body: order(`x ${word}`) })
      assert.strictEqual(answer.status, status)
      assert.strictEqual(read(Failure, answer).error.code, code)
      assert.strictEqual(answer.headers.get("retry-after"), word === "sim:rate" ? "1" : null)
      assert.strictEqual(yield* booked, before)
    })
  )

  it.effect("sim:html and sim:redirect answer no task and book nothing", () =>
    Effect.gen(function* () {
      const before = yield* booked
      const page = yield* send("POST", path, { body: order("x sim:html") })
      assert.strictEqual(page.status, 200)
      assert.match(page.headers.get("content-type") ?? "", /^text\/html/)
      const moved = yield* send("POST", path, { body: order("x sim:redirect") })
      assert.strictEqual(moved.status, 302)
      const { url } = yield* Simulator
      assert.strictEqual(moved.headers.get("location"), `${url}/vp_a/moved`)
      assert.strictEqual(yield* booked, before)
    })
  )

  it.effect("sim:lost and sim:hang book the order and answer nothing", () =>
    Effect.gen(function* () {
      const before = yield* booked
      assert.isTrue(yield* unanswered(path, order("x sim:lost")))
      assert.strictEqual(yield* booked, before + 1)

      const leaving = new AbortController()
      const { book } = yield* Simulator
      const hanging = yield* Effect.forkChild(unanswered(path, order("x sim:hang"), leaving.signal))
      while ((yield* book).length < before + 2) {
        yield* Effect.promise(() => new Promise(setImmediate))
      }
      leaving.abort()
      assert.isTrue(yield* Fiber.join(hanging))
    })
  )

  it.effect("sim:truncated books the order and cuts the JSON", () =>
    Effect.gen(function* () {
      const before = yield* booked
      const answer = yield* send("POST", path, { body: order("x sim:truncated") })
      assert.strictEqual(answer.status, 200)
      assert.match(answer.text, /^\{"id":"cgt-/)
      assert.throws(() => JSON.parse(answer.text))
      assert.strictEqual(yield* booked, before + 1)
    })
  )

  it.effect("sim:late500 books the order and answers an error", () =>
    Effect.gen(function* () {
      const before = yield* booked
      const answer = yield* send("POST", path, { body: order("x sim:late500") })
      assert.strictEqual(answer.status, 500)
      assert.strictEqual(yield* booked, before + 1)
    })
  )

  it.effect("sim:same-job books nothing and answers the account's last job", () =>
    Effect.gen(function* () {
      const id = yield* submit(order("x"))
      const before = yield* booked
      assert.strictEqual(yield* submit(order("y sim:same-job")), id)
      assert.strictEqual(yield* booked, before)
    })
  )

  it.effect.each([
    ["sim:slow=0", 1, ["succeeded"]],
    ["sim:slow=1", 2, ["queued", "succeeded"]],
    ["sim:slow=5", 6, ["queued", "queued", "queued", "running", "running", "succeeded"]],
    ["sim:poll500=2 sim:slow=1", 4, [500, 500, "queued", "succeeded"]],
    ["sim:fail sim:slow=1", 2, ["queued", "failed"]],
    ["sim:cancel sim:slow=1", 2, ["queued", "cancelled"]],
    ["sim:expire sim:slow=1", 2, ["queued", "expired"]],
    ["sim:unknown-status sim:slow=0", 3, ["hibernating", "hibernating", "hibernating"]],
    ["sim:forget", 2, [404, 404]]
  ] as const)("polls of %s", ([words, count, statuses]) =>
    Effect.gen(function* () {
      const id = yield* submit(order(`x ${words}`))
      assert.deepStrictEqual<ReadonlyArray<string | number>>(
        yield* pollStatuses(id, count),
        statuses
      )
    })
  )

  it.effect("a refused output says so in the poll, without video and usage", () =>
    Effect.gen(function* () {
      const id = yield* submit(order("x sim:moderate-output sim:slow=0"))
      const entry = (yield* (yield* Simulator).book).find(
        (one) => one.event === "accepted" && one.upstream_id === id
      )
      const at = Math.floor(Date.parse(entry?.at ?? "") / 1000)
      assert.deepStrictEqual(json(yield* poll(id)), {
        id,
        model: "m-1",
        status: "failed",
        created_at: at,
        updated_at: at,
        error: {
          code: "OutputVideoSensitiveContentDetected",
          message:
            "The request failed because the output video may contain sensitive information. Request id: RID"
        }
      })
    })
  )

  it.effect.each(["0", "-5", "1.5", '"12"', "1e309", "null"])(
    "sim:usage=%s stands in the text as it is",
    (word) =>
      Effect.gen(function* () {
        const id = yield* submit(order(`x sim:slow=0 sim:usage=${word}`))
        const { text } = yield* poll(id)
        assert.include(text, `"usage":{"completion_tokens":${word},"total_tokens":108900}`)
      })
  )

  it.effect("sim:nousage leaves the usage out", () =>
    Effect.gen(function* () {
      const { text } = yield* poll(yield* submit(order("x sim:slow=0 sim:nousage")))
      assert.include(text, '"status":"succeeded"')
      assert.notInclude(text, "usage")
    })
  )

  it.effect("the last frame comes when it was asked for", () =>
    Effect.gen(function* () {
      const id = yield* submit(order("x sim:slow=0", { return_last_frame: true }))
      const Content = Schema.Struct({ content: Schema.Struct({ last_frame_url: Schema.String }) })
      const { content } = read(Content, yield* poll(id))
      assert.strictEqual((yield* send("GET", content.last_frame_url)).status, 200)
    })
  )

  it.effect("switches are read from every text block and only as whole words", () =>
    Effect.gen(function* () {
      const content = [text("a xsim:fail sim:failure"), text("sim:slow=0")]
      const id = yield* submit(order("", { content }))
      assert.deepStrictEqual(yield* pollStatuses(id, 1), ["succeeded"])
    })
  )
})
