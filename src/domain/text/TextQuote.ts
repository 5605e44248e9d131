/** What text costs: input and output tokens, each at its own price. */
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
  /** What a vendor's count has to lie within; output has no least, since nothing is written yet. */
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

/** The tokens of an order as they are held for, and what a vendor may count at least and at most. */
export type ExpectedTokens = TokenCounts &
  Pick<TextQuote, "leastInput" | "mostInput" | "mostOutput">

type TextPrices = Pick<TextQuote, "nanoPerInputToken" | "nanoPerOutputToken">

/** An output price may be missing only where no output is billed. */
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

/** Holds for the expected tokens. */
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

/** The charge for the tokens really used, at the prices of the quote. */
export const costOf = (quote: TextPrices, used: TokenCounts): bigint =>
  used.inputTokens * quote.nanoPerInputToken + used.outputTokens * quote.nanoPerOutputToken

interface TextCharge extends TokenCounts {
  readonly chargeNano: bigint
  readonly basis: "upstream_usage" | "largest_plausible" | "formula"
  /** What the vendor counted, where no such order can have that; null where it is charged as counted. */
  readonly implausible: ReportedUsage | null
}

const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other)

/** Fewer tokens where all of them would cost more than the books can hold. */
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

/** What an order came to by its size, which is also what a vendor's count is held against. */
export interface WrittenText {
  /** Bytes of the received text. */
  readonly outputBytes: number
  /** Tokens of the part of the answer that could not be read. */
  readonly unreadTokens?: bigint
}

/**
 * The charge of an answered order: by the vendor's count, also above the hold. Of a count that no such
 * order can have, the most that one can have is charged; one that is too small for what was sent and
 * came, and none at all, are replaced by the formula. What was written counts beyond the client's
 * bounds, since it came.
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
