/** Orphans in PostgreSQL; the rows are written by the closes of their holds. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { NotFound } from "../../domain/Errors.ts"
import { isOrderId } from "../../domain/orderIds.ts"
import { AnswerTrace } from "../../domain/VendorOutcome.ts"
import { cutPage, unknownCursor } from "../../runtime/Page.ts"
import { type OrphanRecord, Orphans } from "../../services/Orphans.ts"
import { repeatable, rowsOf } from "../client/rows.ts"

/** What every order keeps of its job. */
export const JobColumn = Schema.Struct({
  channel_id: Schema.String,
  protocol: Schema.String,
  upstream_model: Schema.String
})

export const toJob = (job: typeof JobColumn.Type) => ({
  channelId: job.channel_id,
  protocol: job.protocol,
  upstreamModel: job.upstream_model
})

export const OrphanRow = Schema.Struct({
  organization_id: Schema.String,
  order_id: Schema.String,
  job: JobColumn,
  upstream_id: Schema.NullOr(Schema.String),
  reason: Schema.String,
  answer: Schema.NullOr(AnswerTrace),
  amount: Schema.BigInt,
  created_at: Schema.Date,
  resolved_at: Schema.NullOr(Schema.Date),
  note: Schema.NullOr(Schema.String)
})

/** Columns of `OrphanRow`, of `orphans o JOIN orders q`. */
export const orphanColumns =
  "o.organization_id, o.order_id, o.job, o.upstream_id, o.reason, o.answer, q.hold AS amount, o.created_at, o.resolved_at, o.note"

export const toOrphan = (row: typeof OrphanRow.Type): OrphanRecord => ({
  id: row.order_id,
  organizationId: row.organization_id,
  job: toJob(row.job),
  upstreamId: row.upstream_id,
  reason: row.reason,
  answer: row.answer,
  heldNano: row.amount,
  createdAt: row.created_at,
  resolvedAt: row.resolved_at,
  note: row.note
})

export const layerOrphans = Layer.effect(
  Orphans,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const columns = sql.literal(orphanColumns)

    return Orphans.of({
      list: Effect.fn("Orphans.list")(function* (resolved, page) {
        if (page.after !== null) {
          const found = yield* repeatable(sql`SELECT 1 FROM orphans WHERE order_id = ${page.after}`)
          if (found.length === 0) return yield* unknownCursor
        }
        const rows = yield* rowsOf(OrphanRow)(
          repeatable(sql`
        SELECT ${columns} FROM orphans o
          JOIN orders q ON q.organization_id = o.organization_id AND q.id = o.order_id
         WHERE (o.resolved_at IS NOT NULL) = ${resolved}
           AND ${
             page.after === null
               ? sql`true`
               : sql`(o.created_at, o.order_id) < (
                   SELECT p.created_at, p.order_id FROM orphans p WHERE p.order_id = ${page.after})`
           }
         ORDER BY o.created_at DESC, o.order_id DESC
         LIMIT ${page.limit + 1}`)
        )
        return cutPage(rows.map(toOrphan), page.limit)
      }),
      resolve: Effect.fn("Orphans.resolve")(function* (id, note) {
        const [row] = isOrderId(id)
          ? yield* rowsOf(OrphanRow)(
              repeatable(sql`
                UPDATE orphans o SET resolved_at = coalesce(o.resolved_at, now()), note = ${note}
                  FROM orders q
                 WHERE o.order_id = ${id}
                   AND q.organization_id = o.organization_id AND q.id = o.order_id
                RETURNING ${columns}`)
            )
          : []
        return row === undefined
          ? yield* new NotFound({ message: `No orphan is called ${JSON.stringify(id)}` })
          : toOrphan(row)
      })
    })
  })
)
