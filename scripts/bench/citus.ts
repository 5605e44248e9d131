/**
 * Measures what an order takes of a Citus cluster as workers and organisations grow: the statements
 * that the coordinator sends to one node and to several, and the rows that all nodes read, none of which
 * depends on the machine's cores, and the CPU time of all nodes. What the gateway does without orders, measured for as long, is
 * subtracted.
 *
 *   npm run bench:citus -- --cluster PROGRAM --orders 100
 *
 * The program makes a cluster: test/support/citusCluster.ts.
 */
import { parseArgs } from "node:util"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { type Array as Arr, Clock, Console, Effect, Schema } from "effect"
import { rowOf } from "../../src/postgres/client/rows.ts"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { createCitusDatabase, nodesOf, urlOf } from "../../test/support/citus.ts"
import { startCitusCluster } from "../../test/support/citusCluster.ts"
import {
  connect,
  good,
  loadCatalog,
  makeAccount,
  startGateway
} from "../../test/support/cluster.ts"
import { testCatalog } from "../../test/support/gateway.ts"
import { shippedEntry } from "../../test/support/gatewayProcesses.ts"
import { call } from "../../test/support/http.ts"
import { postgresSeconds } from "./measure/usage.ts"

const { values } = parseArgs({
  options: { cluster: { type: "string" }, orders: { type: "string", default: "100" } }
})
const orders = Number(values.orders)

const WORKERS = [1, 2, 4] as const
const ORGANIZATIONS = [20, 200] as const
const SHARDS = 32
const CLIENTS = 32
/** Longer than a session waits before it tells its counts. */
const FLUSH_MILLIS = 2000

type Nodes = Arr.NonEmptyReadonlyArray<{ readonly host: string; readonly port: number }>

const Statements = Schema.Struct({ single: Schema.Int, multi: Schema.Int })
const Rows = Schema.Struct({ rows: Schema.Int })
const Spread = Schema.Struct({ nodes: Schema.Int })
const Task = Schema.Struct({ id: Schema.String, task_status: Schema.String })

/** The statements to one node, those to several, the rows read, and the milliseconds of CPU time. */
type Counts = readonly [single: number, multi: number, rows: number, millis: number]

const less = (one: Counts, other: Counts): Counts => [
  one[0] - other[0],
  one[1] - other[1],
  one[2] - other[2],
  one[3] - other[3]
]

const measure = Effect.fnUntraced(function* (
  url: string,
  nodes: Nodes,
  processes: ReadonlyArray<number>,
  organizations: number
) {
  const name = `bench_${nodes.length}_${organizations}`
  const database = yield* createCitusDatabase(url, nodes, name, SHARDS)
  const coordinator = yield* connect(database)
  yield* coordinator.unsafe(`ALTER DATABASE ${name} SET citus.enable_stat_counters = on`)
  const connections = yield* Effect.forEach(nodes, (node) =>
    // Else the statistics of shards are hidden.
    Effect.tap(connect(urlOf(url, node, name)), (sql) =>
      sql.unsafe("SET citus.override_table_visibility = off")
    )
  )
  const counts = Effect.gen(function* () {
    yield* Effect.sleep(FLUSH_MILLIS)
    const statements = yield* rowOf(Statements)(coordinator`
      SELECT query_execution_single_shard::int AS single, query_execution_multi_shard::int AS multi
        FROM citus_stat_counters WHERE name = current_database()`)
    const read = yield* Effect.forEach(connections, (sql) =>
      rowOf(Rows)(sql`
        SELECT (sum(seq_tup_read) + sum(coalesce(idx_tup_fetch, 0)))::int AS rows
          FROM pg_stat_user_tables`)
    )
    const seconds = yield* Effect.promise(() => Promise.all(processes.map(postgresSeconds)))
    const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((total, one) => total + one, 0)
    const rows = sum(read.map((row) => row.rows))
    return [statements.single, statements.multi, rows, 1000 * sum(seconds)] as const
  })
  const gateway = yield* startGateway({ DATABASE_URL: database }, shippedEntry)
  yield* loadCatalog(gateway, testCatalog((yield* Simulator).url))
  const accounts = yield* Effect.replicateEffect(makeAccount(gateway, "10000"), organizations, {
    concurrency: 4
  })
  const keyOf = (nth: number) => accounts[nth % accounts.length]?.key ?? ""
  const image = (nth: number) =>
    call(`${gateway.url}/v1/images/generations`, {
      key: keyOf(nth),
      json: { model: "paint-1", prompt: "x", size: "16x16" }
    }).pipe(Effect.flatMap((answer) => good(Schema.Unknown, answer)))
  const video = Effect.fnUntraced(function* (nth: number) {
    const key = keyOf(nth)
    const json = { model: "film-1", prompt: "x" }
    const created = yield* call(`${gateway.url}/v1/videos/generations`, { key, json })
    let task = yield* good(Task, created)
    while (task.task_status === "processing") {
      task = yield* good(Task, yield* call(`${gateway.url}/v1/videos/${task.id}?wait=30`, { key }))
    }
  })
  const makeMany = (order: (nth: number) => Effect.Effect<unknown>) =>
    Effect.forEach(Array.from({ length: orders }).keys(), order, {
      concurrency: CLIENTS,
      discard: true
    })
  /** What an order takes more than the gateway without orders, in the mean. */
  const perOrder = Effect.fnUntraced(function* (order: (nth: number) => Effect.Effect<unknown>) {
    yield* makeMany(order)
    const before = yield* counts
    const startMillis = yield* Clock.currentTimeMillis
    yield* makeMany(order)
    const millis = (yield* Clock.currentTimeMillis) - startMillis
    const after = yield* counts
    yield* Effect.sleep(millis)
    const more = less(less(after, before), less(yield* counts, after))
    return more.map((count) => (count / orders).toFixed(1))
  })
  const images = yield* perOrder(image)
  const videos = yield* perOrder(video)
  const { nodes: spread } = yield* rowOf(Spread)(coordinator`
    SELECT count(DISTINCT s.nodeport)::int AS nodes FROM pools p
      JOIN citus_shards s
        ON s.shardid = get_shard_id_for_distribution_column('pools', p.organization_id)`)
  yield* Console.log(
    `| ${[nodes.length - 1, organizations, spread, ...images, ...videos].join(" | ")} |`
  )
})

const program = Effect.gen(function* () {
  if (values.cluster === undefined) {
    return yield* Console.error("--cluster names the program that makes a cluster")
  }
  const [one, other] = [
    yield* startCitusCluster(values.cluster),
    yield* startCitusCluster(values.cluster)
  ]
  const processes = [one, other].flatMap(({ coordinator, workers }) =>
    [coordinator, ...workers].map(({ pid }) => pid())
  )
  const [coordinator, ...workers] = [...(yield* nodesOf(one.url)), ...(yield* nodesOf(other.url))]
  if (coordinator === undefined) return yield* Console.error("the cluster has no nodes")
  yield* Console.log(
    `| workers | organisations | nodes with pools | an image: statements to one node | to several | rows read | CPU ms | a video: statements to one node | to several | rows read | CPU ms |
|---|---|---|---|---|---|---|---|---|---|---|`
  )
  for (const count of WORKERS) {
    for (const organizations of ORGANIZATIONS) {
      const nodes: Nodes = [coordinator, ...workers.slice(0, count)]
      yield* Effect.scoped(measure(one.url, nodes, processes, organizations))
    }
  }
}).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped)

NodeRuntime.runMain(program)
