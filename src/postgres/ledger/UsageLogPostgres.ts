/** Usage detail and receipts in PostgreSQL, read off the orders; their ends give the order in time. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Quote } from "../../domain/money/Quote.ts"
import { storable } from "../../domain/plainText.ts"
import {
  noSuchRecord,
  orderOfUsage,
  receiptOf,
  UsageLog,
  UsageRecord,
  usageId
} from "../../services/UsageLog.ts"
import { columnsOf, readPage, repeatable, rowOf } from "../client/rows.ts"

/** Columns of `UsageRecord`, of an order `o` that was captured. */
export const usageColumns = columnsOf(UsageRecord, "o", {
  id: `'${usageId("")}' || o.id`,
  unitPriceNano: "o.unit_price",
  inputUnitPriceNano: "o.input_unit_price",
  chargeNano: "o.charge",
  createdAt: "o.closed_at"
})

/** What a receipt tells beside its record. */
const HeldRow = Schema.Struct({ quote: Quote, holdNano: Schema.BigInt, heldAt: Schema.Date })
const heldColumns = columnsOf(HeldRow, "o", { holdNano: "o.hold", heldAt: "o.created_at" })

export const layerUsageLog = Layer.effect(
  UsageLog,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const columns = sql.literal(usageColumns)
    const ownedBy = (memberId: string | null) =>
      memberId === null ? sql`true` : sql`member_id = ${memberId}`

    /** The charge of one order, by the id of its usage record. */
    const find = (organizationId: string, memberId: string | null, id: string) => {
      const orderId = storable(id) === id ? orderOfUsage(id) : null
      return sql`
        SELECT ${columns}, ${sql.literal(heldColumns)} FROM orders o
         WHERE organization_id = ${organizationId} AND id = ${orderId}
           AND state = 'captured' AND ${ownedBy(memberId)}`
    }

    return UsageLog.of({
      list: Effect.fn("UsageLog.list")((organizationId, memberId, page) => {
        const before = (after: string) => sql`(ended_at, order_id) < (
          SELECT c.closed_at, c.id FROM orders c
           WHERE c.organization_id = ${organizationId} AND c.id = ${orderOfUsage(after)})`
        return readPage(UsageRecord, page, {
          isEntry: (after) => find(organizationId, memberId, after),
          newest: sql`
            SELECT ${columns}
              FROM (SELECT order_id, ended_at FROM order_ends
                     WHERE organization_id = ${organizationId} AND charge > 0
                       AND ${ownedBy(memberId)}
                       AND ${page.after === null ? sql`true` : before(page.after)}
                     ORDER BY ended_at DESC, order_id DESC
                     LIMIT ${page.limit + 1}) e
             CROSS JOIN LATERAL (SELECT * FROM orders
                                  WHERE organization_id = ${organizationId} AND id = e.order_id) o
             ORDER BY e.ended_at DESC, e.order_id DESC`
        })
      }),
      receipt: Effect.fn("UsageLog.receipt")(function* (organizationId, memberId, id) {
        const found = yield* repeatable(find(organizationId, memberId, id))
        if (found.length === 0) return yield* noSuchRecord
        const record = yield* rowOf(UsageRecord)(Effect.succeed(found))
        const held = yield* rowOf(HeldRow)(Effect.succeed(found))
        return receiptOf(record, { id: orderOfUsage(id) ?? "", ...held })
      })
    })
  })
)
