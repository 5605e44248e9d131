/** The migrations, applied before anything else touches the database. */
import { Effect, Layer, Schedule, Schema } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import type { SchemaState } from "../../services/Operations.ts"
import { rowOf } from "../client/rows.ts"
import { Migrations } from "./migrations.ts"

/**
 * This gateway cannot work with what the database has been filled with; in the error type of the layers
 * that open one.
 * @public
 */
export class UnsupportedDatabase extends Schema.TaggedError<UnsupportedDatabase>()(
  "UnsupportedDatabase",
  {
    message: Schema.String
  }
) {}

/** Any number, the same on every gateway. */
const SCHEMA_LOCK = 7_263_001

const Tables = Schema.Struct({ migrations: Schema.Boolean, rules: Schema.Boolean })

const Rules = Schema.Struct({
  /** Number of the last migration that was applied; 0 before the first. */
  latest: Schema.Int,
  /** The first one that this gateway does not know and must not work with. */
  stopsAt: Schema.NullOr(Schema.Int)
})

/** What has been applied to a database. */
export interface Found extends Schema.Schema.Type<typeof Rules> {
  /** Before the first release there were migrations without rules. */
  readonly isForeign: boolean
}

const NOTHING: Found = { latest: 0, stopsAt: null, isForeign: false }

/**
 * What has been applied to the database, as it records it. The migrator's own table is not read, which
 * it locks until its commit: gateways that serve on meanwhile would wait. Nor is `to_regclass` asked,
 * which may remember in a transaction that a table was not there before another one's commit.
 */
export const foundMigrations = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const known = (yield* Migrations).length
  const tables = yield* rowOf(Tables)(sql`
    SELECT coalesce(bool_or(relname = 'effect_sql_migrations'), false) AS migrations,
           coalesce(bool_or(relname = 'migration_rules'), false) AS rules
      FROM pg_class
     WHERE relname IN ('effect_sql_migrations', 'migration_rules') AND pg_table_is_visible(oid)`)
  if (!tables.rules) return { ...NOTHING, isForeign: tables.migrations }
  const rules = yield* rowOf(Rules)(sql`
    SELECT coalesce(max(migration_id), 0) AS latest,
           min(migration_id) FILTER (WHERE migration_id > ${known} AND older_gateways = 'stop')
             AS "stopsAt"
      FROM migration_rules`)
  return { ...rules, isForeign: false }
})

const stateOf = ({ latest, stopsAt }: Found, known: number): SchemaState =>
  stopsAt !== null ? "ahead" : latest < known ? "behind" : "ready"

/** Whether this gateway can work with the database as it is. */
export const schemaState = Effect.gen(function* () {
  return stateOf(yield* foundMigrations, (yield* Migrations).length)
})

const refuseUnsupported = Effect.fnUntraced(function* ({ latest, stopsAt, isForeign }: Found) {
  if (isForeign) {
    return yield* new UnsupportedDatabase({
      message:
        "The database was filled by a version from before the first release, which is not " +
        "supported any more. Give the gateway an empty one: another DATABASE_URL or DATA_DIR"
    })
  }
  if (stopsAt === null) return
  const known = (yield* Migrations).length
  return yield* new UnsupportedDatabase({
    message:
      `The database is at migration ${latest}, and this gateway knows migrations up to ${known}: it ` +
      `cannot work with a database that has migration ${stopsAt}. Start the version that migrated ` +
      "it or a newer one, or restore a backup from before"
  })
})

const missing = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const migrations = yield* Migrations
  const applied = yield* Migrator.make({})({
    loader: Migrator.fromRecord(
      Object.fromEntries(migrations.map(({ name, apply }, at) => [`${at + 1}_${name}`, apply]))
    )
  })
  // What older gateways do about them is known to all from the same commit on.
  for (const [id] of applied) {
    const rule = migrations[id - 1]?.olderGateways ?? "stop"
    yield* sql`
      INSERT INTO migration_rules (migration_id, older_gateways) VALUES (${id}, ${rule})`
  }
  return applied
})

/**
 * Brings the database up to the last migration of this gateway, and answers those that were missing.
 * Gateways that start together wait for the first of them; the limits of requests do not count here,
 * since a large table takes its time. Where nothing is missing, nothing is locked or written.
 */
export const applySchema = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const known = (yield* Migrations).length
  const before = yield* foundMigrations
  yield* refuseUnsupported(before)
  if (stateOf(before, known) === "ready") return []
  return yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`SET LOCAL statement_timeout = 0`
      yield* sql`SET LOCAL lock_timeout = '10min'`
      yield* sql`SELECT pg_advisory_xact_lock(${SCHEMA_LOCK})`
      yield* refuseUnsupported(yield* foundMigrations)
      return yield* missing
    })
  )
})

export const layerSchema = Layer.effectDiscard(applySchema)

/** How often a gateway looks for a schema that something else applies. */
const LOOK_EVERY = "500 millis"

/** Waits until the schema is there that something else applies, however often the database is away. */
export const awaitSchema = Effect.gen(function* () {
  const known = (yield* Migrations).length
  const found = yield* foundMigrations.pipe(
    Effect.catchCause((cause) =>
      Effect.as(Effect.logDebug("the schema could not be looked for", cause), NOTHING)
    ),
    Effect.repeat({
      until: (now) => now.isForeign || stateOf(now, known) !== "behind",
      schedule: Schedule.spaced(LOOK_EVERY)
    })
  )
  yield* refuseUnsupported(found)
})
