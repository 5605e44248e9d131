/** What is made of vendors' answers in forms that are not those of their documentation. */
import { hash } from "node:crypto"
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib"
import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Exit } from "effect"
import { boundsOf, parseBody } from "../../../src/adapters/wire/vendorAnswer.ts"
import type { VendorFailure } from "../../../src/domain/VendorOutcome.ts"
import { brokenVendor, type Reply } from "../../support/brokenVendor.ts"
import { imageOrder } from "../ImageAdapter.suite.ts"
import { accountAt, imageAdapter, layerOverSockets, MAX_BYTES, textAdapter } from "../support.ts"

const image = { url: "https://files.test/1.png" }
const good = { created: 1, data: [image] }
const json = { "content-type": "application/json" }

const imagesOf = Effect.fnUntraced(function* (reply: Reply, prompt = "x", more: object = {}) {
  const { url } = yield* brokenVendor(reply)
  const adapter = yield* imageAdapter("ip_a")
  return yield* Effect.exit(
    adapter.generate(accountAt(url), imageOrder("m-1", { prompt, ...more }))
  )
})

const failedWith = (exit: Exit.Exit<unknown, VendorFailure>): VendorFailure => {
  const failure = Exit.findErrorOption(exit)
  return failure._tag === "Some" ? failure.value : assert.fail("it did not fail")
}

const failureOf = (reply: Reply, prompt?: string, more?: object) =>
  Effect.map(imagesOf(reply, prompt, more), failedWith)

layer(layerOverSockets)("a vendor's answer", (it) => {
  it.effect.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync]
  ] as const)("in %s is read, also as a stream", ([encoding, compress]) =>
    Effect.gen(function* () {
      const headers = { ...json, "content-encoding": encoding }
      const bytes = compress(JSON.stringify(good))
      assert.deepStrictEqual(yield* imagesOf({ headers, body: bytes }), Exit.succeed(good))

      const event = JSON.stringify({ choices: [{ index: 0, delta: { content: "abc" } }] })
      const stream = compress(`data: ${event}\n\ndata: [DONE]\n\n`)
      const vendor = yield* brokenVendor({
        headers: { "content-type": "text/event-stream", "content-encoding": encoding },
        body: stream
      })
      const body = {
        model: "m",
        messages: [{ role: "user", content: "hi" }] as const,
        stream: true
      }
      const seen: Array<string> = []
      yield* (yield* textAdapter("openai")).stream(
        accountAt(vendor.url),
        { upstreamModel: "m-1", body },
        (piece) => Effect.sync(() => void seen.push(Buffer.from(piece.event ?? []).toString()))
      )
      assert.deepStrictEqual(seen, [`data: ${event}\n\n`])
    })
  )

  it.effect("that becomes larger than what is read is not read to its end", () =>
    Effect.gen(function* () {
      const headers = { ...json, "content-encoding": "gzip" }
      const failure = yield* failureOf({ headers, body: gzipSync(" ".repeat(MAX_BYTES * 100)) })
      assert.deepInclude(failure, { _tag: "VendorLost", reason: "broken_answer" })
    })
  )

  it.effect("in an encoding that it is not, is lost", () =>
    Effect.gen(function* () {
      const headers = { ...json, "content-encoding": "gzip" }
      assert.strictEqual((yield* failureOf({ headers, body: good }))._tag, "VendorLost")
    })
  )

  const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`

  it("of more values than anything we look for is not parsed, but for the numbers of vectors", () => {
    const numbers = Buffer.from(`{"data":[{"embedding":[${"1,".repeat(150_000)}1]}]}`)
    const maxBytes = numbers.length
    const timeout = Duration.seconds(1)
    assert.isNull(parseBody(numbers, boundsOf({ timeout, maxBytes })))
    assert.isNotNull(parseBody(numbers, boundsOf({ timeout, maxBytes, arrayNumbers: 200_000 })))
  })

  it.effect("that is nested too deep is lost with its size and digest", () =>
    Effect.gen(function* () {
      const deep = `{"created":1,"data":[{"url":"${image.url}"}],"more":${nested(70)}}`
      const failure = yield* failureOf({ body: deep })
      assert.deepInclude(failure, { _tag: "VendorLost", reason: "broken_answer" })
      assert.deepInclude("answer" in failure ? failure.answer : {}, {
        bytes: deep.length,
        sha256: hash("sha256", deep)
      })
      const fine = `{"created":1,"data":[{"url":"${image.url}"}],"more":${nested(60)}}`
      assert.isTrue(Exit.isSuccess(yield* imagesOf({ body: fine })))
    })
  )

  it.effect("that refuses in JSON nested too deep is a refusal without its body", () =>
    Effect.gen(function* () {
      const failure = yield* failureOf({ status: 400, body: nested(100_000 / 20) })
      assert.deepInclude(failure, { _tag: "VendorRefused", effectiveStatus: 400, body: null })
    })
  )

  it.effect("that refuses beside what was ordered shows nothing of it", () =>
    Effect.gen(function* () {
      const error = { message: "no" }
      const base64 = Buffer.alloc(2000, "a").toString("base64")
      const made = [
        { error: { ...error, data: [{ b64_json: "aGk=" }] } },
        { error: { ...error, data: { type: "response.output_text.delta", delta: "hello" } } },
        { error: { message: `see ${base64}` } },
        { error, choices: [{ message: { content: "hello" } }] },
        { object: "list", data: [{ embedding: [0.25, 0.5] }] }
      ]
      const maybe = [
        { error, data: [{ url: image.url }] },
        { code: 0, msg: "ok", result: { data: [{ url: "/media/1.png" }] } },
        { code: 0, msg: "ok", result: { data: [{ url: "javascript:open(1)" }] } },
        { generated_text: "once upon a time ".repeat(30) },
        [{ generation: { text: "once upon a time" } }],
        'data: {"choices":[]}\n\n',
        `<html>${JSON.stringify(good)}</html>`,
        JSON.stringify(JSON.stringify(good)),
        JSON.stringify(good).slice(0, -5)
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
        { error: { message: 'invalid request data:{"model":"m","n":1}', type: "invalid" } },
        "<html><head><title>503</title></head><body>nginx</body></html>"
      ]
      for (const body of bodies) {
        const failure = yield* failureOf({ status: 422, body })
        assert.deepInclude(failure, { _tag: "VendorRefused", effectiveStatus: 422, body })
      }
    })
  )

  it.effect("about our account is not the client's fault, whatever its status", () =>
    Effect.gen(function* () {
      const rows = [
        [429, { error: { code: "insufficient_quota", message: "You exceeded your quota" } }, 402],
        [400, { error: { code: "Arrearage", message: "not in good standing" } }, 402],
        [400, { error: { code: "invalid_api_key", message: "no" } }, 401],
        [200, { error: { code: "insufficient_quota", message: "no" } }, 402]
      ] as const
      for (const [status, body, effectiveStatus] of rows) {
        assert.deepInclude(yield* failureOf({ status, body }), { effectiveStatus })
      }
      const message = "Rate limit reached in organization org-AbCd1234efGH on tokens"
      const limited = yield* failureOf({ status: 429, body: { error: { message } } })
      assert.strictEqual(limited.message, message.replace("org-AbCd1234efGH", "[redacted]"))
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

  it.effect("asks for no more patience than an hour", () =>
    Effect.gen(function* () {
      const headers = { ...json, "retry-after": "999999999" }
      const failure = yield* failureOf({ status: 429, headers, body: {} })
      assert.deepInclude(failure, { _tag: "VendorRefused", retryAfterSeconds: 3600 })
    })
  )
})
