/** Distributes an applied schema over the nodes of a Citus cluster, by organisation. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowOf } from "../client/rows.ts"
import { runFile } from "../schema/migrations.ts"

const ServerRow = Schema.Struct({ hasCitus: Schema.Boolean, gatewaySessions: Schema.Int })
const DistributionRow = Schema.Struct({ isDistributed: Schema.Boolean })

/** The schema cannot be distributed; nothing was changed. */
class NotDistributable extends Schema.TaggedError<NotDistributable>()("NotDistributable", {
  message: Schema.String
}) {}

/**
 * Runs after the migrations, in one transaction; what is distributed already stays as it is. Rows
 * of a database in use are moved. No gateway may run the first time: a gateway learns at its start
 * that the rows are distributed.
 */
export const distributeSchema = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { hasCitus, gatewaySessions } = yield* rowOf(ServerRow)(sql`
    SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') AS "hasCitus",
           (SELECT count(*)::int FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()
               AND application_name = current_setting('application_name')) AS "gatewaySessions"`)
  if (!hasCitus) {
    return yield* new NotDistributable({ message: "The database has no extension citus" })
  }
  const { isDistributed } = yield* rowOf(DistributionRow)(sql`
    SELECT EXISTS (SELECT FROM citus_tables
                    WHERE table_name = 'pools'::regclass AND citus_table_type = 'distributed')
             AS "isDistributed"`)
  if (!isDistributed && gatewaySessions > 0) {
    return yield* new NotDistributable({
      message: `Stop the gateways first: they have ${gatewaySessions} connections to the database`
    })
  }
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`SET LOCAL statement_timeout = 0`
      yield* sql`SET LOCAL lock_timeout = '10min'`
      yield* runFile("../citus/distribute.sql")
    })
  )
})
