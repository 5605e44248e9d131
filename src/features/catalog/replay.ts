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

/** Null where the orders do not tell it, as with the images of a video. */
const units = Schema.NullOr(Schema.BigIntFromString)

/** Charged orders that are alike in all that a price depends on, summed up. */
export const UnitGroup = Schema.Struct({
  model: Schema.String,
  /** The channel that made them. */
  channelId: Schema.String,
  resolution: Schema.NullOr(Resolution),
  /** With a reference video; null where neither charge nor cost was reckoned by that. */
  withVideo: Schema.NullOr(Schema.Boolean),
  /** Texts that could not be ordered without a price of output. */
  expectsOutput: Schema.Boolean,
  /** Of images, as they were ordered; null where they were not. */
  quality: Schema.NullOr(Schema.String),
  size: Schema.NullOr(Schema.String),
  count: Schema.Int,
  chargeNano: Schema.BigIntFromString,
  /** Of the charges whose cost is known. */
  costNano: Schema.BigIntFromString,
  withoutCost: Schema.Int,
  /** Of videos, as their vendors counted them. */
  videoTokens: units,
  /** Of videos, as they were ordered. */
  seconds: units,
  images: units,
  inputTokens: units,
  outputTokens: units
})
export type UnitGroup = typeof UnitGroup.Type

/** What a group comes to by a price table; null where that has no price for it or counts something else. */
const amountBy = (prices: Prices, group: UnitGroup): bigint | null => {
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

/** Charges and costs, as they were and as they would have been. */
export interface ReplaySum {
  readonly count: number
  readonly chargeBeforeNano: bigint
  readonly chargeAfterNano: bigint
  readonly costBeforeNano: bigint
  readonly costAfterNano: bigint
  /** Charges whose cost is not known. */
  readonly withoutCostBefore: number
  /** Orders that the catalog has no price for: they count neither as charged nor as costing after. */
  readonly unpriced: number
  /** Priced orders whose channel tells no cost of the model, or has it no more. */
  readonly withoutCost: number
}

const nothing: ReplaySum = {
  ...{ count: 0, unpriced: 0, withoutCost: 0, withoutCostBefore: 0 },
  ...{ chargeBeforeNano: 0n, chargeAfterNano: 0n, costBeforeNano: 0n, costAfterNano: 0n }
}

const added = (one: ReplaySum, other: ReplaySum): ReplaySum => ({
  count: one.count + other.count,
  chargeBeforeNano: one.chargeBeforeNano + other.chargeBeforeNano,
  chargeAfterNano: one.chargeAfterNano + other.chargeAfterNano,
  costBeforeNano: one.costBeforeNano + other.costBeforeNano,
  costAfterNano: one.costAfterNano + other.costAfterNano,
  withoutCostBefore: one.withoutCostBefore + other.withoutCostBefore,
  unpriced: one.unpriced + other.unpriced,
  withoutCost: one.withoutCost + other.withoutCost
})

const mountName = (model: string, channel: string) => JSON.stringify([model, channel])

export interface Replay {
  /** In order of the models' names. */
  readonly models: ReadonlyArray<ReplaySum & { readonly model: string }>
  readonly totals: ReplaySum
}

/** The orders stay where they were made; a mount out of use still tells what it costs. */
export const replayUnder = (
  catalog: Pick<CatalogDocument, "models" | "mounts">,
  groups: ReadonlyArray<UnitGroup>
): Replay => {
  const prices = new Map(catalog.models.map((model) => [model.id, model.prices]))
  const costs = new Map(
    catalog.mounts.map(({ model, channel, cost }) => [mountName(model, channel), cost])
  )
  const by = (table: Prices | undefined, group: UnitGroup) =>
    table === undefined ? null : amountBy(table, group)

  const sums = new Map<string, ReplaySum>()
  for (const group of groups) {
    const { model, channelId, count } = group
    const before = {
      ...nothing,
      count,
      chargeBeforeNano: group.chargeNano,
      costBeforeNano: group.costNano,
      withoutCostBefore: group.withoutCost
    }
    const charge = by(prices.get(model), group)
    const cost = by(costs.get(mountName(model, channelId)), group)
    const after =
      charge === null
        ? { unpriced: count }
        : {
            chargeAfterNano: charge,
            costAfterNano: cost ?? 0n,
            withoutCost: cost === null ? count : 0
          }
    sums.set(model, added(sums.get(model) ?? nothing, { ...before, ...after }))
  }
  const byName = Order.mapInput(Order.String, ([model]: readonly [string, ReplaySum]) => model)
  return {
    models: [...sums].toSorted(byName).map(([model, sum]) => ({ model, ...sum })),
    totals: [...sums.values()].reduce(added, nothing)
  }
}
