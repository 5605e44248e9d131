/**
 * The prices in the catalog. Each price may be missing: a request that needs a missing price ends
 * as `billing_unavailable`, never as a charge of zero.
 */
import { Schema } from "effect"
import { ImageLines, ImageTable, ImageTokens, ImageTokenTable } from "../image/imagePrices.ts"
import {
  PerMillionCharacters,
  PerMillionTokens,
  PerThousandSearches,
  PositiveAmount
} from "../money/Money.ts"
import { PriceTier, Resolution } from "../video/tiers.ts"
import { videoTables } from "../video/videoPriceTable.ts"

const isPositive = Schema.isGreaterThanBigInt(0n, { expected: "a price greater than 0" })
const positivePerMillion = PerMillionTokens.check(isPositive)

/** Prices in nano-units per token, without and with a reference video in the order. */
const TokenTierPrice = Schema.Struct({
  without_video: Schema.optionalKey(positivePerMillion),
  with_video: Schema.optionalKey(positivePerMillion)
}).annotate({ description: "Prices per million tokens, without and with a reference video" })

const priceKind = <K extends string>(kind: K) =>
  Schema.Literal(kind).annotate({ description: "What is counted" })

/**
 * Token prices of videos. Several resolutions share the tier `base`, which is also the fallback for
 * a resolution whose own tier has no price.
 */
export const TokenVideoPrices = Schema.Struct({
  kind: priceKind("token_video"),
  per_million_tokens: Schema.Record(PriceTier, Schema.optionalKey(TokenTierPrice)).annotate({
    description: "By tier: base is 480p to 768p, and serves for a tier without a price of its own"
  })
}).annotate({ identifier: "TokenVideoPrices", description: "Video billed by completion tokens" })
export type TokenVideoPrices = typeof TokenVideoPrices.Type

/** Prices in nano-units per output second, by resolution. */
export const SecondVideoPrices = Schema.Struct({
  kind: priceKind("second_video"),
  per_second: Schema.Record(Resolution, Schema.optionalKey(PositiveAmount)).annotate({
    description: "Price of an output second, by resolution"
  })
}).annotate({ identifier: "SecondVideoPrices", description: "Video billed by output seconds" })
export type SecondVideoPrices = typeof SecondVideoPrices.Type

export const ImagePrices = Schema.Struct({
  kind: priceKind("image"),
  per_image: Schema.optionalKey(
    Schema.Union([PositiveAmount, ImageTable, ImageLines]).annotate({
      description: "One price for every image, a table by quality and size, or a list of lines"
    })
  )
}).annotate({ identifier: "ImagePrices", description: "Images, billed by their number" })
export type ImagePrices = typeof ImagePrices.Type

const ownPrice = (what: string, base: string) =>
  Schema.optionalKey(
    positivePerMillion.annotate({
      description: `Price of ${what} tokens; without it they cost what ${base} tokens cost`
    })
  )

/**
 * Prices in nano-units per token, separate for input and output. Cached and audio tokens may have
 * prices of their own.
 */
export const TokenPrices = Schema.Struct({
  kind: priceKind("tokens"),
  per_million_input: Schema.optionalKey(positivePerMillion),
  per_million_output: Schema.optionalKey(positivePerMillion),
  per_million_cached_input: ownPrice("cached input", "input"),
  per_million_audio_input: ownPrice("audio input", "input"),
  per_million_audio_output: ownPrice("audio output", "output")
}).annotate({ identifier: "TokenPrices", description: "Text, input and output tokens apart" })
export type TokenPrices = typeof TokenPrices.Type

/**
 * Prices in nano-units per token of images that are billed by tokens, with the bounds of the tokens
 * that are held.
 */
export const ImageTokenPrices = Schema.Struct({
  kind: priceKind("image_tokens"),
  per_million_text_input: positivePerMillion,
  per_million_image_input: positivePerMillion,
  per_million_image_output: positivePerMillion,
  per_million_cached_input: ownPrice("cached input", "input"),
  most_output_tokens: Schema.Union([ImageTokens, ImageTokenTable]).annotate({
    description: "The most output tokens of an image: one bound, or a table by quality and size"
  }),
  most_image_input_tokens: Schema.optionalKey(
    ImageTokens.annotate({
      description: "The most tokens of an input image, 8192 when left out"
    })
  )
}).annotate({ identifier: "ImageTokenPrices", description: "Images, billed by tokens" })
export type ImageTokenPrices = typeof ImageTokenPrices.Type

const wholeNumberOr = (fallback: number, maximum: number, description: string) =>
  Schema.optionalKey(
    Schema.Int.check(
      Schema.isBetween({ minimum: 1, maximum }, { expected: `a whole number from 1 to ${maximum}` })
    ).annotate({ description: `${description}; ${fallback} when left out` })
  )

/** The price in nano-units of a character of a text that is spoken. */
export const CharacterPrices = Schema.Struct({
  kind: priceKind("characters"),
  per_million_characters: PerMillionCharacters.check(isPositive),
  counts: Schema.optionalKey(
    Schema.Literals(["code_points", "han_double"]).annotate({
      description:
        "What a character is: a code point of Unicode, or the same with a Han character as two; code_points when left out"
    })
  )
}).annotate({ identifier: "CharacterPrices", description: "Speech, billed by characters" })
export type CharacterPrices = typeof CharacterPrices.Type

export const USUAL_STEP_SECONDS = 1
export const USUAL_MINIMUM_SECONDS = 1

/** The price in nano-units of a second of sound. */
export const AudioSecondPrices = Schema.Struct({
  kind: priceKind("audio_seconds"),
  per_second: PositiveAmount,
  step_seconds: wholeNumberOr(
    USUAL_STEP_SECONDS,
    3600,
    "The seconds to a multiple of which a length is rounded up"
  ),
  minimum_seconds: wholeNumberOr(USUAL_MINIMUM_SECONDS, 3600, "The least seconds that are billed")
}).annotate({ identifier: "AudioSecondPrices", description: "Sounds, billed by their length" })
export type AudioSecondPrices = typeof AudioSecondPrices.Type

export const USUAL_DOCUMENTS_PER_SEARCH = 100

/** The price in nano-units of a search: a query with some documents. */
export const SearchPrices = Schema.Struct({
  kind: priceKind("searches"),
  per_thousand_searches: PerThousandSearches.check(isPositive),
  documents_per_search: wholeNumberOr(
    USUAL_DOCUMENTS_PER_SEARCH,
    10_000,
    "The most documents of one search; more documents are several searches"
  )
}).annotate({ identifier: "SearchPrices", description: "Reranking, billed by searches" })
export type SearchPrices = typeof SearchPrices.Type

export const Prices = Schema.Union([
  ImageTokenPrices,
  TokenVideoPrices,
  SecondVideoPrices,
  ...videoTables,
  ImagePrices,
  TokenPrices,
  CharacterPrices,
  AudioSecondPrices,
  SearchPrices
])
export type Prices = typeof Prices.Type
