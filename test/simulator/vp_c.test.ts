import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { layerSimulator } from "../../src/simulator/Simulator.ts"
import { booked, json, read, send } from "./support.ts"
import {
  imageD,
  orderA,
  orderD,
  orderE,
  orderF,
  place,
  pollA,
  pollE,
  pollF,
  pollTimes,
  submitA,
  submitE,
  submitF,
  textD
} from "./vp_c.orders.ts"

const families = [
  ["a", submitA, orderA],
  ["d", textD, orderD],
  ["e", submitE, orderE],
  ["f", submitF, orderF]
] as const

const RelayFailure = Schema.Struct({
  error: Schema.Struct({ message: Schema.String, code: Schema.String })
})

layer(layerSimulator({ port: 0 }))("vp_c", (it) => {
  it.effect.each([
    ["a", ["queued", "running", "succeeded"]],
    ["d", ["submitted", "processing", "succeed"]],
    ["e", ["created", "queueing", "success"]],
    ["f", ["PENDING", "RUNNING", "SUCCEEDED"]]
  ] as const)("family %s walks through its vendor's states", ([family, statuses]) =>
    Effect.gen(function* () {
      const address = yield* place(family, "a boat")
      assert.deepStrictEqual<ReadonlyArray<string | number>>(yield* pollTimes(address, 3), statuses)
      const { text } = yield* send("GET", address)
      assert.match(text, /"(video_)?url":"[^"]+\/media\/videos\/5\//)
    })
  )

  it.effect("the book names the relay and the family", () =>
    Effect.gen(function* () {
      for (const [family, key] of [
        ["a", "a"],
        ["d", "d/text2video"],
        ["e", "e"],
        ["f", "f"]
      ] as const) {
        yield* place(family, "x")
        const last = (yield* booked).at(-1)
        if (last?.event !== "accepted") return assert.fail("not accepted")
        assert.strictEqual(last.protocol, "vp_c")
        assert.strictEqual(last.family, key)
      }
    })
  )

  it.effect("a task is unknown to the other families", () =>
    Effect.gen(function* () {
      const ofA = (yield* place("a", "x")).split("/").at(-1) ?? ""
      const ofD = (yield* place("d", "x")).split("/").at(-1) ?? ""
      assert.strictEqual((yield* send("GET", `${textD}/${ofA}`)).status, 404)
      assert.strictEqual((yield* send("GET", `${imageD}/${ofD}`)).status, 404)
      assert.strictEqual((yield* send("GET", `${pollA}/${ofD}`)).status, 404)
      assert.strictEqual((yield* send("GET", pollE(ofA))).status, 404)
      assert.include((yield* send("GET", `${pollF}/${ofA}`)).text, '"task_status":"UNKNOWN"')
      assert.include((yield* send("GET", `/vp_d/tasks?task_ids=${ofD}`)).text, '"data":[]')
      assert.strictEqual((yield* send("GET", `${textD}/${ofD}`)).status, 200)
    })
  )

  it.effect.each([
    "/vp_c/v1/videos/generations",
    "/vp_c/v1/doubao/v1/videos/generations/submit",
    "/vp_c/v1/qwen/api/v1/services/aigc/video-generation/generation",
    "/vp_c/api/v3/contents/generations/tasks"
  ])("%s is not found, as families start at the root", (path) =>
    Effect.gen(function* () {
      const answer = yield* send("POST", path, { body: orderA("x") })
      assert.strictEqual(answer.status, 404)
      assert.deepStrictEqual(json(answer), {
        error: {
          message: "There is nothing here; the paths of a family start at the host root",
          code: "not_found"
        }
      })
    })
  )

  it.effect.each([
    ["POST", "/vp_c/doubao/v1/videos/generations"],
    ["POST", "/vp_c/doubao/api/v3/contents/generations/tasks"],
    ["DELETE", "/vp_c/doubao/v1/videos/generations/cgt-1"],
    ["POST", "/vp_c/kling/text-to-video/m-1"],
    ["GET", "/vp_c/kling/tasks"],
    ["POST", "/vp_c/qwen/api/v1/services/aigc/video-generation/video-synthesis"],
    ["GET", "/vp_c/qwen/api/v1/tasks/1"],
    ["POST", "/vp_c/vidu/text2video"]
  ] as const)("%s %s is an operation the relay does not offer", ([method, path]) =>
    Effect.gen(function* () {
      const answer = yield* send(method, path, method === "GET" ? {} : { body: orderF("x") })
      assert.strictEqual(answer.status, 400)
      assert.deepStrictEqual(json(answer), {
        error: {
          message: "The requested operation is unsupported.",
          code: "unsupported_operation"
        }
      })
    })
  )

  it.effect.each(families)(
    "the key and the model are the relay's matter: family %s",
    ([, path, order]) =>
      Effect.gen(function* () {
        const before = (yield* booked).length
        for (const authorization of [null, "Token good-key", "Bearer bad-key"]) {
          const answer = yield* send("POST", path, { authorization, body: order("x") })
          assert.strictEqual(answer.status, 401)
          assert.strictEqual(read(RelayFailure, answer).error.code, "invalid_api_key")
        }
        const named = (model: string) => (path === textD ? { model_name: model } : { model })
        const body = order("x", named("forbidden-1"))
        const forbidden = yield* send("POST", path, { body })
        assert.strictEqual(forbidden.status, 403)
        assert.deepStrictEqual(json(forbidden), {
          error: { message: "No permission", code: "no_permission" }
        })
        const foreign = path === submitF ? "doubao-seedance" : "wan2.6-t2v-cn"
        const stray = yield* send("POST", path, { body: order("x", named(foreign)) })
        assert.strictEqual(stray.status, 400)
        assert.strictEqual(read(RelayFailure, stray).error.code, "unsupported_operation")
        assert.strictEqual((yield* booked).length, before)
      })
  )

  it.effect.each(
    families.flatMap(([family, path, order]) =>
      (
        [
          ["sim:rate", 429, "rate_limit_exceeded"],
          ["sim:http500", 500, "internal_error"],
          ["sim:refuse=402", 402, "insufficient_balance"],
          ["sim:refuse=403", 403, "no_permission"],
          ["sim:refuse=418", 418, "invalid_request"],
          ["sim:refuse=502", 502, "provider_error"]
        ] as const
      ).map(([word, status, code]) => [family, word, status, code, path, order] as const)
    )
  )("family %s: %s is refused with %i %s", ([, word, status, code, path, order]) =>
    Effect.gen(function* () {
      const before = (yield* booked).length
      const answer = yield* send("POST", path, { body: order(`x ${word}`) })
      assert.strictEqual(answer.status, status)
      assert.strictEqual(read(RelayFailure, answer).error.code, code)
      assert.strictEqual((yield* booked).length, before)
    })
  )

  it.effect.each([
    [submitA, orderA, '"code":"InputTextSensitiveContentDetected"'],
    [textD, orderD, '"code":1301'],
    [submitE, orderE, '"reason":"AuditSubmitIllegal"'],
    [submitF, orderF, '"code":"DataInspectionFailed"']
  ] as const)("%s refuses an input in the family's form", ([path, order, part]) =>
    Effect.gen(function* () {
      const answer = yield* send("POST", path, { body: order("x sim:moderate-input") })
      assert.strictEqual(answer.status, 400)
      assert.include(answer.text, part)
    })
  )

  it.effect.each([
    [submitA, orderA, '"code":"InvalidEndpointOrModel.NotFound"', 404],
    [textD, orderD, '"code":1203', 404],
    [submitE, orderE, '"reason":"ModelUnavailable"', 400],
    [submitF, orderF, '"code":"ModelNotFound"', 404]
  ] as const)("%s does not know a missing model", ([path, order, part, status]) =>
    Effect.gen(function* () {
      const model = path === textD ? { model_name: "missing-1" } : { model: "missing-1" }
      const answer = yield* send("POST", path, { body: order("x", model) })
      assert.strictEqual(answer.status, status)
      assert.include(answer.text, part)
    })
  )

  it.effect.each([
    ["a", "sim:slow=1", ["queued", "succeeded"]],
    ["a", "sim:cancel sim:slow=0", ["cancelled"]],
    ["a", "sim:expire sim:slow=0", ["expired"]],
    ["a", "sim:forget", [404]],
    ["d", "sim:slow=1", ["submitted", "succeed"]],
    ["d", "sim:cancel sim:slow=0", ["failed"]],
    ["d", "sim:moderate-output sim:slow=0", ["failed"]],
    ["d", "sim:unknown-status", ["hibernating", "hibernating", "hibernating"]],
    ["d", "sim:forget", [404]],
    ["e", "sim:expire sim:slow=0", ["failed"]],
    ["e", "sim:forget", [404]],
    ["f", "sim:cancel sim:slow=0", ["CANCELED"]],
    ["f", "sim:expire sim:slow=0", ["UNKNOWN"]],
    ["f", "sim:forget", ["UNKNOWN"]],
    ["a", "sim:poll500=1 sim:slow=0", [500, "succeeded"]],
    ["d", "sim:poll500=1 sim:slow=0", [500, "succeed"]],
    ["e", "sim:poll500=1 sim:slow=0", [500, "success"]],
    ["f", "sim:poll500=1 sim:slow=0", [500, "SUCCEEDED"]]
  ] as const)("polls of family %s with %s", ([family, words, statuses]) =>
    Effect.gen(function* () {
      const address = yield* place(family, `x ${words}`)
      assert.deepStrictEqual<ReadonlyArray<string | number>>(
        yield* pollTimes(address, statuses.length),
        statuses
      )
    })
  )

  it.effect("a poll that breaks breaks in the relay's form", () =>
    Effect.gen(function* () {
      for (const [family] of families) {
        const answer = yield* send("GET", yield* place(family, "x sim:poll500=1"))
        assert.strictEqual(answer.status, 500)
        assert.strictEqual(read(RelayFailure, answer).error.code, "internal_error")
      }
    })
  )
})
