/**
 * A base backup and the write-ahead log, restored to a moment in the middle of a load: what the books
 * then have, what a vendor's list tells of the rest, and that it adds up.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { list } from "../../src/http/api/shared.ts"
import { layerSimulator } from "../../src/simulator/Simulator.ts"
import { backUp, folderFor, serverOf } from "../support/backups.ts"
import { connect, startGateway } from "../support/cluster.ts"
import { bodyAs } from "../support/gateway.ts"
import {
  prepareCustomer,
  quickPace,
  settledBalance,
  shippedEntry
} from "../support/gatewayProcesses.ts"
import { call } from "../support/http.ts"
import { startLoad } from "../support/steadyLoad.ts"
import { reconciledKinds, videoJobs } from "../support/vendorLists.ts"

const CLIENTS = 6
/** Images and videos before the backup, up to the moment, and after it. */
const ORDERS = Number(process.env.RESTORED_ORDERS ?? 2)

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
      const found = yield* reconciledKinds(again, jobs)
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
