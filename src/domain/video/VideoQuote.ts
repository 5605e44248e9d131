/**
 * What a video costs: the hold before the vendor is called and the charge when it is done. One
 * quote, frozen with the hold, prices both.
 */
import { Result, Schema } from "effect"
import type { SecondVideoPrices, TokenVideoPrices } from "../catalog/Prices.ts"
import { BillingUnavailable } from "../Errors.ts"
import type { ReportedUsage } from "../VendorOutcome.ts"
import { PriceTier, Resolution, tiers, tokensPerSecond } from "./tiers.ts"
import type { VideoSku } from "./VideoSku.ts"

/** Input seconds assumed for a reference video whose length is unknown or shorter. */
const MIN_INPUT_VIDEO_SECONDS = 4

/** Output seconds prepaid when the model chooses the length. */
const SMART_PREPAID_SECONDS = 15

export const TokenVideoQuote = Schema.Struct({
  kind: Schema.Literal("token_video"),
  resolution: Resolution,
  /** The price row used; a tier without a price of its own uses `base`. */
  tier: PriceTier,
  withVideo: Schema.Boolean,
  inputSeconds: Schema.Int,
  outputSeconds: Schema.Int,
  smart: Schema.Boolean,
  tokensPerSecond: Schema.BigIntFromString,
  nanoPerToken: Schema.BigIntFromString,
  estimatedTokens: Schema.BigIntFromString,
  holdNano: Schema.BigIntFromString,
  /** The most the order can come to; left out where the hold is reckoned from all of its size. */
  exposureNano: Schema.optionalKey(Schema.BigIntFromString)
})
export type TokenVideoQuote = typeof TokenVideoQuote.Type

const SecondVideoQuote = Schema.Struct({
  kind: Schema.Literal("second_video"),
  resolution: Resolution,
  outputSeconds: Schema.Int,
  nanoPerSecond: Schema.BigIntFromString,
  holdNano: Schema.BigIntFromString
})
type SecondVideoQuote = typeof SecondVideoQuote.Type

export const VideoQuote = Schema.Union([TokenVideoQuote, SecondVideoQuote])
export type VideoQuote = typeof VideoQuote.Type

const noPrice = (
  resolution: Resolution,
  detail: string,
  pricedResolutions: ReadonlyArray<Resolution>
) =>
  Result.fail(
    new BillingUnavailable({
      message:
        `No price is configured for ${resolution}${detail}, so this order cannot be billed. ` +
        (pricedResolutions.length === 0
          ? "No other resolution has one either."
          : `Priced${detail} are: ${pricedResolutions.join(", ")}.`),
      param: "resolution",
      priced: pricedResolutions
    })
  )

export interface VideoInputs {
  /** Reference videos in the order; any of them turns the whole order to the with-video price. */
  readonly videos: number
  /** The total length of those whose length is known; null where there is none. */
  readonly videoSeconds: number | null
  /** What all of them together can be at most, where the length of any is not known. */
  readonly longestSeconds?: number
}

/** The price of a token, and whose it is: a tier without a price of its own takes that of `base`. */
export const videoTokenPrice = (
  prices: TokenVideoPrices,
  resolution: Resolution,
  withVideo: boolean
): Result.Result<Pick<TokenVideoQuote, "tier" | "nanoPerToken">, BillingUnavailable> => {
  const field = withVideo ? "with_video" : "without_video"
  const priceTier = tiers[resolution].price
  const ownPrice = prices.per_million_tokens[priceTier]?.[field]
  const tier = ownPrice === undefined ? "base" : priceTier
  const nanoPerToken = ownPrice ?? prices.per_million_tokens.base?.[field]
  if (nanoPerToken === undefined) {
    // Without a base price only the tiers with one of their own are left.
    const pricedResolutions = Resolution.literals.filter((other) => {
      const tier = tiers[other].price
      return tier !== "base" && prices.per_million_tokens[tier]?.[field] !== undefined
    })
    return noPrice(resolution, withVideo ? " with a reference video" : "", pricedResolutions)
  }
  return Result.succeed({ tier, nanoPerToken })
}

/** The price of an output second. */
export const videoSecondPrice = (
  prices: SecondVideoPrices,
  resolution: Resolution
): Result.Result<bigint, BillingUnavailable> => {
  const nanoPerSecond = prices.per_second[resolution]
  if (nanoPerSecond === undefined) {
    const pricedResolutions = Resolution.literals.filter(
      (other) => prices.per_second[other] !== undefined
    )
    return noPrice(resolution, "", pricedResolutions)
  }
  return Result.succeed(nanoPerSecond)
}

/**
 * Of vendors that count the frames of other sizes than the formula's: a second of 720p in another ratio
 * has up to 4.4 % more pixels, and a video one frame more than its seconds.
 */
const EXPOSURE_PERCENT = 110n

/** The most tokens of an order whose input cannot be measured before it is sent. */
const exposedTokens = (seconds: number, resolution: Resolution): bigint =>
  (BigInt(seconds) * tokensPerSecond[resolution] * EXPOSURE_PERCENT) / 100n

const quoteByTokens = (
  prices: TokenVideoPrices,
  sku: VideoSku,
  inputs: VideoInputs
): Result.Result<TokenVideoQuote, BillingUnavailable> => {
  const resolution = sku.billedResolution
  const withVideo = inputs.videos > 0
  const inputSeconds = withVideo
    ? Math.max(Math.ceil(inputs.videoSeconds ?? 0), MIN_INPUT_VIDEO_SECONDS)
    : 0
  const smart = sku.seconds === "smart"
  const outputSeconds = sku.seconds === "smart" ? SMART_PREPAID_SECONDS : sku.seconds
  const estimatedTokens = BigInt(inputSeconds + outputSeconds) * tokensPerSecond[resolution]
  const { longestSeconds } = inputs
  return Result.map(videoTokenPrice(prices, resolution, withVideo), ({ tier, nanoPerToken }) => ({
    kind: "token_video",
    resolution,
    tier,
    withVideo,
    inputSeconds,
    outputSeconds,
    smart,
    tokensPerSecond: tokensPerSecond[resolution],
    nanoPerToken,
    estimatedTokens,
    holdNano: estimatedTokens * nanoPerToken,
    ...(longestSeconds === undefined
      ? {}
      : {
          exposureNano:
            exposedTokens(Math.max(inputSeconds, longestSeconds) + outputSeconds, resolution) *
            nanoPerToken
        })
  }))
}

const quoteBySeconds = (
  prices: SecondVideoPrices,
  sku: VideoSku
): Result.Result<SecondVideoQuote, BillingUnavailable> => {
  const resolution = sku.billedResolution
  const outputSeconds = sku.seconds === "smart" ? SMART_PREPAID_SECONDS : sku.seconds
  return Result.map(videoSecondPrice(prices, resolution), (nanoPerSecond) => ({
    kind: "second_video",
    resolution,
    outputSeconds,
    nanoPerSecond,
    holdNano: BigInt(outputSeconds) * nanoPerSecond
  }))
}

/** The hold and everything it was computed from. */
export const quoteVideo = (
  prices: TokenVideoPrices | SecondVideoPrices,
  sku: VideoSku,
  inputs: VideoInputs
): Result.Result<VideoQuote, BillingUnavailable> =>
  prices.kind === "token_video" ? quoteByTokens(prices, sku, inputs) : quoteBySeconds(prices, sku)

interface VideoCharge {
  readonly chargeNano: bigint
  /** Tokens or seconds charged. */
  readonly units: bigint
  readonly basis: "upstream_usage" | "largest_plausible" | "formula" | "ordered_seconds"
  /** What the vendor counted, where no such order can have that; null where it is charged as counted. */
  readonly implausible: ReportedUsage | null
}

/** What the vendor reported when the task was done; null where it said nothing usable. */
export interface VideoUsage {
  readonly completionTokens: bigint | null
  /** Length rendered, where the vendor tells it: matters only when it chose the length. */
  readonly outputSeconds: number | null
}

/**
 * Of orders whose size is known: a vendor may render another size than the one assumed, as where its
 * interface takes no resolution.
 */
const PLAUSIBLE_TIMES = 2n

/** Vendors bill drafts at 0.6 and more of the frames that are ordered. */
const LEAST_SHARE = 2n

/** The shortest video of a vendor that chooses the length. */
const SHORTEST_SECONDS = 2

/** The most tokens that are charged for an order, whatever its vendor reports. */
const mostTokens = (quote: TokenVideoQuote): bigint =>
  quote.exposureNano === undefined
    ? quote.estimatedTokens * PLAUSIBLE_TIMES
    : quote.exposureNano / quote.nanoPerToken

/** The fewest tokens that are believed: some vendors count no input, but all count what they rendered. */
export const leastTokens = (quote: TokenVideoQuote): bigint =>
  (BigInt(quote.smart ? SHORTEST_SECONDS : quote.outputSeconds) * quote.tokensPerSecond) /
  LEAST_SHARE

/**
 * The charge of a finished task. Seconds are charged as ordered; tokens by the vendor's count, also
 * above the hold. A count that no such order can have is charged at the most that one can have, and one
 * that is too small for it by the formula, as where there is none.
 */
export const chargeVideo = (quote: VideoQuote, usage: VideoUsage): VideoCharge => {
  if (quote.kind === "second_video") {
    return {
      chargeNano: quote.holdNano,
      units: BigInt(quote.outputSeconds),
      basis: "ordered_seconds",
      implausible: null
    }
  }
  const chargeFor = (
    units: bigint,
    basis: VideoCharge["basis"],
    implausible: ReportedUsage | null
  ): VideoCharge => ({ chargeNano: units * quote.nanoPerToken, units, basis, implausible })
  const maxTokens = mostTokens(quote)
  const countedTokens = usage.completionTokens
  if (countedTokens !== null && countedTokens >= leastTokens(quote)) {
    return countedTokens <= maxTokens
      ? chargeFor(countedTokens, "upstream_usage", null)
      : chargeFor(maxTokens, "largest_plausible", { input: null, output: countedTokens })
  }
  const renderedSeconds = quote.smart && usage.outputSeconds !== null ? usage.outputSeconds : null
  const outputSeconds = renderedSeconds ?? quote.outputSeconds
  const tokens = BigInt(quote.inputSeconds + outputSeconds) * quote.tokensPerSecond
  return chargeFor(
    tokens <= maxTokens ? tokens : maxTokens,
    "formula",
    countedTokens === null ? null : { input: null, output: countedTokens }
  )
}

/** What takes about as long as another of the same kind. */
export const VideoKind = Schema.Struct({
  model: Schema.String,
  /** Output seconds; `"smart"` where the model chooses. */
  seconds: Schema.Union([Schema.Finite, Schema.Literal("smart")]),
  /** The resolution that is billed. */
  resolution: Schema.String
})
export type VideoKind = typeof VideoKind.Type

export const kindOf = (model: string, quote: VideoQuote): VideoKind => ({
  model,
  seconds: quote.kind === "token_video" && quote.smart ? "smart" : quote.outputSeconds,
  resolution: quote.resolution
})
