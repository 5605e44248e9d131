/**
 * What audits of the books have summed up of the past, so that the next one reads what came after.
 * Movements and usage are only ever added, and a hold is closed once: what lies before `through`
 * does not change.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const createAuditCarried = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    CREATE TABLE ledger_audited (
      only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
      /* Movements made and holds closed before it are in the sums below. */
      through timestamptz NOT NULL DEFAULT '-infinity'
    )`
  yield* sql`INSERT INTO ledger_audited DEFAULT VALUES`

  yield* sql`
    CREATE TABLE ledger_audited_pools (
      organization_id text PRIMARY KEY,
      /* Into the pool less out of it. */
      moved numeric NOT NULL DEFAULT 0,
      overage numeric NOT NULL DEFAULT 0,
      /* When every row of the organisation was last read; null is never. */
      verified_at timestamptz
    )`
  yield* sql`
    CREATE TABLE ledger_audited_months (
      organization_id text NOT NULL,
      member_id text NOT NULL,
      month date NOT NULL,
      captured numeric NOT NULL,
      PRIMARY KEY (organization_id, member_id, month)
    )`
})
