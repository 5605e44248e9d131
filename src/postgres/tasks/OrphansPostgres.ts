/** Orphans in PostgreSQL; the rows are written by the closes of their holds. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { NotFound } from "../../domain/Errors.ts"
import { isOrderId } from "../../domain/orderIds.ts"
import { AnswerTrace } from "../../domain/VendorOutcome.ts"
import { cutPage, unknownCursor } from "../../runtime/Page.ts"
import { type OrphanRecord, Orphans } from "../../services/Orphans.ts"
import { repeatable, rowsOf } from "../client/rows.ts"

/** What every hold keeps of its job. */
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
  hold_id: Schema.String,
  job: JobColumn,
  upstream_id: Schema.NullOr(Schema.String),
  reason: Schema.String,
  answer: Schema.NullOr(AnswerTrace),
  amount: Schema.BigInt,
  created_at: Schema.Date,
  resolved_at: Schema.NullOr(Schema.Date),
  note: Schema.NullOr(Schema.String)
})

/** Columns of `OrphanRow`, of `orphans o JOIN holds h`. */
export const orphanColumns =
  "o.organization_id, o.hold_id, o.job, o.upstream_id, o.reason, o.answer, h.amount, o.created_at, o.resolved_at, o.note"

export const toOrphan = (row: typeof OrphanRow.Type): OrphanRecord => ({
  id: row.hold_id,
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

    const list: Orphans["Service"]["list"] = Effect.fn("Orphans.list")(function* (resolved, page) {
      if (page.after !== null) {
        const found = yield* repeatable(sql`SELECT 1 FROM orphans WHERE hold_id = ${page.after}`)
        if (found.length === 0) return yield* unknownCursor
      }
      const rows = yield* rowsOf(OrphanRow)(
        repeatable(sql`
        SELECT ${columns} FROM orphans o
          JOIN holds h ON h.organization_id = o.organization_id AND h.id = o.hold_id
         WHERE (o.resolved_at IS NOT NULL) = ${resolved}
           AND ${
             page.after === null
               ? sql`true`
               : sql`(o.created_at, o.hold_id) < (
                   SELECT p.created_at, p.hold_id FROM orphans p WHERE p.hold_id = ${page.after})`
           }
         ORDER BY o.created_at DESC, o.hold_id DESC
         LIMIT ${page.limit + 1}`)
      )
      return cutPage(rows.map(toOrphan), page.limit)
    })

    const resolve: Orphans["Service"]["resolve"] = Effect.fn("Orphans.resolve")(
      function* (id, note) {
        const [row] = isOrderId(id)
          ? yield* rowsOf(OrphanRow)(
              repeatable(sql`
                UPDATE orphans o SET resolved_at = coalesce(o.resolved_at, now()), note = ${note}
                  FROM holds h
                 WHERE o.hold_id = ${id}
                   AND h.organization_id = o.organization_id AND h.id = o.hold_id
                RETURNING ${columns}`)
            )
          : []
        return row === undefined
          ? yield* new NotFound({ message: `No orphan is called ${JSON.stringify(id)}` })
          : toOrphan(row)
      }
    )

    return Orphans.of({ list, resolve })
  })
)
