/** Applies the migrations, before anything else uses the database. */
import { Effect, Layer, Schedule, Schema } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import type { SchemaState } from "../../services/Operations.ts"
import { rowOf } from "../client/rows.ts"
import { Migrations } from "./migrations.ts"

/**
 * The error of the layers that open a database whose schema this gateway cannot work with.
 * @public
 */
export class UnsupportedDatabase extends Schema.TaggedError<UnsupportedDatabase>()(
  "UnsupportedDatabase",
  {
    message: Schema.String
  }
) {}

/** The advisory lock of migrations: an arbitrary number that is the same on every gateway. */
const SCHEMA_LOCK = 7_263_001

const Tables = Schema.Struct({ migrations: Schema.Boolean, rules: Schema.Boolean })

const Rules = Schema.Struct({
  /** Number of the last applied migration; 0 before the first. */
  latest: Schema.Int,
  /**
   * The first migration that this gateway does not know and cannot work with; null if there is
   * none.
   */
  stopsAt: Schema.NullOr(Schema.Int)
})

/** The migrations applied to a database. */
export interface AppliedMigrations extends Schema.Schema.Type<typeof Rules> {
  /**
   * Whether a version from before the first release created the schema: migrations then had no
   * rules.
   */
  readonly isForeign: boolean
}

const NO_MIGRATIONS: AppliedMigrations = { latest: 0, stopsAt: null, isForeign: false }

/**
 * Reads which migrations are applied. The migrator's own table is not read, since the migrator
 * locks it until its commit, and gateways that keep serving would wait. `to_regclass` is not used
 * either, since inside a transaction it may return a cached result from before another
 * transaction's commit.
 */
export const appliedMigrations = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const last = (yield* Migrations).length
  const tables = yield* rowOf(Tables)(sql`
    SELECT coalesce(bool_or(relname = 'effect_sql_migrations'), false) AS migrations,
           coalesce(bool_or(relname = 'migration_rules'), false) AS rules
      FROM pg_class
     WHERE relname IN ('effect_sql_migrations', 'migration_rules') AND pg_table_is_visible(oid)`)
  if (!tables.rules) return { ...NO_MIGRATIONS, isForeign: tables.migrations }
  const rules = yield* rowOf(Rules)(sql`
    SELECT coalesce(max(migration_id), 0) AS latest,
           min(migration_id) FILTER (WHERE migration_id > ${last} AND older_gateways = 'stop')
             AS "stopsAt"
      FROM migration_rules`)
  return { ...rules, isForeign: false }
})

const stateOf = ({ latest, stopsAt }: AppliedMigrations, last: number): SchemaState =>
  stopsAt !== null ? "ahead" : latest < last ? "behind" : "ready"

/** Whether this gateway can work with the schema of the database. */
export const schemaState = Effect.gen(function* () {
  return stateOf(yield* appliedMigrations, (yield* Migrations).length)
})

const refuseUnsupported = Effect.fnUntraced(function* ({
  latest,
  stopsAt,
  isForeign
}: AppliedMigrations) {
  if (isForeign) {
    return yield* new UnsupportedDatabase({
      message:
        "The database was filled by a version from before the first release, which is not " +
        "supported any more. Give the gateway an empty one: another DATABASE_URL or DATA_DIR"
    })
  }
  if (stopsAt === null) return
  const last = (yield* Migrations).length
  return yield* new UnsupportedDatabase({
    message:
      `The database is at migration ${latest}, and this gateway knows migrations up to ${last}: it ` +
      `cannot work with a database that has migration ${stopsAt}. Start the version that migrated ` +
      "it or a newer one, or restore a backup from before"
  })
})

const applyMissing = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const migrations = yield* Migrations
  const appliedResult = yield* Migrator.make({})({
    loader: Migrator.fromRecord(
      Object.fromEntries(migrations.map(({ name, apply }, at) => [`${at + 1}_${name}`, apply]))
    )
  })
  // The rules for older gateways are stored in the same transaction as the migrations.
  for (const [id] of appliedResult) {
    const rule = migrations[id - 1]?.olderGateways ?? "stop"
    yield* sql`
      INSERT INTO migration_rules (migration_id, older_gateways) VALUES (${id}, ${rule})`
  }
  return appliedResult
})

/**
 * Applies the missing migrations and returns them. Of gateways that start together, one applies
 * them while the others wait. The time-outs of requests do not apply, since migrating a large table
 * takes long. If no migration is missing, nothing is locked or written.
 */
export const applySchema = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const last = (yield* Migrations).length
  const current = yield* appliedMigrations
  yield* refuseUnsupported(current)
  if (stateOf(current, last) === "ready") return []
  return yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`SET LOCAL statement_timeout = 0`
      yield* sql`SET LOCAL lock_timeout = '10min'`
      yield* sql`SELECT pg_advisory_xact_lock(${SCHEMA_LOCK})`
      yield* refuseUnsupported(yield* appliedMigrations)
      return yield* applyMissing
    })
  )
})

export const layerSchema = Layer.effectDiscard(applySchema)

/** The interval at which a gateway checks whether another process has applied the schema. */
const CHECK_INTERVAL = "500 millis"

/**
 * Waits until another process has applied the schema; retries while the database is unavailable.
 */
export const awaitSchema = Effect.gen(function* () {
  const last = (yield* Migrations).length
  const appliedResult = yield* appliedMigrations.pipe(
    Effect.catchCause((cause) =>
      Effect.as(Effect.logDebug("schema: reading the migrations failed", cause), NO_MIGRATIONS)
    ),
    Effect.repeat({
      until: (migrations) => migrations.isForeign || stateOf(migrations, last) !== "behind",
      schedule: Schedule.spaced(CHECK_INTERVAL)
    })
  )
  yield* refuseUnsupported(appliedResult)
})
