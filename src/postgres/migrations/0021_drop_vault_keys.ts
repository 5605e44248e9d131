/**
 * API keys are kept by a plain hash, so no key of the deployment is left to be sealed. Keys that were
 * kept by the hash before open nothing any more, and are revoked so that none is taken for valid.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const dropVaultKeys = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`DROP TABLE vault_keys`
  yield* sql`UPDATE api_keys SET revoked_at = now() WHERE revoked_at IS NULL`
})
