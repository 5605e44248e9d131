import { readdirSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { startGateway } from "../support/cluster.ts"
import { temporaryDataDir } from "../support/databases.ts"
import { processEnvironment } from "../support/gatewayProcesses.ts"
import { call } from "../support/http.ts"

const entry = fileURLToPath(new URL("../../src/main.ts", import.meta.url))

/** A gateway that was started and asked to stop; it must have been well. */
const oneLife = Effect.fnUntraced(function* (env: Readonly<Record<string, string>>) {
  const database = yield* processEnvironment("postgres")
  const gateway = yield* startGateway({ NODE_COMPILE_CACHE: "", ...database, ...env }, entry)
  assert.strictEqual((yield* call(`${gateway.url}/healthz`)).status, 200)
  yield* gateway.process.kill("SIGTERM")
  assert.deepStrictEqual(yield* gateway.process.end, { code: 0, signal: null })
})

it.live(
  "a gateway that ends in order leaves what it compiled to the next one",
  () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDataDir()
      yield* oneLife({ DATA_DIR: dataDir })
      assert.isNotEmpty(readdirSync(join(dataDir, "compiled")))
    }).pipe(Effect.scoped),
  60_000
)

it.live(
  "a directory that is named for it is used instead of our own",
  () =>
    Effect.gen(function* () {
      const [dataDir, named] = [yield* temporaryDataDir(), yield* temporaryDataDir()]
      yield* oneLife({ DATA_DIR: dataDir, NODE_COMPILE_CACHE: named })
      assert.isNotEmpty(readdirSync(named))
      assert.isEmpty(readdirSync(dataDir))
    }).pipe(Effect.scoped),
  60_000
)

it.live(
  "a gateway that can write nothing serves",
  () => oneLife({ DATA_DIR: "/dev/null/nowhere" }).pipe(Effect.scoped),
  60_000
)
