/** Distributes an applied schema over the nodes of a Citus cluster, by organisation. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { runFile } from "../schema/migrations.ts"

/**
 * Runs after the migrations, in one transaction; what is distributed already stays as it is. Rows
 * of a database in use are moved, and writes wait until they are.
 */
export const distributeSchema = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`SET LOCAL statement_timeout = 0`
      yield* sql`SET LOCAL lock_timeout = '10min'`
      yield* runFile("../citus/distribute.sql")
    })
  )
})
