import { join } from "node:path"
import { PgClient } from "@effect/sql-pg"
import { Effect, type Layer, Schedule } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { startDatabaseServer } from "./DatabaseServer.ts"
import { lockDataDirectory } from "./DataDirectoryLock.ts"
import type { EmbeddedDatabaseError } from "./embeddedErrors.ts"

const checkpointAfterBytes = 64 * 1024 * 1024

const checkpointWhenDue = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const dueCheckpoint = yield* sql`
    SELECT 1 FROM pg_control_checkpoint()
    WHERE pg_current_wal_lsn() - redo_lsn >= ${checkpointAfterBytes}`
  if (dueCheckpoint.length > 0) yield* sql`CHECKPOINT`
})

// Vacuums and analyses the tables that need it, by the default thresholds of autovacuum.
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

/** Summarises BRIN indexes: without a vacuum or this call, new pages have no summary. */
const summariseIndexes = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    SELECT brin_summarize_new_values(c.oid)
      FROM pg_class c JOIN pg_am a ON a.oid = c.relam
     WHERE a.amname = 'brin' AND c.relkind = 'i'`
)

/** Runs all maintenance once. */
export const maintain = vacuumWhenDue.pipe(
  Effect.andThen(summariseIndexes),
  Effect.andThen(checkpointWhenDue)
)

/**
 * Runs every 15 seconds the maintenance that PostgreSQL's background processes do. PGlite is a
 * single process without these: the write-ahead log and dead rows would grow until the next
 * restart, and so would the time that a start takes after a kill. Never ends; a failed run is
 * logged.
 */
const maintainForever = maintain.pipe(
  Effect.catchCause((cause) => Effect.logWarning("embedded database: maintenance failed", cause)),
  Effect.repeat(Schedule.spaced("15 seconds"))
)

/**
 * PostgreSQL inside this process: PGlite in a worker thread, connected through a Unix socket by the
 * driver that also serves a real server. Its files are in `DATA_DIR/postgres`.
 *
 * Durability: an answered commit has been flushed to the disk (see `SyncedNodeFs`), so it survives
 * the end of the process and of the machine. A start after a kill replays the write-ahead log.
 *
 * One connection serves all callers. Statements outside transactions share it; a transaction has it
 * exclusively, so a statement that runs inside a transaction's effect without being part of the
 * transaction would wait for ever. `LISTEN` hangs. `statement_timeout` has no effect,
 * `lock_timeout` has no meaning, and `idle_in_transaction_session_timeout` would shut the database
 * down: none of them is set.
 *
 * Fails with `DataDirectoryInUse` while another process has the directory open. If the database
 * stops by itself, a fatal error is logged, and running and later statements fail.
 */
export const layerEmbedded = (options: {
  readonly dataDir: string
}): Layer.Layer<
  PgClient.PgClient | SqlClient.SqlClient,
  EmbeddedDatabaseError | SqlError.SqlError
> =>
  PgClient.layerFrom(
    Effect.gen(function* () {
      const { directory, socketDirectory } = yield* lockDataDirectory(options.dataDir)
      const socketPath = join(socketDirectory, "s")
      const { failure } = yield* startDatabaseServer({ directory, socketPath })
      const client = yield* PgClient.make({
        path: socketPath,
        username: "postgres",
        database: "postgres",
        applicationName: "media-gateway",
        minConnections: 1,
        maxConnections: 1,
        multiplex: true
      })
      yield* maintainForever.pipe(
        Effect.provideService(SqlClient.SqlClient, client),
        Effect.raceFirst(Effect.flatMap(failure, ({ message }) => Effect.logFatal(message))),
        Effect.forkScoped
      )
      return client
    })
  )
