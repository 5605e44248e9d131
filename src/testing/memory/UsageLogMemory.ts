/** The usage detail in memory, read off the orders that were charged. */
import { DateTime, Effect, Layer } from "effect"
import { cutPage } from "../../runtime/Page.ts"
import { Settings } from "../../runtime/Settings.ts"
import {
  type CostLine,
  noSuchRecord,
  orderOfUsage,
  receiptOf,
  UsageLog,
  type UsageRecord
} from "../../services/UsageLog.ts"
import { byCreation, decodeQuote, MemoryStore, pageOf, usageOf } from "./MemoryStore.ts"

const sumOf = (amounts: ReadonlyArray<bigint>): bigint =>
  amounts.reduce((sum, amount) => sum + amount, 0n)

const lineOf = (name: string, records: ReadonlyArray<UsageRecord>): CostLine => {
  const chargeNano = sumOf(records.map((record) => record.chargeNano))
  const costs = records.flatMap(({ costNano }) => costNano ?? [])
  const costNano = sumOf(costs)
  return {
    name,
    count: records.length,
    chargeNano,
    costNano,
    marginNano: chargeNano - costNano,
    withoutCost: records.length - costs.length
  }
}

export const layerUsageLogMemory = Layer.effect(
  UsageLog,
  Effect.gen(function* () {
    const { organizations } = yield* MemoryStore
    const { timeZone } = yield* Settings
    return UsageLog.of({
      costs: Effect.fn("UsageLog.costs")((by, { from, to }, { after, limit }) =>
        Effect.sync(() => {
          const charged = [...organizations.values()].flatMap(({ orders }) =>
            [...orders.values()].flatMap((order) => {
              const usage = usageOf(order)
              if (usage === null) return []
              const zoned = DateTime.makeZonedUnsafe(usage.createdAt, { timeZone })
              const day = DateTime.formatIsoDate(zoned)
              const { organizationId: organization } = order.request
              const names = { model: usage.model, channel: order.job.channelId, organization, day }
              return day < from || day > to ? [] : [{ name: names[by], usage }]
            })
          )
          const lines = [...Map.groupBy(charged, ({ name }) => name)]
            .filter(([name]) => after === null || name > after)
            .toSorted(([one], [other]) => (one < other ? -1 : 1))
            .map(([name, group]) =>
              lineOf(
                name,
                group.map(({ usage }) => usage)
              )
            )
          return cutPage(lines, limit)
        })
      ),
      list: Effect.fn("UsageLog.list")((organizationId, { memberId, tag }, page) =>
        Effect.suspend(() => {
          const orders = [...(organizations.get(organizationId)?.orders.values() ?? [])]
          const own = orders
            .filter(({ request }) => memberId === null || request.memberId === memberId)
            .filter(({ request }) => tag === null || request.metadata?.[tag.name] === tag.value)
          return pageOf(own.flatMap((order) => usageOf(order) ?? []).toSorted(byCreation), page)
        })
      ),
      receipt: Effect.fn("UsageLog.receipt")(function* (organizationId, memberId, id) {
        const books = organizations.get(organizationId)
        const order = books?.orders.get(orderOfUsage(id) ?? "")
        const record = order === undefined ? null : usageOf(order)
        if (order === undefined || record === null) return yield* noSuchRecord
        if (memberId !== null && record.memberId !== memberId) return yield* noSuchRecord
        const { id: orderId, quote, amountNano } = order.request
        return receiptOf(record, {
          id: orderId,
          quote: decodeQuote(quote),
          holdNano: amountNano,
          heldAt: order.held.at,
          job: order.job,
          refusals: order.refusals,
          corrections: (books?.transfers ?? []).flatMap((transfer) =>
            transfer.kind !== "deposit" && transfer.orderId === orderId
              ? [{ ...transfer, organizationId }]
              : []
          )
        })
      })
    })
  })
)
