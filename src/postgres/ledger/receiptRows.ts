/** The receipt of one charge, gathered by keys from the rows its order has left. */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { Quote } from "../../domain/money/Quote.ts"
import type { Receipt, UsageRecord } from "../../services/UsageLog.ts"
import { repeatable, rowsOf } from "../client/rows.ts"
import { entryId } from "./journal.ts"

const ReceiptRow = Schema.Struct({
  hold_id: Schema.String,
  quote: Quote,
  hold: Schema.BigInt,
  overage: Schema.BigInt,
  held_at: Schema.Date,
  closed_at: Schema.Date,
  transfer_id: Schema.BigInt,
  captured: Schema.BigInt,
  debit: Schema.String,
  credit: Schema.String,
  captured_at: Schema.Date
})

type Row = typeof ReceiptRow.Type

/** As the journal tells them: the capture comes from the pool, and the hold goes back whole. */
const entriesOf = (row: Row): Receipt["entries"] => [
  {
    id: entryId("hold", row.hold_id),
    kind: "hold",
    amountNano: row.hold,
    debit: "pool",
    credit: "held",
    at: row.held_at
  },
  {
    id: entryId("capture", row.transfer_id.toString()),
    kind: "capture",
    amountNano: row.captured,
    debit: row.debit,
    credit: row.credit,
    at: row.captured_at
  },
  {
    id: entryId("release", row.hold_id),
    kind: "release",
    amountNano: row.hold,
    debit: "held",
    credit: "pool",
    at: row.closed_at
  }
]

/** Completes a record that was found; each table is read by a key of the organisation. */
export const receiptOf = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  organizationId: string,
  record: UsageRecord
): Effect.fn.Return<Receipt> {
  const [row] = yield* rowsOf(ReceiptRow)(
    repeatable(sql`
      SELECT h.id AS hold_id, h.quote, h.amount AS hold, h.overage, h.created_at AS held_at,
             h.closed_at, t.id AS transfer_id, t.amount AS captured, t.debit, t.credit,
             t.created_at AS captured_at
        FROM usage_records u
        JOIN holds h ON h.organization_id = u.organization_id AND h.id = u.hold_id
        JOIN transfers t
          ON t.organization_id = u.organization_id AND t.hold_id = u.hold_id AND t.kind = 'capture'
       WHERE u.organization_id = ${organizationId} AND u.id = ${record.id}`)
  )
  return row === undefined
    ? yield* Effect.die(new Error(`the books lack the charge of ${record.id}`))
    : {
        record,
        quote: row.quote,
        holdNano: row.hold,
        overageNano: row.overage,
        entries: entriesOf(row)
      }
})
