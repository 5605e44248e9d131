/** The hold and the charge of images by tokens: of the delivered images, by kinds of input. */
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { Prices } from "../../../src/domain/catalog/Prices.ts"
import {
  addDelivered,
  chargeImageTokens,
  type DeliveredImages,
  type ImageTokenFacts,
  quoteImageTokens,
  readImageUsage
} from "../../../src/domain/image/ImageTokenQuote.ts"

const PRICES = {
  kind: "image_tokens",
  per_million_text_input: "5",
  per_million_image_input: "10",
  per_million_image_output: "40",
  per_million_cached_input: "1.25",
  most_output_tokens: 1000,
  most_image_input_tokens: 300
}
const decodePrices = Schema.decodeUnknownSync(Prices)

const quoteOf = (facts: Partial<ImageTokenFacts>, prices: object = PRICES) => {
  const decoded = decodePrices(prices)
  assert(decoded.kind === "image_tokens")
  return Result.getOrThrow(
    quoteImageTokens(decoded, {
      images: 1,
      promptBytes: 4,
      textBytes: 40,
      inputImages: 0,
      calls: 1,
      partialImages: 0,
      tier: { quality: null, size: null, edit: false },
      ...facts
    })
  )
}

/** What a vendor reports of images, in its own form. */
const reported = (images: number, usage: object): DeliveredImages => ({
  images,
  usage: readImageUsage(usage)
})
const counted = (images: number, input: number, output: number, details: object = {}) =>
  reported(images, { input_tokens: input, output_tokens: output, input_tokens_details: details })

describe("cached input of images", () => {
  it.each<
    readonly [
      says: string,
      details: object,
      charge: bigint,
      parts: ReadonlyArray<readonly [string, bigint]>
    ]
  >([
    ["none", { image_tokens: 300 }, 12n * 5000n + 300n * 10_000n, [["image_input", 300n]]],
    [
      "some of the text",
      { image_tokens: 300, cached_tokens: 7 },
      5n * 5000n + 7n * 1250n + 300n * 10_000n,
      [
        ["cached_input", 7n],
        ["image_input", 300n]
      ]
    ],
    [
      "the text and some of the image",
      { image_tokens: 300, cached_tokens: 20 },
      20n * 1250n + 292n * 10_000n,
      [
        ["cached_input", 20n],
        ["image_input", 292n]
      ]
    ],
    [
      "everything",
      { image_tokens: 300, cached_tokens: 312 },
      312n * 1250n,
      [["cached_input", 312n]]
    ]
  ])("is charged at its price: %s", (_, details, inputNano, parts) => {
    const quote = quoteOf({ inputImages: 1 })
    const charge = chargeImageTokens(quote, counted(1, 312, 900, details))
    assert.strictEqual(charge.basis, "upstream_usage")
    assert.strictEqual(charge.chargeNano, inputNano + 900n * 40_000n)
    assert.deepStrictEqual(
      charge.parts.map(({ kind, units }) => [kind, units] as const),
      parts
    )
  })

  it("beyond the input is charged as all of it, and is implausible", () => {
    const charge = chargeImageTokens(quoteOf({}), counted(1, 12, 900, { cached_tokens: 13 }))
    assert.deepInclude(charge, {
      basis: "largest_plausible",
      chargeNano: 12n * 1250n + 900n * 40_000n,
      implausible: { input: 12n, output: 900n }
    })
  })

  it("costs what other input costs where it has no price", () => {
    const { per_million_cached_input: _, ...prices } = PRICES
    const quote = quoteOf({ inputImages: 1 }, prices)
    const usage = counted(1, 312, 900, { image_tokens: 300, cached_tokens: 20 })
    const { chargeNano, parts } = chargeImageTokens(quote, usage)
    assert.strictEqual(chargeNano, 12n * 5000n + 300n * 10_000n + 900n * 40_000n)
    assert.deepStrictEqual(
      parts.map(({ kind }) => kind),
      ["image_input"]
    )
  })
})

describe("images that were not delivered", () => {
  const oneByOne = { images: 4, calls: 4, inputImages: 1 }
  const together = { images: 4, inputImages: 1 }
  const TEXT = 14n

  it("are counted neither by what was reported nor by what was held", () => {
    for (const [facts, calls] of [
      [oneByOne, 2n],
      [together, 1n]
    ] as const) {
      const quote = quoteOf(facts)
      const ofTwo = chargeImageTokens(quote, counted(2, 40, 1800, { image_tokens: 20 }))
      assert.deepInclude(ofTwo, { basis: "upstream_usage", inputTokens: 40n, outputTokens: 1800n })
      const silent = chargeImageTokens(quote, { images: 2, usage: null })
      assert.deepInclude(silent, {
        basis: "formula",
        inputTokens: (TEXT + 300n) * calls,
        outputTokens: 2000n,
        implausible: null
      })
      const tooFew = chargeImageTokens(quote, counted(2, 40, 127))
      assert.deepInclude(tooFew, { basis: "formula", outputTokens: 2000n })
      const tooMany = chargeImageTokens(quote, counted(2, 40, 2001))
      assert.deepInclude(tooMany, { basis: "largest_plausible", outputTokens: 2000n })
    }
  })

  it("are as held where it is not known what was delivered", () => {
    for (const facts of [oneByOne, together]) {
      const quote = quoteOf(facts)
      const charge = chargeImageTokens(quote, null)
      assert.deepInclude(charge, { basis: "formula", chargeNano: quote.holdNano })
      const all = chargeImageTokens(quote, { images: 4, usage: null })
      assert.strictEqual(all.chargeNano, quote.holdNano)
    }
  })

  it("leave the tokens of the delivered ones as they are, where all are known", () => {
    const one = counted(1, 12, 900, { image_tokens: 3, cached_tokens: 2 })
    const other = counted(1, 13, 800, { image_tokens: 4 })
    assert.deepStrictEqual(addDelivered(one, other), {
      images: 2,
      usage: { inputTokens: 25n, outputTokens: 1700n, imageTokens: 7n, cachedTokens: 2n }
    })
    assert.deepStrictEqual(addDelivered(one, reported(1, {})), { images: 2, usage: null })
  })
})
