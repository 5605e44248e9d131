#!/usr/bin/env node
/** The command `media-gateway`: one gateway as the environment describes it, or what it is told to do. */

// Before the first schema is used: decoding by compiled functions costs a fraction.
import "effect/schema/SchemaJITCompiler/enable"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Schema } from "effect"
import { type GatewayConfig, loadConfig } from "./config.ts"
import { layerSecureRandom } from "./crypto.ts"
import { runGateway } from "./program.ts"
import { reportingFailure, runUntilStopped } from "./run.ts"
import { loadSecrets } from "./secrets.ts"

class StartRefused extends Schema.TaggedError<StartRefused>()("StartRefused", {
  message: Schema.String
}) {}

/** What each of several gateways would have alone must be shared by all of them. */
const checkSharing = Effect.fnUntraced(function* ({
  reusePort,
  databaseUrl,
  demo,
  port
}: GatewayConfig) {
  if (!reusePort) return
  const refuse = (why: string) =>
    new StartRefused({ message: `GATEWAY_REUSE_PORT is set, but ${why}` })
  if (databaseUrl === null) {
    return yield* refuse("the embedded database serves one process: set DATABASE_URL as well")
  }
  if (demo) return yield* refuse("GATEWAY_DEMO has a simulator, which is one process")
  if (port === 0) return yield* refuse("a port that others can use as well must be named in PORT")
})

/** What waits for another's migrations needs a database that another can reach. */
const checkMigrating = ({ migrate, databaseUrl }: GatewayConfig) =>
  migrate || databaseUrl !== null
    ? Effect.void
    : new StartRefused({
        message:
          "GATEWAY_MIGRATE is 0, but nobody else can migrate the embedded database: set DATABASE_URL as well"
      })

const gateway = Effect.gen(function* () {
  const config = yield* loadConfig
  yield* checkSharing(config)
  yield* checkMigrating(config)
  return yield* runGateway(config, yield* loadSecrets(config))
}).pipe(
  Effect.provide([NodeServices.layer, layerSecureRandom]),
  reportingFailure("media-gateway cannot start")
)

/** Loaded when there are some, so that a gateway starts without them. */
const commands = Effect.promise(() => import("./cli/commands.ts")).pipe(
  Effect.flatMap(({ runCommands }) => runCommands)
)

const FIRST_ARGUMENT = 2

if (process.argv.length > FIRST_ARGUMENT) runUntilStopped(commands)
else runUntilStopped(gateway)
