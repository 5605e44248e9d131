/**
 * A Citus cluster of its own, whose nodes can be killed. `CITUS_CLUSTER` names the program that
 * makes it: `PROGRAM up DIRECTORY PORT` starts a coordinator at the port and two workers at the next
 * ones, in the data directories `n0`, `n1` and `n2`, and prints the URL of a database;
 * `PROGRAM down DIRECTORY` removes all.
 */
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdtempSync, readFileSync, readlinkSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted, Schedule } from "effect"
import { distributeSchema } from "../../src/postgres/citus/distributeSchema.ts"
import { layerPostgres } from "../../src/postgres/client/databaseClient.ts"
import { applySchema } from "../../src/postgres/schema/applySchema.ts"
import { freePort } from "./postgresServer.ts"

/** Null where there is none: what needs one is then skipped. */
export const citusProgram = process.env.CITUS_CLUSTER ?? null

const execute = promisify(execFile)

export interface ClusterNode {
  /** The id of the main process of the node. */
  readonly pid: () => number
  /** Sends SIGKILL to the main process of the node. */
  readonly kill: Effect.Effect<void>
  /** Starts the node again; returns when it answers. */
  readonly start: Effect.Effect<void>
}

interface CitusCluster {
  /** The URL of a database with the latest schema, distributed. */
  readonly url: string
  readonly port: number
  /** The addresses of the nodes, as HOST:PORT, the coordinator first. */
  readonly addresses: ReadonlyArray<string>
  readonly coordinator: ClusterNode
  readonly workers: ReadonlyArray<ClusterNode>
}

/** Where child processes of a killed server keep its memory, a start fails for a moment. */
const startAgain = { schedule: Schedule.spaced("100 millis"), times: 300 }

const nodeIn = (data: string): ClusterNode => {
  const pidOf = () => Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0])
  const programs = dirname(readlinkSync(`/proc/${pidOf()}/exe`))
  const { uid, gid } = statSync(data)
  const start = async (): Promise<void> => {
    const starting = spawn(
      join(programs, "pg_ctl"),
      ["-D", data, "-l", `${data}.log`, "-w", "start"],
      // The node looks for certificates in the home of its identity.
      { uid, gid, stdio: "ignore", env: { ...process.env, HOME: data } }
    )
    const [code] = await once(starting, "exit")
    if (code !== 0) throw new Error(`the node in ${data} did not start`)
  }
  return {
    pid: pidOf,
    kill: Effect.sync(() => process.kill(pidOf(), "SIGKILL")),
    start: Effect.tryPromise(start).pipe(Effect.retry(startAgain), Effect.orDie)
  }
}

/** Starts a cluster, which ends with the scope. */
export const startCitusCluster = Effect.fnUntraced(function* (program: string) {
  const parent = mkdtempSync(join(tmpdir(), "media-gateway-citus-"))
  // The servers may have another identity, which has to reach their files.
  chmodSync(parent, 0o755)
  const directory = join(parent, "cluster")
  const url = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const { stdout } = await execute(program, ["up", directory, String(await freePort())])
      return stdout.trim().split("\n").at(-1) ?? ""
    }),
    () =>
      Effect.promise(async () => {
        await execute(program, ["down", directory])
        rmSync(parent, { recursive: true, force: true })
      })
  )
  const port = Number(new URL(url).port)
  const addresses = [0, 1, 2].map((node) => `127.0.0.1:${port + node}`)
  yield* Effect.andThen(applySchema, distributeSchema).pipe(
    Effect.provide(layerPostgres({ url: Redacted.make(url), maxConnections: 1 }), { local: true }),
    Effect.orDie
  )
  yield* Effect.forEach(addresses, (address) => {
    const node = new URL(url)
    node.host = address
    return Effect.flatMap(PgClient.PgClient, (sql) =>
      Effect.andThen(
        sql`ALTER SYSTEM SET citus.recover_2pc_interval = ${sql.literal("'2s'")}`,
        sql`SELECT pg_reload_conf()`
      )
    ).pipe(
      Effect.provide(layerPostgres({ url: Redacted.make(node.href), maxConnections: 1 }), {
        local: true
      }),
      Effect.orDie
    )
  })
  const [coordinator, ...workers] = ["n0", "n1", "n2"].map((name) => nodeIn(join(directory, name)))
  if (coordinator === undefined) return yield* Effect.die(new Error("the cluster has no nodes"))
  return { url, port, addresses, coordinator, workers } satisfies CitusCluster
})
