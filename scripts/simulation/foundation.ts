/** What all worlds of a process begin with: one database, which is put back before each of them. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { PGlite } from "@electric-sql/pglite"
import { Cause, Effect, Exit, Layer, Schema } from "effect"
import { layerDistribution } from "../../src/postgres/citus/Distribution.ts"
import { layerSchema } from "../../src/postgres/schema/applySchema.ts"
import { type Market, openMarket } from "../chaos/customers.ts"
import { makeWitness, type Witness } from "../chaos/witness.ts"
import { Database, type PreparedDatabase } from "./database.ts"
import { RECEIVER_HOST } from "./faults.ts"
import { ADMIN_TOKEN, layerSimulatedDatabase, makeSimulatedGateway, Passes } from "./gateways.ts"
import { Generator } from "./generator.ts"
import { layerClient, Network } from "./network.ts"
import { DAY_MILLIS, randomness, START_MILLIS, time } from "./realm.ts"
import { vendorsUrl } from "./vendors.ts"
import { Actor, World } from "./world.ts"

/** Statements have one plan each, whatever was planned in an earlier world; no commit waits for a disk. */
const SESSION = `
  SET TIME ZONE 'UTC'; SET plan_cache_mode = force_generic_plan; SET synchronous_commit = off`

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
  const loadDataDir = await emptyCluster()
  // The process that makes the cluster has drawn random numbers for it, the others have not.
  randomness.reset(0)
  const pglite = await PGlite.create({ loadDataDir })
  await pglite.exec(SESSION)
  return { pglite, statements: new Map() }
}

/** A database with the schema and the market, and what was done to open the market. */
export interface Foundation {
  readonly database: PreparedDatabase
  readonly market: Market
  readonly witness: Pick<Witness, "deposits" | "budgets">
  /** Puts the rows of the foundation back into the tables that have them. */
  readonly fillTables: string
  readonly tablesWithRows: ReadonlySet<string>
}

/** The market is opened as long before each world, so that no lease of its gateway is left. */
const MARKET_MILLIS = 60_000
/** The minutes for which the members' caps of the market are meant. */
const MARKET_MINUTES = 1

/** Applies the gateway's schema and opens the market, both as a gateway does. */
export const makeFoundation = async (
  prepared: PreparedDatabase,
  size: { readonly organizations: number; readonly clients: number }
): Promise<Foundation> => {
  time.reset(START_MILLIS - MARKET_MILLIS)
  const world = new World(0, 0)
  const database = new Database(prepared, world, new Actor("database"), {
    dice: new Generator(1),
    lateness: 0
  })
  const network = new Network(world, new Generator(0), 0)
  const driver = new Actor("driver")
  const gateway = makeSimulatedGateway({
    name: "gateway",
    world,
    database,
    network,
    passes: new Passes(),
    skewMillis: 0,
    isAlone: true,
    isArchived: false,
    restartMillis: () => 0
  })
  const witness = makeWitness("")
  const schema = layerSchema.pipe(
    Layer.provide(
      layerDistribution.pipe(Layer.provideMerge(layerSimulatedDatabase(database, driver, 2)))
    )
  )
  const program = Effect.gen(function* () {
    world.isReading = true
    yield* Effect.scoped(Layer.build(schema))
    world.isReading = false
    gateway.start()
    const operator = { gatewayUrl: yield* gateway.url, adminToken: ADMIN_TOKEN }
    return yield* openMarket(witness, operator, {
      simulatorUrl: vendorsUrl,
      receiverUrl: `http://${RECEIVER_HOST}`,
      ...size,
      minutes: MARKET_MINUTES
    })
  }).pipe(Effect.provide(layerClient(network, driver)), world.runAs(driver))
  const exit = await world.exitOf(program, DAY_MILLIS)
  if (exit === null || Exit.isFailure(exit)) {
    throw new Error(`no market: ${exit === null ? "it has no end" : Cause.pretty(exit.cause)}`)
  }
  gateway.drop()
  const { deposits, budgets } = witness
  return {
    database: prepared,
    market: exit.value,
    witness: { deposits, budgets },
    ...(await keepRows(prepared.pglite))
  }
}

/** The tables of the gateway whose rows change. */
const TABLES = `
  SELECT c.oid, format('%I', relname) AS name FROM pg_class c
   WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname NOT LIKE '%migration%'`

/** Copies the rows of all tables into a schema of their own, with the positions of sequences. */
const keepRows = async (pglite: PGlite) => {
  const { rows: tables } = await pglite.query<{ name: string; columns: string }>(`
    SELECT name, string_agg(format('%I', attname), ', ' ORDER BY attnum) AS columns
      FROM (${TABLES}) t JOIN pg_attribute ON attrelid = t.oid
     WHERE attnum > 0 AND NOT attisdropped AND attgenerated = ''
     GROUP BY name ORDER BY name`)
  const statements: Array<string> = []
  const tablesWithRows = new Set<string>()
  await pglite.exec("CREATE SCHEMA foundation")
  for (const { name, columns } of tables) {
    const { rows } = await pglite.query(`SELECT FROM ${name} LIMIT 1`)
    if (rows.length === 0) continue
    tablesWithRows.add(name)
    await pglite.exec(`CREATE TABLE foundation.${name} AS SELECT ${columns} FROM ${name}`)
    statements.push(
      `INSERT INTO ${name} (${columns}) OVERRIDING SYSTEM VALUE SELECT * FROM foundation.${name}`
    )
  }
  const { rows: sequences } = await pglite.query<{ position: string }>(`
    SELECT format('SELECT setval(%L, %s, %L)', format('%I', sequencename),
                  coalesce(last_value, start_value), last_value IS NOT NULL) AS position
      FROM pg_sequences WHERE schemaname = 'public' ORDER BY sequencename`)
  statements.push(...sequences.map(({ position }) => position), "SELECT setseed(0)")
  return { fillTables: statements.join(";\n"), tablesWithRows }
}

/**
 * Puts the database back. PostgreSQL reads random bytes in advance, so those that an earlier world
 * left are used up.
 */
export const resetDatabase = async ({
  database: { pglite },
  fillTables,
  tablesWithRows
}: Foundation): Promise<void> => {
  await pglite.exec("ROLLBACK")
  const { rows } = await pglite.query<{ name: string }>(
    `SELECT name FROM (${TABLES}) t WHERE pg_relation_size(oid) > 0 ORDER BY name`
  )
  const names = new Set([...tablesWithRows, ...rows.map(({ name }) => name)])
  // Neither triggers nor foreign keys see rows that are put back.
  await pglite.exec(`
    SET session_replication_role = replica;
    TRUNCATE ${[...names].join(", ")} CASCADE;
    ${fillTables};
    SET session_replication_role = DEFAULT`)
  for (const { fillCount } = randomness; randomness.fillCount === fillCount; ) {
    await pglite.query("SELECT gen_random_uuid()")
  }
}
