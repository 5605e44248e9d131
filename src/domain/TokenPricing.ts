/** What text costs: input and output tokens, each at its own price ("Modality overview"). */
import { Result, Schema } from "effect"
import { BillingUnavailable } from "./Errors.ts"
import type { TokenPrices } from "./Prices.ts"

export const TokenQuote = Schema.Struct({
  kind: Schema.Literal("tokens"),
  inputTokens: Schema.BigIntFromString,
  outputTokens: Schema.BigIntFromString,
  nanoPerInputToken: Schema.BigIntFromString,
  nanoPerOutputToken: Schema.BigIntFromString,
  holdNano: Schema.BigIntFromString
})
export type TokenQuote = typeof TokenQuote.Type

export interface TokenCounts {
  readonly inputTokens: bigint
  readonly outputTokens: bigint
}

/** Holds for the expected tokens. An output price may be missing only where no output is billed. */
export const quoteTokens = (
  prices: TokenPrices,
  expected: TokenCounts
): Result.Result<TokenQuote, BillingUnavailable> => {
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
export const chargeTokens = (quote: TokenQuote, used: TokenCounts): bigint =>
  used.inputTokens * quote.nanoPerInputToken + used.outputTokens * quote.nanoPerOutputToken

export interface TokenSettlement extends TokenCounts {
  readonly chargeNano: bigint
  readonly basis: "upstream_usage" | "formula"
}

/** A report beyond this many times the estimate is a fault of the vendor, not a long text. */
const IMPLAUSIBLE_TIMES = 100n

/**
 * The charge of an answered order: by the vendor's report, also above the hold, and by the formula
 * where there is none that can be right. A report of nothing at all is none.
 */
export const settleTokens = (
  quote: TokenQuote,
  reported: TokenCounts | null,
  formula: TokenCounts
): TokenSettlement => {
  const usable =
    reported !== null &&
    reported.inputTokens + reported.outputTokens > 0n &&
    reported.inputTokens <= quote.inputTokens * IMPLAUSIBLE_TIMES &&
    reported.outputTokens <= quote.outputTokens * IMPLAUSIBLE_TIMES
  const { inputTokens, outputTokens } = usable ? reported : formula
  return {
    inputTokens,
    outputTokens,
    chargeNano: chargeTokens(quote, { inputTokens, outputTokens }),
    basis: usable ? "upstream_usage" : "formula"
  }
}
