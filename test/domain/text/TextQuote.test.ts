import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { TokenPrices } from "../../../src/domain/catalog/Prices.ts"
import { formatNano } from "../../../src/domain/money/Money.ts"
import { costOf, quoteText, TextQuote } from "../../../src/domain/text/TextQuote.ts"
import { expectedTokens } from "../../support/expectedTokens.ts"

const pricesOf = (prices: {
  readonly per_million_input?: string
  readonly per_million_output?: string
}) => Schema.decodeUnknownSync(TokenPrices)({ kind: "tokens", ...prices })
const listed = pricesOf({ per_million_input: "2", per_million_output: "8" })
const counts = (inputTokens: bigint, outputTokens: bigint) => ({ inputTokens, outputTokens })

describe("text", () => {
  it.each([
    [0n, 0n, "0"],
    [1n, 0n, "0.000002"],
    [0n, 1n, "0.000008"],
    [1_000_000n, 1_000_000n, "10"],
    [1234n, 567n, "0.007004"]
  ] as const)("of %s tokens in and %s out holds %s", (input, output, hold) => {
    const quote = Result.getOrThrow(quoteText(listed, expectedTokens(input, output)))
    assert.strictEqual(formatNano(quote.holdNano), hold)
  })

  it.each([
    ["above", counts(20n, 90n), "0.00076"],
    ["below", counts(5n, 1n), "0.000018"]
  ] as const)("is charged for the tokens really used, %s the hold too", (_, used, charged) => {
    const quote = Result.getOrThrow(quoteText(listed, expectedTokens(10n, 50n)))
    assert.strictEqual(formatNano(costOf(quote, used)), charged)
  })

  it("without output needs no output price", () => {
    const prices = pricesOf({ per_million_input: "0.5" })
    const quote = Result.getOrThrow(quoteText(prices, expectedTokens(1000n, 0n)))
    assert.strictEqual(formatNano(quote.holdNano), "0.0005")
  })

  it.each([
    ["either price", {}, expectedTokens(1n, 1n)],
    ["either price, even for nothing", {}, expectedTokens(0n, 0n)],
    ["the input price", { per_million_output: "8" }, expectedTokens(1n, 1n)],
    ["the output price", { per_million_input: "2" }, expectedTokens(1n, 1n)]
  ] as const)("without %s cannot be ordered", (_, prices, expected) => {
    const error = Result.getOrThrow(Result.flip(quoteText(pricesOf(prices), expected)))
    assert.deepStrictEqual([error._tag, error.param], ["billing_unavailable", "model"])
  })

  it.prop(
    "is charged exactly the hold when it used what was expected",
    [
      Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 10n ** 10n })),
      Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 10n ** 10n }))
    ],
    ([input, output]) => {
      const quote = Result.getOrThrow(quoteText(listed, expectedTokens(input, output)))
      assert.strictEqual(costOf(quote, counts(input, output)), quote.holdNano)
      assert.strictEqual(quote.holdNano, input * 2000n + output * 8000n)
    }
  )

  it("keeps its quote through JSON", () => {
    const quote = Result.getOrThrow(quoteText(listed, expectedTokens(10n, 50n)))
    const codec = Schema.fromJsonString(TextQuote)
    assert.deepStrictEqual(Schema.decodeSync(codec)(Schema.encodeSync(codec)(quote)), quote)
  })
})
