/** What all kinds of quotes have in common, and how each was reckoned. */
import { Schema } from "effect"
import { ImageQuote } from "../image/ImageQuote.ts"
import { costOf, TextQuote, type TokenCounts } from "../text/TextQuote.ts"
import { type TokenVideoQuote, VideoQuote } from "../video/VideoQuote.ts"
import type { ChargeUnit } from "./charges.ts"
import { formatNano } from "./Money.ts"

/** Frozen with the hold, in this form. */
export const Quote = Schema.Union([VideoQuote, ImageQuote, TextQuote])
export type Quote = typeof Quote.Type

/** The most that an order can come to: its hold, unless its size is not known when it is ordered. */
export const exposureOf = (quote: Quote): bigint =>
  quote.kind === "token_video" ? (quote.exposureNano ?? quote.holdNano) : quote.holdNano

/** What is counted, and its price; text counts two things and has two prices. */
export const unitOf = (
  quote: Exclude<Quote, TextQuote>
): { readonly unit: ChargeUnit; readonly unitPriceNano: bigint } => {
  switch (quote.kind) {
    case "token_video":
      return { unit: "token", unitPriceNano: quote.nanoPerToken }
    case "second_video":
      return { unit: "second", unitPriceNano: quote.nanoPerSecond }
    case "image":
      return { unit: "image", unitPriceNano: quote.nanoPerImage }
  }
}

export const countOf = (count: number | bigint, one: string): string =>
  `${count} ${one}${BigInt(count) === 1n ? "" : "s"}`

/** The estimate for a length in seconds, such as `(0 + 5) s x 21600 tokens/s x 0.000046 = 4.968`. */
export const tokenFormula = (quote: TokenVideoQuote, outputSeconds: number): string => {
  const tokens = BigInt(quote.inputSeconds + outputSeconds) * quote.tokensPerSecond
  return (
    `(${quote.inputSeconds} + ${outputSeconds}) s x ${quote.tokensPerSecond} tokens/s x ` +
    `${formatNano(quote.nanoPerToken)} = ${formatNano(tokens * quote.nanoPerToken)}`
  )
}

/** The price of a text's tokens, such as `12 input tokens x 0.000002 + 34 output tokens x 0.000008 = 0.000296`. */
export const textFormula = (quote: TextQuote, used: TokenCounts): string => {
  const of = (count: bigint, kind: string, nanoPerToken: bigint) =>
    `${countOf(count, `${kind} token`)} x ${formatNano(nanoPerToken)}`
  const output =
    quote.nanoPerOutputToken === 0n
      ? ""
      : ` + ${of(used.outputTokens, "output", quote.nanoPerOutputToken)}`
  return `${of(used.inputTokens, "input", quote.nanoPerInputToken)}${output} = ${formatNano(costOf(quote, used))}`
}

/** Which price of a table it is, such as ` (quality high, size 1024x1024)`. */
const tierOf = ({ tier }: ImageQuote): string =>
  tier === undefined ? "" : ` (quality ${tier.quality}, size ${tier.size})`

/** How the hold was reckoned, in one line. */
export const formulaOf = (quote: Quote): string => {
  const hold = formatNano(quote.holdNano)
  switch (quote.kind) {
    case "token_video":
      return tokenFormula(quote, quote.outputSeconds)
    case "second_video":
      return `${quote.outputSeconds} s x ${formatNano(quote.nanoPerSecond)} = ${hold}`
    case "image":
      return `${countOf(quote.images, "image")}${tierOf(quote)} x ${formatNano(quote.nanoPerImage)} = ${hold}`
    case "tokens":
      return textFormula(quote, quote)
  }
}
