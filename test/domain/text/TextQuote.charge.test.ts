import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { TokenPrices } from "../../../src/domain/catalog/Prices.ts"
import { MAX_AMOUNT_NANO } from "../../../src/domain/money/Money.ts"
import { chargeText, quoteText } from "../../../src/domain/text/TextQuote.ts"
import { expectedTokens } from "../../support/expectedTokens.ts"

const counts = (inputTokens: bigint, outputTokens: bigint) => ({ inputTokens, outputTokens })

const quote = Result.getOrThrow(
  quoteText(
    Schema.decodeUnknownSync(TokenPrices)({
      kind: "tokens",
      per_million_input: "2",
      per_million_output: "8"
    }),
    { ...counts(10n, 20n), leastInput: 2n, mostInput: 1000n, mostOutput: 2000n }
  )
)
/** 7 tokens. */
const written = { outputBytes: 20 }

describe("the charge", () => {
  it.each([
    ["by the vendor's count", counts(4n, 5n), "upstream_usage", 4n * 2000n + 5n * 8000n],
    ["by its count above the hold", counts(1000n, 2000n), "upstream_usage", 18_000_000n],
    ["by the formula where it counted none", null, "formula", 10n * 2000n + 7n * 8000n],
    ["by the formula where it counted nothing", counts(0n, 0n), "formula", 76_000n],
    [
      "by the formula where it counted none of what was written",
      counts(4n, 0n),
      "formula",
      76_000n
    ],
    ["by the formula for too little input", counts(1n, 5n), "formula", 76_000n],
    ["at the most input there can be", counts(1001n, 5n), "largest_plausible", 2_040_000n],
    ["at the most output there can be", counts(4n, 9_900_000n), "largest_plausible", 16_008_000n]
  ] as const)("is %s", (_, reported, basis, chargeNano) => {
    assert.deepInclude(chargeText(quote, reported, written), { basis, chargeNano })
  })

  it("is by the vendor's count of input where nothing was written", () => {
    assert.deepInclude(chargeText(quote, counts(4n, 0n), { outputBytes: 0 }), {
      basis: "upstream_usage",
      chargeNano: 8000n
    })
  })

  it("is by the count of what was written, also beyond the client's bounds", () => {
    assert.deepInclude(chargeText(quote, counts(4n, 3000n), { outputBytes: 9000 }), {
      basis: "upstream_usage",
      outputTokens: 3000n
    })
  })

  it("tells what was counted where no such order can have it", () => {
    const told = (reported: ReturnType<typeof counts> | null, outputBytes = 20) =>
      chargeText(quote, reported, { outputBytes }).implausible
    assert.isNull(told(null))
    assert.isNull(told(counts(4n, 5n)))
    assert.deepStrictEqual(told(counts(4n, 9_900_000n)), { input: 4n, output: 9_900_000n })
    assert.deepStrictEqual(told(counts(1n, 5n)), { input: 1n, output: 5n })
    assert.deepStrictEqual(told(counts(4n, 0n)), { input: 4n, output: 0n })
  })

  it("is what the books can hold, at the highest price too", () => {
    const dear = Result.getOrThrow(
      quoteText(
        Schema.decodeUnknownSync(TokenPrices)({
          kind: "tokens",
          per_million_input: "1000000000",
          per_million_output: "1000000000"
        }),
        expectedTokens(10n, 20n)
      )
    )
    const million = 10n ** 6n
    const settled = (reported: ReturnType<typeof counts> | null, outputBytes = 20) => {
      const { inputTokens, outputTokens, chargeNano, basis } = chargeText(dear, reported, {
        outputBytes
      })
      return { inputTokens, outputTokens, chargeNano, basis }
    }
    const most = { chargeNano: MAX_AMOUNT_NANO }
    assert.deepStrictEqual(settled(counts(1n, million - 1n)), {
      ...counts(1n, million - 1n),
      ...most,
      basis: "upstream_usage"
    })
    assert.deepStrictEqual(settled(counts(1n, million)), {
      ...counts(1n, million - 1n),
      ...most,
      basis: "largest_plausible"
    })
    assert.deepStrictEqual(settled(counts(2n * million, 1n)), {
      ...counts(million, 0n),
      ...most,
      basis: "largest_plausible"
    })
    assert.deepStrictEqual(settled(null, 135_000_000), {
      ...counts(10n, million - 10n),
      ...most,
      basis: "formula"
    })
  })

  const Count = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 10n ** 6n }))

  it.prop(
    "is never above the hold while the vendor stays within the estimate, and never nothing",
    [Count, Count, Count, Count],
    ([input, output, lessInput, lessOutput]) => {
      const expected = counts(input + 1n, output)
      const held = { ...quote, ...expected, mostInput: input + 1n, holdNano: 0n }
      const hold = expected.inputTokens * 2000n + expected.outputTokens * 8000n
      const used = counts(lessInput % (input + 2n), lessOutput % (output + 1n))
      const { chargeNano } = chargeText({ ...held, leastInput: 0n }, used, { outputBytes: 0 })
      assert.isTrue(chargeNano > 0n && chargeNano <= hold)
    }
  )
})
