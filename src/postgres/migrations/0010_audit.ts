/** Audits of the books are shared by all gateways of a database: one makes them, all know. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const createAuditState = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    CREATE TABLE ledger_audit_state (
      only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
      begun_at timestamptz,
      ended_at timestamptz,
      /* Of the last audit that came to a result. */
      audited_at timestamptz,
      violations integer NOT NULL DEFAULT 0 CHECK (violations >= 0)
    )`
  yield* sql`INSERT INTO ledger_audit_state DEFAULT VALUES`

  // Balances change without touching it, so the updates of a pool stay on its page.
  yield* sql`CREATE INDEX pools_stopped ON pools (organization_id) WHERE stopped_at IS NOT NULL`
})
