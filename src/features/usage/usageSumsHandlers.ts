import { DateTime, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { InvalidRequest } from "../../domain/Errors.ts"
import { operatorApi } from "../../http/api/contractOf.ts"
import { parseTime } from "../../http/handlers/money/times.ts"
import { listView } from "../../http/handlers/respond.ts"
import { cutPage } from "../../runtime/Page.ts"
import { Settings } from "../../runtime/Settings.ts"
import { amountsView, makeReadSeries } from "./seriesAnswers.ts"
import { UsageSums } from "./UsageSums.ts"
import { UsageSumsGroup } from "./UsageSumsApi.ts"

/** A filter that matches the orders of all organisations. */
const allOrders = {
  organizationId: null,
  memberId: null,
  keyId: null,
  model: null,
  channelId: null,
  tag: null
}

export const layerUsageSumsHandlers = HttpApiBuilder.group(
  operatorApi(UsageSumsGroup),
  "usageSums",
  Effect.fn(function* (handlers) {
    const sums = yield* UsageSums
    const readSeries = yield* makeReadSeries
    const { currency, timeZone } = yield* Settings
    return handlers.handleAll({
      readSeries: Effect.fn("usageSums.readSeries")(({ query }) =>
        readSeries(query, {
          organizationId: query.organization_id ?? null,
          memberId: query.member_id ?? null,
          keyId: query.key_id ?? null,
          model: query.model ?? null,
          channelId: query.channel ?? null
        })
      ),
      readCosts: Effect.fn("usageSums.readCosts")(function* ({ query }) {
        const { by, from, to, after = null, limit } = query
        if (from > to) {
          return yield* new InvalidRequest({
            message: "to: Expected a day that is not before from",
            param: "to"
          })
        }
        const isByDay = by === "day"
        // The cursor is the last day, or the last name, of the previous page.
        const start =
          isByDay && after !== null
            ? yield* parseTime("after", after, { timeZone, laterDays: 1 })
            : yield* parseTime("from", from, { timeZone, laterDays: 0 })
        const lines = yield* sums.read({
          step: isByDay ? "day" : null,
          by: isByDay ? null : by,
          from: start,
          to: yield* parseTime("to", to, { timeZone, laterDays: 1 }),
          filter: allOrders,
          afterName: isByDay ? null : after,
          limit: limit + 1
        })
        const dayOf = (start: Date) =>
          DateTime.formatIsoDate(DateTime.makeZonedUnsafe(start, { timeZone }))
        return listView(cutPage(lines, limit), (line) => ({
          [by]: isByDay ? dayOf(line.start) : line.name,
          count: line.count,
          ...amountsView(line),
          currency
        }))
      })
    })
  })
)
