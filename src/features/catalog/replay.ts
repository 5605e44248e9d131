/**
 * Computes what the orders of a month would have been charged and would have cost under another
 * catalog. Charges are linear in the counted units and exact, so orders that share every price are
 * priced as one group.
 */
import { Order, Result, Schema } from "effect"
import type { CatalogDocument } from "../../domain/catalog/CatalogDocument.ts"
import type { PriceListTerms } from "../../domain/catalog/PriceList.ts"
import type {
  AudioSecondPrices,
  CharacterPrices,
  ImageTokenPrices,
  Prices,
  SearchPrices,
  TokenPrices
} from "../../domain/catalog/Prices.ts"
import { priceModel } from "../../domain/catalog/priceLists.ts"
import { imagePrice } from "../../domain/image/ImageQuote.ts"
import { amountWithParts, partsOf } from "../../domain/money/chargeParts.ts"
import {
  audioRounding,
  charactersBilled,
  documentsPerSearchOf
} from "../../domain/money/unitQuotes.ts"
import { costOf, textPrices } from "../../domain/text/TextQuote.ts"
import { Resolution } from "../../domain/video/tiers.ts"
import { videoSecondPrice, videoTokenPrice } from "../../domain/video/VideoQuote.ts"
import { InputMode } from "../../domain/video/videoFacts.ts"
import {
  linePrice,
  pricedFacts,
  surchargedReferences,
  type VideoTable
} from "../../domain/video/videoPriceTable.ts"

/**
 * A sum of units; null where the orders of the group have no such units, such as images of a video.
 */
const units = Schema.NullOr(Schema.BigIntFromString)

/** Sums over charged orders that agree in everything a price depends on. */
export const UnitGroup = Schema.Struct({
  /** The present price list of the orders' organisations; null where they are on none. */
  priceListId: Schema.NullOr(Schema.String),
  model: Schema.String,
  /** The channel that executed the orders. */
  channelId: Schema.String,
  resolution: Schema.NullOr(Resolution),
  /**
   * Whether the video has a reference video; null where neither the charge nor the cost depends on
   * that.
   */
  withVideo: Schema.NullOr(Schema.Boolean),
  /** Whether the video has sound; null where that is not known. */
  sound: Schema.NullOr(Schema.Boolean),
  /** What the video was made from; null where the order was not priced by a price table. */
  mode: Schema.NullOr(InputMode),
  /** The reference images of each order; null where neither its price nor its cost depended on them. */
  references: Schema.NullOr(Schema.Int),
  /** For texts: whether the order needs a price of output. */
  expectsOutput: Schema.Boolean,
  /** For images: quality and size as ordered; null where the order did not specify them. */
  quality: Schema.NullOr(Schema.String),
  size: Schema.NullOr(Schema.String),
  /** For images: whether the orders have input images. */
  edit: Schema.Boolean,
  count: Schema.Int,
  chargeNano: Schema.BigIntFromString,
  /** The cost of the charges whose cost is known. */
  costNano: Schema.BigIntFromString,
  withoutCost: Schema.Int,
  /** For videos: tokens as reported by the vendors. */
  videoTokens: units,
  /**
   * For videos: the seconds as ordered; null where the model chose them and the charge is by another
   * unit.
   */
  seconds: units,
  /** For videos: seconds of reference video; null where they were not counted for the hold. */
  inputSeconds: units,
  images: units,
  inputTokens: units,
  outputTokens: units,
  /**
   * For texts: tokens of `inputTokens` and `outputTokens` that vendors counted separately; null
   * where the order was charged without a price of their own for them.
   */
  cachedTokens: units,
  /** For images by tokens: tokens of `inputTokens` that are of input images and not cached. */
  imageInputTokens: units,
  /** For images by tokens: whether some of the cached tokens may be of input images. */
  mayCacheImages: Schema.Boolean,
  audioInputTokens: units,
  audioOutputTokens: units,
  /** For speech by characters: the characters, and those of them that are Han characters. */
  codePoints: units,
  hanCharacters: units,
  /** For transcriptions by length: the seconds as they were billed, and how they were rounded. */
  audioSeconds: units,
  stepSeconds: Schema.NullOr(Schema.Int),
  minimumSeconds: Schema.NullOr(Schema.Int),
  /** For rankings by searches: the searches, and the most documents of each. */
  searches: units,
  documentsPerSearch: Schema.NullOr(Schema.Int),
  /**
   * The seconds or searches that the vendor bills, which it may round in another way; null where the
   * cost is not known or by other units.
   */
  costUnits: units,
  costStepSeconds: Schema.NullOr(Schema.Int),
  costMinimumSeconds: Schema.NullOr(Schema.Int),
  costDocumentsPerSearch: Schema.NullOr(Schema.Int)
})
export type UnitGroup = typeof UnitGroup.Type

/** The surcharges of the group's orders; null where their reference images are not known. */
const surchargesOf = (
  { reference_surcharge: surcharge }: VideoTable,
  { references, mode, count }: UnitGroup
): bigint | null => {
  if (surcharge === undefined) return 0n
  const hasNone = mode !== null && mode !== "reference"
  const known = references ?? (hasNone ? 0 : null)
  return known === null
    ? null
    : surchargedReferences(surcharge, known) * surcharge.price * BigInt(count)
}

/** The charge or cost of videos by a price table; null where a fact of the videos is not known. */
const amountOfTable = (table: VideoTable, group: UnitGroup): bigint | null => {
  const { resolution, withVideo, sound, mode, seconds, inputSeconds, videoTokens } = group
  const facts = new Set(pricedFacts(table))
  const isUnknown =
    resolution === null ||
    (withVideo === null && facts.has("input_video")) ||
    (mode === null && (facts.has("sound") || facts.has("mode")))
  // Sums of several orders do not tell which of them are below the least seconds.
  const hasLeast =
    table.unit === "second" && table.least_input_seconds !== undefined && withVideo !== false
  if (isUnknown || hasLeast) return null
  const counted = {
    second:
      table.unit === "second" && table.input_seconds ? addUnits(seconds, inputSeconds) : seconds,
    clip: BigInt(group.count),
    token: videoTokens
  }
  const units = counted[table.unit]
  const surchargesNano = surchargesOf(table, group)
  if (units === null || surchargesNano === null) return null
  const price = linePrice(table, {
    resolution,
    sound,
    withVideo: withVideo ?? false,
    mode: mode ?? "text"
  })
  return Result.getOrNull(Result.map(price, (nanoPerUnit) => units * nanoPerUnit + surchargesNano))
}

const addUnits = (one: bigint | null, other: bigint | null): bigint | null =>
  one === null || other === null ? null : one + other

/**
 * The charge or cost of texts; null where the number of tokens with a price of their own is not
 * known.
 */
const amountOfText = (prices: TokenPrices, group: UnitGroup): bigint | null => {
  const { inputTokens, outputTokens, cachedTokens, audioInputTokens, audioOutputTokens } = group
  const isUnknown =
    (prices.per_million_cached_input !== undefined && cachedTokens === null) ||
    (prices.per_million_audio_input !== undefined && audioInputTokens === null) ||
    (prices.per_million_audio_output !== undefined && audioOutputTokens === null)
  if (inputTokens === null || outputTokens === null || isUnknown) return null
  if (group.imageInputTokens !== null) return null
  const separate = {
    cachedInput: cachedTokens ?? 0n,
    audioInput: audioInputTokens ?? 0n,
    audioOutput: audioOutputTokens ?? 0n
  }
  return textPrices(prices, group.expectsOutput).pipe(
    Result.map((paid) => costOf(paid, { inputTokens, outputTokens, separate })),
    Result.getOrNull
  )
}

/**
 * The charge or cost of images by tokens; null where their tokens are not known, as of images that
 * were charged by their number.
 */
const amountOfImageTokens = (prices: ImageTokenPrices, group: UnitGroup): bigint | null => {
  const { inputTokens, outputTokens, imageInputTokens, cachedTokens } = group
  // Without a price of their own, cached tokens cost what the text or the images cost.
  const isCachedUnknown =
    prices.per_million_cached_input === undefined ? group.mayCacheImages : cachedTokens === null
  if (inputTokens === null || outputTokens === null || imageInputTokens === null) return null
  if (isCachedUnknown) return null
  const parts = partsOf([
    ["cached_input", cachedTokens ?? 0n, prices.per_million_cached_input],
    ["image_input", imageInputTokens, prices.per_million_image_input]
  ])
  const input = { units: inputTokens, unitPriceNano: prices.per_million_text_input }
  return amountWithParts(input, parts) + outputTokens * prices.per_million_image_output
}

const amountOfCharacters = (prices: CharacterPrices, group: UnitGroup): bigint | null => {
  const { codePoints, hanCharacters } = group
  return codePoints === null || hanCharacters === null
    ? null
    : charactersBilled(prices, codePoints, hanCharacters) * prices.per_million_characters
}

/** The amount of sounds; null where neither charge nor cost rounded lengths as the prices do. */
const amountOfAudio = (prices: AudioSecondPrices, group: UnitGroup): bigint | null => {
  const { stepSeconds, minimumSeconds } = audioRounding(prices)
  const isCharged = group.stepSeconds === stepSeconds && group.minimumSeconds === minimumSeconds
  const isCosted =
    group.costStepSeconds === stepSeconds && group.costMinimumSeconds === minimumSeconds
  const seconds = isCharged ? group.audioSeconds : isCosted ? group.costUnits : null
  return seconds === null ? null : seconds * prices.per_second
}

/** The amount of searches; null where neither charge nor cost counted documents as the prices do. */
const amountOfSearches = (prices: SearchPrices, group: UnitGroup): bigint | null => {
  const documents = documentsPerSearchOf(prices)
  const isCharged = group.documentsPerSearch === documents
  const isCosted = group.costDocumentsPerSearch === documents
  const searches = isCharged ? group.searches : isCosted ? group.costUnits : null
  return searches === null ? null : searches * prices.per_thousand_searches
}

/**
 * The charge or cost of a group by a price table; null where the table has no price for it or
 * prices other units.
 */
const amountUnder = (prices: Prices, group: UnitGroup): bigint | null => {
  const { resolution, withVideo, videoTokens, seconds, images } = group
  switch (prices.kind) {
    case "token_video":
      if (resolution === null || withVideo === null || videoTokens === null) return null
      return videoTokenPrice(prices, resolution, withVideo).pipe(
        Result.map(({ nanoPerToken }) => videoTokens * nanoPerToken),
        Result.getOrNull
      )
    case "second_video":
      if (resolution === null || seconds === null) return null
      return videoSecondPrice(prices, resolution).pipe(
        Result.map((nanoPerSecond) => seconds * nanoPerSecond),
        Result.getOrNull
      )
    case "video_table":
      return amountOfTable(prices, group)
    case "image":
      if (images === null) return null
      return imagePrice(prices, group).pipe(
        Result.map(({ nanoPerImage }) => images * nanoPerImage),
        Result.getOrNull
      )
    case "image_tokens":
      return amountOfImageTokens(prices, group)
    case "tokens":
      return amountOfText(prices, group)
    case "characters":
      return amountOfCharacters(prices, group)
    case "audio_seconds":
      return amountOfAudio(prices, group)
    case "searches":
      return amountOfSearches(prices, group)
  }
}

/** Charges and costs before (as booked) and after (under the other catalog). */
export interface ReplaySum {
  readonly count: number
  readonly chargeBeforeNano: bigint
  readonly chargeAfterNano: bigint
  readonly costBeforeNano: bigint
  readonly costAfterNano: bigint
  /** The number of charges whose cost is not known. */
  readonly withoutCostBefore: number
  /** The number of orders without a price in the catalog: they add nothing to the sums after. */
  readonly unpriced: number
  /**
   * The number of orders with a price whose channel has no cost for the model, or no mount of it.
   */
  readonly withoutCost: number
}

const zero: ReplaySum = {
  count: 0,
  chargeBeforeNano: 0n,
  chargeAfterNano: 0n,
  costBeforeNano: 0n,
  costAfterNano: 0n,
  withoutCostBefore: 0,
  unpriced: 0,
  withoutCost: 0
}

const add = (one: ReplaySum, other: ReplaySum): ReplaySum => ({
  count: one.count + other.count,
  chargeBeforeNano: one.chargeBeforeNano + other.chargeBeforeNano,
  chargeAfterNano: one.chargeAfterNano + other.chargeAfterNano,
  costBeforeNano: one.costBeforeNano + other.costBeforeNano,
  costAfterNano: one.costAfterNano + other.costAfterNano,
  withoutCostBefore: one.withoutCostBefore + other.withoutCostBefore,
  unpriced: one.unpriced + other.unpriced,
  withoutCost: one.withoutCost + other.withoutCost
})

const mountKey = (model: string, channel: string) => JSON.stringify([model, channel])

export interface Replay {
  /** The sums by model, in the order of the models' names. */
  readonly models: ReadonlyArray<ReplaySum & { readonly model: string }>
  readonly totals: ReplaySum
}

/**
 * Replays the groups under a catalog. Orders keep their channels, and a disabled mount keeps its
 * cost. `termsOf` finds what the price list of a group says; null for the catalog's prices alone.
 */
export const replayUnder = (
  catalog: Pick<CatalogDocument, "models" | "mounts">,
  groups: ReadonlyArray<UnitGroup>,
  termsOf: (priceListId: string | null) => PriceListTerms | null = () => null
): Replay => {
  const models = new Map(catalog.models.map((model) => [model.id, model]))
  const pricesOf = ({ model: id, priceListId }: UnitGroup) => {
    const model = models.get(id)
    const terms = termsOf(priceListId)
    return model === undefined || terms === null
      ? model?.prices
      : priceModel(terms, model).model.prices
  }
  const costs = new Map(
    catalog.mounts.map(({ model, channel, cost }) => [mountKey(model, channel), cost])
  )
  const sums = new Map<string, ReplaySum>()
  for (const group of groups) {
    const { model, channelId, count } = group
    const modelPrices = pricesOf(group)
    const mountCost = costs.get(mountKey(model, channelId))
    const chargeNano = modelPrices === undefined ? null : amountUnder(modelPrices, group)
    const costNano = mountCost === undefined ? null : amountUnder(mountCost, group)
    const isPriced = chargeNano !== null
    const groupSum: ReplaySum = {
      count,
      chargeBeforeNano: group.chargeNano,
      chargeAfterNano: chargeNano ?? 0n,
      costBeforeNano: group.costNano,
      costAfterNano: isPriced ? (costNano ?? 0n) : 0n,
      withoutCostBefore: group.withoutCost,
      unpriced: isPriced ? 0 : count,
      withoutCost: isPriced && costNano === null ? count : 0
    }
    sums.set(model, add(sums.get(model) ?? zero, groupSum))
  }
  const byModel = Order.mapInput(Order.String, ([model]: readonly [string, ReplaySum]) => model)
  return {
    models: [...sums].toSorted(byModel).map(([model, sum]) => ({ model, ...sum })),
    totals: [...sums.values()].reduce(add, zero)
  }
}
