import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { TestProject } from "vitest/node"
import { layerServer } from "../../src/postgres/client.ts"
import { layerEmbedded } from "../../src/postgres/embedded/EmbeddedPostgres.ts"
import { layerMigrations } from "../../src/postgres/migrations/index.ts"
import { startGuard } from "./guard.ts"
import { startPostgres } from "./postgresServer.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** Superuser's URL of the run's PostgreSQL server. */
    readonly postgresUrl: string
    /** On that server, a database with the latest schema and nothing in it, to be copied. */
    readonly postgresTemplate: string
    /** A data directory with such an embedded database, cleanly closed, to be copied. */
    readonly embeddedTemplate: string
    /** Where processes of ours find their sources compiled. */
    readonly compileCache: string
  }
}

interface Prepared {
  readonly directory: string
  readonly remove: () => Promise<void>
}

/** A directory for all suites, filled once and gone with the run. */
const prepare = async (
  name: string,
  fill: (directory: string) => Promise<unknown>
): Promise<Prepared> => {
  const directory = await mkdtemp(join(tmpdir(), `media-gateway-${name}-`))
  const guard = startGuard({ signal: "KILL", directory })
  const remove = async (): Promise<void> => {
    await rm(directory, { recursive: true, force: true })
    guard.dismiss()
  }
  try {
    await fill(directory)
    return { directory, remove }
  } catch (cause) {
    await remove()
    throw cause
  }
}

/** Creating and migrating a cluster takes seconds, and copying one a moment. */
const fillEmbedded = (dataDir: string): Promise<unknown> =>
  Effect.runPromise(
    Effect.scoped(Layer.build(Layer.provide(layerMigrations, layerEmbedded({ dataDir }))))
  )

const TEMPLATE = "gateway_template"

const makeServerTemplate = async (url: string): Promise<void> => {
  const admin = PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })
  const create = Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.unsafe(`CREATE DATABASE ${TEMPLATE}`)
  )
  const template = new URL(url)
  template.pathname = TEMPLATE
  const migrated = Layer.provide(
    layerMigrations,
    layerServer({ url: Redacted.make(template.href), maxConnections: 1 })
  )
  await Effect.runPromise(
    Effect.scoped(Effect.andThen(Effect.provide(create, admin), Layer.build(migrated)))
  )
}

const programs = [
  "test/support/gatewayProcess.ts",
  "test/support/loudProcess.ts",
  "test/postgres/insertUntilKilled.ts",
  "src/main.ts",
  "src/cli/rotateMasterKey.ts",
  "src/postgres/embedded/worker.ts"
]

/**
 * A process that is killed writes nothing into the cache, so each program is let end: some by a
 * port that is none, others by what else they lack. How they end is nobody's concern.
 */
const fillCompileCache = (directory: string): Promise<unknown> =>
  Promise.allSettled(
    programs.map((program) =>
      promisify(execFile)(process.execPath, [join(import.meta.dirname, "../..", program)], {
        env: { ...process.env, PORT: "none", NODE_COMPILE_CACHE: directory },
        timeout: 30_000
      })
    )
  )

/** Starts what the suites of one run share; Vitest calls the answered function at the run's end. */
export default async (project: TestProject): Promise<() => Promise<void>> => {
  const server = startPostgres()
  const embedded = prepare("template", fillEmbedded)
  const cache = prepare("compiled", fillCompileCache)
  const release = async (): Promise<void> => {
    // What did not start has cleaned up after itself.
    const ignore = (): void => undefined
    await server.then(({ stop }) => stop(), ignore)
    await embedded.then(({ remove }) => remove(), ignore)
    await cache.then(({ remove }) => remove(), ignore)
  }
  try {
    const { url } = await server
    await makeServerTemplate(url)
    project.provide("postgresUrl", url)
    project.provide("postgresTemplate", TEMPLATE)
    project.provide("embeddedTemplate", (await embedded).directory)
    project.provide("compileCache", (await cache).directory)
    return release
  } catch (cause) {
    await release()
    throw cause
  }
}
