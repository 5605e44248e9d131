/**
 * The price of a video: the hold before the vendor is called, and the charge when the video is
 * done. A single quote, stored unchanged with the hold, prices both.
 */
import { Result, Schema } from "effect"
import type { SecondVideoPrices, TokenVideoPrices } from "../catalog/Prices.ts"
import { BillingUnavailable } from "../Errors.ts"
import type { ReportedUsage } from "../VendorOutcome.ts"
import { PriceTier, Resolution, tiers, tokensPerSecond } from "./tiers.ts"
import type { VideoSku } from "./VideoSku.ts"

/** The minimum input seconds, for a reference video whose duration is unknown or shorter. */
const MIN_INPUT_VIDEO_SECONDS = 4

/** The least output seconds that are held if the model chooses the duration. */
const SMART_PREPAID_SECONDS = 15

export const TokenVideoQuote = Schema.Struct({
  kind: Schema.Literal("token_video"),
  resolution: Resolution,
  /** The price tier applied; a tier without its own price uses `base`. */
  tier: PriceTier,
  withVideo: Schema.Boolean,
  inputSeconds: Schema.Int,
  outputSeconds: Schema.Int,
  smart: Schema.Boolean,
  tokensPerSecond: Schema.BigIntFromString,
  nanoPerToken: Schema.BigIntFromString,
  estimatedTokens: Schema.BigIntFromString,
  holdNano: Schema.BigIntFromString,
  /**
   * The maximum possible charge of an order whose size is not fully known in advance; missing if
   * the hold covers the whole size.
   */
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
  /**
   * The number of reference videos in the order; a single one switches the whole order to the
   * with-video price.
   */
  readonly videos: number
  /** The total duration of the videos with a known duration; null if there is none. */
  readonly videoSeconds: number | null
  /** The maximum total duration of all videos, if the duration of any is unknown. */
  readonly longestSeconds?: number
  /** The longest output if the model chooses the duration, if the model's limits state one. */
  readonly longestOutputSeconds?: number
}

/** The price of a token, and its tier: a tier without its own price uses the price of `base`. */
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
    // Without a base price, only tiers with their own price are available.
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
 * A safety margin over the formula, for vendors that count the actual frames: a second of 720p in
 * another ratio has up to 4.4 % more pixels, and a video has one frame more than its duration
 * requires.
 */
const EXPOSURE_PERCENT = 110n

/** The maximum number of tokens of an order whose input cannot be measured in advance. */
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
  const outputSeconds =
    sku.seconds === "smart"
      ? Math.max(SMART_PREPAID_SECONDS, inputs.longestOutputSeconds ?? 0)
      : sku.seconds
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

/** The quote of an order: the hold and all figures it was computed from. */
export const quoteVideo = (
  prices: TokenVideoPrices | SecondVideoPrices,
  sku: VideoSku,
  inputs: VideoInputs
): Result.Result<VideoQuote, BillingUnavailable> =>
  prices.kind === "token_video" ? quoteByTokens(prices, sku, inputs) : quoteBySeconds(prices, sku)

interface VideoCharge {
  readonly chargeNano: bigint
  /** The number of tokens or seconds charged. */
  readonly units: bigint
  readonly basis: "upstream_usage" | "largest_plausible" | "formula" | "ordered_seconds"
  /**
   * The usage that the vendor reported, if it is implausible for this order; null if the charge
   * follows the vendor's report.
   */
  readonly implausible: ReportedUsage | null
}

/** The usage reported with the finished task; a value is null if it was missing or unusable. */
export interface VideoUsage {
  readonly completionTokens: bigint | null
  /**
   * The rendered duration, if the vendor reports it. It is used only if the model chose the
   * duration.
   */
  readonly outputSeconds: number | null
}

/**
 * The maximum plausible ratio of reported to estimated tokens, for orders whose size is known: a
 * vendor may render another size than assumed, for example if its API accepts no resolution.
 */
const PLAUSIBLE_TIMES = 2n

/**
 * The divisor for the minimum plausible token count: vendors bill drafts at 0.6 or more of the
 * ordered frames.
 */
const LEAST_SHARE = 2n

/** The minimum duration of a video whose model chooses the duration. */
const SHORTEST_SECONDS = 2

/** The maximum number of tokens charged for an order, whatever the vendor reports. */
const mostTokens = (quote: TokenVideoQuote): bigint =>
  quote.exposureNano === undefined
    ? quote.estimatedTokens * PLAUSIBLE_TIMES
    : quote.exposureNano / quote.nanoPerToken

/**
 * The minimum plausible number of tokens: some vendors count no input, but all count the rendered
 * output.
 */
export const leastTokens = (quote: TokenVideoQuote): bigint =>
  (BigInt(quote.smart ? SHORTEST_SECONDS : quote.outputSeconds) * quote.tokensPerSecond) /
  LEAST_SHARE

/**
 * The charge of a finished task. Seconds are charged as ordered; tokens by the vendor's count, even
 * above the hold. A count above the plausible maximum is charged at that maximum. A count below the
 * plausible minimum, and a missing count, are replaced by the formula.
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

/** The kind of a video: videos of the same kind take about the same time. */
export const VideoKind = Schema.Struct({
  model: Schema.String,
  /** The output seconds; `"smart"` if the model chooses. */
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
