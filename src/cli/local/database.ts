/** Direct access to the database of this installation, without a running gateway. */
import { Effect } from "effect"
import { type GatewayConfig, loadConfig } from "../../config.ts"
import { layerPostgres } from "../../postgres/client/databaseClient.ts"
import { layerEmbedded } from "../../postgres/embedded/EmbeddedPostgres.ts"
import { namingDatabase } from "../../runtime/databaseErrors.ts"

/** The database with a single connection, which is enough for a command. */
export const layerDatabase = (config: GatewayConfig) =>
  config.databaseUrl === null
    ? layerEmbedded({ dataDir: config.dataDir })
    : layerPostgres({ url: config.databaseUrl, maxConnections: 1 })

/** Runs an effect on the database that the environment variables configure. */
export const onDatabase = <A, E, R>(use: (config: GatewayConfig) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(loadConfig, (config) =>
    Effect.provide(use(config), layerDatabase(config)).pipe(namingDatabase(config))
  )
