import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { layerSimulator } from "../../src/simulator/Simulator.ts"
import { contentsOf, Failure, order, path, post } from "./ip_b.orders.ts"
import { booked, json, orderedAs, read, send, unanswered } from "./support.ts"

const later = "/ip_b/api/v1/services/aigc/image-generation/generation"
const asynchronously = { "x-dashscope-async": "enable" }

const Pending = Schema.Struct({
  output: Schema.Struct({ task_id: Schema.String, task_status: Schema.Literal("PENDING") })
})
const Status = Schema.Struct({ output: Schema.Struct({ task_status: Schema.String }) })
const poll = (id: string) => send("GET", `/ip_b/api/v1/tasks/${id}`)

/** The size a PNG states in its header. */
const sizeAt = (url: string) =>
  Effect.map(send("GET", url, { authorization: null }), (file) => {
    const bytes = Buffer.from(file.bytes)
    assert.strictEqual(bytes.toString("latin1", 1, 4), "PNG")
    return `${bytes.readUInt32BE(16)}*${bytes.readUInt32BE(20)}`
  })

layer(layerSimulator({ port: 0 }))("ip_b", (it) => {
  it.effect("images come at once, each as a choice, in the vendor's form", () =>
    Effect.gen(function* () {
      const answer = yield* post(order("two boats", { n: 2, size: "1280*1280" }))
      assert.strictEqual(answer.status, 200)
      const urls = contentsOf(answer).map(([item]) => item?.image ?? "")
      assert.lengthOf(urls, 2)
      assert.match(urls[0] ?? "", /\/media\/images\/1280x1280\/\w+-0\.png\?Expires=\d+&Signature=/)
      assert.notStrictEqual(urls[0], urls[1])
      assert.deepStrictEqual(json(answer), {
        output: {
          choices: urls.map((url) => ({
            finish_reason: "stop",
            message: { role: "assistant", content: [{ type: "image", image: url }] }
          })),
          finished: true
        },
        usage: {
          image_count: 2,
          size: "1280*1280",
          input_tokens: 0,
          output_tokens: 2,
          total_tokens: 2
        },
        request_id: "RID"
      })
    })
  )

  it.effect.each([
    ["wan2.6-t2i", 0, { size: "1696*960" }, "1696*960"],
    ["wan2.6-image", 1, {}, "1280*1280"],
    ["wan2.7-image-pro", 0, { size: "1K" }, "1024*1024"],
    ["qwen-image-plus", 0, {}, "1664*928"],
    ["qwen-image-2.0-pro", 0, { size: "512*512" }, "512*512"],
    ["z-image-turbo", 0, {}, "1024*1536"]
  ] as const)("an image of %s has its size", ([model, references, parameters, size]) =>
    Effect.gen(function* () {
      const answer = yield* post(order("a boat", parameters, model, references))
      assert.strictEqual(yield* sizeAt(contentsOf(answer)[0]?.[0]?.image ?? ""), size)
    })
  )

  it.effect("the families differ in usage, labels and texts beside the image", () =>
    Effect.gen(function* () {
      const plain = yield* post(order("a boat", { size: "1024*768" }, "qwen-image-2.0", 1))
      assert.include(plain.text, '"usage":{"width":1024,"height":768,"image_count":1}')
      assert.notMatch(plain.text, /"type"|"finished"/)
      const [content = []] = contentsOf(yield* post(order("a boat", {}, "z-image-turbo")))
      assert.deepStrictEqual(
        content.map((item) => Object.keys(item)),
        [["image"], ["text"]]
      )
    })
  )

  it.effect("sim:onechoice puts all images into one choice, behind a text", () =>
    Effect.gen(function* () {
      const answer = yield* post(order("boats sim:onechoice", { n: 3 }))
      const contents = contentsOf(answer)
      assert.lengthOf(contents, 1)
      const [text, ...images] = contents[0] ?? []
      assert.isDefined(text?.text)
      assert.isUndefined(text?.image)
      assert.lengthOf(images, 3)
      assert.isTrue(images.every((item) => item.image?.startsWith("http")))
    })
  )

  it.effect("each path has its own word for the async header", () =>
    Effect.gen(function* () {
      const wanted = yield* send("POST", later, { body: order("x") })
      const unwanted = yield* send("POST", path, { body: order("x"), headers: asynchronously })
      for (const [answer, word] of [
        [wanted, "synchronous"],
        [unwanted, "asynchronous"]
      ] as const) {
        assert.strictEqual(answer.status, 403)
        assert.deepStrictEqual(json(answer), {
          code: "AccessDenied",
          message: `current user api does not support ${word} calls.`,
          request_id: "RID"
        })
      }
    })
  )

  it.effect("sim:async and the asynchronous path answer a task that ends with the images", () =>
    Effect.gen(function* () {
      for (const answer of [
        yield* post(order("a boat sim:async", { n: 2 })),
        yield* send("POST", later, { body: order("a boat", { n: 2 }), headers: asynchronously })
      ]) {
        const { task_id } = read(Pending, answer).output
        assert.deepStrictEqual(json(answer), {
          output: { task_id, task_status: "PENDING" },
          request_id: "RID"
        })
        assert.strictEqual((yield* orderedAs(task_id)).order.n, 2)
        for (const status of ["PENDING", "RUNNING"]) {
          assert.strictEqual(read(Status, yield* poll(task_id)).output.task_status, status)
        }
        const done = yield* poll(task_id)
        assert.strictEqual(read(Status, done).output.task_status, "SUCCEEDED")
        assert.lengthOf(contentsOf(done), 2)
        assert.include(done.text, '"usage":{"image_count":2,')
        assert.include(done.text, '"finished":true')
      }
    })
  )

  it.effect.each([
    ["sim:slow=0 sim:cancel", ["CANCELED"]],
    ["sim:slow=1 sim:expire", ["PENDING", "UNKNOWN"]],
    ["sim:slow=0 sim:fail", ["FAILED"]],
    ["sim:poll500=1 sim:slow=0", [500, "SUCCEEDED"]],
    ["sim:unknown-status", ["hibernating", "hibernating", "hibernating"]],
    ["sim:forget", ["UNKNOWN", "UNKNOWN"]]
  ] as const)("polls of an image with %s", ([words, statuses]) =>
    Effect.gen(function* () {
      const answer = yield* post(order(`x sim:async ${words}`))
      const { task_id } = read(Pending, answer).output
      const seen = yield* Effect.forEach(statuses, () =>
        Effect.map(poll(task_id), (one) =>
          one.status === 200 ? read(Status, one).output.task_status : one.status
        )
      )
      assert.deepStrictEqual<ReadonlyArray<string | number>>(seen, statuses)
    })
  )

  it.effect("a refused output fails the task with its code", () =>
    Effect.gen(function* () {
      const answer = yield* post(order("x sim:async sim:slow=0 sim:moderate-output"))
      const { text } = yield* poll(read(Pending, answer).output.task_id)
      assert.include(text, '"task_status":"FAILED","code":"DataInspectionFailed"')
      assert.notInclude(text, "choices")
    })
  )

  it.effect.each([[null], ["Token good-key"], ["Bearer bad-key"]] as const)(
    "the authorization %j is refused",
    ([authorization]) =>
      Effect.gen(function* () {
        const answer = yield* send("POST", path, { authorization, body: order("x") })
        assert.strictEqual(answer.status, 401)
        assert.deepStrictEqual(json(answer), {
          code: "InvalidApiKey",
          message: "Invalid API-key provided.",
          request_id: "RID"
        })
      })
  )

  it.effect("unknown paths and models are not found", () =>
    Effect.gen(function* () {
      for (const answer of [
        yield* post(order("x", {}, "missing-1")),
        yield* send("POST", "/ip_b/v1/images/generations", { body: order("x") })
      ]) {
        assert.strictEqual(answer.status, 404)
        assert.strictEqual(read(Failure, answer).code, "ModelNotFound")
      }
    })
  )

  it.effect.each([
    ["sim:moderate-input", 400, "DataInspectionFailed", []],
    ["sim:rate", 429, "Throttling.RateQuota", []],
    ["sim:http500", 500, "InternalError", []],
    ["sim:refuse=402", 402, "Arrearage", []],
    ["sim:moderate-output", 400, "DataInspectionFailed", ["accepted", "failed"]],
    ["sim:fail", 500, "InternalError", ["accepted", "failed"]],
    ["sim:cancel", 500, "InternalError", ["accepted", "failed"]],
    ["sim:expire", 500, "InternalError", ["accepted", "failed"]]
  ] as const)("%s is an error and books what was worked on", ([word, status, code, events]) =>
    Effect.gen(function* () {
      const before = (yield* booked).length
      const answer = yield* post(order(`x ${word}`))
      assert.strictEqual(answer.status, status)
      assert.strictEqual(read(Failure, answer).code, code)
      const added = (yield* booked).slice(before)
      assert.deepStrictEqual<ReadonlyArray<string>>(
        added.map(({ event }) => event),
        events
      )
    })
  )

  it.effect.each([
    ["sim:fewer", 2, [1]],
    ["sim:fewer", 1, []],
    ["sim:fewer sim:onechoice", 1, [1]]
  ] as const)("%s of %i leaves choices with %j items", ([words, n, counts]) =>
    Effect.gen(function* () {
      const answer = yield* post(order(`x ${words}`, { n }))
      assert.deepStrictEqual(
        contentsOf(answer).map((items) => items.length),
        [...counts]
      )
      const images = contentsOf(answer)
        .flat()
        .filter((item) => item.image !== undefined)
      assert.lengthOf(images, n - 1)
      const last = (yield* booked).at(-1)
      if (last === undefined || last.event === "accepted") return assert.fail("not ended")
      assert.strictEqual(last.produced.images, n - 1)
    })
  )

  it.effect("sim:nousage leaves the usage out", () =>
    Effect.gen(function* () {
      const answer = yield* post(order("x sim:nousage"))
      assert.lengthOf(contentsOf(answer), 1)
      assert.notInclude(answer.text, '"usage"')
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
})
