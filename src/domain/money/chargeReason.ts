/** Explains a charge in words that a customer can check. */

import { Struct } from "effect"
import type { ImageTokenQuote } from "../image/ImageTokenQuote.ts"
import { UNREADABLE_BASIS } from "../VendorOutcome.ts"
import { tiers } from "../video/tiers.ts"
import { surchargeParts, type TableVideoQuote, type TokenVideoQuote } from "../video/VideoQuote.ts"
import { lineInWords } from "../video/videoPriceTable.ts"
import { amountBeside, type ChargePart, partInWords } from "./chargeParts.ts"
import type { ChargeBasis } from "./charges.ts"
import { formatNano } from "./Money.ts"
import {
  countOf,
  formulaOf,
  imageTokenFormula,
  type Quote,
  textFormula,
  tokenFormula,
  unitOf
} from "./Quote.ts"
import type { UnitQuote } from "./unitQuotes.ts"

interface SettledCharge {
  /** The quote that was stored with the hold: every price in the explanation comes from it. */
  readonly quote: Quote
  /** Input tokens charged for text; 0 for everything else. */
  readonly inputUnits: bigint
  /** The number of tokens, seconds or images charged; for text, the output tokens. */
  readonly units: bigint
  /** The units that were charged at prices of their own. */
  readonly parts?: ReadonlyArray<ChargePart> | null
  readonly basis: ChargeBasis
  readonly chargeNano: bigint
  readonly currency: string
  /** The price list that priced the order, in words; null or left out for the catalog's prices. */
  readonly priceSource?: string | null
}

const comparedWithHold = (holdNano: bigint, chargeNano: bigint): string => {
  const hold = formatNano(holdNano)
  if (chargeNano === holdNano) return `exactly the ${hold} that was held was charged`
  return chargeNano > holdNano
    ? `${hold} was held, so ${formatNano(chargeNano - holdNano)} more was charged than held`
    : `${hold} was held, so ${formatNano(holdNano - chargeNano)} less was charged than held`
}

/**
 * The price per token, with remarks: whether it is the price with a reference video, and whether it
 * is that of the fallback tier.
 */
const priceOf = (quote: TokenVideoQuote, currency: string): string => {
  const { nanoPerToken, resolution, tier, withVideo } = quote
  const fellBack = tier !== tiers[resolution].price
  return (
    `${formatNano(nanoPerToken)} ${currency} each` +
    (withVideo ? ", the price with a reference video" : "") +
    (fellBack ? `, the price of 480p to 720p because ${resolution} has none of its own` : "")
  )
}

/**
 * The output seconds in the formula, calculated from the charged tokens. If the model chose the
 * length, this is the rendered duration.
 */
const formulaSeconds = (quote: TokenVideoQuote, units: bigint): number =>
  Number(units / quote.tokensPerSecond) - quote.inputSeconds

const tokenReason = ({
  quote,
  units,
  basis,
  currency
}: SettledCharge & { quote: TokenVideoQuote }) => {
  const smart = quote.smart
    ? `; the model chose the length, for which ${quote.outputSeconds} s were held`
    : ""
  if (basis === "largest_plausible") {
    return (
      "The vendor reported more completion tokens than such an order can have, so the most that it can have are charged: " +
      `${countOf(units, "completion token")} at ${priceOf(quote, currency)}${smart}`
    )
  }
  return basis === "upstream_usage"
    ? `The vendor reported ${countOf(units, "completion token")} at ${priceOf(quote, currency)}${smart}`
    : "The vendor reported no usable token count, so the formula applies: " +
        `${tokenFormula(quote, formulaSeconds(quote, units))}, at ${priceOf(quote, currency)}${smart}`
}

/** The facts that decided the price of an order by a price table, in words. */
const factsInWords = (quote: TableVideoQuote): string => {
  const { pricedFacts, resolution, sound, withVideo, mode } = quote
  const facts = { resolution, sound: sound ?? ("*" as const), input_video: withVideo, mode }
  return lineInWords(Struct.pick(facts, pricedFacts))
}

const sourcesOfUnits: Readonly<Partial<Record<ChargeBasis, string>>> = {
  upstream_usage: "The vendor reported",
  largest_plausible:
    "The vendor reported more than such an order can have, so the most that it can have is charged:",
  formula: "The vendor reported no usable count, so the formula applies:",
  ordered_seconds: "The ordered seconds count, whatever the vendor reports:"
}

/** The quote with the price that was charged, and its facts as the vendor reported them. */
const asCharged = ({
  quote,
  inputUnits,
  units,
  chargeNano
}: SettledCharge & { quote: TableVideoQuote }): TableVideoQuote => {
  const unitsNano = chargeNano - amountBeside(surchargeParts(quote))
  const line = quote.cheaperLines?.find(
    ({ nanoPerUnit }) => nanoPerUnit * (inputUnits + units) === unitsNano
  )
  return line === undefined ? quote : { ...quote, ...line }
}

/** The surcharge in words, such as `, and 2 reference images beyond 5 at 0.1 CNY each`. */
const surchargeInWords = (quote: TableVideoQuote, currency: string): string =>
  surchargeParts(quote)
    .map(
      ({ kind, units, unitPriceNano }) =>
        `, and ${countOf(units, partInWords(kind))} beyond ${quote.surcharge?.beyond} at ${formatNano(unitPriceNano)} ${currency} each`
    )
    .join("")

const tableReason = (charge: SettledCharge & { quote: TableVideoQuote }): string => {
  const { units, basis, currency } = charge
  const quote = asCharged(charge)
  const price = `${formatNano(quote.nanoPerUnit)} ${currency}`
  const facts =
    factsInWords(quote) +
    (quote.nanoPerUnit === charge.quote.nanoPerUnit
      ? ""
      : `, which the vendor reported in place of ${factsInWords(charge.quote)}`)
  const unitsInWords =
    quote.unit === "clip"
      ? `A video costs ${price}, whatever its length: ${facts}`
      : `${sourcesOfUnits[basis] ?? ""} ${countOf(units, quote.unit)} at ${price} each, the price of ${facts}`.trim()
  return unitsInWords + surchargeInWords(quote, currency)
}

const unreadableAnswer = "The vendor answered with success and its answer could not be read, so"

const imageTokenReason = (charge: SettledCharge & { quote: ImageTokenQuote }): string => {
  const used = { inputTokens: charge.inputUnits, outputTokens: charge.units }
  const formula = `${imageTokenFormula(charge.quote, used, charge.parts ?? [])} ${charge.currency}`
  switch (charge.basis) {
    case "upstream_usage":
      return `The vendor reported what it read and made: ${formula}`
    case "largest_plausible":
      return `The vendor reported more tokens than such an order can have, so the most that it can have are charged: ${formula}`
    case UNREADABLE_BASIS:
      return `${unreadableAnswer} what was held for counts: ${formula}`
    default: {
      const ofDelivered = charge.units < charge.quote.outputTokens ? " the delivered images" : ""
      return `The vendor reported no usable token count, so what was held for${ofDelivered} counts: ${formula}`
    }
  }
}

const soundSources: Readonly<Partial<Record<ChargeBasis, string>>> = {
  upstream_usage: "The vendor reported the length of the sound:",
  largest_plausible:
    "The vendor reported a longer sound than the one that was sent can be, so the longest that it can be counts:",
  formula: "The vendor reported no length, so the measured length of the sound counts:",
  [UNREADABLE_BASIS]: `${unreadableAnswer} the measured length of the sound counts:`
}

/** The reason of a charge by characters, seconds of a sound, or searches. */
const countReason = (charge: SettledCharge & { quote: UnitQuote }): string => {
  const { quote, units, basis, currency } = charge
  const count = `${countOf(units, unitOf(quote).unit)} at ${formatNano(quote.nanoPerUnit)} ${currency} each`
  if (quote.kind === "audio_seconds") return `${soundSources[basis] ?? ""} ${count}`.trim()
  const subject = quote.kind === "characters" ? "characters of the text" : "documents of the order"
  return basis === UNREADABLE_BASIS
    ? `${unreadableAnswer} the ${subject} count: ${count}`
    : `The ${subject} count, whatever the vendor reports: ${count}`
}

const unitReason = (charge: SettledCharge): string => {
  const { quote, currency } = charge
  switch (quote.kind) {
    case "token_video":
      return tokenReason({ ...charge, quote })
    case "second_video":
      return `The ordered seconds count, whatever the vendor reports: ${formulaOf(quote)} ${currency} at ${quote.resolution}`
    case "video_table":
      return tableReason({ ...charge, quote })
    case "tokens": {
      const used = { inputTokens: charge.inputUnits, outputTokens: charge.units }
      const formula = `${textFormula(quote, used, charge.parts ?? [])} ${currency}`
      if (charge.basis === UNREADABLE_BASIS)
        return `${unreadableAnswer} the formula applies: ${formula}`
      if (charge.basis === "largest_plausible") {
        return `The vendor reported more tokens than such an order can have, so the most that it can have are charged: ${formula}`
      }
      return charge.basis === "upstream_usage"
        ? `The vendor reported what it read and wrote: ${formula}`
        : `The vendor reported no usable token count, so the size of what was sent and received counts: ${formula}`
    }
    case "characters":
    case "audio_seconds":
    case "searches":
      return countReason({ ...charge, quote })
    case "image_tokens":
      return imageTokenReason({ ...charge, quote })
    case "image":
      return charge.basis === UNREADABLE_BASIS
        ? `${unreadableAnswer} the number in the request counts: ${formulaOf(quote)} ${currency}`
        : `The number in the request counts, whatever the vendor returns: ${formulaOf(quote)} ${currency}`
  }
}

const sourceOf = ({ priceSource = null }: SettledCharge): string =>
  priceSource === null ? "" : `, by ${priceSource}`

/**
 * One English sentence, such as "The vendor reported 108900 completion tokens at 0.000046 CNY each;
 * 4.968 was held, so 0.0414 more was charged than held."
 */
export const chargeReason = (charge: SettledCharge): string =>
  `${unitReason(charge)}${sourceOf(charge)}; ${comparedWithHold(charge.quote.holdNano, charge.chargeNano)}.`
