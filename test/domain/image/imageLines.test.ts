import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { ImagePrices } from "../../../src/domain/catalog/Prices.ts"
import { quoteImages } from "../../../src/domain/image/ImageQuote.ts"
import { formulaOf } from "../../../src/domain/money/Quote.ts"

const pricesOf = (per_image: unknown) =>
  Schema.decodeUnknownResult(ImagePrices)({ kind: "image", per_image })

const lines = [
  { quality: "high", edit: true, price: "0.4" },
  { quality: "high", price: "0.3" },
  { quality: "high", size: "1024X1536", edit: true, price: "0.5" },
  { edit: true, price: "0.2" },
  { quality: "*", size: "*", edit: "*", price: "0.1" }
]

const faultOf = (per_image: unknown): string => {
  const result = pricesOf(per_image)
  return Result.isFailure(result) ? String(result.failure) : "none"
}

describe("lines of image prices", () => {
  it.each([
    [{ quality: "high", size: null, edit: false }, "0.3"],
    [{ quality: "HIGH", size: "1024x1024", edit: true }, "0.4"],
    [{ quality: "high", size: "1024*1536", edit: true }, "0.5"],
    [{ quality: "low", size: null, edit: true }, "0.2"],
    [{ quality: null, size: null, edit: false }, "0.1"]
  ])("the most specific one applies to %j", (order, price) => {
    const prices = Result.getOrThrow(pricesOf(lines))
    const quote = Result.getOrThrow(quoteImages(prices, 2, order))
    assert.include(formulaOf(quote), ` x ${price} = `)
  })

  it("name what is priced to an order without a price", () => {
    const prices = Result.getOrThrow(pricesOf([{ quality: "high", edit: true, price: "0.4" }]))
    const order = { quality: "high", size: null, edit: false }
    const error = Result.getOrThrow(Result.flip(quoteImages(prices, 1, order)))
    assert.deepStrictEqual(error.priced, ["high of an edit"])
    assert.include(error.message, "high auto without input images")
  })

  it.each([
    ["two lines for the same orders", [{ edit: true }, { edit: true }], "same orders as lines[0]"],
    [
      "two spellings of one size",
      [{ size: "1024x1024" }, { size: "1024*1024" }],
      "same orders as lines[0]"
    ],
    [
      "lines none of which is more specific",
      [{ edit: true }, { quality: "high" }],
      "add a line for high of an edit"
    ],
    ["no lines", [], "Missing key"]
  ])("are refused with %s", (_, facts, fault) => {
    assert.include(faultOf(facts.map((line) => ({ ...line, price: "1" }))), fault)
  })

  it("leave one price and tables as they are", () => {
    assert.strictEqual(faultOf("0.2"), "none")
    assert.strictEqual(faultOf({ high: { "*": "0.2" }, "*": { "1024x1024": "0.1" } }), "none")
  })
})
