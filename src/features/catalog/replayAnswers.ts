/** Replays a month's orders under another catalog, for the preview of that catalog. */
import { Clock, DateTime, Effect } from "effect"
import type { CatalogDocument } from "../../domain/catalog/CatalogDocument.ts"
import { NO_PRICE_LIST } from "../../domain/catalog/PriceList.ts"
import { newestVersion, versionAt } from "../../domain/catalog/priceLists.ts"
import { InvalidRequest } from "../../domain/Errors.ts"
import { formatNano } from "../../domain/money/Money.ts"
import { Settings } from "../../runtime/Settings.ts"
import { Catalog } from "../../services/Catalog.ts"
import { unknownPriceList } from "../../services/PriceLists.ts"
import type { CatalogReplay } from "./CatalogReplay.ts"
import { ChargedUnits } from "./ChargedUnits.ts"
import { type ReplaySum, replayUnder } from "./replay.ts"

const sumView = (sum: ReplaySum): typeof CatalogReplay.Type.totals => {
  const { chargeBeforeNano, chargeAfterNano, costBeforeNano, costAfterNano } = sum
  return {
    count: sum.count,
    charge_before: formatNano(chargeBeforeNano),
    charge_after: formatNano(chargeAfterNano),
    difference: formatNano(chargeAfterNano - chargeBeforeNano),
    cost_before: formatNano(costBeforeNano),
    cost_after: formatNano(costAfterNano),
    margin_before: formatNano(chargeBeforeNano - costBeforeNano),
    margin_after: formatNano(chargeAfterNano - costAfterNano),
    unpriced: sum.unpriced,
    without_cost_before: sum.withoutCostBefore,
    without_cost: sum.withoutCost
  }
}

interface ReplayScope {
  readonly month: string
  /** The price list for all orders, or `NO_PRICE_LIST`; undefined for the organisations' own lists. */
  readonly priceList: string | undefined
  /** The organisation whose orders are replayed; undefined for all. */
  readonly organizationId: string | undefined
}

export const makeReplays = Effect.gen(function* () {
  const catalogs = yield* Catalog
  const chargedUnits = yield* ChargedUnits
  const { currency, timeZone } = yield* Settings

  /** Refuses a month in the future, in which nothing can have been charged. */
  const checkMonth = Effect.fnUntraced(function* (month: string) {
    const now = DateTime.makeZonedUnsafe(yield* Clock.currentTimeMillis, { timeZone })
    const currentMonth = DateTime.formatIsoDate(now).slice(0, month.length)
    if (month > currentMonth) {
      return yield* new InvalidRequest({
        message: `replay: Expected a month that has begun, ${currentMonth} at the latest`,
        param: "replay"
      })
    }
  })

  /**
   * Finds what the price list of a group says: the version in force of its own list, or the newest
   * version of the list that the request names for all of them.
   */
  const termsBy = Effect.fnUntraced(function* (priceList: string | undefined) {
    const { priceLists } = yield* catalogs.snapshot
    const nowMillis = yield* Clock.currentTimeMillis
    if (priceList === NO_PRICE_LIST) return () => null
    if (priceList === undefined) {
      return (id: string | null) => {
        const list = priceLists.get(id ?? "")
        return list === undefined ? null : (versionAt(list, nowMillis)?.terms ?? null)
      }
    }
    const list = priceLists.get(priceList)
    if (list === undefined) {
      return yield* unknownPriceList(priceList, [...priceLists.values()], NO_PRICE_LIST)
    }
    const { terms } = newestVersion(list)
    return () => terms
  })

  const replay = Effect.fnUntraced(function* (
    { month, priceList, organizationId }: ReplayScope,
    catalog: Pick<CatalogDocument, "models" | "mounts">
  ) {
    const termsOf = yield* termsBy(priceList)
    const groups =
      organizationId === undefined
        ? chargedUnits.readMonth(month)
        : chargedUnits.readMonthOf(organizationId, month)
    const { models, totals } = replayUnder(catalog, yield* groups, termsOf)
    return {
      month,
      currency,
      ...(priceList === undefined ? {} : { price_list: priceList }),
      ...(organizationId === undefined ? {} : { organization_id: organizationId }),
      data: models.map(({ model, ...sum }) => ({ model, ...sumView(sum) })),
      totals: sumView(totals)
    }
  })

  return { checkMonth, replay }
})
