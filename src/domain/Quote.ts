/** What every quote has in common, whatever it prices: unit, expected charge, and how it was reckoned. */
import { Schema } from "effect"
import { ImageQuote } from "./ImagePricing.ts"
import { formatNano } from "./Money.ts"
import { chargeVideo, VideoQuote } from "./VideoPricing.ts"

/** Frozen with the hold, in this form. */
export const Quote = Schema.Union([VideoQuote, ImageQuote])
export type Quote = typeof Quote.Type

/** What is counted, and its price. */
export const unitOf = (
  quote: Quote
): { readonly unit: "token" | "second" | "image"; readonly unitPriceNano: bigint } => {
  switch (quote.kind) {
    case "token_video":
      return { unit: "token", unitPriceNano: quote.nanoPerToken }
    case "second_video":
      return { unit: "second", unitPriceNano: quote.nanoPerSecond }
    case "image":
      return { unit: "image", unitPriceNano: quote.nanoPerImage }
  }
}

/** The charge of an order whose vendor reports nothing: exact for seconds and images. */
export const expectedChargeNano = (quote: Quote): bigint =>
  quote.kind === "image"
    ? quote.holdNano
    : chargeVideo(quote, { completionTokens: null, outputSeconds: null }).chargeNano

export const countOf = (count: number | bigint, one: string): string =>
  `${count} ${one}${BigInt(count) === 1n ? "" : "s"}`

/** The estimate for a length in seconds, such as `(0 + 5) s x 21600 tokens/s x 0.000046 = 4.968`. */
export const tokenFormula = (
  quote: Extract<Quote, { readonly kind: "token_video" }>,
  outputSeconds: number
): string => {
  const tokens = BigInt(quote.inputSeconds + outputSeconds) * quote.tokensPerSecond
  return (
    `(${quote.inputSeconds} + ${outputSeconds}) s x ${quote.tokensPerSecond} tokens/s x ` +
    `${formatNano(quote.nanoPerToken)} = ${formatNano(tokens * quote.nanoPerToken)}`
  )
}

/** How the hold was reckoned, in one line. */
export const formulaOf = (quote: Quote): string => {
  const hold = formatNano(quote.holdNano)
  switch (quote.kind) {
    case "token_video":
      return tokenFormula(quote, quote.outputSeconds)
    case "second_video":
      return `${quote.outputSeconds} s x ${formatNano(quote.nanoPerSecond)} = ${hold}`
    case "image":
      return `${countOf(quote.images, "image")} x ${formatNano(quote.nanoPerImage)} = ${hold}`
  }
}
