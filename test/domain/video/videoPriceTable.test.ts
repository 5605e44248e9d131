import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { Prices } from "../../../src/domain/catalog/Prices.ts"
import { chargeReason } from "../../../src/domain/money/chargeReason.ts"
import { formatNano } from "../../../src/domain/money/Money.ts"
import { expectedChargeOf, formulaOf, isSameQuote, Quote } from "../../../src/domain/money/Quote.ts"
import { Resolution, tokensPerSecond } from "../../../src/domain/video/tiers.ts"
import { chargeVideo, type VideoUsage } from "../../../src/domain/video/VideoCharge.ts"
import { quoteByTable, type VideoInputs } from "../../../src/domain/video/VideoQuote.ts"
import type { VideoSku } from "../../../src/domain/video/VideoSku.ts"
import { InputMode, type VideoFacts } from "../../../src/domain/video/videoFacts.ts"
import { linePrice, type VideoTable } from "../../../src/domain/video/videoPriceTable.ts"
import { seedOfDay } from "../../support/day.ts"
import { type Dice, diceOf } from "../../support/randomOrders.ts"

const CASES = Number(process.env.PROPERTY_CASES ?? 3000)
const SEED = Number(process.env.PRICE_SEED ?? seedOfDay)

const decodePrices = Schema.decodeUnknownResult(Prices)
const encode = Schema.encodeSync(Quote)
const decode = Schema.decodeUnknownSync(Quote)

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

  it.each([
    ["ordered seconds and a total", 5, 1, { totalSeconds: 11 }, [6n, 5n, "upstream_usage"]],
    ["a total that is no more than was ordered", 5, 1, { totalSeconds: 5 }, [15n, 5n, "formula"]],
    ["a total alone", "smart", 1, { totalSeconds: 11 }, [15n, 15n, "formula"]],
    [
      "a total beside the input",
      "smart",
      1,
      { totalSeconds: 11, inputSeconds: 4 },
      [4n, 7n, "upstream_usage"]
    ],
    ["a total without input", "smart", 0, { totalSeconds: 11 }, [0n, 11n, "upstream_usage"]],
    ["less than any video has", "smart", 0, { outputSeconds: 1 }, [0n, 15n, "formula"]]
  ] as const)("reads %s", (_, seconds, videos, reported, expected) => {
    const inputs = videos === 0 ? noVideo : oneVideo(null, 15)
    const order = facts({ withVideo: videos > 0 })
    const quote = Result.getOrThrow(quoteByTable(second, order, sku(seconds), inputs))
    const { inputUnits = 0n, units, basis } = chargeVideo(quote, { ...noUsage, ...reported })
    assert.deepStrictEqual<ReadonlyArray<unknown>>([inputUnits, units, basis], expected)
  })

  it("bills at least the vendor's least seconds for an order with a reference video", () => {
    const table = tableOf({
      unit: "second",
      input_seconds: true,
      least_input_seconds: 12,
      lines: [{ price: "0.6" }]
    })
    const quote = Result.getOrThrow(
      quoteByTable(table, facts({ withVideo: true }), sku(5), oneVideo(4))
    )
    assert.deepStrictEqual([quote.units, formatNano(quote.holdNano)], [12n, "7.2"])
    const charge = chargeVideo(quote, { ...noUsage, inputSeconds: 4 })
    assert.deepInclude(charge, { chargeNano: 7_200_000_000n, inputUnits: 4n, units: 8n })
    const silent = Result.getOrThrow(quoteByTable(table, facts(), sku(5), noVideo))
    assert.strictEqual(formatNano(silent.holdNano), "3")
  })

  it.each([
    ["a lower resolution", { resolution: "720p" }, "0.63", "720p with sound"],
    ["no sound", { sound: false }, "0.56", "1080p without sound"],
    ["both", { resolution: "720p", sound: false }, "0.42", "720p without sound"]
  ] as const)("charges the line of %s that the vendor reports", (_, reported, amount, words) => {
    const quote = Result.getOrThrow(
      quoteByTable(kling, facts({ resolution: "1080p", sound: true }), sku(5, "1080p"), noVideo)
    )
    const { chargeNano, units, basis } = chargeVideo(quote, { ...noUsage, ...reported })
    assert.strictEqual(formatNano(chargeNano), amount)
    const charge = { quote, inputUnits: 0n, units, basis, chargeNano, currency: "USD" }
    assert.include(
      chargeReason(charge),
      `the price of ${words}, which the vendor reported in place of 1080p with sound; 0.84 was held`
    )
  })

  it("never charges more for what the vendor reports", () => {
    const quote = Result.getOrThrow(quoteByTable(kling, facts(), sku(5), noVideo))
    for (const reported of [
      { resolution: "4K" },
      { resolution: "1080p" },
      { sound: true }
    ] as const) {
      const { chargeNano } = chargeVideo(quote, { ...noUsage, ...reported })
      assert.strictEqual(chargeNano, quote.holdNano)
    }
    // 720p is 2.27 times smaller, so that its tokens would not be plausible for 1080p.
    const byToken = tableOf({
      unit: "token",
      lines: [{ price: "46" }, { resolution: "1080p", price: "51" }]
    })
    const sharp = Result.getOrThrow(
      quoteByTable(byToken, facts({ resolution: "1080p" }), sku(5, "1080p"), noVideo)
    )
    const counted = { ...noUsage, completionTokens: 108_900n, resolution: "720p" } as const
    const { basis, chargeNano } = chargeVideo(sharp, counted)
    assert.deepStrictEqual([basis, formatNano(chargeNano)], ["upstream_usage", "5.0094"])
  })

  it("charges what the vendor reports where the model itself decides on sound", () => {
    const quote = Result.getOrThrow(quoteByTable(kling, facts({ sound: null }), sku(5), noVideo))
    const chargeOf = (sound?: boolean) =>
      formatNano(
        chargeVideo(quote, sound === undefined ? noUsage : { ...noUsage, sound }).chargeNano
      )
    assert.deepStrictEqual([chargeOf(), chargeOf(true), chargeOf(false)], ["0.63", "0.63", "0.42"])
  })

  it("is the same for mounts that differ in facts without a price", () => {
    const quoteOf = (table: VideoTable, some: Partial<VideoFacts>) =>
      Result.getOrThrow(quoteByTable(table, facts(some), sku(5), noVideo))
    const bySound = [quoteOf(kling, {}), quoteOf(kling, { mode: "image" })] as const
    assert.isTrue(isSameQuote(...bySound))
    const resolutions = tableOf({ unit: "clip", lines: [{ resolution: "720p", price: "1" }] })
    const silent = quoteOf(resolutions, {})
    assert.isTrue(isSameQuote(silent, quoteOf(resolutions, { sound: true, mode: "reference" })))
    const modes = tableOf({ unit: "clip", lines: [{ mode: "text", price: "1" }, { price: "1" }] })
    assert.isFalse(isSameQuote(quoteOf(modes, {}), quoteOf(modes, { mode: "image" })))
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
      "The ordered seconds count, whatever the vendor reports: 5 seconds at 0.126 USD each, the price of 720p with sound; exactly the 0.63 that was held was charged."
    )
  })
})

describe("a surcharge for reference images", () => {
  const surcharge = { beyond: 5, price: "0.1" }
  const withReferences = (referenceImages: number): VideoInputs => ({ ...noVideo, referenceImages })
  const order = facts({ sound: true, mode: "reference" })
  const quoteFor = (table: object, referenceImages: number, some: VideoFacts = order) =>
    Result.getOrThrow(
      quoteByTable(
        tableOf({ reference_surcharge: surcharge, ...table }),
        some,
        sku(5),
        withReferences(referenceImages)
      )
    )
  const bySecond = { unit: "second", lines: [{ price: "0.6" }] }

  it.each([
    [bySecond, 7, "5 s x 0.6 + 2 reference images x 0.1 = 3.2", 5n],
    [bySecond, 6, "5 s x 0.6 + 1 reference image x 0.1 = 3.1", 5n],
    [bySecond, 5, "5 s x 0.6 = 3", 5n],
    [bySecond, 0, "5 s x 0.6 = 3", 5n],
    [
      { unit: "clip", lines: [{ price: "2.5" }] },
      7,
      "1 video x 2.5 + 2 reference images x 0.1 = 2.7",
      1n
    ],
    [
      { unit: "token", lines: [{ price: "10" }] },
      7,
      "118800 tokens x 0.00001 + 2 reference images x 0.1 = 1.388",
      108_000n
    ]
  ] as const)("of %j with %s of them is held and charged", (table, references, formula, units) => {
    const quote = quoteFor(table, references)
    assert.strictEqual(formulaOf(quote), formula)
    const beyond = BigInt(Math.max(references - 5, 0))
    const charge = chargeVideo(quote, noUsage)
    assert.strictEqual(charge.units, units)
    assert.strictEqual(
      charge.chargeNano,
      units * quote.nanoPerUnit + beyond * 100_000_000n,
      formatNano(charge.chargeNano)
    )
    assert.deepStrictEqual(
      charge.parts,
      beyond === 0n
        ? undefined
        : [{ kind: "reference", units: beyond, unitPriceNano: 100_000_000n }]
    )
    assert.strictEqual(expectedChargeOf(quote), charge.chargeNano)
  })

  it("is explained, also beside a cheaper line that the vendor reports", () => {
    const quote = quoteFor(
      {
        unit: "second",
        lines: [
          { sound: true, price: "0.9" },
          { sound: false, price: "0.6" }
        ]
      },
      7
    )
    const reasonFor = (usage: VideoUsage) => {
      const { chargeNano, units, basis, parts = [] } = chargeVideo(quote, usage)
      return chargeReason({
        quote,
        inputUnits: 0n,
        units,
        parts,
        basis,
        chargeNano,
        currency: "USD"
      })
    }
    assert.include(
      reasonFor(noUsage),
      "5 seconds at 0.9 USD each, the price of with sound, and 2 reference images beyond 5 at 0.1 USD each; exactly the 4.7 that was held"
    )
    assert.include(
      reasonFor({ ...noUsage, sound: false }),
      "5 seconds at 0.6 USD each, the price of without sound, which the vendor reported in place of with sound, and 2 reference images beyond 5 at 0.1 USD each; 4.7 was held, so 1.5 less"
    )
  })

  it("leaves one quote to mounts that differ only in references that are free", () => {
    const frame = facts({ sound: true, mode: "image" })
    assert.isTrue(isSameQuote(quoteFor(bySecond, 1), quoteFor(bySecond, 0, frame)))
    assert.isFalse(isSameQuote(quoteFor(bySecond, 6), quoteFor(bySecond, 0, frame)))
  })

  it("leaves quotes by tables without one as they are", () => {
    const table = tableOf(bySecond)
    const quotes = [noVideo, withReferences(7)].map((inputs) =>
      JSON.stringify(encode(Result.getOrThrow(quoteByTable(table, order, sku(5), inputs))))
    )
    assert.strictEqual(quotes[0], quotes[1])
    assert.notInclude(quotes[0], "surcharge")
  })

  it.each([
    [{ beyond: -1, price: "0.1" }, "a whole number from 0 on"],
    [{ beyond: 1.5, price: "0.1" }, "beyond"],
    [{ beyond: 5, price: "0" }, "greater than 0"],
    [{ beyond: 5 }, "price"],
    [{ price: "0.1" }, "beyond"]
  ])("of %j is refused", (reference_surcharge, says) => {
    const read = decodePrices({ kind: "video_table", ...bySecond, reference_surcharge })
    assert(Result.isFailure(read))
    assert.include(String(read.failure), says)
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
    ...(dice.chance(50) ? { reference_surcharge: { beyond: dice.roll(8), price: price() } } : {}),
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
    ...(dice.chance(70) ? { inputSeconds } : {}),
    ...(dice.chance(50) ? { totalSeconds: output + inputSeconds } : {})
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
    inputs: {
      ...(withVideo ? dice.pick([known, unknown]) : noVideo),
      ...(dice.chance(50) ? { referenceImages: dice.roll(12) } : {})
    }
  }
}

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
  const { beyond = 0, price = 0n } = table.reference_surcharge ?? {}
  const surchargeNano = BigInt(Math.max((inputs.referenceImages ?? 0) - beyond, 0)) * price
  const linePriceNano = Result.getOrThrow(linePrice(table, order))
  assert.strictEqual(charge.chargeNano, units * linePriceNano + surchargeNano, described)
  assert.strictEqual(quote.holdNano, quote.units * linePriceNano + surchargeNano, described)
  assert.deepStrictEqual(decode(encode(quote)), quote)
}

describe(`any table and order (PRICE_SEED=${SEED})`, () => {
  it(
    `holds at least what a truthful answer leads to, at the price of its line: ${CASES} cases`,
    () => {
      const dice = diceOf(SEED)
      for (let index = 0; index < CASES; index++) checkOrder(dice)
    },
    30_000 + 2 * CASES
  )
})
