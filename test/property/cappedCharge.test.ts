/**
 * Capped orders of every kind of price, and vendors that report anything: the charge is never above
 * the hold, and what a truthful vendor reports is charged in full.
 */
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { Prices, TokenVideoPrices } from "../../src/domain/catalog/Prices.ts"
import { chargeImageTokens, quoteImageTokens } from "../../src/domain/image/ImageTokenQuote.ts"
import { capImageQuote } from "../../src/domain/image/pricedImages.ts"
import { formatNano } from "../../src/domain/money/Money.ts"
import { expectedChargeOf, formulaOf, isCapped, type Quote } from "../../src/domain/money/Quote.ts"
import { capWorkQuote, chargeWork, quoteWork } from "../../src/domain/money/workQuotes.ts"
import { ChatBody } from "../../src/domain/text/TextRequest.ts"
import { estimateChat } from "../../src/domain/text/textEstimate.ts"
import { chargeVideo } from "../../src/domain/video/VideoCharge.ts"
import { capVideoQuote, quoteByTable, quoteVideo } from "../../src/domain/video/VideoQuote.ts"
import { videoTables } from "../../src/domain/video/videoPriceTable.ts"
import { seedOfDay } from "../support/day.ts"
import { type Dice, diceOf } from "../support/randomOrders.ts"

const CASES = Number(process.env.PROPERTY_CASES ?? 3000)
const SEED = Number(process.env.PROPERTY_SEED ?? seedOfDay)

const decodePrices = Schema.decodeUnknownSync(Prices)
const decodeChat = Schema.decodeUnknownSync(ChatBody)

const filmPrices = Schema.decodeUnknownSync(TokenVideoPrices)({
  kind: "token_video",
  per_million_tokens: { base: { without_video: "46", with_video: "28" } }
})
const tablePrices = Schema.decodeUnknownSync(Schema.Union(videoTables))({
  kind: "video_table",
  unit: "token",
  least_input_tokens: 100_000,
  reference_surcharge: { beyond: 2, price: "0.1" },
  lines: [{ resolution: "1080p", price: "51" }, { price: "46" }]
})
const paintPrices = decodePrices({
  kind: "image_tokens",
  per_million_text_input: "5",
  per_million_image_input: "10",
  per_million_image_output: "40",
  per_million_cached_input: "12",
  most_output_tokens: 1000,
  most_image_input_tokens: 300
})
const talkPrices = decodePrices({
  kind: "tokens",
  per_million_input: "2",
  per_million_output: "8",
  per_million_cached_input: "0.5",
  per_million_audio_input: "40",
  per_million_audio_output: "80"
})
const hearPrices = decodePrices({ kind: "audio_seconds", per_second: "0.0001" })

interface CappedOrder {
  readonly quote: Quote
  /** The charge by a random report of its vendor. */
  readonly chargeNano: bigint
}

/** Anything a vendor may write where a count belongs. */
const drawCount = (dice: Dice, honest: bigint): bigint =>
  BigInt(
    dice.pick([
      0,
      1,
      dice.roll(Number(honest) + 1),
      Number(honest),
      Number(honest) + dice.roll(Number(honest) + 1),
      10 * Number(honest),
      Number.MAX_SAFE_INTEGER
    ])
  )

const drawVideoInputs = (dice: Dice) => {
  const longest = dice.chance(50) ? { longestSeconds: dice.pick([15, 60]) } : {}
  return dice.chance(50)
    ? { videos: 1, videoSeconds: dice.pick([null, 3.2, 11]), referenceImages: 4, ...longest }
    : { videos: 0, videoSeconds: null, referenceImages: dice.roll(5) }
}

const drawVideoUsage = (dice: Dice, honest: bigint) => ({
  completionTokens: dice.chance(10) ? null : drawCount(dice, honest),
  outputSeconds: dice.pick([null, 0, 5, 15, 600]),
  ...(dice.chance(30) ? { inputSeconds: dice.roll(100) } : {}),
  ...(dice.chance(30) ? { resolution: dice.pick(["480p", "1080p"] as const) } : {})
})

const drawVideo = (dice: Dice): CappedOrder => {
  const seconds = dice.chance(20) ? ("smart" as const) : 4 + dice.roll(12)
  const resolution = dice.pick(["720p", "1080p"] as const)
  const sku = { seconds, resolution, billedResolution: resolution }
  const inputs = drawVideoInputs(dice)
  const facts = { resolution, sound: null, withVideo: inputs.videos > 0, mode: "text" } as const
  const quoted = dice.chance(50)
    ? quoteByTable(tablePrices, facts, sku, inputs)
    : quoteVideo(filmPrices, sku, inputs)
  const quote = capVideoQuote(Result.getOrThrow(quoted))
  const honest = "estimatedTokens" in quote ? quote.estimatedTokens : 0n
  return { quote, chargeNano: chargeVideo(quote, drawVideoUsage(dice, honest)).chargeNano }
}

const drawImages = (dice: Dice): CappedOrder => {
  assert(paintPrices.kind === "image_tokens")
  const quote = capImageQuote(
    Result.getOrThrow(
      quoteImageTokens(paintPrices, {
        images: 1 + dice.roll(4),
        promptBytes: 4,
        textBytes: dice.roll(4000),
        inputImages: dice.roll(4),
        calls: 1 + dice.roll(2),
        partialImages: dice.roll(3),
        tier: { quality: null, size: null, edit: false }
      })
    )
  )
  assert(quote.kind === "image_tokens")
  const usage = {
    inputTokens: drawCount(dice, quote.textTokens + quote.imageInputTokens),
    outputTokens: drawCount(dice, quote.outputTokens),
    imageTokens: dice.chance(50) ? null : drawCount(dice, quote.imageInputTokens),
    cachedTokens: drawCount(dice, quote.textTokens)
  }
  const delivered = dice.chance(10)
    ? null
    : { images: dice.roll(quote.images + 2), usage: dice.chance(10) ? null : usage }
  return { quote, chargeNano: chargeImageTokens(quote, delivered).chargeNano }
}

const drawTalk = (dice: Dice): CappedOrder => {
  const bound = dice.chance(50) ? { max_tokens: 1 + dice.roll(1000), n: 1 + dice.roll(3) } : {}
  const medium = { type: "input_audio", input_audio: { url: "https://files.test/1.mp3" } }
  const text = "x ".repeat(dice.roll(3000))
  const content = dice.chance(70) ? text : [{ type: "text", text }, medium]
  const messages = [{ role: "user", content }]
  const body = decodeChat({ model: "m", messages, ...bound })
  const quoted = quoteWork(talkPrices, estimateChat(body))
  assert(quoted !== null)
  const quote = capWorkQuote(Result.getOrThrow(quoted))
  assert(quote.kind === "tokens")
  const usage = {
    inputTokens: drawCount(dice, quote.inputTokens),
    outputTokens: drawCount(dice, quote.outputTokens),
    separate: {
      cachedInput: drawCount(dice, quote.inputTokens),
      audioInput: drawCount(dice, quote.inputTokens),
      audioOutput: drawCount(dice, quote.outputTokens)
    }
  }
  const outputBytes = dice.roll(20 * Number(quote.mostOutput))
  const answer = { usage: dice.chance(20) ? null : usage, outputBytes }
  return { quote, chargeNano: chargeWork(quote, answer).chargeNano }
}

const drawSound = (dice: Dice): CappedOrder => {
  const milliseconds = dice.roll(100_000)
  const sound = { milliseconds, mostMilliseconds: milliseconds + dice.roll(50_000) }
  const tokens = {
    inputTokens: 0n,
    outputTokens: 0n,
    leastInput: 0n,
    mostInput: 0n,
    mostOutput: 0n
  }
  const quoted = quoteWork(hearPrices, { sound, ...tokens })
  assert(quoted !== null)
  const quote = capWorkQuote(Result.getOrThrow(quoted))
  const seconds = dice.pick([0, 1, dice.roll(200), 10 ** 9])
  const answer = { usage: null, outputBytes: 0, ...(dice.chance(80) ? { seconds } : {}) }
  return { quote, chargeNano: chargeWork(quote, answer).chargeNano }
}

describe("a capped order", () => {
  it.each([
    ["videos", drawVideo],
    ["images by tokens", drawImages],
    ["texts", drawTalk],
    ["sounds", drawSound]
  ] as const)("of %s is never charged above its hold", (name, draw) => {
    let reached = 0
    for (let run = 0; run < CASES; run++) {
      const label = `PROPERTY_SEED=${SEED}, case ${run} of ${name}`
      const { quote, chargeNano } = draw(diceOf(SEED + run))
      assert.isTrue(isCapped(quote), label)
      assert.isTrue(chargeNano <= quote.holdNano, `${label}: ${chargeNano} > ${quote.holdNano}`)
      assert.isTrue(expectedChargeOf(quote) <= quote.holdNano, label)
      assert.isTrue(formulaOf(quote).endsWith(` = ${formatNano(quote.holdNano)}`), formulaOf(quote))
      if (chargeNano === quote.holdNano) reached++
    }
    assert.isAbove(reached, 0, "no report led to the whole hold")
  })

  it("of a video is charged by a count that is a tenth above the formula", () => {
    const sku = { seconds: 5, resolution: "720p", billedResolution: "720p" } as const
    const plain = Result.getOrThrow(quoteVideo(filmPrices, sku, { videos: 0, videoSeconds: null }))
    const quote = capVideoQuote(plain)
    assert.deepStrictEqual(
      [plain, quote].map(({ holdNano }) => formatNano(holdNano)),
      ["4.968", "5.4648"]
    )
    assert.strictEqual(formulaOf(quote), "118800 tokens x 0.000046 = 5.4648")
    const charge = (completionTokens: bigint) =>
      chargeVideo(quote, { completionTokens, outputSeconds: null })
    assert.deepInclude(charge(118_800n), { units: 118_800n, implausible: null })
    assert.deepInclude(charge(118_801n), { units: 118_800n, basis: "largest_plausible" })
  })
})
