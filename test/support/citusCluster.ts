/**
 * A Citus cluster of its own. `CITUS_CLUSTER` names the program that
 * makes it: `PROGRAM up DIRECTORY PORT` starts a coordinator at the port and two workers at the next
 * ones, and prints the URL of a database with the extension; `PROGRAM down DIRECTORY` removes all.
 */
import { execFile } from "node:child_process"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { Effect, Redacted } from "effect"
import { distributeSchema } from "../../src/postgres/citus/distributeSchema.ts"
import { layerPostgres } from "../../src/postgres/client/databaseClient.ts"
import { applySchema } from "../../src/postgres/schema/applySchema.ts"
import { freePort } from "./postgresServer.ts"

/** Null where there is none: what needs one is then skipped. */
export const citusProgram = process.env.CITUS_CLUSTER ?? null

const execute = promisify(execFile)

/**
 * Starts a cluster, which ends with the scope: the URL of a database with the latest schema,
 * distributed, and the addresses of the nodes as HOST:PORT, the coordinator first.
 */
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
  yield* Effect.andThen(applySchema, distributeSchema).pipe(
    Effect.provide(layerPostgres({ url: Redacted.make(url), maxConnections: 1 }), { local: true }),
    Effect.orDie
  )
  const port = Number(new URL(url).port)
  const addresses = [0, 1, 2].map((node) => `127.0.0.1:${port + node}`)
  return { url, addresses }
})
