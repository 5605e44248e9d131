/** The audit log of administrative writes in PostgreSQL. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { uuidBeginning } from "../../domain/orderIds.ts"
import { makeConditions } from "../../postgres/client/conditions.ts"
import {
  columnsOf,
  MAX_CLOCK_SKEW_MILLIS,
  readPage,
  retryBriefly
} from "../../postgres/client/rows.ts"
import { AdminAudit, AuditEntry } from "../../services/operators/AdminAudit.ts"

/**
 * The prefix of ids minted at this time. With such prefixes, a list of some days reads only its
 * part of the index.
 */
const idPrefixAt = (at: Date, shiftMillis: number): string =>
  `au_${uuidBeginning(new Date(at.getTime() + shiftMillis))}`

export const layerAdminAudit = Layer.effect(
  AdminAudit,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const { equals, isAfterCursor } = makeConditions(sql)
    const random = yield* SecureRandom.SecureRandom
    const columns = sql.literal(columnsOf(AuditEntry, "a"))

    return AdminAudit.of({
      record: Effect.fn("AdminAudit.record")(function* (write) {
        const id = `au_${yield* random.uuidV7()}`
        yield* retryBriefly(sql`
          INSERT INTO admin_audit (id, action, subject_id, fields, request_id, status, operator_id,
                                   operator_name)
          VALUES (${id}, ${write.action}, ${write.subjectId}, ${sql.json(write.fields)},
                  ${write.requestId}, ${write.status}, ${write.operatorId}, ${write.operatorName})
          ON CONFLICT (id) DO NOTHING`)
      }),
      // Ids begin with their time, so they sort in the order of the writes.
      list: Effect.fn("AdminAudit.list")((filter, page) => {
        const { operatorId, action, subjectId, from, to } = filter
        const isFrom =
          from === null
            ? sql`true`
            : sql`at >= ${from} AND id >= ${idPrefixAt(from, -MAX_CLOCK_SKEW_MILLIS)}`
        const isBefore =
          to === null
            ? sql`true`
            : sql`at < ${to} AND id < ${idPrefixAt(to, MAX_CLOCK_SKEW_MILLIS)}`
        return readPage(AuditEntry, page, {
          isEntry: (after) => sql`SELECT 1 FROM admin_audit WHERE id = ${after}`,
          newest: sql`
            SELECT ${columns} FROM admin_audit a
             WHERE ${isAfterCursor("id", page.after)} AND ${isFrom} AND ${isBefore}
               AND ${equals("operator_id", operatorId)} AND ${equals("action", action)}
               AND ${equals("subject_id", subjectId)}
             ORDER BY id DESC
             LIMIT ${page.limit + 1}`
        })
      })
    })
  })
)
