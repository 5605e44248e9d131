/**
 * The schema, as the `.sql` files beside this one, applied before anything else touches the database.
 * From the first release on a released file is never edited: what changes the schema comes as a file
 * of its own, and as a migration below with the next number.
 */
import { readFile } from "node:fs/promises"
import { Effect, Layer, Schema } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { rowOf } from "../client/rows.ts"

/** In the order in which a database needs them. */
const files = [
  "01_access.sql",
  "02_catalog.sql",
  "03_ledger.sql",
  "04_tasks.sql",
  "05_usage_sums.sql",
  "06_budgets.sql",
  "07_move_funds.sql",
  "08_audit.sql",
  "09_log.sql",
  "10_webhooks.sql",
  "11_archive.sql",
  "12_reconciliations.sql",
  "13_files.sql"
] as const

const BODY = "$sql_file$"

/** A statement of the driver is one command, and `EXECUTE` takes a file of them. */
const run = Effect.fnUntraced(function* (file: string) {
  const sql = yield* SqlClient.SqlClient
  const text = yield* Effect.promise(() => readFile(new URL(file, import.meta.url), "utf8"))
  yield* sql.unsafe(`DO $do$ BEGIN EXECUTE ${BODY}${text}${BODY}; END $do$`)
})

const migrations = { "1_gateway": Effect.forEach(files, run, { discard: true }) }

/** Number of the last migration, as the database records it. */
export const latestMigration = Object.keys(migrations).length

/** The database has tables that no released gateway has made. */
export class UnsupportedDatabase extends Schema.TaggedError<UnsupportedDatabase>()(
  "UnsupportedDatabase",
  { message: Schema.String }
) {}

/** Any number, the same on every gateway. */
const SCHEMA_LOCK = 7_263_001

/** Migration 1 had other names before the first release. */
const isFilledByAnother = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { exists } = yield* rowOf(Schema.Struct({ exists: Schema.Boolean }))(
    sql`SELECT to_regclass('effect_sql_migrations') IS NOT NULL AS exists`
  )
  if (!exists) return false
  const rows = yield* sql`
    SELECT 1 FROM effect_sql_migrations WHERE migration_id = 1 AND name <> 'gateway'`
  return rows.length > 0
})

/** Numbers of the migrations that the database records; changes nothing. */
export const recordedMigrations = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { exists } = yield* rowOf(Schema.Struct({ exists: Schema.Boolean }))(
    sql`SELECT to_regclass('effect_sql_migrations') IS NOT NULL AS exists`
  )
  if (!exists) return { latest: null, isForeign: false }
  const { latest } = yield* rowOf(Schema.Struct({ latest: Schema.NullOr(Schema.Int) }))(
    sql`SELECT max(migration_id) AS latest FROM effect_sql_migrations`
  )
  return { latest, isForeign: yield* isFilledByAnother }
})

/**
 * Brings the database up to the latest migration. Gateways that start together wait for the first
 * of them; the limits of requests do not count here, since a large table takes its time.
 */
export const applySchema = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`SET LOCAL statement_timeout = 0`
      yield* sql`SET LOCAL lock_timeout = '10min'`
      yield* sql`SELECT pg_advisory_xact_lock(${SCHEMA_LOCK})`
      if (yield* isFilledByAnother) {
        return yield* new UnsupportedDatabase({
          message:
            "The database was filled by a version from before the first release, which is not " +
            "supported any more. Give the gateway an empty one: another DATABASE_URL or DATA_DIR"
        })
      }
      return yield* Migrator.make({})({ loader: Migrator.fromRecord(migrations) })
    })
  )
})

export const layerSchema = Layer.effectDiscard(applySchema)
