/** Usage detail and receipts in PostgreSQL, read off the orders; their ends give the order in time. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Quote } from "../../domain/money/Quote.ts"
import { storable } from "../../domain/plainText.ts"
import { cutPage, unknownCursor } from "../../runtime/Page.ts"
import {
  noSuchRecord,
  orderOfUsage,
  receiptOf,
  UsageLog,
  type UsageRecord,
  usageId
} from "../../services/UsageLog.ts"
import { repeatable, rowsOf } from "../client/rows.ts"

/** Columns of a captured order, which are null in any other. */
export const UsageRow = Schema.Struct({
  id: Schema.String,
  member_id: Schema.String,
  model: Schema.String,
  modality: Schema.String,
  input: Schema.BigInt,
  output: Schema.BigInt,
  unit: Schema.String,
  unit_price: Schema.BigInt,
  input_unit_price: Schema.NullOr(Schema.BigInt),
  charge: Schema.BigInt,
  basis: Schema.String,
  task_id: Schema.NullOr(Schema.String),
  closed_at: Schema.Date
})

const usageColumns = Object.keys(UsageRow.fields)
  .map((name) => `o.${name}`)
  .join(", ")

export const toUsage = (row: typeof UsageRow.Type): UsageRecord => ({
  id: usageId(row.id),
  memberId: row.member_id,
  model: row.model,
  modality: row.modality,
  input: row.input,
  output: row.output,
  unit: row.unit,
  unitPriceNano: row.unit_price,
  inputUnitPriceNano: row.input_unit_price,
  chargeNano: row.charge,
  basis: row.basis,
  taskId: row.task_id,
  createdAt: row.closed_at
})

const ChargedRow = Schema.Struct({
  ...UsageRow.fields,
  quote: Quote,
  hold: Schema.BigInt,
  created_at: Schema.Date
})

export const layerUsageLog = Layer.effect(
  UsageLog,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const columns = sql.literal(usageColumns)
    const ownedBy = (memberId: string | null) =>
      memberId === null ? sql`true` : sql`member_id = ${memberId}`

    /** The charge of one order, by the id of its usage record. */
    const find = (organizationId: string, memberId: string | null, id: string) => {
      const orderId = orderOfUsage(storable(id))
      return repeatable(sql`
        SELECT ${columns}, o.quote, o.hold, o.created_at FROM orders o
         WHERE organization_id = ${organizationId} AND id = ${orderId}
           AND state = 'captured' AND ${ownedBy(memberId)}`)
    }

    return UsageLog.of({
      list: Effect.fn("UsageLog.list")(function* (organizationId, memberId, page) {
        const orderId = page.after === null ? null : orderOfUsage(page.after)
        if (page.after !== null) {
          const found = yield* find(organizationId, memberId, page.after)
          if (found.length === 0) return yield* unknownCursor
        }
        const rows = yield* rowsOf(UsageRow)(
          repeatable(sql`
          SELECT ${columns}
            FROM (SELECT order_id, ended_at FROM order_ends
                   WHERE organization_id = ${organizationId} AND charge > 0
                     AND ${ownedBy(memberId)}
                     AND ${
                       orderId === null
                         ? sql`true`
                         : sql`(ended_at, order_id) < (
                             SELECT c.closed_at, c.id FROM orders c
                              WHERE c.organization_id = ${organizationId} AND c.id = ${orderId})`
                     }
                   ORDER BY ended_at DESC, order_id DESC
                   LIMIT ${page.limit + 1}) e
           CROSS JOIN LATERAL (SELECT * FROM orders
                                WHERE organization_id = ${organizationId} AND id = e.order_id) o
           ORDER BY e.ended_at DESC, e.order_id DESC`)
        )
        return cutPage(rows.map(toUsage), page.limit)
      }),
      receipt: Effect.fn("UsageLog.receipt")(function* (organizationId, memberId, id) {
        const [row] = yield* rowsOf(ChargedRow)(find(organizationId, memberId, id))
        if (row === undefined) return yield* noSuchRecord
        const { id: orderId, quote, hold: holdNano, created_at: heldAt } = row
        return receiptOf(toUsage(row), { id: orderId, quote, holdNano, heldAt })
      })
    })
  })
)
