/** What is made of vendors' answers in forms that are not those of their documentation. */
import { hash } from "node:crypto"
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib"
import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Exit } from "effect"
import { boundsOf, parseBody } from "../../../src/adapters/wire/vendorAnswer.ts"
import type { VendorFailure } from "../../../src/domain/VendorOutcome.ts"
import { brokenVendor, type Reply } from "../../support/brokenVendor.ts"
import { bytesOf } from "../chatStreams.ts"
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
        (pieces) => Effect.sync(() => void seen.push(bytesOf(pieces)))
      )
      assert.deepStrictEqual(seen, [`data: ${event}\n\n`])
    })
  )

  it.effect("that becomes larger than what is read is not read to its end", () =>
    Effect.gen(function* () {
      const headers = { ...json, "content-encoding": "gzip" }
      const padded = `${JSON.stringify(good)}${" ".repeat(MAX_BYTES * 100)}`
      const failure = yield* failureOf({ headers, body: gzipSync(padded) })
      assert.deepInclude(failure, {
        _tag: "VendorLost",
        reason: "broken_answer",
        message: "The vendor's answer is too large"
      })
      const { answer } = { answer: undefined, ...failure }
      assert.isBelow(answer?.bytes ?? Infinity, padded.length)
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

  it.effect("asks for no more patience than an hour", () =>
    Effect.gen(function* () {
      const headers = { ...json, "retry-after": "999999999" }
      const failure = yield* failureOf({ status: 429, headers, body: {} })
      assert.deepInclude(failure, { _tag: "VendorRefused", retryAfterSeconds: 3600 })
    })
  )
})
