/**
 * Checks of the database: connection, permissions, schema version, and whether the master key
 * decrypts its secrets.
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { Cause, Clock, Effect, type FileSystem, type Path, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { GatewayConfig } from "../../config.ts"
import { layerCrypto } from "../../crypto.ts"
import { MAX_CLOCK_SKEW_MILLIS, rowOf } from "../../postgres/client/rows.ts"
import { ownerOf } from "../../postgres/embedded/DataDirectoryLock.ts"
import { appliedMigrations } from "../../postgres/schema/applySchema.ts"
import { Migrations } from "../../postgres/schema/migrations.ts"
import { sealedFaults } from "../../postgres/stores/masterKeyRotation.ts"
import { reasonOf } from "../../run.ts"
import { deepestReason } from "../../runtime/deepestReason.ts"
import { loadSecrets } from "../../secrets.ts"
import { layerVault } from "../../services/Vault.ts"
import { layerDatabase } from "../local/database.ts"
import {
  type Check,
  errorFinding,
  type Finding,
  okFinding,
  unknownFinding,
  warningFinding
} from "./findings.ts"

const Server = Schema.Struct({
  version: Schema.String,
  versionNumber: Schema.Int,
  connections: Schema.Int,
  recovering: Schema.Boolean,
  readOnly: Schema.String,
  mayCreate: Schema.Boolean,
  nowMillis: Schema.Number
})

const server = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  rowOf(Server)(sql`
    SELECT current_setting('server_version') AS version,
           current_setting('server_version_num')::int AS "versionNumber",
           current_setting('max_connections')::int
             - current_setting('superuser_reserved_connections')::int AS connections,
           pg_is_in_recovery() AS recovering,
           current_setting('default_transaction_read_only') AS "readOnly",
           has_schema_privilege(current_schema(), 'CREATE') AS "mayCreate",
           extract(epoch FROM clock_timestamp())::float8 * 1000 AS "nowMillis"`)
)

/**
 * The oldest supported version of the server, PostgreSQL 15, in the form of `server_version_num`.
 */
const LEAST_VERSION = 150_000
/** The number of connections outside the pool: one connection that listens for notifications. */
const LISTENING = 1

const serverFindings = Effect.fnUntraced(function* (config: GatewayConfig) {
  const status = yield* server
  const differenceMillis = Math.abs((yield* Clock.currentTimeMillis) - status.nowMillis)
  const findings: Array<Finding> = [
    status.versionNumber < LEAST_VERSION
      ? errorFinding(`PostgreSQL ${status.version} is too old.`, "Use PostgreSQL 15 or newer.")
      : okFinding(`PostgreSQL ${status.version} answers.`)
  ]
  if (status.recovering || status.readOnly === "on") {
    findings.push(
      errorFinding(
        "The database can be read alone.",
        "Name the primary in DATABASE_URL, and a role that writes."
      )
    )
  } else if (!status.mayCreate) {
    findings.push(
      errorFinding(
        "The role may not create tables.",
        "GRANT CREATE ON SCHEMA public to it, or make it the owner."
      )
    )
  }
  if (differenceMillis > MAX_CLOCK_SKEW_MILLIS / 10) {
    const says = `The clocks of this machine and the database are ${Math.round(differenceMillis / 1000)} s apart.`
    const advice = "Let both follow one time server."
    findings.push(
      differenceMillis > MAX_CLOCK_SKEW_MILLIS
        ? errorFinding(says, advice)
        : warningFinding(says, advice)
    )
  }
  if (config.databaseUrl !== null && config.databasePool + LISTENING > status.connections) {
    findings.push(
      errorFinding(
        `DATABASE_POOL is ${config.databasePool}, and the server gives ${status.connections} connections at most.`,
        "Lower DATABASE_POOL, or raise max_connections; every gateway has a pool of its own."
      )
    )
  }
  return findings
})

const schemaFindings = Effect.gen(function* () {
  const { latest, stopsAt, isForeign } = yield* appliedMigrations
  const { length: migrationCount } = yield* Migrations
  if (isForeign) {
    return [
      errorFinding(
        "The tables are not those of any released version.",
        "Give the gateway an empty database."
      )
    ]
  }
  if (latest === 0) {
    return [okFinding("The schema is not there yet: the first start, or `migrate`, makes it.")]
  }
  if (stopsAt !== null) {
    return [
      errorFinding(
        `The schema is of migration ${latest}, and this version knows ${migrationCount}: a newer gateway has been here.`,
        "Install that version, or a newer one."
      )
    ]
  }
  if (latest > migrationCount) {
    return [
      okFinding(
        `The schema is of migration ${latest}, beside which this version, of ${migrationCount}, may serve.`
      )
    ]
  }
  return [
    latest < migrationCount
      ? warningFinding(
          `The schema is of migration ${latest}, and this version has ${migrationCount}.`,
          "The next start brings it up, and so does `migrate`."
        )
      : okFinding(`The schema is this version's, migration ${latest}.`)
  ]
})

const secretFindings = Effect.fnUntraced(function* (config: GatewayConfig) {
  const { latest, isForeign } = yield* appliedMigrations
  if (latest === 0 || isForeign) return []
  const { masterKey, previousMasterKey } = yield* loadSecrets(config)
  const faults = yield* Effect.provide(sealedFaults, layerVault(masterKey, previousMasterKey))
  return faults.length === 0
    ? [okFinding("The master key opens every secret that is stored.")]
    : faults.map((fault) =>
        errorFinding(
          `${fault}.`,
          "Give the master key it was sealed under as GATEWAY_MASTER_KEY, or as GATEWAY_MASTER_KEY_PREVIOUS and rotate; or write the secret again."
        )
      )
}, Effect.provide(layerCrypto))

/**
 * Runs a check with a time-out that a waiting user accepts. Turns its failure into a finding, so
 * that the findings of the other checks are still printed.
 */
const unknownIfFailing = <E extends Error, R>(
  subject: string,
  check: Effect.Effect<ReadonlyArray<Finding>, E, R>
) =>
  check.pipe(
    Effect.timeout("15 seconds"),
    Effect.catchCause((cause) =>
      Effect.succeed([
        errorFinding(
          `${subject}: ${deepestReason(Cause.squash(cause))}.`,
          "Look at the database's own log."
        )
      ])
    )
  )

const embeddedIsNew = (config: GatewayConfig): boolean =>
  !existsSync(join(config.dataDir, "postgres")) || !existsSync(join(config.dataDir, "secrets.json"))

export const databaseCheck: Check<FileSystem.FileSystem | Path.Path> = {
  name: "Database",
  run: Effect.fnUntraced(function* ({ config }) {
    if (config === null) return []
    if (config.databaseUrl === null) {
      if (embeddedIsNew(config))
        return [okFinding("The embedded database is not there yet: the first start makes it.")]
      const owner = ownerOf(config.dataDir)
      if (owner !== null)
        return [
          unknownFinding(
            `The embedded database is open in process ${owner}, and nobody else can look into it.`
          )
        ]
    }
    const checkSchema = Effect.gen(function* () {
      const all = [
        unknownIfFailing("The server cannot be asked", serverFindings(config)),
        unknownIfFailing("The schema cannot be read", schemaFindings),
        unknownIfFailing("The stored secrets cannot be read", secretFindings(config))
      ]
      return (yield* Effect.all(all)).flat()
    })
    return yield* checkSchema.pipe(
      Effect.provide(layerDatabase(config)),
      Effect.timeout("30 seconds"),
      Effect.catchCause((cause) => {
        const error = Cause.squash(cause)
        return Effect.succeed([
          errorFinding(
            `The database cannot be reached: ${error instanceof Error ? reasonOf(error) : String(error)} (${deepestReason(error)}).`,
            config.databaseUrl === null
              ? "See DATA_DIR."
              : "Check DATABASE_URL, the network, and whether the server runs."
          )
        ])
      })
    )
  })
}
