import { Clock, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { PriceListTerms, PriceListVersion } from "../../domain/catalog/PriceList.ts"
import { newestVersion, schedulePriceList, versionAt } from "../../domain/catalog/priceLists.ts"
import { operatorApi } from "../../http/api/contractOf.ts"
import { CurrentOperator } from "../../http/api/middlewares.ts"
import { listView, pageOf } from "../../http/handlers/respond.ts"
import { formatNanoOrNull } from "../../http/handlers/views.ts"
import { Settings } from "../../runtime/Settings.ts"
import {
  type PriceListRecord,
  PriceLists,
  type PriceListWrite,
  type PriceListWritten
} from "../../services/PriceLists.ts"
import { PriceListsGroup, type PriceListView } from "./PriceListsApi.ts"

const termsView = ({ version, holdsFrom, terms }: PriceListVersion) => ({
  version,
  factor: formatNanoOrNull(terms.factor ?? null),
  prices: terms.prices ?? null,
  holds_from: holdsFrom
})

const priceListView = (
  record: PriceListRecord,
  timeZone: string,
  nowMillis: number
): PriceListView => {
  const newest = newestVersion(record)
  const inForce = versionAt(schedulePriceList(record, timeZone), nowMillis)
  const isInForce = inForce?.version === newest.version
  return {
    object: "price_list",
    id: record.id,
    name: record.name,
    ...termsView(newest),
    is_in_force: isInForce,
    until_then: isInForce || inForce === null ? null : termsView(inForce),
    watermark: record.watermark,
    organizations: record.organizations,
    created_at: record.createdAt.toISOString(),
    updated_at: newest.createdAt.toISOString(),
    updated_by: newest.author
  }
}

interface PriceListFields extends PriceListTerms {
  readonly name: string
  readonly holds_from?: string | null
  readonly watermark?: boolean | null
}

export const layerPriceListHandlers = HttpApiBuilder.group(
  operatorApi(PriceListsGroup),
  "priceLists",
  Effect.fn(function* (handlers) {
    const priceLists = yield* PriceLists
    const { timeZone } = yield* Settings

    const writeOf = (fields: PriceListFields) =>
      Effect.map(CurrentOperator, ({ name: author }): PriceListWrite => {
        const { name, holds_from: holdsFrom = null, watermark = null, ...terms } = fields
        return { name, watermark, holdsFrom, terms, author }
      })

    const viewOf = (record: PriceListRecord) =>
      Effect.map(Clock.currentTimeMillis, (now) => priceListView(record, timeZone, now))

    const writtenView = ({ record, warnings }: PriceListWritten) =>
      Effect.map(viewOf(record), (view) => ({ ...view, warnings }))

    return handlers.handleAll({
      createPriceList: Effect.fn("priceLists.createPriceList")(function* ({ payload }) {
        return yield* writtenView(yield* priceLists.create(yield* writeOf(payload)))
      }),
      listPriceLists: Effect.fn("priceLists.listPriceLists")(function* ({ query }) {
        const page = yield* priceLists.list(pageOf(query))
        const now = yield* Clock.currentTimeMillis
        return listView(page, (record) => priceListView(record, timeZone, now))
      }),
      readPriceList: Effect.fn("priceLists.readPriceList")(function* ({ params }) {
        return yield* viewOf(yield* priceLists.find(params.id))
      }),
      replacePriceList: Effect.fn("priceLists.replacePriceList")(function* ({ params, payload }) {
        return yield* writtenView(yield* priceLists.replace(params.id, yield* writeOf(payload)))
      }),
      removePriceList: Effect.fn("priceLists.removePriceList")(function* ({ params }) {
        yield* priceLists.remove(params.id)
        return { id: params.id, object: "price_list.deleted" as const, deleted: true }
      })
    })
  })
)
