import { randomUUID } from "node:crypto"
import { constants, copyFileSync, mkdirSync, readdirSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { PgClient } from "@effect/sql-pg"
import { layer, type Vitest } from "@effect/vitest"
import { Effect, Layer, Redacted, type Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { inject } from "vitest"
import { type Distribution, layerDistribution } from "../../src/postgres/citus/Distribution.ts"
import { layerChanges } from "../../src/postgres/client/ChangesPostgres.ts"
import { layerPostgres } from "../../src/postgres/client/databaseClient.ts"
import { layerEmbedded } from "../../src/postgres/embedded/EmbeddedPostgres.ts"
import type { EmbeddedDatabaseError } from "../../src/postgres/embedded/embeddedErrors.ts"
import { type Changes, layerChangesAlone } from "../../src/runtime/Changes.ts"
import { addressesOf, citusUrl, temporaryCitusDatabase } from "./citus.ts"
import { shareOfDay } from "./day.ts"
import "./embeddedProgram.ts"
import { quickDirectory } from "./quickDirectory.ts"

/** The databases the gateway runs on. Tests use the last one only where `CITUS_URL` names a cluster. */
export type DatabaseKind = "embedded" | "postgres" | "citus"

/** The databases that several gateways may share. */
export const sharedKinds: ReadonlyArray<"postgres" | "citus"> =
  citusUrl === null ? ["postgres"] : ["postgres", "citus"]

/** The one of them on which gateways are killed: the cluster with `DATABASES=citus`. */
export const sharedKind = process.env.DATABASES === "citus" ? "citus" : "postgres"

/**
 * The databases on which a test file runs the whole gateway: one of them, the other one on the next
 * day, both with `DATABASES=both`, and the cluster of `CITUS_URL` with `DATABASES=citus`. What differs
 * between the databases lies in the stores, which pass their contracts on both in every run.
 */
export const databasesInTurn = (file: string): ReadonlyArray<DatabaseKind> => {
  const kinds = ["embedded", "postgres"] as const
  if (process.env.DATABASES === "both") return kinds
  if (process.env.DATABASES === "citus") return ["citus"]
  // Half of the files use the one database, and half the other one.
  const isOdd = basename(file).length % 2 === 1
  return shareOfDay(isOdd ? kinds.toReversed() : kinds, kinds.length)
}

/** What a database offers to a test. */
export type Database = PgClient.PgClient | SqlClient.SqlClient | Changes | Distribution

/**
 * File by file: the asynchronous `cp` takes ten times the work over a thousand small files, and with
 * `cpSync`, which is native code, a process may end by SIGSEGV.
 */
const copyDirectory = (from: string, to: string): void => {
  mkdirSync(to, { recursive: true })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) copyDirectory(source, target)
    else copyFileSync(source, target, constants.COPYFILE_FICLONE)
  }
}

const initialise = (dataDir: string): void =>
  copyDirectory(join(inject("embeddedTemplate"), "postgres"), join(dataDir, "postgres"))

/**
 * A data directory, removed when the scope closes. With `initialised` it holds an empty embedded
 * database, which spares its first start some seconds, and lies in memory if it can; an empty
 * directory lies on the disk.
 */
export const temporaryDataDir = (options?: {
  readonly initialised?: boolean
}): Effect.Effect<string, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(() =>
      mkdtemp(
        join(options?.initialised === true ? quickDirectory() : tmpdir(), "media-gateway-data-")
      )
    ),
    (dataDir) => Effect.promise(() => rm(dataDir, { recursive: true, force: true }))
  ).pipe(
    Effect.tap((dataDir) =>
      options?.initialised === true ? Effect.sync(() => initialise(dataDir)) : Effect.void
    )
  )

/** Runs a statement as the superuser of the run's server, outside the databases of the tests. */
export const asAdmin = (statement: string): Effect.Effect<void, SqlError.SqlError> =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)).pipe(
    Effect.asVoid,
    Effect.provide(PgClient.layer({ url: Redacted.make(inject("postgresUrl")), maxConnections: 1 }))
  )

/**
 * The URL of a database on the run's PostgreSQL server, with the latest schema and nothing in it. The database is dropped when the scope
 * closes, even if somebody is still connected.
 */
export const temporaryServerDatabase: Effect.Effect<string, SqlError.SqlError, Scope.Scope> =
  Effect.suspend(() => serverDatabaseFrom(inject("postgresTemplate")))

/** The URL of such a database of the kind. */
export const temporaryDatabase = (kind: Exclude<DatabaseKind, "embedded">) =>
  kind === "citus"
    ? temporaryCitusDatabase(citusUrl ?? "", inject("citusTemplate"))
    : temporaryServerDatabase

/** The addresses of such a database for two gateways: of a cluster, the coordinator and a worker. */
export const temporaryAddresses = Effect.fnUntraced(function* (kind: "postgres" | "citus") {
  const url = yield* temporaryDatabase(kind)
  const [first = url, second = url] = kind === "citus" ? yield* addressesOf(url) : [url, url]
  return [first, second] as const
})

/** The same without a schema, as an operator makes one. */
export const emptyServerDatabase: Effect.Effect<string, SqlError.SqlError, Scope.Scope> =
  Effect.suspend(() => serverDatabaseFrom("template1"))

const serverDatabaseFrom = Effect.fnUntraced(function* (template: string) {
  const name = `test_${randomUUID().replaceAll("-", "")}`
  yield* Effect.acquireRelease(asAdmin(`CREATE DATABASE ${name} TEMPLATE ${template}`), () =>
    Effect.orDie(asAdmin(`DROP DATABASE ${name} WITH (FORCE)`))
  )
  const url = new URL(inject("postgresUrl"))
  url.pathname = name
  return url.href
})

/** The PostgreSQL database behind the URL, as a gateway uses it. */
export const layerDatabaseAt = (
  url: string,
  maxConnections = 8
): Layer.Layer<Database, SqlError.SqlError> =>
  layerChanges.pipe(
    Layer.provideMerge(layerDistribution),
    Layer.provideMerge(layerPostgres({ url: Redacted.make(url), maxConnections }))
  )

/** Runs the effect while nobody can connect to the current database of the run's server. */
export const withoutConnections = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql<{ name: string }>`SELECT current_database() AS name`
    const name = rows[0]?.name ?? ""
    const allow = (allowed: boolean) =>
      asAdmin(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${allowed}`)
    return yield* Effect.acquireUseRelease(
      Effect.andThen(
        allow(false),
        asAdmin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`)
      ),
      () => effect,
      () => Effect.orDie(allow(true))
    )
  })

/** An empty database of its own for every layer that is built from it. */
export const layerDatabase = (
  kind: DatabaseKind
): Layer.Layer<Database, EmbeddedDatabaseError | SqlError.SqlError> =>
  kind === "embedded"
    ? Layer.unwrap(
        Effect.map(temporaryDataDir({ initialised: true }), (dataDir) =>
          layerChangesAlone.pipe(
            Layer.provideMerge(layerDistribution),
            Layer.provideMerge(layerEmbedded({ dataDir }))
          )
        )
      )
    : Layer.unwrap(Effect.map(temporaryDatabase(kind), (url) => layerDatabaseAt(url)))

/**
 * Runs a suite once on the embedded database and once on PostgreSQL 18, each time on an empty
 * database that the tests of the suite share. Services on top go into `it.layer` within `body`.
 *
 * Time stands still as in every `it.effect`; `excludeTestServices` lets the suite run on real time.
 */
export const describeOnBoth = (
  name: string,
  body: (it: Vitest.MethodsNonLive<Database>, kind: DatabaseKind) => void,
  options?: { readonly excludeTestServices?: boolean }
): void => {
  for (const kind of ["embedded", "postgres"] as const) {
    layer(layerDatabase(kind), { timeout: "60 seconds", ...options })(`${name} (${kind})`, (it) =>
      body(it, kind)
    )
  }
}
