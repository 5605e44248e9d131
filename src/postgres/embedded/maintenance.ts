import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as SqlClient from "effect/sql/SqlClient"

const checkpointAfterBytes = 64 * 1024 * 1024

const checkpointWhenDue = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const due = yield* sql`
    SELECT 1 FROM pg_control_checkpoint()
    WHERE pg_current_wal_lsn() - redo_lsn >= ${checkpointAfterBytes}`
  if (due.length > 0) yield* sql`CHECKPOINT`
})

// Thresholds are autovacuum's defaults.
const vacuumWhenDue = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ readonly name: string }>`
    SELECT format('%I.%I', schemaname, relname) AS name FROM pg_stat_all_tables
    WHERE schemaname <> 'pg_toast' AND (
      n_dead_tup > 50 + 0.2 * n_live_tup
      OR n_mod_since_analyze > 50 + 0.1 * n_live_tup
      OR n_ins_since_vacuum > 1000 + 0.2 * n_live_tup)`
  yield* Effect.forEach(tables, ({ name }) => sql.unsafe(`VACUUM (ANALYZE) ${name}`), {
    discard: true
  })
})

/** Indexes by ranges of pages; between vacuums new pages are in none of their ranges. */
const summariseIndexes = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    SELECT brin_summarize_new_values(c.oid)
      FROM pg_class c JOIN pg_am a ON a.oid = c.relam
     WHERE a.amname = 'brin' AND c.relkind = 'i'`
)

/** One round: vacuums and analyzes the tables that need it, brings indexes up to date, and takes a checkpoint if one is due. */
export const maintain = vacuumWhenDue.pipe(
  Effect.andThen(summariseIndexes),
  Effect.andThen(checkpointWhenDue)
)

/**
 * Does every 15 seconds what PostgreSQL's background processes do elsewhere. PGlite is a single
 * process and has none: without this, the write-ahead log and dead rows grow until the next restart,
 * and so does the time a start takes after a kill. Never ends; a failed round is logged.
 */
export const maintainForever = maintain.pipe(
  Effect.catchCause((cause) =>
    Effect.logWarning("maintenance of the embedded database failed", cause)
  ),
  Effect.repeat(Schedule.spaced("15 seconds"))
)
