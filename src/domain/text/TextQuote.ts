/** The price of text: input and output tokens, each at its own price. */
import { BigInt as BigIntOps, Result, Schema } from "effect"
import type { TokenPrices } from "../catalog/Prices.ts"
import { BillingUnavailable } from "../Errors.ts"
import { amountWithParts, bySide, type ChargePart, partsOf } from "../money/chargeParts.ts"
import { MAX_AMOUNT_NANO } from "../money/Money.ts"
import type { ReportedUsage } from "../VendorOutcome.ts"
import { tokensOfBytes } from "./tokenSize.ts"

const optionalNano = Schema.optionalKey(Schema.BigIntFromString)

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
  /** The prices of tokens that have one of their own; missing where they cost the base price. */
  nanoPerCachedToken: optionalNano,
  nanoPerAudioInputToken: optionalNano,
  nanoPerAudioOutputToken: optionalNano,
  /**
   * Whether audio can be in the input and in the output of the order; missing without prices of
   * audio. Audio that cannot be in an order is charged at the base price.
   */
  hasAudioInput: Schema.optionalKey(Schema.Boolean),
  hasAudioOutput: Schema.optionalKey(Schema.Boolean),
  holdNano: Schema.BigIntFromString,
  /**
   * True if the charge is never above the hold, which then covers `mostInput` and `mostOutput`;
   * missing for other orders.
   */
  isCapped: Schema.optionalKey(Schema.Literal(true))
})
export type TextQuote = typeof TextQuote.Type

/** Tokens that a vendor counts separately, included in the input and in the output. */
export interface SeparateTokens {
  readonly cachedInput: bigint
  readonly audioInput: bigint
  readonly audioOutput: bigint
}

export interface TokenCounts {
  readonly inputTokens: bigint
  readonly outputTokens: bigint
  /** Absent where the vendor counts no tokens separately. */
  readonly separate?: SeparateTokens
}

/** Whether audio can be in the input and in the output of an order. */
export interface ExpectedAudio {
  readonly hasAudioInput: boolean
  readonly hasAudioOutput: boolean
}

/**
 * The token counts for which an order is held, and the range in which the vendor's count must lie.
 */
export interface ExpectedTokens
  extends Pick<
    TextQuote,
    "inputTokens" | "outputTokens" | "leastInput" | "mostInput" | "mostOutput"
  > {
  /** Absent for orders that have no audio. */
  readonly audio?: ExpectedAudio
}

type TextPrices = Pick<
  TextQuote,
  | "nanoPerInputToken"
  | "nanoPerOutputToken"
  | "nanoPerCachedToken"
  | "nanoPerAudioInputToken"
  | "nanoPerAudioOutputToken"
>
type PricedOrder = TextPrices & Pick<TextQuote, "hasAudioInput" | "hasAudioOutput">

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
  const cached = prices.per_million_cached_input
  const audioInput = prices.per_million_audio_input
  const audioOutput = prices.per_million_audio_output
  return Result.succeed({
    nanoPerInputToken,
    nanoPerOutputToken,
    ...(cached === undefined ? {} : { nanoPerCachedToken: cached }),
    ...(audioInput === undefined ? {} : { nanoPerAudioInputToken: audioInput }),
    ...(audioOutput === undefined ? {} : { nanoPerAudioOutputToken: audioOutput })
  })
}

const larger = (one: bigint, other: bigint | undefined): bigint =>
  other !== undefined && other > one ? other : one

/** The highest price that a token of the order's input and of its output can have. */
export const dearestPrices = (order: PricedOrder): TextPrices => {
  const audioInput = order.hasAudioInput === true ? order.nanoPerAudioInputToken : undefined
  const audioOutput = order.hasAudioOutput === true ? order.nanoPerAudioOutputToken : undefined
  return {
    nanoPerInputToken: larger(
      larger(order.nanoPerInputToken, order.nanoPerCachedToken),
      audioInput
    ),
    nanoPerOutputToken: larger(order.nanoPerOutputToken, audioOutput)
  }
}

/** The quote of an order, with a hold for the expected tokens at the highest possible prices. */
export const quoteText = (
  prices: TokenPrices,
  { audio, ...expected }: ExpectedTokens
): Result.Result<TextQuote, BillingUnavailable> =>
  Result.map(textPrices(prices, expected.outputTokens > 0n), (paid) => {
    const order: PricedOrder = {
      ...paid,
      ...(paid.nanoPerAudioInputToken === undefined
        ? {}
        : { hasAudioInput: audio?.hasAudioInput ?? false }),
      ...(paid.nanoPerAudioOutputToken === undefined
        ? {}
        : { hasAudioOutput: audio?.hasAudioOutput ?? false })
    }
    const holdNano = costOf(dearestPrices(order), expected)
    return { kind: "tokens", ...expected, ...order, holdNano }
  })

/** The most tokens of an order whose charge may never be above its hold. */
export const mostTokensOf = ({ mostInput, mostOutput }: TextQuote): TokenCounts => ({
  inputTokens: mostInput,
  outputTokens: mostOutput
})

/** The quote of an order whose charge may never be above its hold. */
export const capTextQuote = (quote: TextQuote): TextQuote => ({
  ...quote,
  holdNano: BigIntOps.min(costOf(dearestPrices(quote), mostTokensOf(quote)), MAX_AMOUNT_NANO),
  isCapped: true
})

/**
 * The parts of the used tokens that are charged at prices of their own. A part is never larger
 * than the total that includes it: audio comes first, and cached tokens are among the rest.
 */
const textParts = (
  order: PricedOrder,
  { inputTokens, outputTokens, separate }: TokenCounts
): ReadonlyArray<ChargePart> => {
  if (separate === undefined) return []
  const audioInputPrice = order.hasAudioInput === false ? undefined : order.nanoPerAudioInputToken
  const audioInput =
    audioInputPrice === undefined ? 0n : BigIntOps.min(separate.audioInput, inputTokens)
  const cachedInput = BigIntOps.min(separate.cachedInput, inputTokens - audioInput)
  const audioOutput = BigIntOps.min(separate.audioOutput, outputTokens)
  return partsOf([
    ["cached_input", cachedInput, order.nanoPerCachedToken],
    ["audio_input", audioInput, audioInputPrice],
    [
      "audio_output",
      audioOutput,
      order.hasAudioOutput === false ? undefined : order.nanoPerAudioOutputToken
    ]
  ])
}

/** The price of the tokens used, at the prices of the quote. */
export const costOf = (order: PricedOrder, used: TokenCounts): bigint => {
  const parts = bySide(textParts(order, used))
  const input = { units: used.inputTokens, unitPriceNano: order.nanoPerInputToken }
  const output = { units: used.outputTokens, unitPriceNano: order.nanoPerOutputToken }
  return amountWithParts(input, parts.inputParts) + amountWithParts(output, parts.outputParts)
}

interface TextCharge extends Omit<TokenCounts, "separate"> {
  readonly chargeNano: bigint
  /** The tokens that are charged at prices of their own. */
  readonly parts: ReadonlyArray<ChargePart>
  readonly basis: "upstream_usage" | "largest_plausible" | "formula"
  /**
   * The usage that the vendor reported, if it is implausible for this order; null if the charge
   * follows the vendor's report.
   */
  readonly implausible: ReportedUsage | null
}

/**
 * Reduces the token counts if their price would exceed the maximum amount in the ledger. All that
 * remains is then charged at the base prices.
 */
const limitTokens = (quote: TextQuote, used: TokenCounts): TokenCounts => {
  if (costOf(quote, used) <= MAX_AMOUNT_NANO) return used
  const { nanoPerInputToken, nanoPerOutputToken } = quote
  const inputTokens = BigIntOps.min(used.inputTokens, MAX_AMOUNT_NANO / nanoPerInputToken)
  if (nanoPerOutputToken === 0n) return { inputTokens, outputTokens: used.outputTokens }
  const remainingNano = MAX_AMOUNT_NANO - inputTokens * nanoPerInputToken
  return {
    inputTokens,
    outputTokens: BigIntOps.min(used.outputTokens, remainingNano / nanoPerOutputToken)
  }
}

/**
 * Whether no separate count with a price of its own is larger than the total that includes it, and
 * there is no audio that cannot be in the order.
 */
const hasPlausibleParts = (
  quote: TextQuote,
  { inputTokens, outputTokens, separate }: TokenCounts
): boolean => {
  if (separate === undefined) return true
  const mostAudioInput = quote.hasAudioInput === false ? 0n : inputTokens
  const mostAudioOutput = quote.hasAudioOutput === false ? 0n : outputTokens
  return (
    (quote.nanoPerCachedToken === undefined || separate.cachedInput <= inputTokens) &&
    (quote.nanoPerAudioInputToken === undefined || separate.audioInput <= mostAudioInput) &&
    (quote.nanoPerAudioOutputToken === undefined || separate.audioOutput <= mostAudioOutput)
  )
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
 * beyond the client's limits, unless the charge is capped. A separate count above its total is charged as the whole total.
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
    const charged = limitTokens(quote, used)
    const { inputTokens, outputTokens } = charged
    return {
      inputTokens,
      outputTokens,
      basis,
      chargeNano: costOf(quote, charged),
      parts: textParts(quote, charged),
      implausible:
        implausible === null
          ? null
          : { input: implausible.inputTokens, output: implausible.outputTokens }
    }
  }
  const largestOutput = (writtenTokens: bigint): bigint =>
    quote.isCapped === true || writtenTokens < quote.mostOutput ? quote.mostOutput : writtenTokens
  const receivedTokens = tokensOfBytes(outputBytes) + unreadTokens
  const formula = {
    inputTokens: quote.inputTokens,
    outputTokens: BigIntOps.min(receivedTokens, largestOutput(receivedTokens))
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
  const mostOutput = largestOutput(BigInt(outputBytes))
  const maxCounts: TokenCounts = {
    ...reported,
    inputTokens: BigIntOps.min(reported.inputTokens, quote.mostInput),
    outputTokens: BigIntOps.min(reported.outputTokens, mostOutput)
  }
  const isPlausible =
    maxCounts.inputTokens === reported.inputTokens &&
    maxCounts.outputTokens === reported.outputTokens &&
    hasPlausibleParts(quote, reported) &&
    costOf(quote, reported) <= MAX_AMOUNT_NANO
  return isPlausible
    ? chargeFor(reported, "upstream_usage", null)
    : chargeFor(maxCounts, "largest_plausible", reported)
}
