/** The price of images that are billed by tokens: of the text, of input images, and of the images. */
import { BigInt as BigIntOps, Predicate, Result, Schema } from "effect"
import type { ImageTokenPrices } from "../catalog/Prices.ts"
import type { BillingUnavailable } from "../Errors.ts"
import { amountWithParts, type ChargePart, partsOf } from "../money/chargeParts.ts"
import { leastTokensOf, tokensOfBytes } from "../text/tokenSize.ts"
import type { ReportedUsage } from "../VendorOutcome.ts"
import {
  type ImageTier,
  orderedTier,
  orderedTierFields,
  type TierEntry,
  tierEntry
} from "./imagePrices.ts"

/** The least tokens of a delivered image. */
const LEAST_OUTPUT_TOKENS = 64n
/** The output tokens of each partial image of a stream. */
const PARTIAL_IMAGE_TOKENS = 100n
/** The most tokens that a vendor may add to the text of one call. */
const VENDOR_TOKENS = 1024n
/** The most tokens of an input image, where the prices state no bound. */
const MOST_IMAGE_INPUT_TOKENS = 8192

export const ImageTokenQuote = Schema.Struct({
  kind: Schema.Literal("image_tokens"),
  images: Schema.Int,
  /** The number of calls where each image has its own; missing where one call makes all images. */
  calls: Schema.optionalKey(Schema.Int),
  /** The tokens that are held, and the range in which the vendor's count of text must lie. */
  textTokens: Schema.BigIntFromString,
  leastText: Schema.BigIntFromString,
  mostText: Schema.BigIntFromString,
  imageInputTokens: Schema.BigIntFromString,
  outputTokens: Schema.BigIntFromString,
  nanoPerTextToken: Schema.BigIntFromString,
  nanoPerImageInputToken: Schema.BigIntFromString,
  nanoPerOutputToken: Schema.BigIntFromString,
  /** The price of cached input; missing where it costs what other input costs. */
  nanoPerCachedToken: Schema.optionalKey(Schema.BigIntFromString),
  holdNano: Schema.BigIntFromString,
  /**
   * True if the charge is never above the hold, which then covers `mostText`; missing for other
   * orders.
   */
  isCapped: Schema.optionalKey(Schema.Literal(true)),
  /** The facts of the order, with which it can be priced per image. */
  ...orderedTierFields,
  tier: Schema.optionalKey(Schema.Struct({ quality: Schema.String, size: Schema.String }))
})
export type ImageTokenQuote = typeof ImageTokenQuote.Type

/** The facts of an order on which its tokens depend. */
export interface ImageTokenFacts {
  readonly images: number
  /** The bytes of the prompt, and of all texts of the order with it. */
  readonly promptBytes: number
  readonly textBytes: number
  readonly inputImages: number
  /** The number of calls, each of which sends the text and the input images. */
  readonly calls: number
  /** The number of partial images before each image of a stream. */
  readonly partialImages: number
  readonly tier: ImageTier
}

/** The tokens that a vendor counted. */
export interface ImageUsage {
  readonly inputTokens: bigint
  readonly outputTokens: bigint
  /** The input tokens of images; null where the vendor does not count them separately. */
  readonly imageTokens: bigint | null
  readonly cachedTokens: bigint
}

/** The images that a vendor delivered, at most as many as were ordered. */
export interface DeliveredImages {
  readonly images: number
  /** The tokens of these images; null where the vendor reported none in a known form. */
  readonly usage: ImageUsage | null
}

const isCount = Schema.is(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)))

const countIn = (fields: unknown, name: string): bigint | null => {
  const value = Predicate.hasProperty(fields, name) ? fields[name] : undefined
  return isCount(value) ? BigInt(value) : null
}

/** Reads a usage in the common standard form; null for any other form. */
export const readImageUsage = (usage: unknown): ImageUsage | null => {
  if (!Predicate.isObject(usage)) return null
  const inputTokens = countIn(usage, "input_tokens")
  const outputTokens = countIn(usage, "output_tokens")
  if (inputTokens === null || outputTokens === null) return null
  const details = "input_tokens_details" in usage ? usage.input_tokens_details : null
  return {
    inputTokens,
    outputTokens,
    imageTokens: countIn(details, "image_tokens"),
    cachedTokens: countIn(details, "cached_tokens") ?? 0n
  }
}

const addUsage = (one: ImageUsage | null, other: ImageUsage | null): ImageUsage | null =>
  one === null || other === null
    ? null
    : {
        inputTokens: one.inputTokens + other.inputTokens,
        outputTokens: one.outputTokens + other.outputTokens,
        imageTokens:
          one.imageTokens === null || other.imageTokens === null
            ? null
            : one.imageTokens + other.imageTokens,
        cachedTokens: one.cachedTokens + other.cachedTokens
      }

/** The images of two answers; their tokens are unknown where those of one of them are. */
export const addDelivered = (one: DeliveredImages, other: DeliveredImages): DeliveredImages => ({
  images: one.images + other.images,
  usage: addUsage(one.usage, other.usage)
})

/** The bound of the output tokens of one image, with the values that the vendor must be sent. */
export const outputBound = (
  { most_output_tokens: bound }: ImageTokenPrices,
  tier: ImageTier
): Result.Result<
  Pick<TierEntry<number>, "value"> & Partial<TierEntry<number>>,
  BillingUnavailable
> => (typeof bound === "number" ? Result.succeed({ value: bound }) : tierEntry(bound, tier))

type HeldImages = Pick<
  ImageTokenQuote,
  | "imageInputTokens"
  | "outputTokens"
  | "nanoPerTextToken"
  | "nanoPerImageInputToken"
  | "nanoPerOutputToken"
  | "nanoPerCachedToken"
>

/** The price of these tokens of text and of all other tokens, at the highest prices of the input. */
const holdOf = (quote: HeldImages, textTokens: bigint): bigint => {
  const { nanoPerCachedToken: cached = 0n } = quote
  return (
    textTokens * BigIntOps.max(quote.nanoPerTextToken, cached) +
    quote.imageInputTokens * BigIntOps.max(quote.nanoPerImageInputToken, cached) +
    quote.outputTokens * quote.nanoPerOutputToken
  )
}

/** The hold of an order whose charge is not capped. */
export const uncappedHoldOf = (quote: ImageTokenQuote): bigint => holdOf(quote, quote.textTokens)

/** The quote of an order, with a hold for the most tokens that it can have. */
export const quoteImageTokens = (
  prices: ImageTokenPrices,
  facts: ImageTokenFacts
): Result.Result<ImageTokenQuote, BillingUnavailable> =>
  Result.map(outputBound(prices, facts.tier), ({ value, tier }) => {
    const [images, calls] = [BigInt(facts.images), BigInt(facts.calls)]
    const perInputImage = prices.most_image_input_tokens ?? MOST_IMAGE_INPUT_TOKENS
    const tokens = {
      textTokens: tokensOfBytes(facts.textBytes) * calls,
      imageInputTokens: BigInt(facts.inputImages * perInputImage) * calls,
      outputTokens: images * (BigInt(value) + BigInt(facts.partialImages) * PARTIAL_IMAGE_TOKENS)
    }
    const cached = prices.per_million_cached_input
    const nanoPrices = {
      nanoPerTextToken: prices.per_million_text_input,
      nanoPerImageInputToken: prices.per_million_image_input,
      nanoPerOutputToken: prices.per_million_image_output,
      ...(cached === undefined ? {} : { nanoPerCachedToken: cached })
    }
    return {
      kind: "image_tokens",
      images: facts.images,
      ...(facts.calls > 1 ? { calls: facts.calls } : {}),
      ...tokens,
      leastText: leastTokensOf(facts.promptBytes),
      mostText: (BigInt(facts.textBytes) + VENDOR_TOKENS) * calls,
      ...nanoPrices,
      holdNano: holdOf({ ...tokens, ...nanoPrices }, tokens.textTokens),
      ...orderedTier(facts.tier),
      ...(tier === undefined ? {} : { tier: { quality: tier.quality, size: tier.size } })
    }
  })

/** The quote of an order whose charge may never be above its hold. */
export const capImageTokenQuote = (quote: ImageTokenQuote): ImageTokenQuote => ({
  ...quote,
  holdNano: holdOf(quote, quote.mostText),
  isCapped: true
})

interface InputTokens {
  readonly text: bigint
  readonly image: bigint
  readonly cached: bigint
}

/** The charged tokens, in the form of a usage record. */
export interface ImageTokenCharge {
  readonly inputTokens: bigint
  readonly outputTokens: bigint
  readonly parts: ReadonlyArray<ChargePart>
  readonly chargeNano: bigint
  readonly basis: "upstream_usage" | "largest_plausible" | "formula"
  readonly implausible: ReportedUsage | null
}

/**
 * What was held for the delivered images, and the bound of their text. An image that was not
 * delivered has no output; where each image has a call of its own, it has no input either.
 */
const boundsOf = (quote: ImageTokenQuote, delivered: DeliveredImages | null) => {
  const ordered = BigInt(quote.images)
  const images = delivered === null ? ordered : BigIntOps.min(BigInt(delivered.images), ordered)
  const ofImages = (tokens: bigint): bigint => (tokens * images) / ordered
  const ofCalls = (tokens: bigint): bigint =>
    quote.calls === undefined ? tokens : ofImages(tokens)
  return {
    images,
    text: ofCalls(quote.textTokens),
    mostText: ofCalls(quote.mostText),
    image: ofCalls(quote.imageInputTokens),
    output: ofImages(quote.outputTokens)
  }
}
type Bounds = ReturnType<typeof boundsOf>

/**
 * The input by kinds. Without a separate count of image tokens, the input beyond the estimate of
 * the text is of images.
 */
const inputOf = (bounds: Bounds, usage: ImageUsage): InputTokens => {
  const { inputTokens, imageTokens, cachedTokens } = usage
  const isWithImages = bounds.image > 0n
  const beyondText = BigIntOps.max(inputTokens - bounds.text, 0n)
  const image = BigIntOps.min(imageTokens ?? (isWithImages ? beyondText : 0n), inputTokens)
  return { text: inputTokens - image, image, cached: cachedTokens }
}

/** Cached tokens are taken from the text first, and then from the images. */
const partsOfInput = (quote: ImageTokenQuote, { text, image, cached }: InputTokens) => {
  const cachedInput =
    quote.nanoPerCachedToken === undefined ? 0n : BigIntOps.min(cached, text + image)
  return partsOf([
    ["cached_input", cachedInput, quote.nanoPerCachedToken],
    ["image_input", image - BigIntOps.max(cachedInput - text, 0n), quote.nanoPerImageInputToken]
  ])
}

/**
 * The charge of delivered images: by the vendor's count, or at the most that they can have if the
 * count is above that. A count that is too small for the text and for the delivered images, and a
 * missing count, are replaced by what was held for these images. If it is not known what was
 * delivered (null), the order is charged as held.
 */
export const chargeImageTokens = (
  quote: ImageTokenQuote,
  delivered: DeliveredImages | null
): ImageTokenCharge => {
  const usage = delivered?.usage ?? null
  const bounds = boundsOf(quote, delivered)
  const chargeFor = (
    input: InputTokens,
    outputTokens: bigint,
    basis: ImageTokenCharge["basis"],
    isImplausible: boolean
  ): ImageTokenCharge => {
    const parts = partsOfInput(quote, input)
    const inputTokens = input.text + input.image
    return {
      inputTokens,
      outputTokens,
      parts,
      basis,
      chargeNano:
        amountWithParts({ units: inputTokens, unitPriceNano: quote.nanoPerTextToken }, parts) +
        outputTokens * quote.nanoPerOutputToken,
      implausible:
        isImplausible && usage !== null
          ? { input: usage.inputTokens, output: usage.outputTokens }
          : null
    }
  }
  const held = { text: bounds.text, image: bounds.image, cached: 0n }
  if (usage === null) return chargeFor(held, bounds.output, "formula", false)
  const least = BigIntOps.min(bounds.images * LEAST_OUTPUT_TOKENS, bounds.output)
  if (usage.inputTokens < quote.leastText || usage.outputTokens < least) {
    return chargeFor(held, bounds.output, "formula", true)
  }
  const reported = inputOf(bounds, usage)
  const input = {
    ...reported,
    text: BigIntOps.min(reported.text, bounds.mostText),
    image: BigIntOps.min(reported.image, bounds.image)
  }
  const outputTokens = BigIntOps.min(usage.outputTokens, bounds.output)
  const isPlausible =
    input.text === reported.text &&
    input.image === reported.image &&
    outputTokens === usage.outputTokens &&
    usage.cachedTokens <= usage.inputTokens
  return chargeFor(
    input,
    outputTokens,
    isPlausible ? "upstream_usage" : "largest_plausible",
    !isPlausible
  )
}
