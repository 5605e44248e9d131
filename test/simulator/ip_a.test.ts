import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { json, read, send, unanswered } from "./support.ts"

const path = "/ip_a/v1/images/generations"
const order = (prompt: string, more: object = {}) => ({ model: "m-1", prompt, ...more })

const Urls = Schema.Struct({
  created: Schema.Int,
  data: Schema.Array(Schema.Struct({ url: Schema.String, revised_prompt: Schema.String }))
})
const Inline = Schema.Struct({
  data: Schema.Array(Schema.Struct({ b64_json: Schema.String }))
})
const Failure = Schema.Struct({
  error: Schema.Struct({
    type: Schema.String,
    code: Schema.NullOr(Schema.String),
    param: Schema.NullOr(Schema.String)
  })
})

/** The size a PNG states in its header. */
const sizeOf = (png: Uint8Array) => {
  const bytes = Buffer.from(png)
  assert.strictEqual(bytes.toString("latin1", 1, 4), "PNG")
  return `${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}`
}
const booked = Effect.flatMap(Simulator, ({ book }) => book)

layer(layerSimulator({ port: 0 }))("ip_a", (it) => {
  it.effect.each([
    [{}, "1024x1024"],
    [{ size: null }, "1024x1024"],
    [{ size: "auto" }, "1024x1024"],
    [{ size: "2K" }, "2048x2048"],
    [{ size: "641x359" }, "641x359"]
  ] as const)("a picture of %j has the size asked for", ([more, size]) =>
    Effect.gen(function* () {
      const { data } = read(Urls, yield* send("POST", path, { body: order("a boat", more) }))
      assert.lengthOf(data, 1)
      const url = data[0]?.url ?? ""
      assert.match(url, /\.png\?Expires=\d+&Signature=\w+$/)
      const file = yield* send("GET", url, { authorization: null })
      assert.strictEqual(file.headers.get("content-type"), "image/png")
      assert.strictEqual(sizeOf(file.bytes), size)
    })
  )

  it.effect("n pictures come, each its own, inline when asked for", () =>
    Effect.gen(function* () {
      const body = order("two boats", { n: 2, size: "64x32", response_format: "b64_json" })
      const { data } = read(Inline, yield* send("POST", path, { body }))
      assert.deepStrictEqual(
        data.map(({ b64_json }) => sizeOf(Buffer.from(b64_json, "base64"))),
        ["64x32", "64x32"]
      )
      const again = read(
        Urls,
        yield* send("POST", path, { body: { ...body, response_format: "url" } })
      )
      const files = yield* Effect.forEach(again.data, ({ url }) => send("GET", url))
      assert.deepStrictEqual(
        files.map(({ bytes }) => Buffer.from(bytes).toString("base64")),
        data.map(({ b64_json }) => b64_json)
      )
      assert.notStrictEqual(data[0]?.b64_json, data[1]?.b64_json)
    })
  )

  it.effect("a missing field is refused with the vendor's body and nothing is booked", () =>
    Effect.gen(function* () {
      const before = (yield* booked).length
      const answer = yield* send("POST", path, { body: { model: "m-1" } })
      assert.strictEqual(answer.status, 400)
      assert.deepStrictEqual(json(answer), {
        error: {
          message: "prompt is required",
          type: "invalid_request_error",
          param: "prompt",
          code: "invalid_request"
        }
      })
      assert.strictEqual((yield* booked).length, before)
    })
  )

  it.effect.each([
    [{ model: undefined }, "model"],
    [{ prompt: "" }, "prompt"],
    [{ prompt: 7 }, "prompt"],
    [{ n: 0 }, "n"],
    [{ n: 11 }, "n"],
    [{ n: "2" }, "n"],
    [{ n: 1.5 }, "n"],
    [{ size: "big" }, "size"],
    [{ size: "1024*1024" }, "size"],
    [{ size: "0x10" }, "size"],
    [{ size: "4097x16" }, "size"],
    [{ response_format: "png" }, "response_format"],
    [{ image: 1 }, "image"]
  ] as const)("refuses %j", ([more, param]) =>
    Effect.gen(function* () {
      const answer = yield* send("POST", path, { body: order("x", more) })
      assert.strictEqual(answer.status, 400)
      assert.deepStrictEqual(read(Failure, answer).error, {
        type: "invalid_request_error",
        code: "invalid_request",
        param
      })
    })
  )

  it.effect("what is not JSON is refused", () =>
    Effect.gen(function* () {
      const answer = yield* send("POST", path, { body: "{" })
      assert.strictEqual(answer.status, 400)
      assert.strictEqual(read(Failure, answer).error.param, null)
    })
  )

  it.effect("unknown fields and reference images are taken and counted", () =>
    Effect.gen(function* () {
      const image = ["https://x.test/a.png", "data:image/png;base64,AAAA"]
      yield* send("POST", path, { body: order("x", { image, n: 3, size: "16x16", odd: {} }) })
      const entry = (yield* booked).findLast(({ event }) => event === "accepted")
      if (entry?.event !== "accepted") return assert.fail("not booked")
      assert.strictEqual(entry.kind, "image")
      assert.strictEqual(entry.order.n, 3)
      assert.strictEqual(entry.order.size, "16x16")
      assert.deepStrictEqual(entry.order.inputs, { images: 2, videos: 0, audios: 0 })
    })
  )

  it.effect.each([[null], ["Token good-key"], ["Bearer bad-key"]] as const)(
    "the authorization %j is refused",
    ([authorization]) =>
      Effect.gen(function* () {
        const answer = yield* send("POST", path, { authorization, body: order("x") })
        assert.strictEqual(answer.status, 401)
        assert.strictEqual(read(Failure, answer).error.code, "invalid_api_key")
      })
  )

  it.effect.each([
    ["sim:moderate-input", 400, "content_policy_violation", []],
    ["sim:rate", 429, "rate_limit_exceeded", []],
    ["sim:http500", 500, null, []],
    ["sim:refuse=402", 402, "insufficient_quota", []],
    ["sim:moderate-output", 400, "moderation_blocked", ["accepted", "failed"]],
    ["sim:fail", 500, null, ["accepted", "failed"]],
    ["sim:expire", 500, null, ["accepted", "failed"]]
  ] as const)("%s is an error and books what was worked on", ([word, status, code, events]) =>
    Effect.gen(function* () {
      const before = (yield* booked).length
      const answer = yield* send("POST", path, { body: order(`x ${word}`, { size: "16x16" }) })
      assert.strictEqual(answer.status, status)
      assert.strictEqual(read(Failure, answer).error.code, code)
      const added = (yield* booked).slice(before)
      assert.deepStrictEqual<ReadonlyArray<string>>(
        added.map(({ event }) => event),
        events
      )
    })
  )

  it.effect.each([
    [2, 1],
    [1, 0]
  ] as const)("sim:fewer makes of %i pictures %i", ([n, left]) =>
    Effect.gen(function* () {
      const body = order("x sim:fewer", { n, size: "16x16" })
      assert.lengthOf(read(Urls, yield* send("POST", path, { body })).data, left)
      const last = (yield* booked).at(-1)
      if (last === undefined || last.event === "accepted") return assert.fail("not ended")
      assert.strictEqual(last.produced.images, left)
    })
  )

  it.effect("sim:lost books finished work and answers nothing", () =>
    Effect.gen(function* () {
      const before = (yield* booked).length
      assert.isTrue(yield* unanswered(path, order("x sim:lost")))
      const added = (yield* booked).slice(before)
      assert.deepStrictEqual(
        added.map(({ event }) => event),
        ["accepted", "succeeded"]
      )
    })
  )

  it.effect("models without n make one image, whatever is ordered, and have no edits", () =>
    Effect.gen(function* () {
      const seedream = { model: "doubao-seedream-5-0-260128", n: 4, size: "2K" }
      const made = yield* send("POST", path, { body: order("boats", seedream) })
      assert.lengthOf(read(Urls, made).data, 1)
      const [accepted] = (yield* booked).filter(({ model }) => model === seedream.model)
      if (accepted?.event !== "accepted") return assert.fail("not booked")
      assert.strictEqual(accepted.order.n, 1)
      const images = [{ image_url: "https://x.test/a.png" }]
      const edit = yield* send("POST", "/ip_a/api/v3/images/edits", {
        body: order("boats", { ...seedream, images })
      })
      assert.strictEqual(edit.status, 404)
    })
  )

  it.effect("sim:refused-images answers 200 with an error in the place of each", () =>
    Effect.gen(function* () {
      const Refused = Schema.Struct({
        data: Schema.Array(Schema.Struct({ error: Schema.Struct({ code: Schema.String }) }))
      })
      const all = yield* send("POST", path, { body: order("x sim:refused-images", { n: 2 }) })
      assert.strictEqual(all.status, 200)
      assert.deepStrictEqual(
        read(Refused, all).data.map(({ error }) => error.code),
        Array(2).fill("OutputImageSensitiveContentDetected")
      )
      const last = (yield* booked).at(-1)
      if (last === undefined || last.event === "accepted") return assert.fail("not ended")
      assert.strictEqual(last.reason, "moderated")

      const one = yield* send("POST", path, { body: order("x sim:refused-images=1", { n: 2 }) })
      assert.match(one.text, /"data":\[\{"url":"[^"]+","revised_prompt":"[^"]+"\},\{"error":/)
      const ended = (yield* booked).at(-1)
      if (ended === undefined || ended.event === "accepted") return assert.fail("not ended")
      assert.strictEqual(ended.produced.images, 1)
    })
  )
})
