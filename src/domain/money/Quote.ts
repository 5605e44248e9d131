/** The union of all quotes, and the formulas by which they were calculated. */
import { Equal, Schema } from "effect"
import { ImageQuote } from "../image/ImageQuote.ts"
import { ImageTokenQuote, uncappedHoldOf } from "../image/ImageTokenQuote.ts"
import {
  costOf,
  dearestPrices,
  mostTokensOf,
  TextQuote,
  type TokenCounts
} from "../text/TextQuote.ts"
import {
  surchargeParts,
  type TableVideoQuote,
  type TokenVideoQuote,
  VideoQuote
} from "../video/VideoQuote.ts"
import {
  amountBeside,
  amountWithParts,
  baseUnits,
  bySide,
  type ChargePart,
  partInWords,
  partsOf
} from "./chargeParts.ts"
import type { ChargeUnit } from "./charges.ts"
import { formatNano } from "./Money.ts"
import { mostSecondsOf, UnitQuote } from "./unitQuotes.ts"

/** A quote in the form in which it is stored, unchanged, with the hold. */
export const Quote = Schema.Union([VideoQuote, ImageQuote, ImageTokenQuote, TextQuote, UnitQuote])
export type Quote = typeof Quote.Type

const encodeImage = Schema.encodeSync(ImageQuote)
const encodeImageTokens = Schema.encodeSync(ImageTokenQuote)
const encodeText = Schema.encodeSync(TextQuote)
const encodeUnits = Schema.encodeSync(UnitQuote)
const encodeVideo = Schema.encodeSync(VideoQuote)

/** The JSON form of a quote. */
export const encodeQuote = (quote: Quote): typeof Quote.Encoded => {
  switch (quote.kind) {
    case "image":
      return encodeImage(quote)
    case "image_tokens":
      return encodeImageTokens(quote)
    case "tokens":
      return encodeText(quote)
    case "characters":
    case "audio_seconds":
    case "searches":
      return encodeUnits(quote)
    case "token_video":
    case "second_video":
    case "video_table":
      return encodeVideo(quote)
  }
}

/** The terms of a surcharge with the same number for all orders that it is not billed for. */
const billedSurcharge = ({ surcharge }: TableVideoQuote): Pick<TableVideoQuote, "surcharge"> =>
  surcharge === undefined
    ? {}
    : { surcharge: { ...surcharge, references: Math.max(surcharge.references, surcharge.beyond) } }

/** The quote with the same value for every fact that its price does not depend on. */
const withoutUnpricedFacts = (quote: Quote): Quote => {
  if (quote.kind !== "video_table") return quote
  const { pricedFacts, sound, mode } = quote
  return {
    ...quote,
    ...billedSurcharge(quote),
    sound: pricedFacts.includes("sound") ? sound : null,
    mode: pricedFacts.includes("mode") ? mode : "text"
  }
}

/** Whether two mounts have one quote for an order: every figure and every priced fact is equal. */
export const isSameQuote = (one: Quote, other: Quote): boolean =>
  Equal.equals(withoutUnpricedFacts(one), withoutUnpricedFacts(other))

/**
 * The maximum possible charge of an order. This is its hold, unless the size of the order is
 * unknown in advance.
 */
export const exposureOf = (quote: Quote): bigint =>
  quote.kind === "token_video" ? (quote.exposureNano ?? quote.holdNano) : quote.holdNano

/** Whether the charge of an order is never above its hold, whatever its vendor reports. */
export const isCapped = (quote: Quote): boolean => "isCapped" in quote && quote.isCapped === true

/**
 * The expected charge of an order: its hold, except that the hold of tokens by a price table and
 * that of a capped order have a margin over the formula, and the hold of a text is at the highest
 * prices that its tokens can have.
 */
export const expectedChargeOf = (quote: Quote): bigint => {
  switch (quote.kind) {
    case "tokens":
      return costOf(quote, quote)
    case "token_video":
      return quote.estimatedTokens * quote.nanoPerToken
    case "video_table":
      return quote.unit === "token"
        ? quote.estimatedTokens * quote.nanoPerUnit + amountBeside(surchargeParts(quote))
        : quote.holdNano
    case "image_tokens":
      return uncappedHoldOf(quote)
    case "audio_seconds":
      return quote.units * quote.nanoPerUnit
    default:
      return quote.holdNano
  }
}

/** The unit that is counted, and its price. Text is excluded: it has two units and two prices. */
export const unitOf = (
  quote: Exclude<Quote, TextQuote>
): { readonly unit: ChargeUnit; readonly unitPriceNano: bigint } => {
  switch (quote.kind) {
    case "token_video":
      return { unit: "token", unitPriceNano: quote.nanoPerToken }
    case "second_video":
      return { unit: "second", unitPriceNano: quote.nanoPerSecond }
    case "video_table":
      return { unit: quote.unit, unitPriceNano: quote.nanoPerUnit }
    case "image_tokens":
      return { unit: "token", unitPriceNano: quote.nanoPerOutputToken }
    case "image":
      return { unit: "image", unitPriceNano: quote.nanoPerImage }
    case "characters":
      return { unit: "character", unitPriceNano: quote.nanoPerUnit }
    case "audio_seconds":
      return { unit: "second", unitPriceNano: quote.nanoPerUnit }
    case "searches":
      return { unit: "search", unitPriceNano: quote.nanoPerUnit }
  }
}

export const countOf = (count: number | bigint, one: string): string =>
  `${count} ${BigInt(count) === 1n ? one : one.endsWith("h") ? `${one}es` : `${one}s`}`

/**
 * The formula of a video billed by tokens, such as `(0 + 5) s x 21600 tokens/s x 0.000046 = 4.968`.
 * `outputSeconds` is the ordered or the rendered duration.
 */
export const tokenFormula = (quote: TokenVideoQuote, outputSeconds: number): string => {
  const tokens = BigInt(quote.inputSeconds + outputSeconds) * quote.tokensPerSecond
  return (
    `(${quote.inputSeconds} + ${outputSeconds}) s x ${quote.tokensPerSecond} tokens/s x ` +
    `${formatNano(quote.nanoPerToken)} = ${formatNano(tokens * quote.nanoPerToken)}`
  )
}

const priceTerm = (units: bigint, unit: string, priceNano: bigint): string =>
  `${countOf(units, unit)} x ${formatNano(priceNano)}`

const partTerm = ({ kind, units, unitPriceNano }: ChargePart): string =>
  priceTerm(units, partInWords(kind), unitPriceNano)

/**
 * The formula of a hold by a price table, such as `(6 + 5) s x 0.6 = 6.6`, or with a surcharge
 * `5 s x 0.6 + 2 reference images x 0.1 = 3.2`.
 */
const tableFormula = (quote: TableVideoQuote): string => {
  const { inputSeconds, outputSeconds, units, nanoPerUnit, holdNano } = quote
  const price = [formatNano(nanoPerUnit), ...surchargeParts(quote).map(partTerm)].join(" + ")
  const result = `${price} = ${formatNano(holdNano)}`
  switch (quote.unit) {
    case "second":
      return quote.billsInput && quote.withVideo
        ? `(${inputSeconds} + ${outputSeconds}) s x ${result}`
        : `${outputSeconds} s x ${result}`
    case "clip":
      return `1 video x ${result}`
    case "token":
      return `${countOf(units, "token")} x ${result}`
  }
}

/**
 * The formula of a text, such as `12 input tokens x 0.000002 + 34 output tokens x 0.000008 =
 * 0.000296`. Parts are the tokens that have prices of their own.
 */
export const textFormula = (
  prices: Pick<TextQuote, "nanoPerInputToken" | "nanoPerOutputToken">,
  { inputTokens, outputTokens }: TokenCounts,
  parts: ReadonlyArray<ChargePart> = []
): string => {
  const { nanoPerInputToken, nanoPerOutputToken } = prices
  const { inputParts, outputParts } = bySide(parts)
  const terms = [
    priceTerm(baseUnits(inputTokens, inputParts), "input token", nanoPerInputToken),
    ...inputParts.map(partTerm),
    ...(nanoPerOutputToken === 0n
      ? []
      : [priceTerm(baseUnits(outputTokens, outputParts), "output token", nanoPerOutputToken)]),
    ...outputParts.map(partTerm)
  ]
  const sum =
    amountWithParts({ units: inputTokens, unitPriceNano: nanoPerInputToken }, inputParts) +
    amountWithParts({ units: outputTokens, unitPriceNano: nanoPerOutputToken }, outputParts)
  return `${terms.join(" + ")} = ${formatNano(sum)}`
}

/**
 * The quality and size of the applied price as text, such as ` (quality high, size 1024x1024)`;
 * empty if the model has a single price.
 */
const tierOf = ({ tier }: Pick<ImageQuote, "tier">): string => {
  if (tier === undefined) return ""
  const edit = tier.edit === undefined ? "" : tier.edit ? ", edit" : ", no edit"
  return ` (quality ${tier.quality}, size ${tier.size}${edit})`
}

/** The formula of images by tokens: the text, its parts, and the output. */
export const imageTokenFormula = (
  quote: ImageTokenQuote,
  used: TokenCounts,
  parts: ReadonlyArray<ChargePart>
): string =>
  textFormula(
    {
      nanoPerInputToken: quote.nanoPerTextToken,
      nanoPerOutputToken: quote.nanoPerOutputToken
    },
    used,
    parts
  )

/** The formula of the hold of images by tokens, at the highest prices that the input can have. */
const imageTokenHold = (quote: ImageTokenQuote): string => {
  const { nanoPerCachedToken: cached = 0n, nanoPerTextToken, nanoPerImageInputToken } = quote
  const text = cached > nanoPerTextToken ? cached : nanoPerTextToken
  const image = cached > nanoPerImageInputToken ? cached : nanoPerImageInputToken
  const textTokens = quote.isCapped === true ? quote.mostText : quote.textTokens
  const used = {
    inputTokens: textTokens + quote.imageInputTokens,
    outputTokens: quote.outputTokens
  }
  const parts = partsOf([["image_input", quote.imageInputTokens, image]])
  return imageTokenFormula({ ...quote, nanoPerTextToken: text }, used, parts)
}

/**
 * The formula of the hold of an order by one kind of unit, such as `5 searches x 0.002 = 0.01`, or
 * `12.5 s, billed as 13 s x 0.0001 = 0.0013`.
 */
const unitFormula = (quote: UnitQuote): string => {
  const price = `${formatNano(quote.nanoPerUnit)} = ${formatNano(quote.holdNano)}`
  if (quote.kind !== "audio_seconds") {
    return `${countOf(quote.units, unitOf(quote).unit)} x ${price}`
  }
  const billedSeconds =
    quote.isCapped === true ? `at most ${mostSecondsOf(quote)}` : `${quote.units}`
  return `${quote.milliseconds / 1000} s, billed as ${billedSeconds} s x ${price}`
}

/** The formula of the hold, in one line. */
export const formulaOf = (quote: Quote): string => {
  const hold = formatNano(quote.holdNano)
  switch (quote.kind) {
    case "token_video":
      return quote.isCapped === true
        ? `${priceTerm(quote.holdNano / quote.nanoPerToken, "token", quote.nanoPerToken)} = ${hold}`
        : tokenFormula(quote, quote.outputSeconds)
    case "second_video":
      return `${quote.outputSeconds} s x ${formatNano(quote.nanoPerSecond)} = ${hold}`
    case "video_table":
      return tableFormula(quote)
    case "image":
      return `${countOf(quote.images, "image")}${tierOf(quote)} x ${formatNano(quote.nanoPerImage)} = ${hold}`
    case "tokens":
      return textFormula(
        dearestPrices(quote),
        quote.isCapped === true ? mostTokensOf(quote) : quote
      )
    case "characters":
    case "audio_seconds":
    case "searches":
      return unitFormula(quote)
    case "image_tokens":
      return imageTokenHold(quote)
  }
}
