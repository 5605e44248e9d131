/**
 * Prices and charges of orders that are answered at once and are neither videos nor images: texts,
 * vectors, rankings and speech. They are billed by tokens or by one kind of unit.
 */
import { BigInt as BigIntOps, Result } from "effect"
import type { Prices, TokenPrices } from "../catalog/Prices.ts"
import type { BillingUnavailable } from "../Errors.ts"
import {
  capTextQuote,
  chargeText,
  type ExpectedTokens,
  quoteText,
  type TextQuote,
  type TokenCounts,
  type WrittenText
} from "../text/TextQuote.ts"
import { type ReportedUsage, UNREADABLE_BASIS } from "../VendorOutcome.ts"
import type { ChargePart } from "./chargeParts.ts"
import type { ChargeBasis, ChargeUnit } from "./charges.ts"
import type { Quote } from "./Quote.ts"
import {
  type CharacterCounts,
  capUnitQuote,
  mostSecondsOf,
  quoteAudio,
  quoteCharacters,
  quoteSearches,
  type SoundLengths,
  secondsBilled,
  type UnitQuote
} from "./unitQuotes.ts"

export type WorkQuote = TextQuote | UnitQuote

/** Whether a quote is of an order that is answered at once and is neither video nor image. */
export const isWorkQuote = (quote: Quote): quote is WorkQuote =>
  quote.kind === "tokens" ||
  quote.kind === "characters" ||
  quote.kind === "audio_seconds" ||
  quote.kind === "searches"

/** What an order is held for, in every unit in which it can be billed. */
export interface ExpectedWork extends ExpectedTokens {
  /** The characters of a text that is spoken. */
  readonly characters?: CharacterCounts
  /** The length of a sound that is transcribed. */
  readonly sound?: SoundLengths
  /** The documents of a reranking. */
  readonly documents?: number
}

/** The prices of spoken texts, whose whole output is audio, also where no vendor says so. */
const speechPrices = ({
  per_million_audio_output,
  per_million_output = per_million_audio_output,
  ...prices
}: TokenPrices): TokenPrices => ({
  ...prices,
  ...(per_million_output === undefined
    ? {}
    : { per_million_output: per_million_audio_output ?? per_million_output })
})

/** The quote of an order by a price table; null where the table prices other units. */
export const quoteWork = (
  prices: Prices,
  { characters, sound, documents, ...tokens }: ExpectedWork
): Result.Result<WorkQuote, BillingUnavailable> | null => {
  if (prices.kind === "tokens") {
    return quoteText(characters === undefined ? prices : speechPrices(prices), tokens)
  }
  if (prices.kind === "characters" && characters !== undefined) {
    return Result.succeed(quoteCharacters(prices, characters))
  }
  if (prices.kind === "audio_seconds" && sound !== undefined) {
    return Result.succeed(quoteAudio(prices, sound))
  }
  return prices.kind === "searches" && documents !== undefined
    ? Result.succeed(quoteSearches(prices, documents))
    : null
}

/** The quote of an order whose charge may never be above its hold. */
export const capWorkQuote = (quote: WorkQuote): WorkQuote =>
  quote.kind === "tokens" ? capTextQuote(quote) : capUnitQuote(quote)

/** What a vendor reports of an answer, and the measured size of the answer. */
export interface AnsweredWork extends WrittenText {
  readonly usage: TokenCounts | null
  /** The length of the sound in seconds as the vendor reports it; absent where it reports none. */
  readonly seconds?: number
}

export interface WorkCharge {
  readonly chargeNano: bigint
  readonly unit: ChargeUnit
  readonly input: bigint
  readonly output: bigint
  readonly unitPriceNano: bigint
  /** Absent, as the parts, where the input has no price of its own. */
  readonly inputUnitPriceNano?: bigint
  readonly parts?: ReadonlyArray<ChargePart>
  readonly basis: ChargeBasis
  /** The usage that the vendor reported, if it is implausible for this order; null otherwise. */
  readonly implausible: ReportedUsage | null
}

const chargeUnits = (
  quote: UnitQuote,
  unit: ChargeUnit,
  units: bigint,
  basis: ChargeBasis,
  implausible: ReportedUsage | null = null
): WorkCharge => ({
  chargeNano: units * quote.nanoPerUnit,
  unit,
  input: 0n,
  output: units,
  unitPriceNano: quote.nanoPerUnit,
  basis,
  implausible
})

const MILLIS = 1000

/**
 * The charge of a sound: by the length that the vendor reports, up to the longest that the sound can
 * have, or by the measured length.
 */
const chargeAudio = (
  quote: Extract<UnitQuote, { readonly kind: "audio_seconds" }>,
  seconds: number | undefined
): WorkCharge => {
  if (seconds === undefined) return chargeUnits(quote, "second", quote.units, "formula")
  const billed = secondsBilled(seconds * MILLIS, quote)
  const longest = mostSecondsOf(quote)
  const reported = { input: 0n, output: BigInt(Math.ceil(seconds)) }
  if (billed > longest) return chargeUnits(quote, "second", longest, "largest_plausible", reported)
  return chargeUnits(quote, "second", billed, "upstream_usage")
}

/**
 * The charge of an answered order: by the vendor's report where the units are not known from the
 * request, and else by the request.
 */
export const chargeWork = (quote: WorkQuote, work: AnsweredWork): WorkCharge => {
  switch (quote.kind) {
    case "tokens": {
      const { inputTokens, outputTokens, ...charge } = chargeText(quote, work.usage, work)
      return {
        ...charge,
        unit: "token",
        input: inputTokens,
        output: outputTokens,
        unitPriceNano: quote.nanoPerOutputToken,
        inputUnitPriceNano: quote.nanoPerInputToken
      }
    }
    case "characters":
      return chargeUnits(quote, "character", quote.units, "requested_characters")
    case "searches":
      return chargeUnits(quote, "search", quote.units, "requested_searches")
    case "audio_seconds":
      return chargeAudio(quote, work.seconds)
  }
}

/**
 * The charge of a successful answer that could not be read: by the vendor's tokens, or for the
 * estimated input and at most `outputTokens`, or for the held units.
 */
export const chargeUnreadWork = (
  quote: WorkQuote,
  usage: TokenCounts | null,
  receivedTokens: bigint | null
): WorkCharge => {
  const heldTokens = quote.kind === "tokens" ? quote.outputTokens : 0n
  const outputTokens =
    receivedTokens === null ? heldTokens : BigIntOps.min(receivedTokens, heldTokens)
  const unreadTokens = usage?.outputTokens === 0n ? 0n : outputTokens
  const { basis, ...charge } = chargeWork(quote, { usage, outputBytes: 0, unreadTokens })
  const isReported = basis === "upstream_usage" || basis === "largest_plausible"
  return { ...charge, basis: isReported ? basis : UNREADABLE_BASIS, implausible: null }
}
