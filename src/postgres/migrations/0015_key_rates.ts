/** Keys with a rate of their own. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const createKeyRates = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Null is the gateway's default, which is a setting.
  yield* sql`
    ALTER TABLE api_keys ADD COLUMN requests_per_minute integer CHECK (requests_per_minute > 0)`
})
