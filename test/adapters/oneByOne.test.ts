/** Models that make one image a call: several are as many calls of one order. */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { ImageProtocol } from "../../src/domain/image/ImageProtocol.ts"
import type { DeliveredImages } from "../../src/domain/image/ImageTokenQuote.ts"
import type { ImageOrder, ImageResult } from "../../src/services/ProtocolAdapter.ts"
import { brokenVendor, type Reply } from "../support/brokenVendor.ts"
import { failureOf, lost, refused } from "./failures.ts"
import { type ImageWords, imageOrder } from "./ImageAdapter.suite.ts"
import { accountAt, imageAdapter, layerOverSockets, limitSeconds } from "./support.ts"

const SEEDREAM = "doubao-seedream-4-5-251128"
const created = 1767225600
const urlOf = (at: number) => `https://files.test/${at}.png`
const drawn = (at: number) => ({ body: { model: "m", created, data: [{ url: urlOf(at) }] } })
const sensitive = {
  error: { code: "OutputImageSensitiveContentDetected", message: "not this one" }
}
/** Calls that are under way together reach the vendor in any order. */
const inOrder = (result: ImageResult): object => {
  const { data = [], ...fields }: Readonly<Record<string, unknown>> = { ...result }
  const images = [data].flat().map((image) => JSON.stringify(image))
  return { ...fields, data: images.sort().map((image) => JSON.parse(image)) }
}
const moderated: Reply = { body: { model: "m", created, data: [sensitive] } }
const busy: Reply = {
  status: 429,
  body: { error: { code: "ModelAccountIpmRateLimitExceeded", message: "too many", type: "x" } }
}

layer(layerOverSockets)("images that are made one by one", (it) => {
  /** The order at a vendor that answers the calls in turn, and the rest as the last. */
  const ordered = Effect.fnUntraced(function* (
    replies: ReadonlyArray<Reply>,
    order: ImageOrder,
    protocol: ImageProtocol = "ip_a"
  ) {
    let calls = 0
    const vendor = yield* brokenVendor(() => replies[calls++] ?? replies.at(-1) ?? "hang")
    const adapter = yield* imageAdapter(protocol)
    const there = accountAt(`${vendor.url}${protocol === "ip_a" ? "/api/v3" : "/v1"}`)
    const sent = Effect.map(vendor.requests, (requests) =>
      requests.map(({ target, body }) => [target, JSON.parse(body)] as const)
    )
    let delivered: DeliveredImages | null = null
    const made = adapter.generate(there, order, undefined, (images) => {
      delivered = images
    })
    return { made, sent, vendor, delivered: Effect.sync(() => delivered) }
  })
  const seedream = (words: ImageWords) => imageOrder(SEEDREAM, words)

  it.effect("are as many calls without a number, and one answer", () =>
    Effect.gen(function* () {
      const words = { prompt: "a lighthouse", size: "2K", watermark: false }
      const { made, sent } = yield* ordered([1, 2, 3, 4].map(drawn), seedream({ ...words, n: 4 }))
      assert.deepStrictEqual(inOrder(yield* made), {
        model: "m",
        created,
        data: [1, 2, 3, 4].map((at) => ({ url: urlOf(at) }))
      })
      const one = ["/api/v3/images/generations", { ...words, model: SEEDREAM }]
      assert.deepStrictEqual<unknown>(yield* sent, [one, one, one, one])
    })
  )

  it.effect("large ones in base64 come together as well", () =>
    Effect.gen(function* () {
      const b64_json = "iVBORw0K".repeat(1500)
      const large = { body: { created, data: [{ b64_json }] } }
      const { made } = yield* ordered([large], seedream({ prompt: "x", n: 3 }))
      assert.deepStrictEqual(yield* made, {
        created,
        data: [{ b64_json }, { b64_json }, { b64_json }]
      })
    })
  )

  it.effect.each([{}, { n: 1 }, { n: null }])("%j is one call without a number", (number) =>
    Effect.gen(function* () {
      const { made, sent } = yield* ordered([drawn(1)], seedream({ prompt: "x", ...number }))
      yield* made
      assert.deepStrictEqual<unknown>(yield* sent, [
        ["/api/v3/images/generations", { prompt: "x", model: SEEDREAM }]
      ])
    })
  )

  it.effect.each([
    [["https://x.test/1.png"], "https://x.test/1.png"],
    [["data:image/png;base64,iVBORw0K"], "data:image/png;base64,iVBORw0K"],
    [
      ["https://x.test/1.png", "https://x.test/2.png"],
      ["https://x.test/1.png", "https://x.test/2.png"]
    ]
  ] as const)(
    "an edit of %j is an order of new images beside the pictures",
    ([references, image]) =>
      Effect.gen(function* () {
        const edit = { references, mask: null, files: [] }
        const { made, sent } = yield* ordered([drawn(1)], { ...seedream({ prompt: "x" }), edit })
        yield* made
        assert.deepStrictEqual<unknown>(yield* sent, [
          ["/api/v3/images/generations", { prompt: "x", model: SEEDREAM, image }]
        ])
      })
  )

  it.effect("where some of them fail, the others are delivered", () =>
    Effect.gen(function* () {
      const replies: ReadonlyArray<Reply> = [drawn(1), busy, moderated, drawn(4), "cut"]
      const { made, sent } = yield* ordered(replies, seedream({ prompt: "x", n: 5 }))
      assert.deepStrictEqual(inOrder(yield* made), {
        model: "m",
        created,
        data: [{ url: urlOf(1) }, { url: urlOf(4) }]
      })
      assert.lengthOf(yield* sent, 5)
    })
  )

  it.effect(
    "the tokens of the delivered images add up, and those of failed calls count nothing",
    () =>
      Effect.gen(function* () {
        const counted = (at: number, output_tokens: number): Reply => ({
          body: {
            ...drawn(at).body,
            usage: {
              input_tokens: 12,
              output_tokens,
              input_tokens_details: { image_tokens: 2, cached_tokens: at }
            }
          }
        })
        const order = seedream({ prompt: "x", n: 4 })
        const some = yield* ordered([counted(1, 900), busy, counted(3, 800), "cut"], order)
        yield* some.made
        assert.deepStrictEqual(yield* some.delivered, {
          images: 2,
          usage: { inputTokens: 24n, outputTokens: 1700n, imageTokens: 4n, cachedTokens: 4n }
        })
        const silent = yield* ordered([counted(1, 900), busy, drawn(3), "cut"], order)
        yield* silent.made
        assert.deepStrictEqual(yield* silent.delivered, { images: 2, usage: null })
      })
  )

  it.effect.each([
    ["refused", moderated, refused(200, null, { effectiveStatus: 400, message: "not this one" })],
    ["lost", "reset", lost("connection_lost")]
  ] as const)("where the first one is %s, no other is ordered", ([, reply, failure]) =>
    Effect.gen(function* () {
      const { made, sent } = yield* ordered([reply, drawn(2)], seedream({ prompt: "x", n: 4 }))
      assert.deepStrictEqual(failureOf(yield* Effect.flip(made)), failure)
      assert.lengthOf(yield* sent, 1)
    })
  )

  it.effect("where the first one is paid for and cannot be read, the others are ordered", () =>
    Effect.gen(function* () {
      const order = seedream({ prompt: "x", n: 3 })
      const some = yield* ordered(["cut", drawn(2), "cut"], order)
      assert.deepStrictEqual(yield* some.made, { model: "m", created, data: [{ url: urlOf(2) }] })
      const none = yield* ordered(["cut", moderated], order)
      assert.deepStrictEqual(failureOf(yield* Effect.flip(none.made)), lost("connection_lost", 200))
      assert.lengthOf(yield* none.sent, 3)
    })
  )

  it.effect("those that do not come in the time of the order are left out", () =>
    Effect.gen(function* () {
      let calls = 0
      const hangs = Promise.withResolvers<void>()
      const vendor = yield* brokenVendor(() => {
        calls += 1
        if (calls === 3) hangs.resolve()
        return calls === 1 ? drawn(1) : "hang"
      })
      const adapter = yield* imageAdapter("ip_a")
      const order = seedream({ prompt: "x", n: 3 })
      const fiber = yield* Effect.forkChild(adapter.generate(accountAt(vendor.url), order))
      yield* Effect.promise(() => hangs.promise)
      yield* TestClock.adjust(`${limitSeconds.image} seconds`)
      assert.deepStrictEqual(yield* Fiber.join(fiber), {
        model: "m",
        created,
        data: [{ url: urlOf(1) }]
      })
    })
  )

  it.effect("the relay's are made so as well, each with the number one", () =>
    Effect.gen(function* () {
      const order = imageOrder("doubao-seedream-4-5-251128-cn", { prompt: "x", n: 2 })
      const { made, sent } = yield* ordered([drawn(1), drawn(2)], order, "ip_c")
      assert.deepStrictEqual(yield* made, {
        model: "m",
        created,
        data: [{ url: urlOf(1) }, { url: urlOf(2) }]
      })
      const one = [
        "/doubao/v1/images/generations",
        { prompt: "x", model: "doubao-seedream-4-5-251128-cn", n: 1 }
      ]
      assert.deepStrictEqual<unknown>(yield* sent, [one, one])
    })
  )
})
