/** Databases on a Citus cluster, whose coordinator `CITUS_URL` names. */
import { randomUUID } from "node:crypto"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted, Schema } from "effect"
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

const urlOf = (url: string, { host, port }: Node, database?: string) => {
  const address = new URL(url)
  address.hostname = host
  address.port = String(port)
  if (database !== undefined) address.pathname = database
  return address.href
}

const run = (url: string, ...statements: ReadonlyArray<string>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
  ).pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }), { local: true })
  )

/** The nodes of the cluster, the coordinator first. */
const nodesOf = (url: string) =>
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

/** The name of a database with the latest schema, distributed, and nothing in it. */
const createTemplate = Effect.fnUntraced(function* (url: string, name: string) {
  const nodes = yield* nodesOf(url)
  yield* onNodes(url, `CREATE DATABASE ${name}`)
  yield* Effect.forEach(nodes, (node) => run(urlOf(url, node, name), "CREATE EXTENSION citus"))
  const [coordinator, ...workers] = nodes
  if (coordinator === undefined) return yield* Effect.die(new Error("the cluster has no nodes"))
  const database = urlOf(url, coordinator, name)
  yield* run(
    database,
    `SELECT citus_set_coordinator_host('${coordinator.host}', ${coordinator.port})`,
    ...workers.map(({ host, port }) => `SELECT citus_add_node('${host}', ${port})`),
    `ALTER DATABASE ${name} SET citus.shard_count = ${SHARDS}`
  )
  yield* Effect.andThen(applySchema, distributeSchema).pipe(
    Effect.provide(layerPostgres({ url: Redacted.make(database), maxConnections: 1 }), {
      local: true
    })
  )
})

/** A database of the run, for the databases of tests to be copied from. */
export const prepareCitusTemplate = async (
  url: string
): Promise<{ readonly template: string; readonly remove: () => Promise<void> }> => {
  const template = newName("template")
  await Effect.runPromise(createTemplate(url, template))
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
