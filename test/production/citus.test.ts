/**
 * A Citus cluster under load: a worker and the coordinator are killed, organisations move between
 * nodes, and the rows of one node are distributed. No order is lost or charged twice.
 */
import { assert, it } from "@effect/vitest"
import { Array as Arr, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { joinNodes, nodesOf, run, urlOf } from "../support/citus.ts"
import { citusProgram, startCitusCluster } from "../support/citusCluster.ts"
import {
  connect,
  type GatewayNode,
  loadCatalog,
  makeAccount,
  startGateway
} from "../support/cluster.ts"
import { documentOf, runCommand } from "../support/commandLine.ts"
import { testCatalog } from "../support/gateway.ts"
import { shippedEntry } from "../support/gatewayProcesses.ts"
import { startClients } from "../support/insistentClients.ts"

/** `CITUS_ORDERS=5000 CITUS_ORGANIZATIONS=200` is the long form. */
const ORDERS = Number(process.env.CITUS_ORDERS ?? 90)
const ORGANIZATIONS = Number(process.env.CITUS_ORGANIZATIONS ?? 12)

/** A gateway that asks its nodes all the time leaves them no time for orders. */
const env = {
  GATEWAY_ASK_INTERVAL_SECONDS: "0.3",
  GATEWAY_POLLER_SECONDS: "0.3",
  DATABASE_POOL: "8"
}

const Counts = Schema.Tuple([
  Schema.Struct({ captured: Schema.Int, held: Schema.Int, orphans: Schema.Int })
])
const Moved = Schema.Struct({
  node: Schema.String,
  organizations: Schema.Int,
  seconds: Schema.Finite,
  pause_seconds: Schema.Finite
})

/** Loads the catalog, and makes organisations with money and a key each. */
const openAccounts = Effect.fnUntraced(function* (gateway: GatewayNode, count: number) {
  yield* loadCatalog(gateway, testCatalog((yield* Simulator).url))
  return yield* Effect.replicateEffect(makeAccount(gateway, "10000"), count, { concurrency: 4 })
})

/** Every order that a client saw done is charged once, and all other jobs of vendors are orphans. */
const checkBooks = Effect.fnUntraced(function* (
  gateway: GatewayNode,
  sql: SqlClient.SqlClient,
  done: number
) {
  const { book } = yield* Simulator
  const counts = Effect.map(
    Effect.flatMap(
      sql`
        SELECT (SELECT count(*)::int FROM orders WHERE state = 'captured') AS captured,
               (SELECT count(*)::int FROM pools WHERE held <> 0) AS held,
               (SELECT count(*)::int FROM orphans) AS orphans`,
      Schema.decodeUnknownEffect(Counts)
    ),
    ([row]) => row
  )
  const { captured, orphans } = yield* counts.pipe(
    Effect.delay("100 millis"),
    Effect.repeat({ until: ({ held }) => held === 0 }),
    Effect.timeout("60 seconds")
  )
  assert.strictEqual(captured, done)
  const jobs = (yield* book).filter(({ event }) => event === "accepted").length
  assert.strictEqual(jobs - captured, orphans)
  assert.strictEqual((yield* gateway.admin("/ledger/verify")).text, '{"ok":true,"violations":[]}')
  return { captured, orphans }
})

it.live.skipIf(citusProgram === null)(
  `${ORDERS} orders of ${ORGANIZATIONS} organisations, while a worker and the coordinator are killed`,
  () =>
    Effect.gen(function* () {
      const { url, coordinator, workers } = yield* startCitusCluster(citusProgram ?? "")
      const gateway = yield* startGateway({ ...env, DATABASE_URL: url }, shippedEntry)
      const accounts = yield* openAccounts(gateway, ORGANIZATIONS)
      const clients = yield* startClients(
        gateway,
        accounts.map(({ key }) => key)
      )
      for (const node of [workers[0], coordinator]) {
        yield* clients.more(ORDERS / 3)
        yield* node?.kill ?? Effect.void
        yield* Effect.sleep("1 second")
        yield* node?.start ?? Effect.void
      }
      yield* clients.more(ORDERS / 3)
      yield* clients.stop
      const counts = yield* checkBooks(gateway, yield* connect(url), clients.done.size)
      yield* Effect.logInfo(`${counts.captured} charged, ${counts.orphans} orphans`)
    }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
  600_000
)

it.live.skipIf(citusProgram === null)(
  "an organisation gets a shard of its own, and moves from node to node, while it orders",
  () =>
    Effect.gen(function* () {
      const { url, addresses } = yield* startCitusCluster(citusProgram ?? "")
      const gateway = yield* startGateway({ ...env, DATABASE_URL: url }, shippedEntry)
      const accounts = yield* openAccounts(gateway, 3)
      const [{ organizationId: id, key } = { organizationId: "", key: "" }] = accounts
      const clients = yield* startClients(gateway, [key])
      yield* clients.more(6)
      const tenant = (...args: ReadonlyArray<string>) =>
        Effect.flatMap(
          runCommand(["tenant", ...args, "--json"], { DATABASE_URL: url }),
          (ended) => {
            assert.strictEqual(ended.code, 0, ended.stderr)
            return documentOf(Moved)(ended)
          }
        )
      const isolated = yield* tenant("isolate", id)
      assert.strictEqual(isolated.organizations, 1)
      yield* clients.more(6)
      const [, ...workers] = addresses
      for (const to of workers.toSorted((one) => (one === isolated.node ? 1 : -1))) {
        const moved = yield* tenant("move", id, "--to", to)
        assert.deepInclude(moved, { node: to, organizations: 1 })
        yield* clients.more(6)
        yield* Effect.logInfo(`moved in ${moved.seconds} s, writes paused ${moved.pause_seconds} s`)
      }
      yield* clients.stop
      yield* checkBooks(gateway, yield* connect(url), clients.done.size)
      const unknown = yield* runCommand(["tenant", "move", id, "--to", "nowhere:1"], {
        DATABASE_URL: url
      })
      assert.strictEqual(unknown.code, 1)
      assert.include(unknown.stderr, "No node with shards is called nowhere:1")
    }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
  180_000
)

it.live.skipIf(citusProgram === null)(
  "a database in use on one node is distributed with its rows, once no gateway runs",
  () =>
    Effect.gen(function* () {
      const cluster = yield* startCitusCluster(citusProgram ?? "")
      const nodes = yield* nodesOf(cluster.url)
      if (!Arr.isReadonlyArrayNonEmpty(nodes)) return assert.fail("the cluster has no nodes")
      yield* Effect.forEach(nodes, (node) => run(urlOf(cluster.url, node), "CREATE DATABASE used"))
      const url = urlOf(cluster.url, nodes[0], "used")
      const migrateCitus = runCommand(["migrate", "--citus"], { DATABASE_URL: url })
      const orderSome = Effect.fnUntraced(function* (keys: ReadonlyArray<string>, prefix: string) {
        const gateway = yield* startGateway({ ...env, DATABASE_URL: url }, shippedEntry)
        const accounts =
          keys.length > 0 ? keys : (yield* openAccounts(gateway, 3)).map(({ key }) => key)
        const clients = yield* startClients(gateway, accounts, prefix)
        yield* clients.more(6)
        yield* clients.stop
        return { gateway, keys: accounts, done: clients.done.size }
      })

      const before = yield* orderSome([], "before")
      assert.include((yield* migrateCitus).stderr, "has no extension citus")
      yield* joinNodes(cluster.url, nodes, "used")
      assert.include((yield* migrateCitus).stderr, "Stop the gateways first")
      yield* before.gateway.process.kill("SIGTERM")
      yield* before.gateway.process.end
      const migrated = yield* migrateCitus
      assert.strictEqual(migrated.code, 0, migrated.stderr)
      const after = yield* orderSome(before.keys, "after")
      yield* checkBooks(after.gateway, yield* connect(url), before.done + after.done)
    }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
  180_000
)
