import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { layerSimulator } from "../../src/simulator/Simulator.ts"
import { booked, json, orderedAs, read, send } from "./support.ts"

const native = "/ip_c/qwen/api/v1/services/aigc/image-generation/generation"
const standard = "/ip_c/doubao/v1/images/generations"
const tasks = "/ip_c/qwen/api/v1/tasks/image"

const nativeOrder = (prompt: string, more: object = {}, parameters: object = {}) => ({
  model: "wan2.6-t2i-cn",
  input: { messages: [{ role: "user", content: [{ text: prompt }] }] },
  parameters,
  ...more
})
const standardOrder = (prompt: string, more: object = {}) => ({
  model: "doubao-draw",
  prompt,
  size: "64x32",
  ...more
})
const rows = [
  [native, nativeOrder],
  [standard, standardOrder]
] as const

const Native = Schema.Struct({
  output: Schema.Struct({ choices: Schema.Array(Schema.Json), finished: Schema.Literal(true) }),
  usage: Schema.Struct({ image_count: Schema.Int })
})
const Standard = Schema.Struct({
  created: Schema.Int,
  data: Schema.Array(Schema.Struct({ url: Schema.String }))
})
const Pending = Schema.Struct({ output: Schema.Struct({ task_id: Schema.String }) })
const RelayFailure = Schema.Struct({
  error: Schema.Struct({ message: Schema.String, code: Schema.String })
})

const lastAccepted = Effect.map(booked, (entries) => {
  const entry = entries.findLast(({ event }) => event === "accepted")
  return entry?.event === "accepted" ? entry : assert.fail("nothing is booked")
})

layer(layerSimulator({ port: 0 }))("ip_c", (it) => {
  it.effect("the message form is answered at once, with the vendor's number of images", () =>
    Effect.gen(function* () {
      const answer = yield* send("POST", native, { body: nativeOrder("a boat") })
      assert.strictEqual(answer.status, 200)
      const { output, usage } = read(Native, answer)
      assert.lengthOf(output.choices, 4)
      assert.strictEqual(usage.image_count, 4)
      const { family, order, protocol } = yield* lastAccepted
      assert.deepStrictEqual([protocol, family, order.n], ["ip_c", "f", 4])
    })
  )

  it.effect("the standard form is answered in its own", () =>
    Effect.gen(function* () {
      const answer = yield* send("POST", standard, { body: standardOrder("boats", { n: 2 }) })
      const { data } = read(Standard, answer)
      assert.lengthOf(data, 2)
      assert.match(data[0]?.url ?? "", /\/media\/images\/64x32\//)
      const { family, order, protocol } = yield* lastAccepted
      assert.deepStrictEqual([protocol, family, order.n], ["ip_c", "a", 2])
    })
  )

  it.effect("sim:async and the async header make a task that ends with the images", () =>
    Effect.gen(function* () {
      const headers = { "x-dashscope-async": "enable" }
      for (const answer of [
        yield* send("POST", native, { body: nativeOrder("x sim:async", {}, { n: 2 }) }),
        yield* send("POST", native, { body: nativeOrder("x", {}, { n: 2 }), headers })
      ]) {
        const { task_id } = read(Pending, answer).output
        assert.notInclude(answer.text, "choices")
        assert.strictEqual((yield* orderedAs(task_id)).order.n, 2)
        for (const status of ["PENDING", "RUNNING"]) {
          const { text } = yield* send("GET", `${tasks}/${task_id}`)
          assert.include(text, `"task_status":"${status}"`)
        }
        const done = yield* send("GET", `${tasks}/${task_id}`)
        assert.include(done.text, '"task_status":"SUCCEEDED"')
        assert.lengthOf(read(Native, done).output.choices, 2)
        const elsewhere = yield* send("GET", `/ip_b/api/v1/tasks/${task_id}`)
        assert.include(elsewhere.text, '"task_status":"UNKNOWN"')
      }
    })
  )

  it.effect.each([
    [native, nativeOrder("x", {}, { n: 5 }), '"code":"InvalidParameter"'],
    [native, nativeOrder("x", {}, { size: "1280x1280" }), '"code":"InvalidParameter"'],
    [native, nativeOrder("x", { model: undefined }), '"code":"BadRequest.EmptyModel"'],
    [native, nativeOrder("x sim:moderate-input"), '"code":"DataInspectionFailed"'],
    [native, nativeOrder("x sim:moderate-output"), '"code":"DataInspectionFailed"'],
    [standard, standardOrder("x", { n: 11 }), '"type":"invalid_request_error"'],
    [standard, standardOrder("x sim:moderate-input"), '"code":"content_policy_violation"'],
    [standard, standardOrder("x sim:moderate-output"), '"code":"moderation_blocked"']
  ] as const)("%s refuses %j in the family's form", ([path, body, part]) =>
    Effect.gen(function* () {
      const answer = yield* send("POST", path, { body })
      assert.strictEqual(answer.status, 400)
      assert.include(answer.text, part)
    })
  )

  it.effect.each(
    rows.flatMap(([path, order]) =>
      (
        [
          ["sim:rate", 429, "rate_limit_exceeded"],
          ["sim:http500", 500, "internal_error"],
          ["sim:fail", 500, "internal_error"],
          ["sim:refuse=402", 402, "insufficient_balance"],
          ["sim:refuse=502", 502, "provider_error"]
        ] as const
      ).map(([word, status, code]) => [path, word, status, code, order] as const)
    )
  )("%s with %s is refused with %i %s", ([path, word, status, code, order]) =>
    Effect.gen(function* () {
      const answer = yield* send("POST", path, { body: order(`x ${word}`) })
      assert.strictEqual(answer.status, status)
      assert.strictEqual(read(RelayFailure, answer).error.code, code)
    })
  )

  it.effect.each(rows)("the key and the model are the relay's matter at %s", ([path, order]) =>
    Effect.gen(function* () {
      const before = (yield* booked).length
      for (const authorization of [null, "Token good-key", "Bearer bad-key"]) {
        const answer = yield* send("POST", path, { authorization, body: order("x") })
        assert.strictEqual(answer.status, 401)
        assert.strictEqual(read(RelayFailure, answer).error.code, "invalid_api_key")
      }
      const forbidden = yield* send("POST", path, { body: order("x", { model: "forbidden-1" }) })
      assert.strictEqual(forbidden.status, 403)
      assert.strictEqual(read(RelayFailure, forbidden).error.message, "No permission")
      const foreign = path === native ? "doubao-draw" : "wan2.6-t2i-cn"
      const stray = yield* send("POST", path, { body: order("x", { model: foreign }) })
      assert.strictEqual(stray.status, 400)
      assert.strictEqual(read(RelayFailure, stray).error.code, "unsupported_operation")
      assert.strictEqual((yield* booked).length, before)
    })
  )

  it.effect.each([
    ["/ip_c/v1/images/generations", 404, "not_found"],
    ["/ip_c/v1/qwen/api/v1/services/aigc/image-generation/generation", 404, "not_found"],
    [
      "/ip_c/qwen/api/v1/services/aigc/multimodal-generation/generation",
      400,
      "unsupported_operation"
    ],
    ["/ip_c/doubao/v1/images/edits", 400, "unsupported_operation"]
  ] as const)("%s answers %i", ([path, status, code]) =>
    Effect.gen(function* () {
      const answer = yield* send("POST", path, { body: nativeOrder("x") })
      assert.strictEqual(answer.status, status)
      assert.strictEqual(read(RelayFailure, answer).error.code, code)
    })
  )

  it.effect("a missing model and an unknown task are the family's matter", () =>
    Effect.gen(function* () {
      const body = nativeOrder("x", { model: "missing-1" })
      const missing = yield* send("POST", native, { body })
      assert.strictEqual(missing.status, 404)
      assert.include(missing.text, '"code":"ModelNotFound"')
      const unknown = yield* send("GET", `${tasks}/17`)
      assert.deepStrictEqual(json(unknown), {
        request_id: "RID",
        output: { task_id: "17", task_status: "UNKNOWN" }
      })
    })
  )
})
