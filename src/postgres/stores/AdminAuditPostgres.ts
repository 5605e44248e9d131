/** The audit of administrative writes in PostgreSQL. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { AdminAudit, AuditEntry } from "../../services/operators/AdminAudit.ts"
import { columnsOf, readPage, repeatable } from "../client/rows.ts"

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
      list: Effect.fn("AdminAudit.list")((page) =>
        readPage(AuditEntry, page, {
          isEntry: (after) => sql`SELECT 1 FROM admin_audit WHERE id = ${after}`,
          newest: sql`
            SELECT ${columns} FROM admin_audit a
             WHERE ${page.after === null ? sql`true` : sql`id < ${page.after}`}
             ORDER BY id DESC
             LIMIT ${page.limit + 1}`
        })
      )
    })
  })
)
