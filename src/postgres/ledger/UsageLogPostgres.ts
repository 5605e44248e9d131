/** Usage detail in PostgreSQL; the rows are written by the ledger's captures. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { storable } from "../../domain/plainText.ts"
import { cutPage, unknownCursor } from "../../runtime/Page.ts"
import { noSuchRecord, UsageLog, type UsageRecord } from "../../services/UsageLog.ts"
import { repeatable, rowsOf } from "../client/rows.ts"
import { receiptOf } from "./receiptRows.ts"

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
  created_at: Schema.Date
})

/** Columns of `UsageRow`. */
export const usageColumns =
  "id, member_id, model, modality, input, output, unit, unit_price, input_unit_price, charge, basis, task_id, created_at"

export const toUsage = (row: typeof UsageRow.Type): UsageRecord => ({
  id: row.id,
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
  createdAt: row.created_at
})

export const layerUsageLog = Layer.effect(
  UsageLog,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const list: UsageLog["Service"]["list"] = Effect.fn("UsageLog.list")(
      function* (organizationId, memberId, page) {
        if (page.after !== null) {
          const found = yield* repeatable(sql`
            SELECT 1 FROM usage_records
             WHERE organization_id = ${organizationId} AND id = ${page.after}
               AND ${memberId === null ? sql`true` : sql`member_id = ${memberId}`}`)
          if (found.length === 0) return yield* unknownCursor
        }
        const rows = yield* rowsOf(UsageRow)(
          repeatable(sql`
          SELECT ${sql.literal(usageColumns)}
            FROM usage_records
           WHERE organization_id = ${organizationId}
             AND ${memberId === null ? sql`true` : sql`member_id = ${memberId}`}
             AND ${
               page.after === null
                 ? sql`true`
                 : sql`(created_at, id) < (
                     SELECT u.created_at, u.id FROM usage_records u
                      WHERE u.organization_id = ${organizationId} AND u.id = ${page.after})`
             }
           ORDER BY created_at DESC, id DESC
           LIMIT ${page.limit + 1}`)
        )
        return cutPage(rows.map(toUsage), page.limit)
      }
    )

    const receipt: UsageLog["Service"]["receipt"] = Effect.fn("UsageLog.receipt")(
      function* (organizationId, memberId, id) {
        if (storable(id) !== id) return yield* noSuchRecord
        const [row] = yield* rowsOf(UsageRow)(
          repeatable(sql`
          SELECT ${sql.literal(usageColumns)} FROM usage_records
           WHERE organization_id = ${organizationId} AND id = ${id}
             AND ${memberId === null ? sql`true` : sql`member_id = ${memberId}`}`)
        )
        return row === undefined
          ? yield* noSuchRecord
          : yield* receiptOf(sql, organizationId, toUsage(row))
      }
    )

    return UsageLog.of({ list, receipt })
  })
)
