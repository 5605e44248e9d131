/** The audit of administrative writes in PostgreSQL. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { uuidBeginning } from "../../domain/orderIds.ts"
import { CLOCKS_APART_MILLIS, columnsOf, readPage, repeatable } from "../../postgres/client/rows.ts"
import { AdminAudit, AuditEntry } from "../../services/operators/AdminAudit.ts"

/** How ids of that time begin, so that a list of some days reads those days. */
const idAt = (at: Date, shift: number): string =>
  `au_${uuidBeginning(new Date(at.getTime() + shift))}`

export const layerAdminAudit = Layer.effect(
  AdminAudit,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const random = yield* SecureRandom.SecureRandom
    const columns = sql.literal(columnsOf(AuditEntry, "a"))

    return AdminAudit.of({
      record: Effect.fn("AdminAudit.record")(function* (write) {
        const id = `au_${yield* random.uuidV7()}`
        yield* repeatable(sql`
          INSERT INTO admin_audit (id, action, subject_id, fields, request_id, status, operator_id,
                                   operator_name)
          VALUES (${id}, ${write.action}, ${write.subjectId}, ${sql.json(write.fields)},
                  ${write.requestId}, ${write.status}, ${write.operatorId}, ${write.operatorName})
          ON CONFLICT (id) DO NOTHING`)
      }),
      // Ids begin with their time, so their order is that of the writes.
      list: Effect.fn("AdminAudit.list")((filter, page) => {
        const { operatorId, action, subjectId, from, to } = filter
        const only = (column: string, value: string | null) =>
          value === null ? sql`true` : sql`${sql.literal(column)} = ${value}`
        return readPage(AuditEntry, page, {
          isEntry: (after) => sql`SELECT 1 FROM admin_audit WHERE id = ${after}`,
          newest: sql`
            SELECT ${columns} FROM admin_audit a
             WHERE ${page.after === null ? sql`true` : sql`id < ${page.after}`}
               AND ${only("operator_id", operatorId)} AND ${only("action", action)}
               AND ${only("subject_id", subjectId)}
               AND ${from === null ? sql`true` : sql`at >= ${from} AND id >= ${idAt(from, -CLOCKS_APART_MILLIS)}`}
               AND ${to === null ? sql`true` : sql`at < ${to} AND id < ${idAt(to, CLOCKS_APART_MILLIS)}`}
             ORDER BY id DESC
             LIMIT ${page.limit + 1}`
        })
      })
    })
  })
)
