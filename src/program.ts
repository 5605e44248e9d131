/** The gateway of one process: picks the database, serves until it is stopped. */

import { join } from "node:path"
import { Console, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { layerAdapters } from "./adapters/liveAdapters.ts"
import { layerVendorLimits } from "./adapters/wire/limits.ts"
import { layerVendorWire } from "./adapters/wire/VendorWire.ts"
import { layerBucketS3 } from "./archive/BucketS3.ts"
import { startDemoArchive } from "./archive/demoArchive.ts"
import type { GatewayConfig } from "./config.ts"
import { layerSecureRandom } from "./crypto.ts"
import { printDemo, seedDemo } from "./demo.ts"
import { layerServer, layerStores, layerUseCases } from "./gateway.ts"
import { layerTelemetry } from "./operations/telemetry.ts"
import { layerOutgoingWeb } from "./outgoing/OutgoingWeb.ts"
import { layerChanges } from "./postgres/client/ChangesPostgres.ts"
import { layerPostgres } from "./postgres/client/databaseClient.ts"
import { layerEmbedded } from "./postgres/embedded/EmbeddedPostgres.ts"
import { layerChangesAlone } from "./runtime/Changes.ts"
import { Settings } from "./runtime/Settings.ts"
import type { Secrets } from "./secrets.ts"
import { layerSimulator, Simulator } from "./simulator/Simulator.ts"

const layerDatabase = (config: GatewayConfig) =>
  config.databaseUrl === null
    ? layerChangesAlone.pipe(Layer.provideMerge(layerEmbedded({ dataDir: config.dataDir })))
    : layerChanges.pipe(
        Layer.provideMerge(
          layerPostgres({ url: config.databaseUrl, maxConnections: config.databasePool })
        )
      )

const layerVendors = layerAdapters.pipe(Layer.provide([layerVendorWire, layerVendorLimits]))

/**
 * The gateway of one configuration, from the database up. A composition of its own may bring other
 * `vendors`, and provides `Protocols` around it when they speak more than the built-in ones.
 */
export const layerGateway = (
  config: GatewayConfig,
  secrets: Secrets,
  vendors: typeof layerVendors = layerVendors
) =>
  layerServer(secrets, config).pipe(
    Layer.provideMerge(layerUseCases),
    Layer.provideMerge([vendors, layerOutgoingWeb]),
    Layer.provide(config.archive === null ? Layer.empty : layerBucketS3(config.archive)),
    Layer.provideMerge(layerStores(secrets)),
    Layer.provideMerge(layerDatabase(config)),
    Layer.provide(Layer.succeed(Settings, config.settings)),
    Layer.provide(layerTelemetry(config.telemetry).pipe(Layer.provide(layerSecureRandom)))
  )

/** Where the gateway listens, as a client would write it. */
const listeningAt = Effect.map(HttpServer.HttpServer, ({ address }) =>
  HttpServer.formatAddress(address)
)

const serve = (config: GatewayConfig, secrets: Secrets) =>
  Effect.gen(function* () {
    yield* Console.log(`media-gateway listens on ${yield* listeningAt}`)
    return yield* Effect.never
  }).pipe(Effect.provide(layerGateway(config, secrets)))

const serveDemo = (config: GatewayConfig, secrets: Secrets) =>
  Effect.gen(function* () {
    const simulator = yield* Simulator
    const key = yield* seedDemo(simulator.url, config.dataDir)
    yield* printDemo({
      gatewayUrl: yield* listeningAt,
      simulatorUrl: simulator.url,
      key,
      adminToken: secrets.adminToken
    })
    return yield* Effect.never
  }).pipe(
    Effect.provide(layerGateway(config, secrets)),
    Effect.provide(
      layerSimulator({
        port: config.simulatorPort,
        bookPath: join(config.dataDir, "simulator-book.jsonl")
      })
    )
  )

/** With a bucket of the demo's own, where it is asked for. */
const archivingDemo = Effect.fnUntraced(function* (config: GatewayConfig) {
  if (!config.demoArchive || config.archive !== null) return config
  const archive = yield* startDemoArchive(join(config.dataDir, "archive"))
  return { ...config, archive, settings: { ...config.settings, hasArchive: true } }
})

/** Serves until it is interrupted. */
export const runGateway = (config: GatewayConfig, secrets: Secrets) =>
  config.demo
    ? Effect.scoped(Effect.flatMap(archivingDemo(config), (all) => serveDemo(all, secrets)))
    : serve(config, secrets)
