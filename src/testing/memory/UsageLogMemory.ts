/** Usage records in memory, computed from charged orders. */
import { Effect, Layer } from "effect"
import { noSuchRecord, orderOfUsage, receiptOf, UsageLog } from "../../services/UsageLog.ts"
import {
  appliedPriceList,
  byCreation,
  decodeQuote,
  MemoryStore,
  pageOf,
  usageOf
} from "./MemoryStore.ts"

export const layerUsageLogMemory = Layer.effect(
  UsageLog,
  Effect.gen(function* () {
    const { organizations, priceLists } = yield* MemoryStore
    return UsageLog.of({
      list: Effect.fn("UsageLog.list")((organizationId, { memberId, tag }, page) =>
        Effect.suspend(() => {
          const orders = [...(organizations.get(organizationId)?.orders.values() ?? [])]
          const matches = orders
            .filter(({ request }) => memberId === null || request.memberId === memberId)
            .filter(({ request }) => tag === null || request.metadata?.[tag.name] === tag.value)
          return pageOf(matches.flatMap((order) => usageOf(order) ?? []).toSorted(byCreation), page)
        })
      ),
      receipt: Effect.fn("UsageLog.receipt")(function* (organizationId, memberId, id) {
        const books = organizations.get(organizationId)
        const order = books?.orders.get(orderOfUsage(id) ?? "")
        const record = order === undefined ? null : usageOf(order)
        if (order === undefined || record === null) return yield* noSuchRecord
        if (memberId !== null && record.memberId !== memberId) return yield* noSuchRecord
        const { id: orderId, quote, amountNano, priceList = null } = order.request
        return receiptOf(record, {
          id: orderId,
          quote: decodeQuote(quote),
          holdNano: amountNano,
          heldAt: order.held.at,
          job: order.job,
          refusals: order.refusals,
          priceList: appliedPriceList(priceLists, priceList),
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
