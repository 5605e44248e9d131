/** Starts the gateway: reads the configuration, picks the database, serves until it is stopped. */

import { join } from "node:path"
import { NodeCrypto, NodeHttpClient, NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { layerAdapters } from "./adapters/index.ts"
import { type GatewayConfig, loadConfig } from "./config.ts"
import { printDemo, seedDemo } from "./demo.ts"
import { layerServer, layerStores, layerUseCases } from "./gateway.ts"
import { layerServer as layerPostgres } from "./postgres/client.ts"
import { layerEmbedded } from "./postgres/embedded/EmbeddedPostgres.ts"
import { loadSecrets, type Secrets } from "./secrets.ts"
import { Settings } from "./services/Settings.ts"
import { layerSimulator, Simulator } from "./simulator/Simulator.ts"

const layerDatabase = (config: GatewayConfig) =>
  config.databaseUrl === null
    ? layerEmbedded({ dataDir: config.dataDir })
    : layerPostgres({ url: config.databaseUrl, maxConnections: config.databasePool })

const layerVendors = layerAdapters.pipe(Layer.provide(NodeHttpClient.layerUndici))

/** The gateway of one configuration, from the database up. */
export const layerGateway = (config: GatewayConfig, secrets: Secrets) =>
  layerServer(secrets, { host: config.host, port: config.port }).pipe(
    Layer.provideMerge(layerUseCases),
    Layer.provideMerge(layerVendors),
    Layer.provideMerge(layerStores(secrets)),
    Layer.provideMerge(layerDatabase(config)),
    Layer.provide(Layer.succeed(Settings, config.settings))
  )

const announce = Effect.fnUntraced(function* (config: GatewayConfig, secrets: Secrets) {
  const { address } = yield* HttpServer.HttpServer
  const gatewayUrl = HttpServer.formatAddress(address)
  if (!config.demo) return yield* Console.log(`media-gateway listens on ${gatewayUrl}`)
  const simulator = yield* Simulator
  const key = yield* seedDemo(simulator.url)
  yield* printDemo({ gatewayUrl, simulatorUrl: simulator.url, key, adminToken: secrets.adminToken })
})

const program = Effect.gen(function* () {
  const config = yield* loadConfig
  const secrets = yield* loadSecrets(config)
  const gateway = layerGateway(config, secrets)
  const simulator = layerSimulator({
    port: config.simulatorPort,
    bookPath: join(config.dataDir, "simulator-book.jsonl")
  })
  return yield* Effect.gen(function* () {
    yield* announce(config, secrets)
    return yield* Effect.never
  }).pipe(Effect.provide(config.demo ? Layer.merge(gateway, simulator) : gateway))
}).pipe(Effect.provide([NodeServices.layer, NodeCrypto.layerSecureRandom]))

if (import.meta.main) NodeRuntime.runMain(program)
