/** What text costs: input and output tokens, each at its own price. */
import { Result, Schema } from "effect"
import type { TokenPrices } from "../catalog/Prices.ts"
import { BillingUnavailable } from "../Errors.ts"
import { MAX_AMOUNT_NANO } from "../money/Money.ts"

export const TextQuote = Schema.Struct({
  kind: Schema.Literal("tokens"),
  inputTokens: Schema.BigIntFromString,
  outputTokens: Schema.BigIntFromString,
  nanoPerInputToken: Schema.BigIntFromString,
  nanoPerOutputToken: Schema.BigIntFromString,
  holdNano: Schema.BigIntFromString
})
export type TextQuote = typeof TextQuote.Type

export interface TokenCounts {
  readonly inputTokens: bigint
  readonly outputTokens: bigint
}

/** Holds for the expected tokens. An output price may be missing only where no output is billed. */
export const quoteText = (
  prices: TokenPrices,
  expected: TokenCounts
): Result.Result<TextQuote, BillingUnavailable> => {
  const nanoPerInputToken = prices.per_million_input
  const nanoPerOutputToken = prices.per_million_output ?? (expected.outputTokens === 0n ? 0n : null)
  if (nanoPerInputToken === undefined || nanoPerOutputToken === null) {
    const missing = nanoPerInputToken === undefined ? "input" : "output"
    return Result.fail(
      new BillingUnavailable({
        message: `No price of ${missing} tokens is configured for this model, so it cannot be billed`,
        param: "model"
      })
    )
  }
  return Result.succeed({
    kind: "tokens",
    ...expected,
    nanoPerInputToken,
    nanoPerOutputToken,
    holdNano: expected.inputTokens * nanoPerInputToken + expected.outputTokens * nanoPerOutputToken
  })
}

/** The charge for the tokens really used, at the prices of the quote. */
export const costOf = (quote: TextQuote, used: TokenCounts): bigint =>
  used.inputTokens * quote.nanoPerInputToken + used.outputTokens * quote.nanoPerOutputToken

export interface TextCharge extends TokenCounts {
  readonly chargeNano: bigint
  readonly basis: "upstream_usage" | "formula"
}

/**
 * A report beyond both is a fault of the vendor, not a long text. The estimate of output is what the
 * client allows, so alone it would let the client say which reports count.
 */
const IMPLAUSIBLE_TIMES = 100n
const PLAUSIBLE_TOKENS = 10_000_000n

const isPlausible = (reported: bigint, estimated: bigint): boolean =>
  reported <= PLAUSIBLE_TOKENS || reported <= estimated * IMPLAUSIBLE_TIMES

/** Fewer output tokens where all of them would cost more than the books can hold. */
const affordable = (quote: TextQuote, { inputTokens, outputTokens }: TokenCounts): TokenCounts => {
  if (quote.nanoPerOutputToken === 0n) return { inputTokens, outputTokens }
  const most = (MAX_AMOUNT_NANO - inputTokens * quote.nanoPerInputToken) / quote.nanoPerOutputToken
  return { inputTokens, outputTokens: outputTokens > most ? most : outputTokens }
}

/**
 * The charge of an answered order: by the vendor's report, also above the hold, and by the formula
 * where there is none that can be right. A report of nothing at all is none, nor is one of no output
 * where there was some. `formula` has the input tokens of the quote.
 */
export const chargeText = (
  quote: TextQuote,
  reported: TokenCounts | null,
  formula: TokenCounts
): TextCharge => {
  const usable =
    reported !== null &&
    reported.inputTokens + reported.outputTokens > 0n &&
    (reported.outputTokens > 0n || formula.outputTokens === 0n) &&
    isPlausible(reported.inputTokens, quote.inputTokens) &&
    isPlausible(reported.outputTokens, quote.outputTokens) &&
    costOf(quote, reported) <= MAX_AMOUNT_NANO
  const { inputTokens, outputTokens } = usable ? reported : affordable(quote, formula)
  return {
    inputTokens,
    outputTokens,
    chargeNano: costOf(quote, { inputTokens, outputTokens }),
    basis: usable ? "upstream_usage" : "formula"
  }
}
