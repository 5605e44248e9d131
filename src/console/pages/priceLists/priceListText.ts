/** A price list as text, in the form in which it is edited and sent, and the calls that save it. */
import { Result, Schema } from "effect"
import { priceListTerms } from "../../../domain/catalog/PriceList.ts"
import { formatNano, NANO_PER_UNIT, parseNano } from "../../../domain/money/Money.ts"
import type { PriceListView } from "../../../features/priceLists/PriceListsApi.ts"
import { WrittenPriceList } from "../../../features/priceLists/PriceListsApi.ts"
import type { Session } from "../../gateway/session.ts"
import { sendJson } from "../catalog/draft/catalogCalls.ts"
import type { CatalogText, PricesText } from "../catalog/draft/catalogEntries.ts"

export interface PriceListText {
  readonly name: string
  /** The factor; null where the list has prices of models. */
  readonly factor: string | null
  readonly prices: Readonly<Record<string, PricesText>>
  /** A day, or an empty text for at once. */
  readonly holdsFrom: string
  readonly watermark: boolean | null
}

export const emptyList: PriceListText = {
  name: "",
  factor: "",
  prices: {},
  holdsFrom: "",
  watermark: null
}

const encodePrices = Schema.encodeSync(priceListTerms.prices.schema)

export const textOf = (list: PriceListView): PriceListText => ({
  name: list.name,
  factor: list.factor,
  prices: list.prices === null ? {} : encodePrices(list.prices),
  holdsFrom: list.holds_from ?? "",
  watermark: list.watermark
})

/** Creates the list, or replaces the one with the id. The gateway reports all faults by path. */
export const savePriceList = (session: Session, id: string | null, text: PriceListText) => {
  const { name, factor, prices, holdsFrom, watermark } = text
  const body = {
    name: name.trim(),
    ...(factor === null ? { prices } : { factor: factor.trim() }),
    holds_from: holdsFrom === "" ? null : holdsFrom,
    watermark
  }
  const path = id === null ? "" : `/${encodeURIComponent(id)}`
  return sendJson(
    session,
    `/admin/v1/price-lists${path}`,
    { method: id === null ? "POST" : "PUT", body: JSON.stringify(body) },
    WrittenPriceList
  )
}

/** The first price of a model of the catalog, as it is written. */
const samplePrice = (catalog: CatalogText) => {
  for (const { id, prices } of catalog.models) {
    if (prices?.kind === "image" && typeof prices.per_image === "string") {
      return { model: id, price: prices.per_image }
    }
    if (prices?.kind === "second_video") {
      const [price] = Object.values(prices.per_second)
      if (price !== undefined) return { model: id, price }
    }
  }
  return null
}

/** What a price of the catalog becomes by the factor; null where it has no exact product. */
export const sampleOf = (catalog: CatalogText, factor: string) => {
  const sample = samplePrice(catalog)
  if (sample === null) return null
  const [price, by] = [parseNano(sample.price), parseNano(factor.trim())]
  if (Result.isFailure(price) || Result.isFailure(by)) return null
  const product = price.success * by.success
  return product === 0n || product % NANO_PER_UNIT !== 0n
    ? null
    : { model: sample.model, before: sample.price, after: formatNano(product / NANO_PER_UNIT) }
}
