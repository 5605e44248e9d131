/** The gateway as a process that kills itself at a named place on the money's way. */
import { NodeCrypto, NodeRuntime, NodeServices } from "@effect/platform-node"
import { Config, Console, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { loadConfig } from "../../src/config.ts"
import { layerGateway } from "../../src/main.ts"
import { loadSecrets } from "../../src/secrets.ts"
import { Failpoints } from "../../src/services/Failpoints.ts"

const killAt = (name: string) =>
  Layer.succeed(Failpoints, {
    pass: (failpoint) =>
      failpoint === name ? Effect.sync(() => process.kill(process.pid, "SIGKILL")) : Effect.void
  })

const program = Effect.gen(function* () {
  const config = yield* loadConfig
  const secrets = yield* loadSecrets(config)
  const name = yield* Config.String("KILL_AT").pipe(Config.withDefault("nowhere"))
  return yield* Effect.gen(function* () {
    const { address } = yield* HttpServer.HttpServer
    yield* Console.log(`listens on ${HttpServer.formatAddress(address)}`)
    return yield* Effect.never
  }).pipe(Effect.provide(layerGateway(config, secrets).pipe(Layer.provide(killAt(name)))))
}).pipe(Effect.provide([NodeServices.layer, NodeCrypto.layerSecureRandom]))

NodeRuntime.runMain(program)
