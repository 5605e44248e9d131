/** A vendor's error as the client gets it: explained, and without anything that was ordered. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { imageOrder } from "../adapters/ImageAdapter.suite.ts"
import { accountAt, imageAdapter, layerOverSockets } from "../adapters/support.ts"
import { brokenVendor, type Reply } from "../support/brokenVendor.ts"

const image = { url: "https://files.test/1.png" }
const good = { created: 1, data: [image] }
const json = { "content-type": "application/json" }

const failureOf = Effect.fnUntraced(function* (reply: Reply, prompt = "x", more: object = {}) {
  const { url } = yield* brokenVendor(reply)
  const adapter = yield* imageAdapter("ip_a")
  const order = imageOrder("m-1", { prompt, ...more })
  return yield* Effect.flip(adapter.generate(accountAt(url), order))
})

layer(layerOverSockets)("a vendor's answer", (it) => {
  it.effect("that refuses beside what was ordered shows nothing of it", () =>
    Effect.gen(function* () {
      const error = { message: "no" }
      const base64 = Buffer.alloc(2000, "a").toString("base64")
      const made = [
        { error: { ...error, data: [{ b64_json: "aGk=" }] } },
        { error: { ...error, data: { type: "response.output_text.delta", delta: "hello" } } },
        { error: { message: `see ${base64}` } },
        { error, choices: [{ message: { content: "hello" } }] },
        { error, output: [{ type: "message", content: [{ type: "output_text", text: "hello" }] }] },
        { error, output: [{ type: "function_call", name: "f", arguments: "hello" }] },
        { object: "list", data: [{ embedding: [0.25, 0.5] }] },
        { error, candidates: [{ content: { parts: [{ inlineData: { data: "aGk=" } }] } }] }
      ]
      const maybe = [
        { error, data: [{ url: image.url }] },
        { error: { ...error, data: { status: "succeeded", output: [image.url] } } },
        { error, response: { video: { uri: image.url } } },
        { code: 0, msg: "ok", result: { data: [{ url: "/media/1.png" }] } },
        { code: 0, msg: "ok", result: { data: [{ url: "javascript:open(1)" }] } },
        { generated_text: "once upon a time ".repeat(30) },
        [{ generation: { text: "once upon a time" } }],
        'data: {"choices":[]}\n\n',
        `<html>${JSON.stringify(good)}</html>`,
        JSON.stringify(JSON.stringify(good)),
        JSON.stringify(good).slice(0, -5),
        '{"my_data":[{"my_url":"https://media.test/1.png?'
      ]
      for (const status of [302, 400, 422, 500]) {
        for (const body of made) {
          const failure = yield* failureOf({ status, headers: json, body })
          assert.strictEqual(failure._tag, "VendorLost", JSON.stringify(body))
        }
        for (const body of maybe) {
          const failure = yield* failureOf({ status, headers: json, body })
          const refused = { _tag: "VendorRefused" as const, effectiveStatus: status, body: null }
          assert.deepInclude(failure, refused, JSON.stringify(body))
        }
      }
    })
  )

  it.effect("that refuses in a usual way is passed on, with links and icons in it", () =>
    Effect.gen(function* () {
      const help = {
        "@type": "type.googleapis.com/google.rpc.Help",
        links: [{ url: "https://a.test" }]
      }
      const bodies = [
        [{ error: { code: 429, message: "slow down", details: [help] } }],
        { detail: [{ msg: "Field required", url: "https://errors.pydantic.dev/2.5/v/missing" }] },
        { message: "The given data was invalid.", errors: { image: ["The image must be a URL."] } },
        { message: "no", output: { message: "see https://help.test/errors" } },
        { error: { message: 'invalid request data:{"model":"m","n":1}', type: "invalid" } },
        "<html><head><title>503</title></head><body>nginx</body></html>"
      ]
      for (const body of bodies) {
        const failure = yield* failureOf({ status: 422, body })
        assert.deepInclude(failure, { _tag: "VendorRefused", effectiveStatus: 422, body })
      }
    })
  )

  it.effect("that refuses in the words of the request is passed on unchanged", () =>
    Effect.gen(function* () {
      const ours = `data:image/png;base64,${Buffer.alloc(3000, 7).toString("base64")}`
      const bodies = [
        { detail: [{ loc: ["body", "image"], input: ours }] },
        { error: { message: `cannot read ${ours}` } },
        { error: { message: "no", image_url: "https://files.test/mine.png" } }
      ]
      for (const body of bodies) {
        const failure = yield* failureOf({ status: 422, body }, "x", {
          image: [ours, "https://files.test/mine.png"]
        })
        assert.deepInclude(failure, { _tag: "VendorRefused", body })
      }
    })
  )

  it.effect("of success that tells an error shows its words alone, and no address or medium", () =>
    Effect.gen(function* () {
      const message = `half done: ${image.url} ${"A".repeat(2000)}`
      const failure = yield* failureOf({ body: { error: { message } } })
      assert.deepInclude(failure, { _tag: "VendorRefused", body: null })
      assert.notInclude(failure.message, image.url)
      assert.notInclude(failure.message, "AAAAAAAA")
      assert.include(failure.message, "half done")
    })
  )
})
