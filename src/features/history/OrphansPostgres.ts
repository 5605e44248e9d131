/** Orphans in PostgreSQL; `move_funds` writes an orphan in the commit that closes its order. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { NotFound } from "../../domain/Errors.ts"
import { isOrderId } from "../../domain/orderIds.ts"
import { makeConditions } from "../../postgres/client/conditions.ts"
import { columnsOf, readPage, retryBriefly, rowsOf } from "../../postgres/client/rows.ts"
import { OrphanRecord, Orphans } from "../../services/Orphans.ts"

/** Columns of `OrphanRecord`, read from `orphansWithOrders`. */
export const orphanColumns = columnsOf(OrphanRecord, "o", {
  id: "o.order_id",
  heldNano: "q.hold",
  chargeNano: "q.charge"
})
export const orphansWithOrders =
  "orphans o JOIN orders q ON q.organization_id = o.organization_id AND q.id = o.order_id"

export const layerOrphans = Layer.effect(
  Orphans,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { equals } = makeConditions(sql)
    const columns = sql.literal(orphanColumns)

    return Orphans.of({
      list: Effect.fn("Orphans.list")((filter, page) => {
        const { isResolved, organizationId, channelId, reason } = filter
        const isOlder = sql`(o.created_at, o.order_id) < (
          SELECT p.created_at, p.order_id FROM orphans p WHERE p.order_id = ${page.after})`
        return readPage(OrphanRecord, page, {
          isEntry: (after) => sql`SELECT 1 FROM orphans WHERE order_id = ${after}`,
          newest: sql`
            SELECT ${columns} FROM ${sql.literal(orphansWithOrders)}
             WHERE ${sql.literal(isResolved ? "o.is_resolved" : "NOT o.is_resolved")}
               AND ${equals("o.organization_id", organizationId)}
               AND ${equals("o.job ->> 'channelId'", channelId)} AND ${equals("o.reason", reason)}
               AND ${page.after === null ? sql`true` : isOlder}
             ORDER BY o.created_at DESC, o.order_id DESC
             LIMIT ${page.limit + 1}`
        })
      }),
      resolve: Effect.fn("Orphans.resolve")(function* (id, note) {
        const [row] = isOrderId(id)
          ? yield* rowsOf(OrphanRecord)(
              retryBriefly(sql`
                /* LEAST ignores null: the first time stays. A cluster refuses now() in COALESCE. */
                UPDATE orphans o SET resolved_at = least(o.resolved_at, now()), note = ${note}
                  FROM orders q
                 WHERE o.order_id = ${id}
                   AND q.organization_id = o.organization_id AND q.id = o.order_id
                RETURNING ${columns}`)
            )
          : []
        return row === undefined
          ? yield* new NotFound({ message: `No orphan is called ${JSON.stringify(id)}` })
          : row
      })
    })
  })
)
