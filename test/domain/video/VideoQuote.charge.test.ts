import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Result, Schema } from "effect"
import { SecondVideoPrices, TokenVideoPrices } from "../../../src/domain/catalog/Prices.ts"
import { formatNano } from "../../../src/domain/money/Money.ts"
import { Resolution } from "../../../src/domain/video/tiers.ts"
import { chargeVideo, type VideoUsage } from "../../../src/domain/video/VideoCharge.ts"
import { quoteVideo, type VideoInputs } from "../../../src/domain/video/VideoQuote.ts"

const tokenPrices = Schema.decodeUnknownSync(TokenVideoPrices)
const listPrices = tokenPrices({
  kind: "token_video",
  per_million_tokens: {
    base: { without_video: "46", with_video: "28" },
    "1080p": { without_video: "51", with_video: "31" },
    "4K": { without_video: "26", with_video: "16" }
  }
})
const secondPrices = Schema.decodeUnknownSync(SecondVideoPrices)({
  kind: "second_video",
  per_second: { "720p": "0.6", "1080p": "1.0" }
})

const noVideo: VideoInputs = { videos: 0, videoSeconds: null }
const silent: VideoUsage = { completionTokens: null, outputSeconds: null }

const quote = (
  prices: TokenVideoPrices | SecondVideoPrices,
  seconds: number | "smart",
  resolution: Resolution,
  inputs = noVideo
) =>
  Result.getOrThrow(
    quoteVideo(prices, { seconds, resolution, billedResolution: resolution }, inputs)
  )

describe("the charge of tokens the vendor reported", () => {
  it.each([
    ["above the hold", 108_900n, "5.0094"],
    ["at the hold", 108_000n, "4.968"],
    ["below the hold", 100_000n, "4.6"],
    ["at twice the estimate", 216_000n, "9.936"],
    ["at half of what was ordered", 54_000n, "2.484"]
  ] as const)("is taken whole %s", (_, completionTokens, charged) => {
    const charge = chargeVideo(quote(listPrices, 5, "720p"), { ...silent, completionTokens })
    assert.strictEqual(formatNano(charge.chargeNano), charged)
    assert.strictEqual(charge.units, completionTokens)
    assert.strictEqual(charge.basis, "upstream_usage")
  })

  it.each([
    ["1080p", 0, "15.3"],
    ["1080p", 1, "9.3"],
    ["4K", 0, "26"],
    ["4K", 1, "16"]
  ] as const)(
    "is at the price of the order: %s, %d reference videos",
    (resolution, videos, charged) => {
      const held = quote(listPrices, 5, resolution, { videos, videoSeconds: null })
      const completionTokens = resolution === "4K" ? 1_000_000n : 300_000n
      const charge = chargeVideo(held, { ...silent, completionTokens })
      assert.strictEqual(formatNano(charge.chargeNano), charged)
    }
  )

  it("wins over a length the vendor also reported", () => {
    const charge = chargeVideo(quote(listPrices, "smart", "720p"), {
      completionTokens: 100_000n,
      outputSeconds: 12
    })
    assert.strictEqual(charge.units, 100_000n)
  })
})

describe("the charge without reported tokens", () => {
  it.each([
    [5, "720p", noVideo],
    [15, "4K", noVideo],
    [8, "1080p", { videos: 1, videoSeconds: 9 }],
    ["smart", "720p", { videos: 1, videoSeconds: null }]
  ] as const)("is the formula's for %s seconds of %s: the hold", (seconds, resolution, inputs) => {
    const held = quote(listPrices, seconds, resolution, inputs)
    const charge = chargeVideo(held, silent)
    assert.strictEqual(charge.chargeNano, held.holdNano)
    assert.strictEqual(charge.basis, "formula")
  })

  it.each([
    [noVideo, 8n],
    [{ videos: 1, videoSeconds: null }, 12n]
  ] as const)("follows the length the model chose, with input %j", (inputs, seconds) => {
    const held = quote(listPrices, "smart", "720p", inputs)
    const charge = chargeVideo(held, { completionTokens: null, outputSeconds: 8 })
    assert.strictEqual(charge.units, seconds * 21_600n)
    assert.strictEqual(charge.basis, "formula")
  })

  it("ignores a reported length where the client ordered one", () => {
    const charge = chargeVideo(quote(listPrices, 5, "720p"), {
      completionTokens: null,
      outputSeconds: 9
    })
    assert.strictEqual(formatNano(charge.chargeNano), "4.968")
  })
})

describe("the charge of ordered seconds", () => {
  it.each([
    ["no usage", silent],
    ["tokens and another length", { completionTokens: 999_999n, outputSeconds: 3 }]
  ] as const)("is the hold when the vendor reports %s", (_, usage) => {
    assert.deepStrictEqual(chargeVideo(quote(secondPrices, 5, "1080p"), usage), {
      chargeNano: 5_000_000_000n,
      units: 5n,
      basis: "ordered_seconds",
      implausible: null
    })
  })
})

const seconds = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 16 }))
const more = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 60 }))
/** What a vendor can report of 5 seconds at 720p: from half of them to twice. */
const tokens = Schema.BigInt.check(
  Schema.isBetweenBigInt({ minimum: 54_000n, maximum: 2n * 108_000n })
)
const inputs = Arbitrary.schema(
  Schema.Struct({
    videos: Schema.Literals([0, 1, 3]),
    videoSeconds: Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 120 })))
  })
)
const baseTier = ["480p", "540p", "720p"] as const satisfies ReadonlyArray<Resolution>
const inBaseTier = Schema.Literals(baseTier)

describe("at the list prices", () => {
  it.prop(
    "a longer video costs more",
    [seconds, more, Resolution, inputs],
    ([shorter, extra, resolution, given]) => {
      const short = quote(listPrices, shorter, resolution, given)
      const long = quote(listPrices, shorter + extra, resolution, given)
      assert.isTrue(short.holdNano < long.holdNano)
      assert.isTrue(chargeVideo(short, silent).chargeNano < chargeVideo(long, silent).chargeNano)
    }
  )

  it.prop(
    "a sharper video of the same tier costs more",
    [seconds, inBaseTier, inBaseTier, inputs],
    ([length, one, other, given]) => {
      const hold = (resolution: Resolution) => quote(listPrices, length, resolution, given).holdNano
      assert.strictEqual(hold(one) < hold(other), baseTier.indexOf(one) < baseTier.indexOf(other))
    }
  )

  it.prop("a sharper tier costs more as well", [seconds, inputs], ([length, given]) => {
    const holds = Resolution.literals.map(
      (resolution) => quote(listPrices, length, resolution, given).holdNano
    )
    assert.deepStrictEqual(
      holds,
      holds.toSorted((a, b) => (a < b ? -1 : 1))
    )
  })

  it.each([
    ["one more than twice the estimate", 216_001n, 216_000n, "largest_plausible"],
    ["ten times", 1_089_000n, 216_000n, "largest_plausible"],
    ["the largest number", 9_007_199_254_740_991n, 216_000n, "largest_plausible"],
    ["a single token", 1n, 108_000n, "formula"],
    ["less than half of the ordered seconds", 53_999n, 108_000n, "formula"],
    ["nothing", 0n, 108_000n, "formula"],
    ["less than nothing", -1n, 108_000n, "formula"]
  ] as const)("a report of %s is charged at what can be", (_, completionTokens, units, basis) => {
    const charge = chargeVideo(quote(listPrices, 5, "720p"), { ...silent, completionTokens })
    assert.deepInclude(charge, { basis, units })
    assert.deepStrictEqual(charge.implausible, { input: null, output: completionTokens })
  })

  it("a film of unknown length may come to its exposure, and to no more", () => {
    const inputs = { videos: 1, videoSeconds: null, longestSeconds: 15 }
    const held = quote(listPrices, 5, "720p", inputs)
    assert.deepInclude(held, {
      holdNano: 9n * 21_600n * 28_000n,
      exposureNano: 22n * 21_600n * 28_000n
    })
    const charge = (completionTokens: bigint) =>
      chargeVideo(held, { ...silent, completionTokens }).chargeNano
    assert.strictEqual(charge(22n * 21_600n), 22n * 21_600n * 28_000n)
    assert.strictEqual(charge(10n ** 9n), 22n * 21_600n * 28_000n)
  })

  it("the shortest video of a model that chooses the length is believed", () => {
    const held = quote(listPrices, "smart", "720p")
    const basis = (completionTokens: bigint) =>
      chargeVideo(held, { ...silent, completionTokens }).basis
    assert.strictEqual(basis(2n * 21_600n), "upstream_usage")
    assert.strictEqual(basis(21_599n), "formula")
  })

  it.prop("more tokens never cost less", [tokens, tokens, inputs], ([some, others, given]) => {
    const held = quote(listPrices, 5, "720p", given)
    const charge = (completionTokens: bigint) =>
      chargeVideo(held, { ...silent, completionTokens }).chargeNano
    assert.strictEqual(charge(some) <= charge(others), some <= others)
  })
})

const thousandths = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9_999_999 }))
const decimal = (amount: number) =>
  `${Math.floor(amount / 1000)}.${String(amount % 1000).padStart(3, "0")}`

describe("a charge never rounds", () => {
  it.prop(
    "for tokens: 1000 nano-units are a thousandth per million",
    [thousandths, tokens],
    ([price, used]) => {
      const prices = tokenPrices({
        kind: "token_video",
        per_million_tokens: { base: { without_video: decimal(price) } }
      })
      const charge = chargeVideo(quote(prices, 5, "720p"), { ...silent, completionTokens: used })
      assert.strictEqual(charge.chargeNano, used * BigInt(price))
    }
  )

  it.prop("for the formula", [thousandths, seconds, Resolution], ([price, length, resolution]) => {
    const prices = tokenPrices({
      kind: "token_video",
      per_million_tokens: { base: { without_video: decimal(price) } }
    })
    const { chargeNano, units } = chargeVideo(quote(prices, length, resolution), silent)
    assert.strictEqual(chargeNano, units * BigInt(price))
    assert.strictEqual(units % BigInt(length), 0n)
  })

  it.prop("for seconds", [thousandths, seconds], ([price, length]) => {
    const prices = Schema.decodeUnknownSync(SecondVideoPrices)({
      kind: "second_video",
      per_second: { "720p": decimal(price) }
    })
    const { chargeNano } = chargeVideo(quote(prices, length, "720p"), silent)
    assert.strictEqual(chargeNano, BigInt(price) * BigInt(length) * 1_000_000n)
  })
})
