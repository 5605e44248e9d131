/** Replays a month's orders under another catalog, for the preview of that catalog. */
import { Clock, DateTime, Effect } from "effect"
import type { CatalogDocument } from "../../domain/catalog/CatalogDocument.ts"
import { InvalidRequest } from "../../domain/Errors.ts"
import { formatNano } from "../../domain/money/Money.ts"
import { Settings } from "../../runtime/Settings.ts"
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

export const makeReplays = Effect.gen(function* () {
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

  const replay = Effect.fnUntraced(function* (
    month: string,
    catalog: Pick<CatalogDocument, "models" | "mounts">
  ) {
    const { models, totals } = replayUnder(catalog, yield* chargedUnits.readMonth(month))
    return {
      month,
      currency,
      data: models.map(({ model, ...sum }) => ({ model, ...sumView(sum) })),
      totals: sumView(totals)
    }
  })

  return { checkMonth, replay }
})
