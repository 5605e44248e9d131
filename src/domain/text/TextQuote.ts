/** The price of text: input and output tokens, each at its own price. */
import { Result, Schema } from "effect"
import type { TokenPrices } from "../catalog/Prices.ts"
import { BillingUnavailable } from "../Errors.ts"
import { MAX_AMOUNT_NANO } from "../money/Money.ts"
import type { ReportedUsage } from "../VendorOutcome.ts"
import { tokensOfBytes } from "./tokenSize.ts"

export const TextQuote = Schema.Struct({
  kind: Schema.Literal("tokens"),
  inputTokens: Schema.BigIntFromString,
  outputTokens: Schema.BigIntFromString,
  /**
   * The range in which the vendor's counts are plausible. The output has no lower bound, because
   * its text is not known when the quote is made.
   */
  leastInput: Schema.BigIntFromString,
  mostInput: Schema.BigIntFromString,
  mostOutput: Schema.BigIntFromString,
  nanoPerInputToken: Schema.BigIntFromString,
  nanoPerOutputToken: Schema.BigIntFromString,
  holdNano: Schema.BigIntFromString
})
export type TextQuote = typeof TextQuote.Type

export interface TokenCounts {
  readonly inputTokens: bigint
  readonly outputTokens: bigint
}

/**
 * The token counts for which an order is held, and the range in which the vendor's count must lie.
 */
export type ExpectedTokens = TokenCounts &
  Pick<TextQuote, "leastInput" | "mostInput" | "mostOutput">

type TextPrices = Pick<TextQuote, "nanoPerInputToken" | "nanoPerOutputToken">

/** The token prices of a model. The output price may be missing only if no output is billed. */
export const textPrices = (
  prices: TokenPrices,
  billsOutput: boolean
): Result.Result<TextPrices, BillingUnavailable> => {
  const nanoPerInputToken = prices.per_million_input
  const nanoPerOutputToken = prices.per_million_output ?? (billsOutput ? null : 0n)
  if (nanoPerInputToken === undefined || nanoPerOutputToken === null) {
    const missing = nanoPerInputToken === undefined ? "input" : "output"
    return Result.fail(
      new BillingUnavailable({
        message: `No price of ${missing} tokens is configured for this model, so it cannot be billed`,
        param: "model"
      })
    )
  }
  return Result.succeed({ nanoPerInputToken, nanoPerOutputToken })
}

/** The quote of an order, with a hold for the expected tokens. */
export const quoteText = (
  prices: TokenPrices,
  expected: ExpectedTokens
): Result.Result<TextQuote, BillingUnavailable> =>
  Result.map(textPrices(prices, expected.outputTokens > 0n), (paid) => ({
    kind: "tokens",
    ...expected,
    ...paid,
    holdNano: costOf(paid, expected)
  }))

/** The price of the tokens used, at the prices of the quote. */
export const costOf = (quote: TextPrices, used: TokenCounts): bigint =>
  used.inputTokens * quote.nanoPerInputToken + used.outputTokens * quote.nanoPerOutputToken

interface TextCharge extends TokenCounts {
  readonly chargeNano: bigint
  readonly basis: "upstream_usage" | "largest_plausible" | "formula"
  /**
   * The usage that the vendor reported, if it is implausible for this order; null if the charge
   * follows the vendor's report.
   */
  readonly implausible: ReportedUsage | null
}

const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other)

/** Reduces the token counts if their price would exceed the maximum amount in the ledger. */
const limitTokens = (quote: TextQuote, used: TokenCounts): TokenCounts => {
  const { nanoPerInputToken, nanoPerOutputToken } = quote
  const inputTokens = smaller(used.inputTokens, MAX_AMOUNT_NANO / nanoPerInputToken)
  if (nanoPerOutputToken === 0n) return { inputTokens, outputTokens: used.outputTokens }
  const remainingNano = MAX_AMOUNT_NANO - inputTokens * nanoPerInputToken
  return {
    inputTokens,
    outputTokens: smaller(used.outputTokens, remainingNano / nanoPerOutputToken)
  }
}

/** The measured size of an answer, with which the vendor's count is compared. */
export interface WrittenText {
  /** The number of bytes of the received text. */
  readonly outputBytes: number
  /** The estimated tokens of the part of the answer that could not be read. */
  readonly unreadTokens?: bigint
}

/**
 * The charge of an answered order: by the vendor's count, even above the hold. A count above the
 * plausible maximum is charged at that maximum. A count that is too small for the text sent and
 * received, and a missing count, are replaced by the formula. All received text is charged, even
 * beyond the client's limits.
 */
export const chargeText = (
  quote: TextQuote,
  reported: TokenCounts | null,
  { outputBytes, unreadTokens = 0n }: WrittenText
): TextCharge => {
  const chargeFor = (
    used: TokenCounts,
    basis: TextCharge["basis"],
    implausible: TokenCounts | null
  ): TextCharge => {
    const { inputTokens, outputTokens } = limitTokens(quote, used)
    return {
      inputTokens,
      outputTokens,
      basis,
      chargeNano: costOf(quote, { inputTokens, outputTokens }),
      implausible:
        implausible === null
          ? null
          : { input: implausible.inputTokens, output: implausible.outputTokens }
    }
  }
  const formula = {
    inputTokens: quote.inputTokens,
    outputTokens: tokensOfBytes(outputBytes) + unreadTokens
  }
  if (reported === null) return chargeFor(formula, "formula", null)
  if (reported.inputTokens + reported.outputTokens === 0n) {
    const isLong = quote.leastInput > 0n
    return chargeFor(formula, "formula", isLong ? reported : null)
  }
  const hasOutput = reported.outputTokens > 0n || formula.outputTokens === 0n
  if (!hasOutput || reported.inputTokens < quote.leastInput) {
    return chargeFor(formula, "formula", reported)
  }
  const writtenTokens = BigInt(outputBytes)
  const mostOutput = writtenTokens > quote.mostOutput ? writtenTokens : quote.mostOutput
  const maxCounts = {
    inputTokens: smaller(reported.inputTokens, quote.mostInput),
    outputTokens: smaller(reported.outputTokens, mostOutput)
  }
  const isPlausible =
    maxCounts.inputTokens === reported.inputTokens &&
    maxCounts.outputTokens === reported.outputTokens &&
    costOf(quote, reported) <= MAX_AMOUNT_NANO
  return isPlausible
    ? chargeFor(reported, "upstream_usage", null)
    : chargeFor(maxCounts, "largest_plausible", reported)
}
