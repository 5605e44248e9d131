/** Databases on a Citus cluster, whose coordinator `CITUS_URL` names. */
import { randomUUID } from "node:crypto"
import { PgClient } from "@effect/sql-pg"
import { Array as Arr, Effect, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { distributeSchema } from "../../src/postgres/citus/distributeSchema.ts"
import { layerPostgres } from "../../src/postgres/client/databaseClient.ts"
import { rowsOf } from "../../src/postgres/client/rows.ts"
import { applySchema } from "../../src/postgres/schema/applySchema.ts"

/** Null where no cluster is given: what needs one is then skipped. */
export const citusUrl = process.env.CITUS_URL ?? null

const Node = Schema.Struct({ host: Schema.String, port: Schema.Int })
type Node = typeof Node.Type

/** Few shards, since each of them costs a test time. */
const SHARDS = 4

export const urlOf = (url: string, { host, port }: Node, database?: string) => {
  const address = new URL(url)
  address.hostname = host
  address.port = String(port)
  if (database !== undefined) address.pathname = database
  return address.href
}

export const run = (url: string, ...statements: ReadonlyArray<string>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
  ).pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }), { local: true })
  )

/** The nodes of the cluster, the coordinator first. */
export const nodesOf = (url: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    rowsOf(Node)(sql`SELECT nodename AS host, nodeport AS port FROM pg_dist_node ORDER BY groupid`)
  ).pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }), { local: true })
  )

const onNodes = (url: string, statement: string) =>
  Effect.flatMap(nodesOf(url), (nodes) =>
    Effect.forEach(nodes, (node) => run(urlOf(url, node), statement), {
      concurrency: "unbounded",
      discard: true
    })
  )

/** The addresses of a database on all nodes, the coordinator's first. */
export const addressesOf = (url: string) =>
  Effect.map(nodesOf(url), (nodes) => nodes.map((node) => urlOf(url, node)))

const dropDatabase = (url: string, name: string) =>
  Effect.orDie(onNodes(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))

const newName = (prefix: string) => `${prefix}_${randomUUID().replaceAll("-", "")}`

/**
 * Makes a cluster of the databases with this name on the nodes, of which the first becomes the
 * coordinator. Returns its URL.
 */
export const joinNodes = Effect.fnUntraced(function* (
  url: string,
  [coordinator, ...workers]: Arr.NonEmptyReadonlyArray<Node>,
  name: string
) {
  const database = urlOf(url, coordinator, name)
  for (const node of [coordinator, ...workers]) {
    yield* run(urlOf(url, node, name), "CREATE EXTENSION citus")
  }
  yield* run(
    database,
    `SELECT citus_set_coordinator_host('${coordinator.host}', ${coordinator.port})`,
    ...workers.map(({ host, port }) => `SELECT citus_add_node('${host}', ${port})`)
  )
  return database
})

/**
 * Makes a database on these nodes, of which the first becomes its coordinator, with the latest
 * schema, distributed, and nothing in it. Returns its URL.
 */
export const createCitusDatabase = Effect.fnUntraced(function* (
  url: string,
  [coordinator, ...workers]: Arr.NonEmptyReadonlyArray<Node>,
  name: string,
  shards: number
) {
  for (const node of [coordinator, ...workers]) {
    yield* run(urlOf(url, node), `CREATE DATABASE ${name}`)
  }
  const database = yield* joinNodes(url, [coordinator, ...workers], name)
  yield* run(database, `ALTER DATABASE ${name} SET citus.shard_count = ${shards}`)
  yield* Effect.andThen(applySchema, distributeSchema).pipe(
    Effect.provide(layerPostgres({ url: Redacted.make(database), maxConnections: 1 }), {
      local: true
    }),
    Effect.orDie
  )
  return database
})

/** A database of the run, for the databases of tests to be copied from. */
export const prepareCitusTemplate = async (
  url: string
): Promise<{ readonly template: string; readonly remove: () => Promise<void> }> => {
  const template = newName("template")
  const nodes = await Effect.runPromise(nodesOf(url))
  if (!Arr.isReadonlyArrayNonEmpty(nodes)) throw new Error("the cluster has no nodes")
  await Effect.runPromise(createCitusDatabase(url, nodes, template, SHARDS))
  // A daemon of each node connects to every database, which then cannot be copied.
  await Effect.runPromise(
    Effect.andThen(
      onNodes(url, `ALTER DATABASE ${template} ALLOW_CONNECTIONS false`),
      onNodes(
        url,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${template}'`
      )
    )
  )
  return { template, remove: () => Effect.runPromise(dropDatabase(url, template)) }
}

/** The URL of a database on the cluster; it is dropped when the scope closes. */
export const temporaryCitusDatabase = Effect.fnUntraced(function* (url: string, template: string) {
  const name = newName("test")
  yield* Effect.acquireRelease(onNodes(url, `CREATE DATABASE ${name} TEMPLATE ${template}`), () =>
    dropDatabase(url, name)
  )
  const database = new URL(url)
  database.pathname = name
  return database.href
})
