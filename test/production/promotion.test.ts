/**
 * A primary that dies while orders run, and a standby that is promoted: what was committed is there,
 * orders go on, and the old primary is not written to when it comes back.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { backUp, folderFor, serverOf, standbyOf } from "../support/backups.ts"
import { connect, startGateway } from "../support/cluster.ts"
import {
  prepareCustomer,
  quickPace,
  settledBalance,
  shippedEntry
} from "../support/gatewayProcesses.ts"
import { call } from "../support/http.ts"
import { CLIENTS, startClients } from "../support/insistentClients.ts"
import type { PostgresServer } from "../support/postgresServer.ts"
import { reconciledKinds, videoJobs } from "../support/vendorLists.ts"

/** Orders of each client before the primary dies, and after it. */
const ORDERS = Number(process.env.PROMOTION_ORDERS ?? 4)

const Count = Schema.Tuple([Schema.Struct({ count: Schema.Int })])

const countOf = (sql: SqlClient.SqlClient, from: string) =>
  Effect.gen(function* () {
    const rows = yield* sql`SELECT count(*)::int AS count FROM ${sql.literal(from)}`
    const [{ count }] = yield* Schema.decodeUnknownEffect(Count)(rows)
    return count
  })

/** Repeats a statement until it counts at least one row. */
const awaitRow = (sql: SqlClient.SqlClient, from: string) =>
  Effect.repeat(Effect.delay(countOf(sql, from), "20 millis"), {
    until: (count) => count > 0
  }).pipe(Effect.timeout("20 seconds"))

/** A primary and its standby, and the address of both. */
const startPair = Effect.gen(function* () {
  const files = yield* folderFor("standby")
  const primary = yield* serverOf({ settings: { wal_level: "replica" } })
  const sql = yield* connect(primary.url)
  yield* backUp(sql, files)
  const standby = yield* standbyOf(primary, files)
  yield* awaitRow(sql, "pg_stat_replication WHERE state = 'streaming'")
  const url = primary.url.replace(
    /@.*$/,
    `@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres?target_session_attrs=read-write`
  )
  return { primary, standby, sql, url }
})

const setOf = (sql: SqlClient.SqlClient, setting: string, value: string) =>
  Effect.andThen(
    sql`ALTER SYSTEM SET ${sql.literal(setting)} = ${sql.literal(`'${value}'`)}`,
    sql`SELECT pg_reload_conf()::text`
  )

const promote = ({ url }: PostgresServer) =>
  Effect.scoped(Effect.flatMap(connect(url), (sql) => sql`SELECT pg_promote()::text`))

const env = { ...quickPace, DATABASE_POOL: "4", GATEWAY_MIGRATE: "1" }

it.live(
  "a promoted standby has every order that was answered, and its predecessor gets none",
  () =>
    Effect.gen(function* () {
      const { primary, standby, sql, url } = yield* startPair
      yield* setOf(sql, "synchronous_standby_names", "*")
      yield* awaitRow(sql, "pg_stat_replication WHERE sync_state = 'sync'")
      const gateway = yield* startGateway({ ...env, DATABASE_URL: url }, shippedEntry)
      const { key, organizationPath } = yield* prepareCustomer(gateway, "100000")
      const clients = yield* startClients(gateway, [key])
      yield* clients.more(CLIENTS * ORDERS)
      yield* Effect.promise(() => primary.kill("SIGKILL"))
      yield* promote(standby)
      const [pause] = yield* Effect.timed(clients.more(1))
      yield* clients.more(CLIENTS * ORDERS)
      yield* clients.stop
      if (process.env.PROMOTION_ORDERS !== undefined) {
        yield* Effect.logInfo(`first order ${pause} after the promotion`)
      }

      yield* settledBalance(gateway, organizationPath)
      const promoted = yield* connect(standby.url)
      const charged = yield* countOf(promoted, "orders WHERE state = 'captured'")
      assert.strictEqual(charged, clients.done.size)
      const { book } = yield* Simulator
      const jobs = (yield* book).filter(({ event }) => event === "accepted").length
      assert.strictEqual(jobs - charged, yield* countOf(promoted, "orphans"))

      // The old primary takes writes again, and is the first in the address of a gateway that starts.
      yield* Effect.promise(primary.start)
      const old = yield* connect(primary.url)
      yield* setOf(old, "synchronous_standby_names", "")
      const before = yield* countOf(old, "orders")
      const second = yield* startGateway({ ...env, DATABASE_URL: url }, shippedEntry)
      const json = { model: "paint-1", prompt: "x", size: "16x16" }
      for (const { url } of [gateway, second]) {
        const { status, text } = yield* call(`${url}/v1/images/generations`, { key, json })
        assert.strictEqual(status, 200, text)
      }
      assert.strictEqual(yield* countOf(old, "orders"), before)
      const after = yield* countOf(promoted, "orders WHERE state = 'captured'")
      assert.strictEqual(after, charged + 2)
    }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
  120_000
)

it.live(
  "what a standby had not received yet is lost, its books are sound, and a vendor's list tells it",
  () =>
    Effect.gen(function* () {
      const { primary, standby, sql, url } = yield* startPair
      const gateway = yield* startGateway({ ...env, DATABASE_URL: url }, shippedEntry)
      const { key, organizationPath } = yield* prepareCustomer(gateway, "100000")
      const clients = yield* startClients(gateway, [key])
      yield* clients.more(CLIENTS)
      yield* clients.stop
      const received = yield* videoJobs
      yield* awaitRow(sql, "pg_stat_replication WHERE flush_lsn >= pg_current_wal_flush_lsn()")
      const behind = yield* connect(standby.url)
      yield* setOf(behind, "primary_conninfo", "")
      yield* awaitRow(sql, "(SELECT 1 WHERE NOT EXISTS (SELECT FROM pg_stat_replication)) AS gone")
      const later = yield* startClients(gateway, [key], "later")
      yield* later.more(CLIENTS)
      yield* later.stop
      yield* Effect.promise(() => primary.kill("SIGKILL"))
      yield* promote(standby)

      yield* settledBalance(gateway, organizationPath)
      const jobs = yield* videoJobs
      const kinds = yield* reconciledKinds(gateway, jobs)
      assert.isAbove(jobs.length, received.length)
      for (const job of jobs) {
        assert.strictEqual(kinds.get(job), received.includes(job) ? "matched" : "missing_here", job)
      }
    }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
  120_000
)
