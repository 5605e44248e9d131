/**
 * References between the rows of one organisation, audited instead of checked row by row: what the
 * ledger's batches write in one commit refers to itself, and a check of each row was the larger part
 * of a batch's time.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const dropped = [
  ["holds", "holds_organization_id_fkey"],
  ["tasks", "tasks_organization_id_fkey"],
  ["tasks", "tasks_organization_id_id_fkey"],
  ["transfers", "transfers_organization_id_fkey"],
  ["transfers", "transfers_organization_id_hold_id_fkey"],
  ["usage_records", "usage_records_organization_id_hold_id_fkey"]
] as const

export const createAuditLinks = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  for (const [table, constraint] of dropped) {
    yield* sql`ALTER TABLE ${sql.literal(table)} DROP CONSTRAINT ${sql.literal(constraint)}`
  }
  yield* sql`ALTER VIEW ledger_audit RENAME TO ledger_audit_sums`
  yield* sql`
    CREATE VIEW ledger_audit_links AS
    SELECT 'I2' AS invariant, h.organization_id, 'hold of an organisation without a pool' AS detail,
           h.id AS subject
      FROM holds h
     WHERE NOT EXISTS (SELECT 1 FROM pools p WHERE p.organization_id = h.organization_id)
    UNION ALL
    SELECT 'I1', t.organization_id, 'transfer of an organisation without a pool', t.id::text
      FROM transfers t
     WHERE NOT EXISTS (SELECT 1 FROM pools p WHERE p.organization_id = t.organization_id)
    UNION ALL
    SELECT 'I4', t.organization_id, 'capture without its hold', t.hold_id
      FROM transfers t
     WHERE t.kind = 'capture'
       AND NOT EXISTS (SELECT 1 FROM holds h
                        WHERE h.organization_id = t.organization_id AND h.id = t.hold_id)
    UNION ALL
    SELECT 'I4', u.organization_id, 'usage record without its hold', u.id
      FROM usage_records u
     WHERE NOT EXISTS (SELECT 1 FROM holds h
                        WHERE h.organization_id = u.organization_id AND h.id = u.hold_id)
    UNION ALL
    SELECT 'I7', t.organization_id, 'task without its hold', t.id
      FROM tasks t
     WHERE NOT EXISTS (SELECT 1 FROM holds h
                        WHERE h.organization_id = t.organization_id AND h.id = t.id)
    UNION ALL
    SELECT 'I9', q.organization_id, 'idempotency key without its hold', q.hold_id
      FROM idempotency_keys q
     WHERE NOT EXISTS (SELECT 1 FROM holds h
                        WHERE h.organization_id = q.organization_id AND h.id = q.hold_id)`
  yield* sql`
    CREATE VIEW ledger_audit AS
    SELECT * FROM ledger_audit_sums UNION ALL SELECT * FROM ledger_audit_links`
})
