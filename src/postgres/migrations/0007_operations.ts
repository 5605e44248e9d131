/** What running the gateway adds to the tables: repeats of a request, stops of spending, times. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const createOperations = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Set while the organisation's books are broken: no new hold is taken, closes go on.
  yield* sql`ALTER TABLE pools ADD COLUMN stopped_at timestamptz, ADD COLUMN stopped_reason text`

  yield* sql`ALTER TABLE tasks ADD COLUMN accepted_at timestamptz`

  // Written in the commit of the hold, before any vendor is called.
  yield* sql`
    CREATE TABLE idempotency_keys (
      organization_id text NOT NULL,
      key text NOT NULL,
      /* Of the path and the body. */
      fingerprint text NOT NULL,
      hold_id text NOT NULL,
      /* What the first request was answered, once it was: JSON in its own order of fields. */
      answer text,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      PRIMARY KEY (organization_id, key)
    )`
  yield* sql`CREATE INDEX idempotency_keys_by_hold ON idempotency_keys (organization_id, hold_id)`
  yield* sql`CREATE INDEX idempotency_keys_due ON idempotency_keys (expires_at)`
})
