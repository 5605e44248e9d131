/** The usage detail in memory, read off the orders that were charged. */
import { Effect, Layer } from "effect"
import { noSuchRecord, orderOfUsage, receiptOf, UsageLog } from "../../services/UsageLog.ts"
import { byCreation, decodeQuote, MemoryStore, pageOf, usageOf } from "./MemoryStore.ts"

export const layerUsageLogMemory = Layer.effect(
  UsageLog,
  Effect.map(MemoryStore, ({ organizations }) =>
    UsageLog.of({
      list: Effect.fn("UsageLog.list")((organizationId, memberId, page) =>
        Effect.suspend(() => {
          const orders = [...(organizations.get(organizationId)?.orders.values() ?? [])]
          const own = orders.filter(
            ({ request }) => memberId === null || request.memberId === memberId
          )
          return pageOf(own.flatMap((order) => usageOf(order) ?? []).toSorted(byCreation), page)
        })
      ),
      receipt: Effect.fn("UsageLog.receipt")(function* (organizationId, memberId, id) {
        const order = organizations.get(organizationId)?.orders.get(orderOfUsage(id) ?? "")
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
          refusals: order.refusals
        })
      })
    })
  )
)
