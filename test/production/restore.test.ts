/**
 * A base backup and the write-ahead log, restored to a moment in the middle of a load: what the books
 * then have, what a vendor's list tells of the rest, and that it adds up.
 */
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import {
  ReconciledEntryView,
  ReconciliationView
} from "../../src/features/reconciliations/ReconciliationsApi.ts"
import { list } from "../../src/http/api/shared.ts"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { connect, startGateway } from "../support/cluster.ts"
import { bodyAs } from "../support/gateway.ts"
import {
  prepareCustomer,
  quickPace,
  settledBalance,
  shippedEntry
} from "../support/gatewayProcesses.ts"
import { call } from "../support/http.ts"
import { startPostgres } from "../support/postgresServer.ts"
import { startLoad } from "../support/steadyLoad.ts"

const CLIENTS = 6
/** Images and videos before the backup, up to the moment, and after it. */
const ORDERS = Number(process.env.RESTORED_ORDERS ?? 2)

/** A server with its log in an archive, stopped and gone when the scope closes. */
const serverOf = (options: Parameters<typeof startPostgres>[0]) =>
  Effect.acquireRelease(
    Effect.promise(() => startPostgres(options)),
    ({ stop }) => Effect.promise(stop)
  )

const folderFor = (name: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = mkdtempSync(join(tmpdir(), `media-gateway-${name}-`))
      // PostgreSQL runs as another user where the tests run as root.
      chmodSync(folder, 0o777)
      return folder
    }),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )

const Place = Schema.Tuple([Schema.Struct({ place: Schema.String })])
const Label = Schema.Tuple([Schema.Struct({ label: Schema.String })])

/** By the low-level interface: the server may be written meanwhile, and its log is copied elsewhere. */
const backUp = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, folder: string) {
  const [{ place }] = yield* Schema.decodeUnknownEffect(Place)(
    yield* sql`SELECT current_setting('data_directory') AS place`
  )
  yield* sql`SELECT pg_backup_start('test', true)::text`
  for (const name of readdirSync(place)) {
    if (/^(pg_wal|postmaster\..*)$/.test(name)) continue
    cpSync(join(place, name), join(folder, name), { recursive: true })
  }
  mkdirSync(join(folder, "pg_wal"))
  const [{ label }] = yield* Schema.decodeUnknownEffect(Label)(
    yield* sql`SELECT labelfile AS label FROM pg_backup_stop(true)`
  )
  writeFileSync(join(folder, "backup_label"), label)
})

/** Ids of the videos that the vendor took on so far. */
const videoJobs = Effect.gen(function* () {
  const { book } = yield* Simulator
  return (yield* book).flatMap((entry) =>
    entry.event === "accepted" && entry.kind === "video" ? [entry.upstream_id] : []
  )
})

const Orphans = list(Schema.Struct({ id: Schema.String }))

it.live(
  "restored to the middle of a load, the books are sound and a vendor's list tells what they lack",
  () =>
    Effect.gen(function* () {
      const archive = yield* folderFor("wal")
      const files = yield* folderFor("backup")
      const server = yield* serverOf({
        settings: {
          wal_level: "replica",
          archive_mode: "on",
          archive_command: `cp %p ${archive}/%f`
        }
      })
      const env = {
        ...quickPace,
        DATABASE_POOL: "4",
        GATEWAY_SUBMIT_DEADLINE_SECONDS: "16",
        GATEWAY_IMAGE_DEADLINE_SECONDS: "16"
      }
      const gateway = yield* startGateway({ ...env, DATABASE_URL: server.url }, shippedEntry)
      const { key, organizationPath } = yield* prepareCustomer(gateway, "100000")
      const load = yield* startLoad(CLIENTS, (path, options) =>
        call(`${gateway.url}${path}`, { key, ...options })
      )
      const journey = Effect.gen(function* () {
        const sql = yield* connect(server.url)
        yield* load.more(ORDERS)
        yield* backUp(sql, files)
        yield* load.more(ORDERS)
        const before = yield* videoJobs
        yield* sql`SELECT pg_create_restore_point('the_moment')::text`
        const begun = yield* videoJobs
        yield* load.more(ORDERS)
        return { before, begun: new Set(begun) }
      }).pipe(Effect.scoped)
      const { before, begun } = yield* Effect.raceFirst(journey, load.lost)
      yield* load.stop
      yield* gateway.process.kill("SIGKILL")
      yield* gateway.process.end
      // An orderly end archives the last of the log.
      yield* Effect.promise(() => server.kill("SIGINT"))

      writeFileSync(join(files, "recovery.signal"), "")
      const [took, restored] = yield* Effect.timed(
        serverOf({
          restored: { files, url: server.url },
          settings: {
            restore_command: `cp ${archive}/%f %p`,
            recovery_target_name: "the_moment",
            recovery_target_action: "promote"
          }
        })
      )
      if (process.env.RESTORED_ORDERS !== undefined) {
        yield* Effect.logInfo(`restored in ${took}`, load.answered)
      }
      const again = yield* startGateway({ ...env, DATABASE_URL: restored.url }, shippedEntry)
      // What was open at the moment is asked for, or given back at its deadline; then nothing is held.
      yield* settledBalance(again, organizationPath)

      const jobs = yield* videoJobs
      const bill = ["id,tokens", ...jobs.map((job) => `${job},108900`)].join("\n")
      const { id } = yield* bodyAs(
        ReconciliationView,
        yield* again.admin(
          "/reconciliations?channel=ch-a&from=2020-01-01&to=2999-12-31&id=id&units=tokens",
          { body: bill, headers: { "content-type": "text/csv" } }
        )
      )
      const found = new Map<string, string>()
      let [after, more] = ["", true]
      while (more) {
        const page = yield* bodyAs(
          list(ReconciledEntryView),
          yield* again.admin(`/reconciliations/${id}/entries?limit=100${after}`)
        )
        for (const entry of page.data) found.set(entry.vendor_id ?? "", entry.kind)
        ;[after, more] = [`&after=${page.data.at(-1)?.id}`, page.has_more]
      }
      // What the vendor took on before is charged, or kept as a doubt for the operator.
      assert.isAtLeast(before.length, 2 * ORDERS)
      const uncharged = before.filter((job) => found.get(job) !== "matched")
      const doubts = yield* bodyAs(Orphans, yield* again.admin("/orphans?limit=100"))
      assert.isAtMost(uncharged.length, doubts.data.length)
      // What it took on afterwards is unknown to the books, and its list tells each one.
      const later = jobs.filter((job) => !begun.has(job))
      assert.isAtLeast(later.length, ORDERS)
      for (const job of later) assert.strictEqual(found.get(job), "missing_here", job)
    }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
  120_000
)
