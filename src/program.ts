/** The gateway as a process: chooses the database, and serves until it is stopped. */

import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer, Result, Schema } from "effect"
import { HttpServer } from "effect/http"
import { layerAdapters } from "./adapters/liveAdapters.ts"
import { layerVendorLimits } from "./adapters/wire/limits.ts"
import { layerVendorWire } from "./adapters/wire/VendorWire.ts"
import { type GatewayConfig, loadConfig } from "./config.ts"
import { layerSecureRandom } from "./crypto.ts"
import { printDemo, seedDemo } from "./demo.ts"
import { layerOutgoingWeb } from "./egress/OutgoingWeb.ts"
import { layerArchiveBucket } from "./features/archive/archiveClient.ts"
import { startDemoArchive } from "./features/archive/demoArchive.ts"
import { SignInConfig, signInConfigOf } from "./features/signIn/SignInConfig.ts"
import { layerRoutes, layerServer, layerStores, layerUseCases } from "./gateway.ts"
import { layerTelemetry } from "./operations/telemetry.ts"
import { layerDistribution } from "./postgres/citus/Distribution.ts"
import { layerChanges } from "./postgres/client/ChangesPostgres.ts"
import { layerPostgres } from "./postgres/client/databaseClient.ts"
import { layerEmbedded } from "./postgres/embedded/EmbeddedPostgres.ts"
import { awaitSchema } from "./postgres/schema/applySchema.ts"
import { reportingFailure } from "./run.ts"
import { layerChangesAlone } from "./runtime/Changes.ts"
import { namingDatabase } from "./runtime/databaseErrors.ts"
import { cannotListen } from "./runtime/listenFailures.ts"
import { Settings } from "./runtime/Settings.ts"
import { loadSecrets, type Secrets } from "./secrets.ts"
import { layerStoredDocuments } from "./services/StoredDocuments.ts"
import { layerSimulator, Simulator } from "./simulator/Simulator.ts"
import { layerWaitingRoom } from "./waitingRoom.ts"

const layerDatabase = (config: GatewayConfig) =>
  config.databaseUrl === null
    ? layerChangesAlone.pipe(
        Layer.provideMerge(layerDistribution),
        Layer.provideMerge(layerEmbedded({ dataDir: config.dataDir }))
      )
    : layerChanges.pipe(
        Layer.provideMerge(layerDistribution),
        Layer.provideMerge(
          layerPostgres({ url: config.databaseUrl, maxConnections: config.databasePool })
        )
      )

const layerVendors = layerAdapters.pipe(Layer.provide([layerVendorWire, layerVendorLimits]))

/**
 * The gateway for a configuration, including the database. A custom composition may pass other
 * `vendors`. Where these have more than the built-in protocols, the composition must also provide
 * `Protocols`. A measurement may also pass other use cases and routes.
 */
export const layerGateway = (
  config: GatewayConfig,
  secrets: Secrets,
  vendors: typeof layerVendors = layerVendors,
  { useCases = layerUseCases, routes = layerRoutes(secrets) } = {}
) =>
  layerServer(secrets, config, routes).pipe(
    Layer.provideMerge(useCases),
    Layer.provideMerge([vendors, layerOutgoingWeb]),
    Layer.provide(config.archive === null ? Layer.empty : layerArchiveBucket(config.archive)),
    Layer.provideMerge(layerStores(secrets)),
    Layer.provide(config.migrate ? Layer.empty : layerWaitingRoom(config, awaitSchema)),
    Layer.provideMerge(layerDatabase(config)),
    Layer.provide(layerStoredDocuments),
    Layer.provide(Layer.succeed(Settings, config.settings)),
    Layer.provide(
      Layer.succeed(
        SignInConfig,
        Result.getOrElse(signInConfigOf(config), () => null)
      )
    ),
    Layer.provide(layerTelemetry(config.telemetry).pipe(Layer.provide(layerSecureRandom)))
  )

/** The URL at which the gateway listens, as a client would write it. */
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
    Effect.provide(
      layerGateway(config, secrets).pipe(
        Layer.provideMerge(
          layerSimulator({
            port: config.simulatorPort,
            bookPath: join(config.dataDir, "simulator-book.jsonl")
          }).pipe(
            Layer.catchTag("ServeError", ({ cause }) =>
              Layer.effect(
                Simulator,
                Effect.fail(
                  cannotListen(
                    cause,
                    { host: "127.0.0.1", port: config.simulatorPort },
                    "GATEWAY_SIMULATOR_PORT"
                  )
                )
              )
            )
          )
        )
      )
    )
  )

/** Adds the demo's own archive bucket where GATEWAY_DEMO_ARCHIVE is set. */
const withDemoArchive = Effect.fnUntraced(function* (config: GatewayConfig) {
  if (!config.demoArchive || config.archive !== null) return config
  const archive = yield* startDemoArchive(join(config.dataDir, "archive"))
  return { ...config, archive, settings: { ...config.settings, hasArchive: true } }
})

/** Serves until it is interrupted. */
export const runGateway = (config: GatewayConfig, secrets: Secrets) =>
  config.demo
    ? Effect.scoped(Effect.flatMap(withDemoArchive(config), (all) => serveDemo(all, secrets)))
    : serve(config, secrets)

class StartRefused extends Schema.TaggedError<StartRefused>()("StartRefused", {
  message: Schema.String
}) {}

/**
 * Refuses `GATEWAY_REUSE_PORT` with the embedded database or the demo's simulator, which serve only
 * one process, and with a port that is not fixed.
 */
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

/**
 * Refuses `GATEWAY_MIGRATE=0` for the embedded database, because no other process can apply the
 * migrations of this database.
 */
const checkMigrating = ({ migrate, databaseUrl }: GatewayConfig) =>
  migrate || databaseUrl !== null
    ? Effect.void
    : new StartRefused({
        message:
          "GATEWAY_MIGRATE is 0, but nobody else can migrate the embedded database: set DATABASE_URL as well"
      })

/** Refuses a sign-in of which only a part is configured. */
const checkSignIn = (config: GatewayConfig) =>
  Effect.mapError(
    Effect.fromResult(signInConfigOf(config)),
    (message) => new StartRefused({ message })
  )

/**
 * Reads the configuration, and serves until it is interrupted. Where the gateway cannot start,
 * prints the reason in one line and fails.
 */
export const serveAsConfigured = Effect.gen(function* () {
  const config = yield* loadConfig
  yield* checkSharing(config)
  yield* checkMigrating(config)
  yield* checkSignIn(config)
  return yield* runGateway(config, yield* loadSecrets(config)).pipe(namingDatabase(config))
}).pipe(
  Effect.provide([NodeServices.layer, layerSecureRandom]),
  reportingFailure("media-gateway cannot start")
)
