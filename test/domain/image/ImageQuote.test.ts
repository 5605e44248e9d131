import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { ImagePrices } from "../../../src/domain/catalog/Prices.ts"
import { ImageQuote, quoteImages } from "../../../src/domain/image/ImageQuote.ts"
import { formatNano } from "../../../src/domain/money/Money.ts"

const pricesOf = (perImage: string) =>
  Schema.decodeUnknownSync(ImagePrices)({ kind: "image", per_image: perImage })

describe("images", () => {
  it.each([
    [1, "0.2", "0.2"],
    [4, "0.2", "0.8"],
    [10, "0.2", "2"],
    [3, "0.000000001", "0.000000003"],
    [7, "0.35", "2.45"]
  ])("number %d at %s each hold exactly %s", (images, perImage, hold) => {
    const quote = Result.getOrThrow(quoteImages(pricesOf(perImage), images))
    assert.deepInclude(quote, { kind: "image", images })
    assert.strictEqual(formatNano(quote.nanoPerImage), perImage)
    assert.strictEqual(formatNano(quote.holdNano), hold)
  })

  it("without a price cannot be ordered, rather than cost nothing", () => {
    const prices = Schema.decodeUnknownSync(ImagePrices)({ kind: "image" })
    const error = Result.getOrThrow(Result.flip(quoteImages(prices, 1)))
    assert.deepStrictEqual([error._tag, error.param], ["billing_unavailable", "model"])
  })

  it.prop(
    "cost together what they cost one by one",
    [
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10 })),
      Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 1n, maximum: 10n ** 15n }))
    ],
    ([images, nano]) => {
      const hold = (count: number) =>
        Result.getOrThrow(quoteImages(pricesOf(formatNano(nano)), count)).holdNano
      const apart = Array.from({ length: images }, () => hold(1)).reduce((sum, one) => sum + one)
      assert.strictEqual(hold(images), apart)
    }
  )

  it("keep their quote through JSON", () => {
    const quote = Result.getOrThrow(quoteImages(pricesOf("0.2"), 3))
    const codec = Schema.fromJsonString(ImageQuote)
    assert.deepStrictEqual(Schema.decodeSync(codec)(Schema.encodeSync(codec)(quote)), quote)
  })
})
