/** Starts what the command line and the environment ask for: one gateway, or workers of one. */

// Before the first schema is used: decoding by compiled functions costs a fraction.
import "effect/schema/SchemaJITCompiler/enable"
import cluster from "node:cluster"
import { parseArgs } from "node:util"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ConfigProvider, Effect, Schema } from "effect"
import { type GatewayConfig, loadConfig } from "./config.ts"
import { layerSecureRandom } from "./crypto.ts"
import { reportingFailure, runUntilStopped } from "./run.ts"
import { loadSecrets } from "./secrets.ts"
import { superviseWorkers } from "./workers/supervisor.ts"

class StartRefused extends Schema.TaggedError<StartRefused>()("StartRefused", {
  message: Schema.String
}) {}

/** An option says the same as its variable, and goes before it. */
const fromCommandLine = Effect.try({
  try: () => parseArgs({ options: { workers: { type: "string" } } }).values,
  catch: (cause) =>
    new StartRefused({ message: cause instanceof Error ? cause.message : String(cause) })
}).pipe(
  Effect.map(({ workers }) =>
    ConfigProvider.orElse(
      ConfigProvider.fromUnknown(workers === undefined ? {} : { GATEWAY_WORKERS: workers }),
      ConfigProvider.fromEnv()
    )
  )
)

/** What each worker would have alone must be shared by all of them. */
const checkWorkers = Effect.fnUntraced(function* ({ workers, databaseUrl, demo }: GatewayConfig) {
  if (workers === 1) return
  const refuse = (why: string) =>
    new StartRefused({ message: `${workers} workers are asked for, but ${why}` })
  if (databaseUrl === null) {
    return yield* refuse("the embedded database serves one process: set DATABASE_URL for more")
  }
  if (demo) return yield* refuse("GATEWAY_DEMO has a simulator, which is one process")
})

const program = Effect.gen(function* () {
  const config = yield* Effect.provideServiceEffect(
    loadConfig,
    ConfigProvider.ConfigProvider,
    fromCommandLine
  )
  yield* checkWorkers(config)
  const secrets = yield* loadSecrets(config)
  if (config.workers > 1 && cluster.isPrimary) return yield* superviseWorkers(config.workers)
  // The primary of workers does without all the rest.
  const { runGateway } = yield* Effect.promise(() => import("./program.ts"))
  return yield* runGateway(config, secrets)
}).pipe(
  Effect.provide([NodeServices.layer, layerSecureRandom]),
  reportingFailure("media-gateway cannot start")
)

runUntilStopped(program)
