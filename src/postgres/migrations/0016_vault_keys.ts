/** Keys that outlive the master key, each sealed under it. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const createVaultKeys = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    CREATE TABLE vault_keys (
      name text PRIMARY KEY,
      key_id text NOT NULL,
      sealed_key bytea NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    )`
})
