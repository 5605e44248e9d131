/**
 * The price of a video: the hold before the vendor is called. The same quote, stored unchanged with
 * the hold, prices the charge when the video is done (`VideoCharge.ts`).
 */
import { BigInt as BigIntOps, Result, Schema } from "effect"
import type { SecondVideoPrices, TokenVideoPrices } from "../catalog/Prices.ts"
import { BillingUnavailable } from "../Errors.ts"
import { amountBeside, type ChargePart, partsOf } from "../money/chargeParts.ts"
import { PriceTier, Resolution, tiers, tokensPerSecond } from "./tiers.ts"
import type { VideoSku } from "./VideoSku.ts"
import { FactName, factFields, type VideoFacts } from "./videoFacts.ts"
import {
  cheaperLines,
  linePrice,
  pricedFacts,
  surchargedReferences,
  type VideoTable
} from "./videoPriceTable.ts"

/** The minimum input seconds, for a reference video whose duration is unknown or shorter. */
const MIN_INPUT_VIDEO_SECONDS = 4

/** The least output seconds that are held if the model chooses the duration. */
const SMART_PREPAID_SECONDS = 15

/**
 * True if the charge is never above the hold, which then covers the most that the order can cost;
 * missing for other orders.
 */
const isCapped = Schema.optionalKey(Schema.Literal(true))

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
  exposureNano: Schema.optionalKey(Schema.BigIntFromString),
  isCapped
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

/** The quote by a price table: the price of the line that applies to the facts of the order. */
const tableFields = {
  kind: Schema.Literal("video_table"),
  ...factFields,
  /** The facts that the price depends on; the others are those of the mount that is called first. */
  pricedFacts: Schema.Array(FactName),
  /** The seconds of the reference videos, rounded up; the most they can have if unknown. */
  inputSeconds: Schema.Int,
  outputSeconds: Schema.Int,
  smart: Schema.Boolean,
  nanoPerUnit: Schema.BigIntFromString,
  /** The lower prices that a report of the vendor can lead to; missing if there are none. */
  cheaperLines: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        resolution: Resolution,
        sound: Schema.Boolean,
        nanoPerUnit: Schema.BigIntFromString
      })
    )
  ),
  /** The terms of a surcharge for reference images; missing if the table has none. */
  surcharge: Schema.optionalKey(
    Schema.Struct({
      /** The reference images of the order. */
      references: Schema.Int,
      /** The number of them that is free of the surcharge. */
      beyond: Schema.Int,
      nanoPerReference: Schema.BigIntFromString
    })
  ),
  /** The units of the hold: seconds, tokens, or 1 for a clip. */
  units: Schema.BigIntFromString,
  holdNano: Schema.BigIntFromString
}
export const TableVideoQuote = Schema.Union([
  Schema.Struct({
    ...tableFields,
    unit: Schema.Literal("second"),
    /** Whether the input seconds are billed too. */
    billsInput: Schema.Boolean,
    /** The least seconds that are billed; missing if there is no such limit. */
    leastSeconds: Schema.optionalKey(Schema.Int)
  }),
  Schema.Struct({ ...tableFields, unit: Schema.Literal("clip") }),
  Schema.Struct({
    ...tableFields,
    unit: Schema.Literal("token"),
    tokensPerSecond: Schema.BigIntFromString,
    /**
     * The tokens by the formula, which apply if the vendor reports no usable number. A reference
     * video of unknown length counts with its minimum, as it does for `token_video`.
     */
    estimatedTokens: Schema.BigIntFromString,
    /** The least tokens that are billed; 0 if there is no such limit. */
    leastTokens: Schema.BigIntFromString,
    isCapped
  })
])
export type TableVideoQuote = typeof TableVideoQuote.Type

export const VideoQuote = Schema.Union([TokenVideoQuote, SecondVideoQuote, TableVideoQuote])
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
  /** The number of images that are sent as references; 0 if missing. */
  readonly referenceImages?: number
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
export const EXPOSURE_PERCENT = 110n

/** The maximum number of tokens of an order whose input cannot be measured in advance. */
const exposedTokens = (seconds: number, resolution: Resolution): bigint =>
  (BigInt(seconds) * tokensPerSecond[resolution] * EXPOSURE_PERCENT) / 100n

/** The output seconds that are held: the ordered ones, or the most that the model may choose. */
const heldSeconds = ({ seconds }: VideoSku, { longestOutputSeconds = 0 }: VideoInputs): number =>
  seconds === "smart" ? Math.max(SMART_PREPAID_SECONDS, longestOutputSeconds) : seconds

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
  const outputSeconds = heldSeconds(sku, inputs)
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

/** The seconds of reference video: those that are known, or the most that the videos can have. */
const inputSecondsOf = ({ videos, videoSeconds, longestSeconds = 0 }: VideoInputs): number =>
  videos === 0 ? 0 : Math.max(Math.ceil(videoSeconds ?? 0), longestSeconds)

type UnitTerms = Pick<TableVideoQuote, "outputSeconds" | "inputSeconds" | "withVideo"> & {
  readonly resolution: Resolution
}

/** The terms of seconds, without their price. */
const secondTerms = (
  table: Extract<VideoTable, { readonly unit: "second" }>,
  { outputSeconds, inputSeconds, withVideo }: UnitTerms
) => {
  const billsInput = table.input_seconds === true
  const leastSeconds = withVideo ? (table.least_input_seconds ?? 0) : 0
  const seconds = outputSeconds + (billsInput ? inputSeconds : 0)
  return {
    unit: table.unit,
    billsInput,
    ...(leastSeconds === 0 ? {} : { leastSeconds }),
    units: BigInt(Math.max(seconds, leastSeconds))
  }
}

/** The terms of tokens, without their price. */
const tokenTerms = (
  table: Extract<VideoTable, { readonly unit: "token" }>,
  { outputSeconds, inputSeconds, withVideo, resolution }: UnitTerms,
  knownInputSeconds: number
) => {
  const secondsWith = (seconds: number) =>
    outputSeconds + (withVideo ? Math.max(seconds, MIN_INPUT_VIDEO_SECONDS) : 0)
  const leastTokens = withVideo ? BigInt(table.least_input_tokens ?? 0) : 0n
  const knownTokens = BigInt(secondsWith(knownInputSeconds)) * tokensPerSecond[resolution]
  return {
    unit: table.unit,
    tokensPerSecond: tokensPerSecond[resolution],
    estimatedTokens: BigIntOps.max(knownTokens, leastTokens),
    leastTokens,
    units: BigIntOps.max(exposedTokens(secondsWith(inputSeconds), resolution), leastTokens)
  }
}

/** The part of the charge that is the surcharge for reference images; none below its number. */
export const surchargeParts = ({
  surcharge
}: Pick<TableVideoQuote, "surcharge">): ReadonlyArray<ChargePart> =>
  surcharge === undefined
    ? []
    : partsOf([
        [
          "reference",
          surchargedReferences(surcharge, surcharge.references),
          surcharge.nanoPerReference
        ]
      ])

/** The terms of the surcharge of a table, as a quote has them. */
const surchargeTerms = (
  { reference_surcharge: surcharge }: VideoTable,
  { referenceImages = 0 }: VideoInputs
): Pick<TableVideoQuote, "surcharge"> =>
  surcharge === undefined
    ? {}
    : {
        surcharge: {
          references: referenceImages,
          beyond: surcharge.beyond,
          nanoPerReference: surcharge.price
        }
      }

/**
 * The quote of an order by a price table. The hold covers every charge that a truthful answer of
 * the vendor can lead to: unknown lengths count in full, and tokens with the margin by which a
 * video may have more than the formula.
 */
export const quoteByTable = (
  table: VideoTable,
  facts: VideoFacts,
  sku: VideoSku,
  inputs: VideoInputs
): Result.Result<TableVideoQuote, BillingUnavailable> =>
  Result.map(linePrice(table, facts), (nanoPerUnit) => {
    const lower = cheaperLines(table, facts, nanoPerUnit)
    const common = {
      kind: table.kind,
      ...facts,
      ...(lower.length === 0 ? {} : { cheaperLines: lower }),
      pricedFacts: pricedFacts(table),
      outputSeconds: heldSeconds(sku, inputs),
      inputSeconds: inputSecondsOf(inputs),
      smart: sku.seconds === "smart",
      nanoPerUnit,
      ...surchargeTerms(table, inputs)
    }
    const withHold = <Terms extends { readonly units: bigint }>(terms: Terms) => ({
      ...common,
      ...terms,
      holdNano: terms.units * nanoPerUnit + amountBeside(surchargeParts(common))
    })
    switch (table.unit) {
      case "second":
        return withHold(secondTerms(table, common))
      case "clip":
        return withHold({ unit: table.unit, units: 1n })
      case "token":
        return withHold(tokenTerms(table, common, Math.ceil(inputs.videoSeconds ?? 0)))
    }
  })

/**
 * The quote of an order whose charge may never be above its hold: the hold is the most that a
 * truthful answer of the vendor can lead to, and a larger count is charged at that.
 */
export const capVideoQuote = (quote: VideoQuote): VideoQuote => {
  if (quote.kind === "token_video") {
    const { exposureNano, ...rest } = quote
    const mostTokens = (quote.estimatedTokens * EXPOSURE_PERCENT) / 100n
    return { ...rest, holdNano: exposureNano ?? mostTokens * quote.nanoPerToken, isCapped: true }
  }
  return quote.kind === "video_table" && quote.unit === "token"
    ? { ...quote, isCapped: true }
    : quote
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
  seconds: quote.kind !== "second_video" && quote.smart ? "smart" : quote.outputSeconds,
  resolution: quote.resolution
})
