/** API keys are kept by a plain hash, so no key of the deployment is left to be sealed. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const dropVaultKeys = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`DROP TABLE vault_keys`
})
