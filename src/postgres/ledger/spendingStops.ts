/** Which organisations may not spend because their books are broken. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { Ledger } from "../../services/Ledger.ts"
import { repeatable } from "../client/rows.ts"

export const makeStopSpending = (sql: PgClient.PgClient): Ledger["Service"]["stopSpending"] =>
  Effect.fn("Ledger.stopSpending")(function* (reasons) {
    yield* repeatable(sql`
      WITH reasons AS (
        SELECT key AS organization_id, value AS reason
          FROM jsonb_each_text(${sql.json(Object.fromEntries(reasons))}::jsonb)
      ), wanted AS (
        SELECT organization_id, reason FROM reasons
        UNION ALL
        SELECT p.organization_id, NULL FROM pools p
         WHERE p.stopped_at IS NOT NULL
           AND p.organization_id NOT IN (SELECT organization_id FROM reasons)
      ), changed AS MATERIALIZED (
        /* In the order in which the ledger's batches lock them. */
        SELECT w.organization_id, w.reason
          FROM (SELECT * FROM wanted ORDER BY organization_id COLLATE "C") w
         CROSS JOIN LATERAL (
           SELECT p.stopped_at, p.stopped_reason FROM pools p
            WHERE p.organization_id = w.organization_id FOR UPDATE) p
         WHERE p.stopped_reason IS DISTINCT FROM w.reason
            OR (p.stopped_at IS NULL) <> (w.reason IS NULL)
      )
      UPDATE pools p
         SET stopped_at = CASE WHEN w.reason IS NOT NULL THEN coalesce(p.stopped_at, now()) END,
             stopped_reason = w.reason
        FROM changed w
       WHERE p.organization_id = w.organization_id`)
  })
