import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { chatUsage } from "../../../src/adapters/common/chatStream.ts"
import { TokenPrices } from "../../../src/domain/catalog/Prices.ts"
import { amountWithParts, baseUnits, bySide } from "../../../src/domain/money/chargeParts.ts"
import {
  chargeText,
  type ExpectedAudio,
  quoteText,
  type TextQuote,
  type TokenCounts
} from "../../../src/domain/text/TextQuote.ts"
import type { ChatBody } from "../../../src/domain/text/TextRequest.ts"
import { estimateChat } from "../../../src/domain/text/textEstimate.ts"
import { seedOfDay } from "../../support/day.ts"
import { type Dice, diceOf } from "../../support/randomOrders.ts"

const CASES = 20_000
const SEED = Number(process.env.PARTS_SEED ?? seedOfDay)

const prices = (more: object = {}) =>
  Schema.decodeUnknownSync(TokenPrices)({
    kind: "tokens",
    per_million_input: "2",
    per_million_output: "8",
    ...more
  })

const allPrices = {
  per_million_cached_input: "0.5",
  per_million_audio_input: "32",
  per_million_audio_output: "64"
}

const quoteWith = (more: object, audio?: ExpectedAudio, inputTokens = 100n) =>
  Result.getOrThrow(
    quoteText(prices(more), {
      inputTokens,
      outputTokens: 50n,
      leastInput: 2n,
      mostInput: 1000n,
      mostOutput: 2000n,
      ...(audio === undefined ? {} : { audio })
    })
  )

const counts = (separate: Partial<NonNullable<TokenCounts["separate"]>>): TokenCounts => ({
  inputTokens: 100n,
  outputTokens: 50n,
  separate: { cachedInput: 0n, audioInput: 0n, audioOutput: 0n, ...separate }
})

const written = { outputBytes: 20 }
const bothAudio = { hasAudioInput: true, hasAudioOutput: true }

const drawPrices = (dice: Dice) => {
  const price = () => `0.${1 + dice.roll(999)}`
  const maybe = (name: string) => (dice.chance(60) ? { [name]: price() } : {})
  return {
    per_million_input: price(),
    per_million_output: price(),
    ...maybe("per_million_cached_input"),
    ...maybe("per_million_audio_input"),
    ...maybe("per_million_audio_output")
  }
}

const upTo = (dice: Dice, most: bigint): bigint => BigInt(dice.roll(Number(most) + 1))

/** Counts within the hold, whose audio was ordered. */
const drawHonest = (dice: Dice, audio: ExpectedAudio): TokenCounts => {
  const inputTokens = 2n + upTo(dice, 98n)
  const outputTokens = 1n + upTo(dice, 49n)
  const audioInput = audio.hasAudioInput ? upTo(dice, inputTokens) : 0n
  const cachedInput = upTo(dice, inputTokens - audioInput)
  const audioOutput = audio.hasAudioOutput ? upTo(dice, outputTokens) : 0n
  return { inputTokens, outputTokens, separate: { audioInput, cachedInput, audioOutput } }
}

/** Any counts. */
const drawLie = (dice: Dice): TokenCounts => ({
  inputTokens: upTo(dice, 3000n),
  outputTokens: upTo(dice, 5000n),
  separate: {
    audioInput: upTo(dice, 4000n),
    cachedInput: upTo(dice, 4000n),
    audioOutput: upTo(dice, 6000n)
  }
})

/** The charged tokens at the highest prices of the quote. */
const mostOf = (quote: TextQuote, charged: TokenCounts): bigint => {
  const isKnown = (price: bigint | undefined) => price !== undefined
  const highest = (prices: ReadonlyArray<bigint | undefined>) =>
    prices.filter(isKnown).reduce((most, price) => (price > most ? price : most), 0n)
  const { nanoPerAudioInputToken, nanoPerAudioOutputToken, nanoPerCachedToken } = quote
  return (
    charged.inputTokens *
      highest([quote.nanoPerInputToken, nanoPerCachedToken, nanoPerAudioInputToken]) +
    charged.outputTokens * highest([quote.nanoPerOutputToken, nanoPerAudioOutputToken])
  )
}

describe("tokens with a price of their own", () => {
  it.each([
    ["cached input", { cachedInput: 60n }, 40n * 2000n + 60n * 500n + 50n * 8000n],
    ["audio input", { audioInput: 10n }, 90n * 2000n + 10n * 32_000n + 50n * 8000n],
    ["audio output", { audioOutput: 20n }, 100n * 2000n + 30n * 8000n + 20n * 64_000n],
    [
      "all of them",
      { cachedInput: 60n, audioInput: 10n, audioOutput: 20n },
      30n * 2000n + 60n * 500n + 10n * 32_000n + 30n * 8000n + 20n * 64_000n
    ],
    [
      "audio before cached tokens that overlap it",
      { cachedInput: 95n, audioInput: 10n },
      90n * 500n + 10n * 32_000n + 50n * 8000n
    ]
  ] as const)("are charged at it: %s", (_, separate, chargeNano) => {
    const charge = chargeText(quoteWith(allPrices, bothAudio), counts(separate), written)
    assert.deepInclude(charge, { basis: "upstream_usage", chargeNano, implausible: null })
  })

  it("are charged at the base price without one", () => {
    const separate = { cachedInput: 60n, audioInput: 10n, audioOutput: 20n }
    const charge = chargeText(quoteWith({}), counts(separate), written)
    assert.deepInclude(charge, { basis: "upstream_usage", parts: [] })
    assert.strictEqual(charge.chargeNano, 100n * 2000n + 50n * 8000n)
    assert.deepStrictEqual(quoteWith({}), quoteWith({}, bothAudio))
  })

  it.each([
    ["cached", { cachedInput: 101n }, bothAudio, 100n * 500n + 50n * 8000n],
    ["audio", { audioOutput: 51n }, bothAudio, 100n * 2000n + 50n * 64_000n],
    [
      "audio that was not ordered",
      { audioInput: 1n },
      { hasAudioInput: false, hasAudioOutput: false },
      100n * 2000n + 50n * 8000n
    ]
  ] as const)("are at most the total, and reported: %s", (_, separate, audio, chargeNano) => {
    const charge = chargeText(quoteWith(allPrices, audio), counts(separate), written)
    assert.deepInclude(charge, { basis: "largest_plausible", chargeNano })
    assert.deepStrictEqual(charge.implausible, { input: 100n, output: 50n })
  })

  it("are held for at the highest price that the order can have", () => {
    assert.strictEqual(quoteWith(allPrices).holdNano, 100n * 2000n + 50n * 8000n)
    assert.strictEqual(quoteWith(allPrices, bothAudio).holdNano, 100n * 32_000n + 50n * 64_000n)
    const cached = { per_million_cached_input: "3" }
    assert.strictEqual(quoteWith(cached).holdNano, 100n * 3000n + 50n * 8000n)
  })

  it("are charged as their parts add up to, and never above the hold within what was held for", () => {
    const dice = diceOf(SEED)
    for (let turn = 0; turn < CASES; turn += 1) {
      const audio = { hasAudioInput: dice.chance(50), hasAudioOutput: dice.chance(50) }
      const quote = quoteWith(drawPrices(dice), audio)
      const isHonest = dice.chance(70)
      const reported = isHonest ? drawHonest(dice, audio) : drawLie(dice)
      const charge = chargeText(quote, reported, written)
      const { inputParts, outputParts } = bySide(charge.parts)
      const input = { units: charge.inputTokens, unitPriceNano: quote.nanoPerInputToken }
      const output = { units: charge.outputTokens, unitPriceNano: quote.nanoPerOutputToken }
      const where = `seed ${SEED}, turn ${turn}`
      const sum = amountWithParts(input, inputParts) + amountWithParts(output, outputParts)
      assert.strictEqual(charge.chargeNano, sum, where)
      assert.isTrue(baseUnits(charge.inputTokens, inputParts) >= 0n, where)
      assert.isTrue(baseUnits(charge.outputTokens, outputParts) >= 0n, where)
      assert.isTrue(charge.chargeNano > 0n && charge.chargeNano <= mostOf(quote, charge), where)
      assert.isTrue(!isHonest || charge.chargeNano <= quote.holdNano, where)
      assert.isTrue(!isHonest || charge.basis === "upstream_usage", where)
    }
  })
})

describe("the vendor's separate counts", () => {
  const usage = { prompt_tokens: 100, completion_tokens: 50 }
  it.each([
    ["numbers", { prompt_tokens_details: { cached_tokens: 60, audio_tokens: 10 } }, [60n, 10n, 0n]],
    ["digits", { prompt_tokens_details: { cached_tokens: "60" } }, [60n, 0n, 0n]],
    ["a field beside the totals", { prompt_cache_hit_tokens: 60 }, [60n, 0n, 0n]],
    ["of the output", { completion_tokens_details: { audio_tokens: 5 } }, [0n, 0n, 5n]]
  ] as const)("are read as %s", (_, more, [cachedInput, audioInput, audioOutput]) => {
    assert.deepStrictEqual(chatUsage({ ...usage, ...more })?.separate, {
      cachedInput,
      audioInput,
      audioOutput
    })
  })

  it.each([
    { prompt_tokens_details: null },
    { prompt_tokens_details: { cached_tokens: -1 } },
    { prompt_tokens_details: { cached_tokens: 1.5 } },
    { prompt_tokens_details: { cached_tokens: [60] } },
    { prompt_tokens_details: "60", completion_tokens_details: 60 },
    { prompt_cache_hit_tokens: "sixty" }
  ])("of an unknown form are ignored: %j", (more) => {
    assert.deepStrictEqual(chatUsage({ ...usage, ...more }), {
      inputTokens: 100n,
      outputTokens: 50n
    })
  })
})

describe("audio can be in an order", () => {
  const chat: ChatBody = { model: "m", messages: [{ role: "user", content: "hello" }] }
  const audioOf = (order: object) => estimateChat({ ...chat, ...order }).audio
  const message = (part: object) => ({ messages: [{ role: "user", content: [part] }] })
  const input = { hasAudioInput: true, hasAudioOutput: false }
  const output = { hasAudioInput: false, hasAudioOutput: true }

  it.each([
    [
      "a sound",
      message({ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }),
      input
    ],
    ["a video", message({ type: "video_url", video_url: { url: "https://a.test/b.mp4" } }), input],
    ["an earlier answer", { messages: [{ role: "assistant", audio: { id: "a" } }] }, input],
    ["a requested voice", { audio: { voice: "x", format: "wav" } }, output],
    ["a modality", { modalities: ["text", "audio"] }, output],
    ["nothing but text", { modalities: ["text"] }, undefined],
    [
      "an image",
      message({ type: "image_url", image_url: { url: "https://a.test/b.png" } }),
      undefined
    ]
  ] as const)("with %s", (_, order, expected) => {
    assert.deepStrictEqual(audioOf(order), expected)
  })
})
