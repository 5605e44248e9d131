/**
 * What the orders of a month would have been charged and have cost under another catalog. Charges are
 * linear in what is counted and exact, so orders that share every price are priced as one.
 */
import { Order, Result, Schema } from "effect"
import type { CatalogDocument } from "../../domain/catalog/CatalogDocument.ts"
import type { Prices } from "../../domain/catalog/Prices.ts"
import { imagePrice } from "../../domain/image/ImageQuote.ts"
import { costOf, textPrices } from "../../domain/text/TextQuote.ts"
import { Resolution } from "../../domain/video/tiers.ts"
import { videoSecondPrice, videoTokenPrice } from "../../domain/video/VideoQuote.ts"

/** Null where the orders do not count it, such as images of a video. */
const units = Schema.NullOr(Schema.BigIntFromString)

/** Sums over charged orders that agree in everything a price depends on. */
export const UnitGroup = Schema.Struct({
  model: Schema.String,
  /** The channel that made them. */
  channelId: Schema.String,
  resolution: Schema.NullOr(Resolution),
  /** With a reference video; null where neither the charge nor the cost depends on it. */
  withVideo: Schema.NullOr(Schema.Boolean),
  /** Texts that could not be ordered without a price of output. */
  expectsOutput: Schema.Boolean,
  /** Of images, as ordered; null where the order did not say. */
  quality: Schema.NullOr(Schema.String),
  size: Schema.NullOr(Schema.String),
  count: Schema.Int,
  chargeNano: Schema.BigIntFromString,
  /** Of the charges whose cost is known. */
  costNano: Schema.BigIntFromString,
  withoutCost: Schema.Int,
  /** Of videos, as reported by their vendors. */
  videoTokens: units,
  /** Of videos, as ordered. */
  seconds: units,
  images: units,
  inputTokens: units,
  outputTokens: units
})
export type UnitGroup = typeof UnitGroup.Type

/** The charge or cost of a group by a price table; null where that has no price for it or prices other units. */
const amountUnder = (prices: Prices, group: UnitGroup): bigint | null => {
  const { resolution, withVideo, videoTokens, seconds, images, inputTokens, outputTokens } = group
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
    case "image":
      if (images === null) return null
      return imagePrice(prices, group).pipe(
        Result.map(({ nanoPerImage }) => images * nanoPerImage),
        Result.getOrNull
      )
    case "tokens":
      if (inputTokens === null || outputTokens === null) return null
      return textPrices(prices, group.expectsOutput).pipe(
        Result.map((paid) => costOf(paid, { inputTokens, outputTokens })),
        Result.getOrNull
      )
  }
}

/** Charges and costs before (as booked) and after (under the other catalog). */
export interface ReplaySum {
  readonly count: number
  readonly chargeBeforeNano: bigint
  readonly chargeAfterNano: bigint
  readonly costBeforeNano: bigint
  readonly costAfterNano: bigint
  /** Charges whose cost is not known. */
  readonly withoutCostBefore: number
  /** Orders without a price in the catalog: they add nothing to the sums after. */
  readonly unpriced: number
  /** Orders with a price, whose channel has no cost for the model or does not mount it. */
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
  /** In order of the models' names. */
  readonly models: ReadonlyArray<ReplaySum & { readonly model: string }>
  readonly totals: ReplaySum
}

/** Orders keep their channels, and a mount that is disabled keeps its cost. */
export const replayUnder = (
  catalog: Pick<CatalogDocument, "models" | "mounts">,
  groups: ReadonlyArray<UnitGroup>
): Replay => {
  const prices = new Map(catalog.models.map((model) => [model.id, model.prices]))
  const costs = new Map(
    catalog.mounts.map(({ model, channel, cost }) => [mountKey(model, channel), cost])
  )
  const sums = new Map<string, ReplaySum>()
  for (const group of groups) {
    const { model, channelId, count } = group
    const modelPrices = prices.get(model)
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
