import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { TestProject } from "vitest/node"
import { layerPostgres } from "../../src/postgres/client/databaseClient.ts"
import { layerEmbedded } from "../../src/postgres/embedded/EmbeddedPostgres.ts"
import { layerSchema } from "../../src/postgres/schema/applySchema.ts"
import { type UnpackedChromium, unpackChromium } from "../console/support/chromium.ts"
import { citusUrl, prepareCitusTemplate } from "./citus.ts"
import { startGuard } from "./guard.ts"
import { joinPrograms } from "./joinPrograms.ts"
import { startPostgres } from "./postgresServer.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** Superuser's URL of the run's PostgreSQL server. */
    readonly postgresUrl: string
    /** On that server, a database with the latest schema and nothing in it, to be copied. */
    readonly postgresTemplate: string
    /** Such a database on the cluster of `CITUS_URL`, distributed; empty where there is no cluster. */
    readonly citusTemplate: string
    /** A data directory with such an embedded database, cleanly closed, to be copied. */
    readonly embeddedTemplate: string
    /** By the path of a program's source, the file that is started in its place. */
    readonly programs: Readonly<Record<string, string>>
    /** Where processes of ours find their sources compiled. */
    readonly compileCache: string
    /** The browser of the tests of the console, or why there is none. */
    readonly chromium: UnpackedChromium
  }
}

interface Prepared<A> {
  readonly directory: string
  readonly filled: A
  readonly remove: () => Promise<void>
}

/** A directory for all suites, filled once and gone with the run. */
const prepare = async <A>(
  name: string,
  fill: (directory: string) => Promise<A>
): Promise<Prepared<A>> => {
  const directory = await mkdtemp(join(tmpdir(), `media-gateway-${name}-`))
  const guard = startGuard({ signal: "KILL", directories: [directory] })
  const remove = async (): Promise<void> => {
    await rm(directory, { recursive: true, force: true })
    guard.dismiss()
  }
  try {
    return { directory, filled: await fill(directory), remove }
  } catch (cause) {
    await remove()
    throw cause
  }
}

/** Creating and migrating a cluster takes seconds, and copying one a moment. */
const fillEmbedded = (dataDir: string): Promise<unknown> =>
  Effect.runPromise(
    Effect.scoped(Layer.build(Layer.provide(layerSchema, layerEmbedded({ dataDir }))))
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
    layerSchema,
    layerPostgres({ url: Redacted.make(template.href), maxConnections: 1 })
  )
  await Effect.runPromise(
    Effect.scoped(Effect.andThen(Effect.provide(create, admin), Layer.build(migrated)))
  )
}

/**
 * A process that is killed writes nothing into the cache, so each program is let end: some by a
 * port that is none, others by what else they lack. How they end is nobody's concern.
 */
const fillCompileCache = (
  programs: Readonly<Record<string, string>>,
  directory: string
): Promise<unknown> =>
  Promise.allSettled(
    Object.values(programs).map((program) =>
      promisify(execFile)(process.execPath, [program], {
        env: { ...process.env, PORT: "none", NODE_COMPILE_CACHE: directory },
        timeout: 30_000
      })
    )
  )

/** By a process of its own, as this one's environment is that of tests. */
const buildConsole = (): Promise<unknown> =>
  promisify(execFile)(process.execPath, [
    join(import.meta.dirname, "..", "..", "scripts", "console", "build.ts"),
    "--if-changed"
  ])

/**
 * Starts what the test files of one run share; Vitest calls the returned function at the run's end. Each
 * project that needs it calls this function, one after the other, and the first call serves them all.
 */
export default async (project: TestProject): Promise<(() => Promise<void>) | undefined> => {
  const root = project.vitest.getRootProject()
  if ("postgresUrl" in root.getProvidedContext()) return undefined
  // It moves the directory of temporary files while it unpacks, so nothing else runs beside it.
  const chromium = await unpackChromium()
  const server = startPostgres()
  const embedded = prepare("template", fillEmbedded)
  const citus =
    citusUrl === null
      ? Promise.resolve({ template: "", remove: async (): Promise<void> => undefined })
      : prepareCitusTemplate(citusUrl)
  const joined = prepare("programs", joinPrograms)
  const cache = joined.then(({ filled }) =>
    prepare("compiled", (directory) => fillCompileCache(filled, directory))
  )
  const built = buildConsole()
  const release = async (): Promise<void> => {
    // What did not start has cleaned up after itself.
    const ignore = (): void => undefined
    await server.then(({ stop }) => stop(), ignore)
    await citus.then(({ remove }) => remove(), ignore)
    await embedded.then(({ remove }) => remove(), ignore)
    await cache.then(({ remove }) => remove(), ignore)
    await joined.then(({ remove }) => remove(), ignore)
  }
  try {
    const { url } = await server
    await makeServerTemplate(url)
    root.provide("postgresUrl", url)
    root.provide("postgresTemplate", TEMPLATE)
    root.provide("citusTemplate", (await citus).template)
    root.provide("embeddedTemplate", (await embedded).directory)
    root.provide("programs", (await joined).filled)
    root.provide("compileCache", (await cache).directory)
    root.provide("chromium", chromium)
    await built
    return release
  } catch (cause) {
    await release()
    throw cause
  }
}
