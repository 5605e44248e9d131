import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { TokenPrices } from "../../../src/domain/catalog/Prices.ts"
import { MAX_AMOUNT_NANO } from "../../../src/domain/money/Money.ts"
import { chargeText, quoteText } from "../../../src/domain/text/TextQuote.ts"

const quote = Result.getOrThrow(
  quoteText(
    Schema.decodeUnknownSync(TokenPrices)({
      kind: "tokens",
      per_million_input: "2",
      per_million_output: "8"
    }),
    { inputTokens: 10n, outputTokens: 20n }
  )
)
const counts = (inputTokens: bigint, outputTokens: bigint) => ({ inputTokens, outputTokens })
const formula = counts(10n, 7n)

describe("the charge", () => {
  it.each([
    ["by the vendor's count", counts(4n, 5n), "upstream_usage", 4n * 2000n + 5n * 8000n],
    ["by its count above the hold", counts(1000n, 2000n), "upstream_usage", 18_000_000n],
    ["by its count of output alone", counts(0n, 5n), "upstream_usage", 40_000n],
    ["by the formula where it counted none", null, "formula", 10n * 2000n + 7n * 8000n],
    ["by the formula where it counted nothing", counts(0n, 0n), "formula", 76_000n],
    [
      "by the formula where it counted none of what was written",
      counts(4n, 0n),
      "formula",
      76_000n
    ],
    ["by its count far above the hold", counts(10n ** 7n, 10n ** 7n), "upstream_usage", 10n ** 11n],
    ["by the formula for too much input", counts(10n ** 7n + 1n, 1n), "formula", 76_000n],
    ["by the formula for too much output", counts(1n, 10n ** 7n + 1n), "formula", 76_000n]
  ] as const)("is %s", (_, reported, basis, chargeNano) => {
    assert.deepInclude(chargeText(quote, reported, formula), { basis, chargeNano })
  })

  it("is by the vendor's count of input where nothing was written", () => {
    assert.deepInclude(chargeText(quote, counts(4n, 0n), counts(10n, 0n)), {
      basis: "upstream_usage",
      chargeNano: 8000n
    })
  })

  it("is by the vendor's count up to a hundred times a large estimate", () => {
    const large = { ...quote, inputTokens: 10n ** 6n }
    const settled = (inputTokens: bigint) =>
      chargeText(large, counts(inputTokens, 1n), formula).basis
    assert.strictEqual(settled(10n ** 8n), "upstream_usage")
    assert.strictEqual(settled(10n ** 8n + 1n), "formula")
  })

  it("is what the books can hold, at the highest price too", () => {
    const dear = Result.getOrThrow(
      quoteText(
        Schema.decodeUnknownSync(TokenPrices)({
          kind: "tokens",
          per_million_input: "1000000000",
          per_million_output: "1000000000"
        }),
        counts(10n, 20n)
      )
    )
    const million = 10n ** 6n
    assert.deepInclude(chargeText(dear, counts(1n, million - 1n), formula), {
      basis: "upstream_usage",
      chargeNano: MAX_AMOUNT_NANO
    })
    assert.deepInclude(chargeText(dear, counts(1n, million), formula), {
      basis: "formula",
      outputTokens: 7n
    })
    assert.deepStrictEqual(chargeText(dear, null, counts(10n, 45n * million)), {
      inputTokens: 10n,
      outputTokens: million - 10n,
      chargeNano: MAX_AMOUNT_NANO,
      basis: "formula"
    })
  })

  const Count = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 10n ** 6n }))

  it.prop(
    "is never above the hold while the vendor stays within the estimate, and never nothing",
    [Count, Count, Count, Count],
    ([input, output, lessInput, lessOutput]) => {
      const expected = counts(input + 1n, output)
      const held = { ...quote, ...expected, holdNano: 0n }
      const hold = expected.inputTokens * 2000n + expected.outputTokens * 8000n
      const used = counts(lessInput % (input + 2n), lessOutput % (output + 1n))
      const { chargeNano } = chargeText(held, used, counts(input + 1n, 0n))
      assert.isTrue(chargeNano > 0n && chargeNano <= hold)
    }
  )
})
