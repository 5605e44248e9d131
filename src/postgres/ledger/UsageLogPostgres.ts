/**
 * Usage records and receipts in PostgreSQL, computed from the orders and read through their primary
 * key.
 */
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AppliedPriceList } from "../../domain/catalog/PriceList.ts"
import { Quote } from "../../domain/money/Quote.ts"
import { storable } from "../../domain/plainText.ts"
import { RefusedJob, VendorJob } from "../../services/Ledger.ts"
import {
  noSuchRecord,
  orderOfUsage,
  receiptOf,
  UsageLog,
  UsageRecord,
  usageId
} from "../../services/UsageLog.ts"
import { columnsOf, readPage, retryBriefly, rowOf } from "../client/rows.ts"
import { appliedPriceList } from "../stores/priceListRows.ts"
import { correctionsOf } from "./adjustments.ts"
import { orderKinds, upTo } from "./journal.ts"

/** Columns of `UsageRecord`, read from a captured order with the alias `o`. */
export const usageColumns = columnsOf(UsageRecord, "o", {
  id: `'${usageId("")}' || o.id`,
  unitPriceNano: "o.unit_price",
  inputUnitPriceNano: "o.input_unit_price",
  chargeNano: "o.charge",
  costNano: "o.cost",
  reportedCostNano: "o.reported_cost",
  taskId: "CASE WHEN o.is_task THEN o.id END",
  month: "to_char(o.month, 'YYYY-MM')",
  createdAt: "o.closed_at"
})

/** Fields of a receipt, in addition to those of its usage record. */
const ReceiptRow = Schema.Struct({
  quote: Quote,
  holdNano: Schema.BigInt,
  heldAt: Schema.Date,
  job: VendorJob,
  refusals: Schema.Array(RefusedJob),
  priceList: Schema.NullOr(AppliedPriceList)
})
const receiptColumns = columnsOf(ReceiptRow, "o", {
  holdNano: "o.hold",
  heldAt: "o.created_at",
  refusals: "coalesce(o.refusals, '[]')",
  priceList: appliedPriceList("o")
})

export const layerUsageLog = Layer.effect(
  UsageLog,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const columns = sql.literal(usageColumns)
    const ownedBy = (memberId: string | null) =>
      memberId === null ? sql`true` : sql`member_id = ${memberId}`

    /** Reads the charge of one order, by the id of its usage record. */
    const find = (organizationId: string, memberId: string | null, id: string) => {
      const orderId = storable(id) === id ? orderOfUsage(id) : null
      return sql`
        SELECT ${columns}, ${sql.literal(receiptColumns)} FROM orders o
         WHERE organization_id = ${organizationId} AND id = ${orderId}
           AND state = 'captured' AND ${ownedBy(memberId)}`
    }

    return UsageLog.of({
      list: Effect.fn("UsageLog.list")((organizationId, { memberId, tag }, page) => {
        const last = page.after === null ? null : orderOfUsage(page.after)
        const before = last === null ? sql`true` : sql`id <> ${last}`
        const uuid = last === null ? null : last.slice(last.indexOf("_") + 1)
        const isOfOrganization = sql`organization_id = ${organizationId}`
        const reached = upTo("id", "prefix")(sql, uuid)
        /** Reads along the index of tags if a tag is given, and along the orders otherwise. */
        const orders =
          tag === null
            ? sql`SELECT * FROM orders WHERE ${isOfOrganization} AND ${ownedBy(memberId)} AND ${reached}
                     AND ${before} AND state = 'captured'`
            : sql`SELECT charged.* FROM order_tags t
                   CROSS JOIN LATERAL (
                     SELECT * FROM orders
                      WHERE ${isOfOrganization} AND id = t.order_id AND ${ownedBy(memberId)}
                        AND ${before} AND state = 'captured') charged
                   WHERE t.organization_id = ${organizationId} AND t.name = ${tag.name}
                     AND t.value = ${tag.value} AND ${upTo("t.order_id", "prefix")(sql, uuid)}`
        return readPage(UsageRecord, page, {
          isEntry: (after) => find(organizationId, memberId, after),
          newest: sql`
            SELECT ${columns}
              FROM ${sql.literal(orderKinds)}
             CROSS JOIN LATERAL (${orders}
                ORDER BY ${sql.literal(tag === null ? "id" : "t.order_id")} DESC
                LIMIT ${page.limit + 1}) o
             ORDER BY substr(o.id, length(prefix) + 1) DESC LIMIT ${page.limit + 1}`
        })
      }),
      receipt: Effect.fn("UsageLog.receipt")(function* (organizationId, memberId, id) {
        const rows = yield* retryBriefly(find(organizationId, memberId, id))
        if (rows.length === 0) return yield* noSuchRecord
        const record = yield* rowOf(UsageRecord)(Effect.succeed(rows))
        const receipt = yield* rowOf(ReceiptRow)(Effect.succeed(rows))
        const orderId = orderOfUsage(id) ?? ""
        const corrections = yield* correctionsOf(sql, organizationId, orderId)
        return receiptOf(record, { id: orderId, ...receipt, corrections })
      })
    })
  })
)
