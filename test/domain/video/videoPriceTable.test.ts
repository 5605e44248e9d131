import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { Prices } from "../../../src/domain/catalog/Prices.ts"
import { chargeReason } from "../../../src/domain/money/chargeReason.ts"
import { formatNano } from "../../../src/domain/money/Money.ts"
import { expectedChargeOf, formulaOf, Quote } from "../../../src/domain/money/Quote.ts"
import { Resolution, tokensPerSecond } from "../../../src/domain/video/tiers.ts"
import { chargeVideo, type VideoUsage } from "../../../src/domain/video/VideoCharge.ts"
import { quoteByTable, type VideoInputs } from "../../../src/domain/video/VideoQuote.ts"
import type { VideoSku } from "../../../src/domain/video/VideoSku.ts"
import { InputMode, type VideoFacts } from "../../../src/domain/video/videoFacts.ts"
import { linePrice, type VideoTable } from "../../../src/domain/video/videoPriceTable.ts"
import { type Dice, diceOf } from "../../support/randomOrders.ts"

const CASES = Number(process.env.PROPERTY_CASES ?? 3000)
const SEED = Number(process.env.PRICE_SEED ?? Date.now() % 2 ** 31)

const decodePrices = Schema.decodeUnknownResult(Prices)

const tableOf = (table: object): VideoTable => {
  const prices = Result.getOrThrow(decodePrices({ kind: "video_table", ...table }))
  assert(prices.kind === "video_table")
  return prices
}

const sku = (seconds: VideoSku["seconds"], resolution: Resolution = "720p"): VideoSku => ({
  seconds,
  resolution,
  billedResolution: resolution
})
const noVideo: VideoInputs = { videos: 0, videoSeconds: null }
const noUsage: VideoUsage = { completionTokens: null, outputSeconds: null }

const facts = (some: Partial<VideoFacts> = {}): VideoFacts => ({
  resolution: "720p",
  sound: false,
  withVideo: false,
  mode: "text",
  ...some
})

const kling = tableOf({
  unit: "second",
  lines: [
    { resolution: "720p", sound: false, price: "0.084" },
    { resolution: "720p", sound: true, price: "0.126" },
    { resolution: "1080p", sound: false, price: "0.112" },
    { resolution: "1080p", sound: true, price: "0.168" },
    { resolution: "4K", price: "0.42" }
  ]
})

describe("a price table of videos", () => {
  it("has a price for each combination of facts, and the most specific line counts", () => {
    const table = tableOf({
      unit: "clip",
      lines: [
        { price: "1" },
        { resolution: "1080p", price: "2" },
        { resolution: "1080p", sound: true, price: "3" },
        { resolution: "1080p", sound: true, input_video: true, mode: "reference", price: "4" }
      ]
    })
    const priceOf = (some: Partial<VideoFacts>) =>
      formatNano(Result.getOrThrow(linePrice(table, facts(some))))
    assert.deepStrictEqual(
      [
        priceOf({}),
        priceOf({ resolution: "1080p" }),
        priceOf({ resolution: "1080p", sound: true }),
        priceOf({ resolution: "1080p", sound: true, withVideo: true, mode: "frames" }),
        priceOf({ resolution: "1080p", sound: true, withVideo: true, mode: "reference" }),
        priceOf({ resolution: "4K", sound: true, withVideo: true, mode: "reference" })
      ],
      ["1", "2", "3", "3", "4", "1"]
    )
  })

  it("says what is priced where no line applies", () => {
    const refused = linePrice(kling, facts({ resolution: "540p", sound: true }))
    assert(Result.isFailure(refused))
    assert.include(refused.failure.message, "540p with sound without a reference video from a text")
    assert.deepStrictEqual(refused.failure.priced, [
      "720p without sound",
      "720p with sound",
      "1080p without sound",
      "1080p with sound",
      "4K"
    ])
  })

  it("counts the higher price where the model itself decides on sound, and needs both", () => {
    const price = linePrice(kling, facts({ sound: null }))
    assert.strictEqual(formatNano(Result.getOrThrow(price)), "0.126")
    const silentOnly = tableOf({ unit: "second", lines: [{ sound: false, price: "1" }] })
    assert.isTrue(Result.isFailure(linePrice(silentOnly, facts({ sound: null }))))
  })

  it.each([
    [[{ price: "1" }, { price: "2" }], "[1]"],
    [
      [
        { resolution: "720p", price: "1" },
        { resolution: "720p", mode: "*", price: "2" }
      ],
      "[1]"
    ],
    [
      [
        { resolution: "720p", price: "1" },
        { sound: true, price: "2" }
      ],
      "720p with sound"
    ],
    [[], "lines"],
    [[{ price: "0" }], "greater than 0"],
    [[{ resolution: "8K", price: "1" }], "resolution"],
    [[{ sound: "yes", price: "1" }], "sound"],
    [[{ price: "1.0000000001" }], "price"]
  ])("refuses the lines %j", (lines, says) => {
    const read = decodePrices({ kind: "video_table", unit: "second", lines })
    assert(Result.isFailure(read))
    assert.include(String(read.failure), says)
  })

  it("accepts lines that overlap where a line names the facts of both", () => {
    const lines = [
      { resolution: "720p", price: "1" },
      { sound: true, price: "2" },
      { resolution: "720p", sound: true, price: "3" }
    ]
    assert.isTrue(Result.isSuccess(decodePrices({ kind: "video_table", unit: "second", lines })))
  })
})

const seedance = (base: string, baseVideo: string, high: string, highVideo: string) =>
  tableOf({
    unit: "token",
    lines: [
      { input_video: false, price: base },
      { input_video: true, price: baseVideo },
      { resolution: "1080p", input_video: false, price: high },
      { resolution: "1080p", input_video: true, price: highVideo }
    ]
  })
const version20 = seedance("46", "28", "51", "31")
const fast20 = seedance("37", "22", "37", "22")
const mini20 = seedance("23", "14", "23", "14")
const version25 = seedance("70", "42", "77", "46")

/** The price pages of vendors: seconds of kling, with the charge of five seconds. */
const secondPages = [
  ["720p", false, "0.42"],
  ["720p", true, "0.63"],
  ["1080p", false, "0.56"],
  ["1080p", true, "0.84"],
  ["4K", false, "2.1"],
  ["4K", true, "2.1"]
] as const

/** Tokens of seedance, by the price of a million. */
const tokenPages = [
  ["2.0", version20, "720p", false, 46n],
  ["2.0", version20, "720p", true, 28n],
  ["2.0", version20, "1080p", false, 51n],
  ["2.0", version20, "1080p", true, 31n],
  ["2.0 fast", fast20, "720p", false, 37n],
  ["2.0 fast", fast20, "720p", true, 22n],
  ["2.0 mini", mini20, "720p", false, 23n],
  ["2.0 mini", mini20, "720p", true, 14n],
  ["2.5", version25, "720p", false, 70n],
  ["2.5", version25, "720p", true, 42n],
  ["2.5", version25, "1080p", false, 77n],
  ["2.5", version25, "1080p", true, 46n]
] as const

describe("vendors' price pages", () => {
  it.each(secondPages)("kling 3.0, %s with sound %s", (resolution, sound, amount) => {
    const order = facts({ resolution, sound })
    const quote = Result.getOrThrow(quoteByTable(kling, order, sku(5, resolution), noVideo))
    assert.strictEqual(formatNano(quote.holdNano), amount)
    assert.strictEqual(formatNano(chargeVideo(quote, noUsage).chargeNano), amount)
  })

  it.each(tokenPages)("seedance %s, %#", (_, table, resolution, withVideo, perMillion) => {
    const inputs = withVideo ? { videos: 1, videoSeconds: 4 } : noVideo
    const order = facts({ resolution, withVideo })
    const quote = Result.getOrThrow(quoteByTable(table, order, sku(5, resolution), inputs))
    const tokens = BigInt(withVideo ? 9 : 5) * tokensPerSecond[resolution]
    const nanoPerToken = perMillion * 1000n
    assert.strictEqual(quote.holdNano, ((tokens * 110n) / 100n) * nanoPerToken)
    assert.strictEqual(chargeVideo(quote, noUsage).chargeNano, tokens * nanoPerToken)
    const reported = { completionTokens: tokens + 900n, outputSeconds: null }
    assert.strictEqual(chargeVideo(quote, reported).chargeNano, (tokens + 900n) * nanoPerToken)
  })
})

describe("a quote by a price table", () => {
  const second = tableOf({ unit: "second", input_seconds: true, lines: [{ price: "0.6" }] })
  const oneVideo = (videoSeconds: number | null, longestSeconds?: number): VideoInputs => ({
    videos: 1,
    videoSeconds,
    ...(longestSeconds === undefined ? {} : { longestSeconds })
  })

  it("bills input seconds as the vendor reports them, at most those that are held", () => {
    const quote = Result.getOrThrow(
      quoteByTable(second, facts({ withVideo: true }), sku(5), oneVideo(null, 15))
    )
    assert.strictEqual(formulaOf(quote), "(15 + 5) s x 0.6 = 12")
    const chargeOf = (inputSeconds?: number) => {
      const usage = inputSeconds === undefined ? noUsage : { ...noUsage, inputSeconds }
      const { chargeNano, inputUnits, units, basis, implausible } = chargeVideo(quote, usage)
      return [formatNano(chargeNano), inputUnits, units, basis, implausible]
    }
    assert.deepStrictEqual(chargeOf(6), ["6.6", 6n, 5n, "upstream_usage", null])
    assert.deepStrictEqual(chargeOf(), ["12", 15n, 5n, "formula", null])
    const implausible = { input: 16n, output: 5n }
    assert.deepStrictEqual(chargeOf(16), ["12", 15n, 5n, "largest_plausible", implausible])
  })

  it("bills the ordered seconds whatever is reported, and a clip as one", () => {
    const quoteAt = (table: VideoTable, seconds: VideoSku["seconds"]) =>
      Result.getOrThrow(quoteByTable(table, facts(), sku(seconds), noVideo))
    const reported = { completionTokens: 9n, outputSeconds: 9, inputSeconds: 9 }
    const bySecond = chargeVideo(quoteAt(second, 7), reported)
    assert.deepInclude(bySecond, { units: 7n, basis: "ordered_seconds" })
    const clip = tableOf({ unit: "clip", lines: [{ price: "2.5" }] })
    const byClip = chargeVideo(quoteAt(clip, 30), reported)
    assert.deepInclude(byClip, { chargeNano: 2_500_000_000n, units: 1n, basis: "ordered_clip" })
    const smart = chargeVideo(quoteAt(second, "smart"), reported)
    assert.deepInclude(smart, { units: 9n, basis: "upstream_usage" })
  })

  it("holds and charges at least the vendor's minimum with a reference video", () => {
    const table = tableOf({ unit: "token", least_input_tokens: 400_000, lines: [{ price: "10" }] })
    const quoteWith = (inputs: VideoInputs) =>
      Result.getOrThrow(
        quoteByTable(table, facts({ withVideo: inputs.videos > 0 }), sku(5), inputs)
      )
    const quote = quoteWith(oneVideo(4))
    assert.strictEqual(formulaOf(quote), "400000 tokens x 0.00001 = 4")
    assert.strictEqual(formatNano(chargeVideo(quote, noUsage).chargeNano), "4")
    const silent = quoteWith(noVideo)
    assert.strictEqual(formatNano(silent.holdNano), "1.188")
    assert.strictEqual(formatNano(expectedChargeOf(silent)), "1.08")
  })

  it("charges a reference video of unknown length like token_video, within what is held", () => {
    const table = tableOf({ unit: "token", lines: [{ price: "28" }] })
    const order = facts({ withVideo: true })
    const quote = Result.getOrThrow(quoteByTable(table, order, sku(5), oneVideo(null, 15)))
    const chargeOf = (completionTokens: bigint | null) => {
      const { units, basis } = chargeVideo(quote, { completionTokens, outputSeconds: null })
      return [units, basis]
    }
    assert.strictEqual(quote.units, 475_200n)
    assert.deepStrictEqual(chargeOf(null), [194_400n, "formula"])
    assert.deepStrictEqual(chargeOf(470_000n), [470_000n, "upstream_usage"])
    assert.deepStrictEqual(chargeOf(860_000n), [475_200n, "largest_plausible"])
    assert.strictEqual(formatNano(expectedChargeOf(quote)), "5.4432")
  })

  it("is explained with its facts", () => {
    const quote = Result.getOrThrow(quoteByTable(kling, facts({ sound: true }), sku(5), noVideo))
    const { chargeNano, units, basis } = chargeVideo(quote, noUsage)
    assert.strictEqual(
      chargeReason({ quote, inputUnits: 0n, units, basis, chargeNano, currency: "USD" }),
      "The ordered seconds count, whatever the vendor reports: 5 seconds at 0.126 USD each, the price of 720p with sound without a reference video from a text; exactly the 0.63 that was held was charged."
    )
  })
})

const drawTable = (dice: Dice): VideoTable => {
  const unit = dice.pick(["second", "clip", "token"] as const)
  const price = () => String(1 + dice.roll(900))
  const some = <A>(value: A) => (dice.chance(60) ? value : "*")
  const lines = [
    { price: price() },
    ...(dice.chance(70) ? [{ sound: true, price: price() }] : []),
    ...Resolution.literals.flatMap((resolution) =>
      dice.chance(50)
        ? [
            { resolution, price: price() },
            { resolution, sound: true, price: price() },
            {
              resolution,
              sound: true,
              input_video: some(true),
              mode: "reference",
              price: price()
            }
          ]
        : []
    )
  ]
  return tableOf({
    unit,
    lines,
    ...(unit === "second" ? { input_seconds: dice.chance(50) } : {}),
    ...(unit === "token" && dice.chance(50) ? { least_input_tokens: 1 + dice.roll(900_000) } : {})
  })
}

/** What a vendor may truthfully report of the order: no more seconds than there are. */
const drawUsage = (
  dice: Dice,
  { seconds, billedResolution }: VideoSku,
  inputSeconds: number,
  least: number
): VideoUsage => {
  const output = seconds === "smart" ? 2 + dice.roll(14) : seconds
  const frames = BigInt((output + inputSeconds) * 24 + 1)
  const counted = (frames * tokensPerSecond[billedResolution]) / 24n
  const tokens = counted > BigInt(least) ? counted : BigInt(least)
  return {
    completionTokens: dice.chance(70) ? tokens : null,
    outputSeconds: dice.chance(70) ? output : null,
    ...(dice.chance(70) ? { inputSeconds } : {})
  }
}

const drawOrder = (dice: Dice) => {
  const withVideo = dice.chance(40)
  const resolution = dice.pick(["480p", "540p", "720p", "1080p", "4K"] as const)
  const inputSeconds = withVideo ? 1 + dice.roll(15) : 0
  const known: VideoInputs = { videos: 1, videoSeconds: inputSeconds }
  const unknown = { videos: 1, videoSeconds: null, longestSeconds: 15 }
  return {
    order: facts({
      resolution,
      sound: dice.pick([true, false, null]),
      withVideo,
      mode: withVideo ? "reference" : dice.pick([...InputMode.literals])
    }),
    ordered: sku(dice.chance(20) ? "smart" : 2 + dice.roll(29), resolution),
    inputSeconds,
    inputs: withVideo ? dice.pick([known, unknown]) : noVideo
  }
}

const encode = Schema.encodeSync(Quote)
const decode = Schema.decodeUnknownSync(Quote)

const checkOrder = (dice: Dice): void => {
  const table = drawTable(dice)
  const { order, ordered, inputSeconds, inputs } = drawOrder(dice)
  const quote = Result.getOrThrow(quoteByTable(table, order, ordered, inputs))
  const least = quote.unit === "token" ? Number(quote.leastTokens) : 0
  const charge = chargeVideo(quote, drawUsage(dice, ordered, inputSeconds, least))
  const described = JSON.stringify({ ...encode(quote), seconds: ordered.seconds })
  assert.isTrue(charge.chargeNano <= quote.holdNano, described)
  assert.isTrue(charge.chargeNano > 0n, described)
  assert.isNull(charge.implausible, described)
  const units = charge.units + (charge.inputUnits ?? 0n)
  assert.strictEqual(charge.chargeNano, units * Result.getOrThrow(linePrice(table, order)))
  assert.deepStrictEqual(decode(encode(quote)), quote)
}

describe(`any table and order (PRICE_SEED=${SEED})`, () => {
  it(`holds at least what a truthful answer leads to, at the price of its line: ${CASES} cases`, () => {
    const dice = diceOf(SEED)
    for (let index = 0; index < CASES; index++) checkOrder(dice)
  })
})
