/**
 * Quotes of orders that are billed by one kind of unit which the request tells: characters of a
 * text, seconds of a sound, or searches.
 */
import { Result, Schema } from "effect"
import {
  type AudioSecondPrices,
  type CharacterPrices,
  type SearchPrices,
  USUAL_DOCUMENTS_PER_SEARCH,
  USUAL_MINIMUM_SECONDS,
  USUAL_STEP_SECONDS
} from "../catalog/Prices.ts"
import { InvalidRequest } from "../Errors.ts"
import { MAX_AMOUNT_NANO } from "./Money.ts"

const unitFields = {
  /** The units that are held for. */
  units: Schema.BigIntFromString,
  nanoPerUnit: Schema.BigIntFromString,
  holdNano: Schema.BigIntFromString
}

/**
 * A text that is spoken; `units` are its characters as the price counts them. Both counts are
 * stored, so that the order can be priced by another price.
 */
const CharacterQuote = Schema.Struct({
  kind: Schema.Literal("characters"),
  ...unitFields,
  codePoints: Schema.Int,
  hanCharacters: Schema.Int
})

/** A sound; `units` are its seconds as they are billed. */
const AudioQuote = Schema.Struct({
  kind: Schema.Literal("audio_seconds"),
  ...unitFields,
  milliseconds: Schema.Int,
  /** The longest length that a vendor can report and is believed. */
  mostMilliseconds: Schema.Int,
  stepSeconds: Schema.Int,
  minimumSeconds: Schema.Int,
  /**
   * True if the charge is never above the hold, which then covers `mostMilliseconds`; missing for
   * other orders.
   */
  isCapped: Schema.optionalKey(Schema.Literal(true))
})
type AudioQuote = typeof AudioQuote.Type

/** A query with documents; `units` are its searches. */
const SearchQuote = Schema.Struct({
  kind: Schema.Literal("searches"),
  ...unitFields,
  documents: Schema.Int,
  documentsPerSearch: Schema.Int
})

export const UnitQuote = Schema.Union([CharacterQuote, AudioQuote, SearchQuote])
export type UnitQuote = typeof UnitQuote.Type

/** The characters of a text, counted in both ways in which a price can count them. */
export interface CharacterCounts {
  readonly codePoints: number
  readonly hanCharacters: number
}

const pricedUnits = (units: bigint, nanoPerUnit: bigint) => ({
  units,
  nanoPerUnit,
  holdNano: units * nanoPerUnit
})

/** The characters that a price bills, of one text or of several together. */
export const charactersBilled = (
  { counts = "code_points" }: CharacterPrices,
  codePoints: bigint,
  hanCharacters: bigint
): bigint => (counts === "han_double" ? codePoints + hanCharacters : codePoints)

const MILLIS = 1000

/** The seconds that a sound is billed for: at least the minimum, rounded up to the step. */
export const secondsBilled = (
  milliseconds: number,
  { stepSeconds, minimumSeconds }: Pick<AudioQuote, "stepSeconds" | "minimumSeconds">
): bigint => {
  const steps = Math.ceil(milliseconds / MILLIS / stepSeconds)
  return BigInt(Math.max(minimumSeconds, steps * stepSeconds))
}

/** The most seconds that a sound can be billed for. */
export const mostSecondsOf = (quote: AudioQuote): bigint =>
  secondsBilled(quote.mostMilliseconds, quote)

/** The quote of an order whose charge may never be above its hold. */
export const capUnitQuote = (quote: UnitQuote): UnitQuote =>
  quote.kind === "audio_seconds"
    ? { ...quote, holdNano: mostSecondsOf(quote) * quote.nanoPerUnit, isCapped: true }
    : quote

export const quoteCharacters = (prices: CharacterPrices, counts: CharacterCounts): UnitQuote => ({
  kind: "characters",
  ...pricedUnits(
    charactersBilled(prices, BigInt(counts.codePoints), BigInt(counts.hanCharacters)),
    prices.per_million_characters
  ),
  ...counts
})

/** How a price rounds the length of a sound. */
export const audioRounding = ({
  step_seconds,
  minimum_seconds
}: AudioSecondPrices): Pick<AudioQuote, "stepSeconds" | "minimumSeconds"> => ({
  stepSeconds: step_seconds ?? USUAL_STEP_SECONDS,
  minimumSeconds: minimum_seconds ?? USUAL_MINIMUM_SECONDS
})

export const documentsPerSearchOf = ({ documents_per_search }: SearchPrices): number =>
  documents_per_search ?? USUAL_DOCUMENTS_PER_SEARCH

/** The length of a sound in milliseconds: as measured, and the longest that it can have. */
export interface SoundLengths {
  readonly milliseconds: number
  readonly mostMilliseconds: number
}

export const quoteAudio = (
  prices: AudioSecondPrices,
  { milliseconds, mostMilliseconds }: SoundLengths
): UnitQuote => {
  const rounding = audioRounding(prices)
  const seconds = secondsBilled(milliseconds, rounding)
  return {
    kind: "audio_seconds",
    ...pricedUnits(seconds, prices.per_second),
    milliseconds,
    mostMilliseconds,
    ...rounding
  }
}

export const quoteSearches = (prices: SearchPrices, documents: number): UnitQuote => {
  const documentsPerSearch = documentsPerSearchOf(prices)
  const searches = BigInt(Math.ceil(documents / documentsPerSearch))
  return {
    kind: "searches",
    ...pricedUnits(searches, prices.per_thousand_searches),
    documents,
    documentsPerSearch
  }
}

/** Refuses an order whose hold would be larger than the largest amount of the ledger. */
export const withinLargestHold = <Quote extends { readonly holdNano: bigint }>(
  quote: Quote,
  field: string
): Result.Result<Quote, InvalidRequest> =>
  quote.holdNano <= MAX_AMOUNT_NANO
    ? Result.succeed(quote)
    : Result.fail(
        new InvalidRequest({
          message: `${field}: This much would cost more than can be held`,
          param: field
        })
      )
