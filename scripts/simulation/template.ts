/** The database of all worlds of a process: made once, and emptied before each of them. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { PGlite } from "@electric-sql/pglite"
import { Effect, Layer, Schema } from "effect"
import { layerDistribution } from "../../src/postgres/citus/Distribution.ts"
import { layerSchema } from "../../src/postgres/schema/applySchema.ts"
import { Database, type PreparedDatabase } from "./database.ts"
import { layerSimulatedDatabase } from "./gateways.ts"
import { randomness } from "./realm.ts"
import { Actor, World } from "./world.ts"

/** What empties the database, as SQL; null before the first world. */
let emptying: string | null = null

/** Statements have one plan each, whatever was planned in an earlier world. */
const SESSION = "SET TIME ZONE 'UTC'; SET plan_cache_mode = force_generic_plan"

const Manifest = Schema.fromJsonString(
  Schema.Struct({ dependencies: Schema.Struct({ "@electric-sql/pglite": Schema.String }) })
)
const decodeManifest = Schema.decodeSync(Manifest)

const cache = fileURLToPath(new URL("../../node_modules/.cache/", import.meta.url))

/**
 * An empty cluster as a file, made by the first process that needs it: `initdb` takes as long as
 * ten worlds.
 */
const emptyCluster = async (): Promise<Blob> => {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8")
  const { dependencies } = decodeManifest(manifest)
  const path = join(cache, `simulation-cluster-${dependencies["@electric-sql/pglite"]}.tar`)
  if (!existsSync(path)) {
    mkdirSync(cache, { recursive: true })
    const pglite = await PGlite.create()
    const dump = await pglite.dumpDataDir("none")
    await pglite.close()
    // Another process may be at the same.
    writeFileSync(`${path}.${process.pid}`, Buffer.from(await dump.arrayBuffer()))
    renameSync(`${path}.${process.pid}`, path)
  }
  return new Blob([readFileSync(path)])
}

/** Starts the embedded database in this process. It needs the real timers. */
export const startDatabase = async (): Promise<PreparedDatabase> => {
  const pglite = await PGlite.create({ loadDataDir: await emptyCluster() })
  await pglite.exec(SESSION)
  return { pglite, statements: new Map() }
}

/** Creates the gateway's schema, as a gateway does. */
export const createSchema = async (prepared: PreparedDatabase): Promise<void> => {
  const world = new World(0, 0)
  // The migrations read files, which takes real time.
  world.beforeTimeMoves = () => world.awaitRunnable()
  const actor = new Actor("migration")
  const database = new Database(prepared, world, actor)
  const layer = layerSchema.pipe(
    Layer.provide(
      layerDistribution.pipe(Layer.provideMerge(layerSimulatedDatabase(database, actor, 2)))
    )
  )
  let isOver = false
  const fiber = Effect.runFork(world.runAs(actor)(Effect.scoped(Layer.build(layer))))
  fiber.addObserver(() => {
    isOver = true
  })
  await world.run(() => isOver)
  emptying = await emptyingOf(prepared.pglite)
}

/** Rows that the schema itself has, such as those of tables with one row, are put back. */
const emptyingOf = async (pglite: PGlite): Promise<string> => {
  const { rows: tables } = await pglite.query<{ name: string }>(`
    SELECT format('%I', relname) AS name FROM pg_stat_user_tables
     WHERE schemaname = 'public' AND relname NOT LIKE '%migration%' ORDER BY 1`)
  const names = tables.map(({ name }) => name)
  const statements = [
    "ROLLBACK",
    `TRUNCATE ${names.join(", ")} RESTART IDENTITY CASCADE`,
    "SELECT setseed(0)"
  ]
  for (const name of names) {
    const { rows } = await pglite.query<{ json: string | null }>(
      `SELECT quote_literal(json_agg(t)) AS json FROM ${name} t HAVING count(*) > 0`
    )
    for (const { json } of rows) {
      statements.push(
        `INSERT INTO ${name} SELECT * FROM json_populate_recordset(NULL::${name}, ${json})`
      )
    }
  }
  return statements.join(";\n")
}

/**
 * Empties the database. PostgreSQL reads random bytes in advance, so those that an earlier world
 * left are used up.
 */
export const resetDatabase = async ({ pglite }: PreparedDatabase): Promise<void> => {
  if (emptying === null) throw new Error("the database has no schema yet")
  await pglite.exec(emptying)
  for (const { fillCount } = randomness; randomness.fillCount === fillCount; ) {
    await pglite.query("SELECT gen_random_uuid()")
  }
}
