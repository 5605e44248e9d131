import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { SecondVideoPrices, TokenVideoPrices } from "../../../src/domain/catalog/Prices.ts"
import { formatNano } from "../../../src/domain/money/Money.ts"
import { type Resolution, tokensPerSecond } from "../../../src/domain/video/tiers.ts"
import { quoteVideo, type VideoInputs, VideoQuote } from "../../../src/domain/video/VideoQuote.ts"

const tokenPrices = (perMillionTokens: unknown): TokenVideoPrices =>
  Schema.decodeUnknownSync(TokenVideoPrices)({
    kind: "token_video",
    per_million_tokens: perMillionTokens
  })

const listPrices = tokenPrices({
  base: { without_video: "46", with_video: "28" },
  "1080p": { without_video: "51", with_video: "31" },
  "4K": { without_video: "26", with_video: "16" }
})

const secondPrices = Schema.decodeUnknownSync(SecondVideoPrices)({
  kind: "second_video",
  per_second: { "540p": "0.25", "720p": "0.6", "1080p": "1.0" }
})

const order = (seconds: number | "smart", resolution: Resolution) => ({
  seconds,
  resolution,
  billedResolution: resolution
})
const noVideo: VideoInputs = { videos: 0, videoSeconds: null }
const oneVideo: VideoInputs = { videos: 1, videoSeconds: null }

const tokenQuote = (...args: Parameters<typeof quoteVideo>) => {
  const quote = Result.getOrThrow(quoteVideo(...args))
  assert(quote.kind === "token_video")
  return quote
}

describe("the tokens of one second", () => {
  it.each([
    ["480p", 864, 480, 9720],
    ["540p", 960, 540, 12_150],
    ["720p", 1280, 720, 21_600],
    ["1080p", 1920, 1088, 48_960],
    ["4K", 3840, 2160, 194_400]
  ] as const)("at %s are those of %d x %d: %d", (resolution, width, height, tokens) => {
    assert.strictEqual(Number(tokensPerSecond[resolution]), tokens)
    assert.strictEqual((width * height * 24) / 1024, tokens)
  })
})

/** Reference videos, tier used, its price per million tokens, and the hold of 5 seconds. */
const list = [
  ["480p", 0, "base", "46", "2.2356"],
  ["540p", 0, "base", "46", "2.7945"],
  ["720p", 0, "base", "46", "4.968"],
  ["1080p", 0, "1080p", "51", "12.4848"],
  ["4K", 0, "4K", "26", "25.272"],
  ["480p", 1, "base", "28", "2.44944"],
  ["540p", 1, "base", "28", "3.0618"],
  ["720p", 1, "base", "28", "5.4432"],
  ["1080p", 1, "1080p", "31", "13.65984"],
  ["4K", 1, "4K", "16", "27.9936"]
] as const

describe("at the list prices", () => {
  it.each(list)(
    "5 seconds of %s with %d reference videos use the tier %s at %s and hold %s",
    (resolution, videos, tier, price, hold) => {
      const inputs = { videos, videoSeconds: null }
      const quote = tokenQuote(listPrices, order(5, resolution), inputs)
      const withVideo = videos > 0
      const inputSeconds = withVideo ? 4 : 0
      assert.deepInclude(quote, { resolution, tier, withVideo, inputSeconds, outputSeconds: 5 })
      assert.strictEqual(formatNano(quote.nanoPerToken * 1_000_000n), price)
      assert.strictEqual(quote.estimatedTokens, BigInt(inputSeconds + 5) * quote.tokensPerSecond)
      assert.strictEqual(formatNano(quote.holdNano), hold)
    }
  )

  it("vp_b's order without a resolution is billed as 720p", () => {
    const quote = tokenQuote(
      listPrices,
      { seconds: 5, resolution: null, billedResolution: "720p" },
      noVideo
    )
    assert.deepStrictEqual([quote.resolution, formatNano(quote.holdNano)], ["720p", "4.968"])
  })
})

describe("the input seconds of a reference video", () => {
  it.each([
    [null, 4],
    [0, 4],
    [3, 4],
    [3.9, 4],
    [4, 4],
    [4.1, 5],
    [10, 10]
  ])("of length %j are prepaid as %d", (videoSeconds, inputSeconds) => {
    const quote = tokenQuote(listPrices, order(5, "720p"), { videos: 1, videoSeconds })
    assert.strictEqual(quote.inputSeconds, inputSeconds)
    assert.strictEqual(quote.estimatedTokens, BigInt(5 + inputSeconds) * 21_600n)
  })

  it("are none when the order has no reference video", () => {
    const quote = tokenQuote(listPrices, order(5, "720p"), { videos: 0, videoSeconds: 10 })
    assert.deepStrictEqual([quote.withVideo, quote.inputSeconds], [false, 0])
  })

  it("turn the price once, however many videos there are", () => {
    const one = tokenQuote(listPrices, order(5, "720p"), { videos: 1, videoSeconds: 12 })
    const three = tokenQuote(listPrices, order(5, "720p"), { videos: 3, videoSeconds: 12 })
    assert.deepStrictEqual(three, one)
  })
})

describe("a length left to the model", () => {
  it.each([
    [noVideo, 15n],
    [oneVideo, 19n]
  ] as const)("is prepaid as 15 output seconds with the input %j", (inputs, seconds) => {
    const quote = tokenQuote(listPrices, order("smart", "720p"), inputs)
    assert.deepInclude(quote, { smart: true, outputSeconds: 15 })
    assert.strictEqual(quote.estimatedTokens, seconds * 21_600n)
  })

  it("is told apart from 15 seconds that were ordered", () => {
    assert.isFalse(tokenQuote(listPrices, order(15, "720p"), noVideo).smart)
  })
})

describe("a tier without a price of its own", () => {
  const base = { without_video: "46", with_video: "28" }

  it.each(["1080p", "4K"] as const)("falls back to the base price at %s", (resolution) => {
    const quote = tokenQuote(tokenPrices({ base }), order(5, resolution), noVideo)
    assert.deepStrictEqual([quote.tier, quote.nanoPerToken], ["base", 46_000n])
    assert.strictEqual(quote.tokensPerSecond, tokensPerSecond[resolution])
  })

  it("falls back for the with-video price alone", () => {
    const prices = tokenPrices({ base, "1080p": { without_video: "51" } })
    const plain = tokenQuote(prices, order(5, "1080p"), noVideo)
    const mixed = tokenQuote(prices, order(5, "1080p"), oneVideo)
    assert.deepStrictEqual([plain.tier, plain.nanoPerToken], ["1080p", 51_000n])
    assert.deepStrictEqual([mixed.tier, mixed.nanoPerToken], ["base", 28_000n])
  })

  it.each([
    ["720p", noVideo, {}],
    ["720p", noVideo, { base: {} }],
    ["720p", noVideo, { "1080p": base, "4K": base }],
    ["1080p", noVideo, { "4K": base }],
    ["4K", oneVideo, { base: { without_video: "46" } }],
    ["720p", noVideo, { base: { with_video: "28" } }]
  ] as const)("and without a base price cannot be ordered: %s", (resolution, inputs, prices) => {
    const error = Result.getOrThrow(
      Result.flip(quoteVideo(tokenPrices(prices), order(5, resolution), inputs))
    )
    assert.deepStrictEqual([error._tag, error.param], ["billing_unavailable", "resolution"])
    assert.include(error.message, resolution)
  })
})

describe("a model billed by the second", () => {
  it.each([
    [1, "540p", "0.25"],
    [3, "720p", "1.8"],
    [5, "720p", "3"],
    [5, "1080p", "5"],
    [16, "1080p", "16"]
  ] as const)("holds for %d seconds of %s exactly %s", (seconds, resolution, hold) => {
    const quote = Result.getOrThrow(quoteVideo(secondPrices, order(seconds, resolution), noVideo))
    assert.strictEqual(quote.kind, "second_video")
    assert.deepInclude(quote, { resolution, outputSeconds: seconds })
    assert.strictEqual(formatNano(quote.holdNano), hold)
  })

  it("costs the same with a reference video", () => {
    assert.deepStrictEqual(
      quoteVideo(secondPrices, order(5, "720p"), { videos: 2, videoSeconds: 30 }),
      quoteVideo(secondPrices, order(5, "720p"), noVideo)
    )
  })

  it.each(["480p", "4K"] as const)("has no fallback for %s", (resolution) => {
    const error = Result.getOrThrow(
      Result.flip(quoteVideo(secondPrices, order(5, resolution), noVideo))
    )
    assert.deepStrictEqual([error._tag, error.param], ["billing_unavailable", "resolution"])
    assert.include(error.message, resolution)
  })
})

describe("a quote kept as JSON", () => {
  it.each([
    [listPrices, order("smart", "4K"), oneVideo],
    [listPrices, order(5, "480p"), noVideo],
    [secondPrices, order(5, "1080p"), noVideo]
  ] as const)("comes back whole", (prices, sku, inputs) => {
    const quote = Result.getOrThrow(quoteVideo(prices, sku, inputs))
    const codec = Schema.fromJsonString(VideoQuote)
    assert.deepStrictEqual(Schema.decodeSync(codec)(Schema.encodeSync(codec)(quote)), quote)
  })
})
