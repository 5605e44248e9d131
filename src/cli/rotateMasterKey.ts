#!/usr/bin/env node
/**
 * Replaces the master key: everything that `GATEWAY_MASTER_KEY_PREVIOUS` has sealed is sealed again
 * under `GATEWAY_MASTER_KEY`. May be run again at any time, also after it was cut off.
 *
 * With the embedded database and a master key that was generated, neither variable is needed: a new
 * one is generated, and takes the place of the old one in `secrets.json`.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect } from "effect"
import { type GatewayConfig, loadConfig } from "../config.ts"
import { layerCrypto } from "../crypto.ts"
import { layerPostgres } from "../postgres/client/databaseClient.ts"
import { layerEmbedded } from "../postgres/embedded/EmbeddedPostgres.ts"
import { applySchema } from "../postgres/schema/applySchema.ts"
import { reseal } from "../postgres/stores/masterKeyRotation.ts"
import { reportingFailure } from "../run.ts"
import {
  beginKeptRotation,
  endKeptRotation,
  loadSecrets,
  requireKeptSecrets,
  SecretsUnavailable
} from "../secrets.ts"
import { layerVault } from "../services/Vault.ts"

const layerDatabase = (config: GatewayConfig) =>
  config.databaseUrl === null
    ? layerEmbedded({ dataDir: config.dataDir })
    : layerPostgres({ url: config.databaseUrl, maxConnections: 1 })

const bothKeys = Effect.fnUntraced(function* (config: GatewayConfig) {
  const { masterKey, previousMasterKey } = yield* loadSecrets(config)
  return previousMasterKey === null || previousMasterKey === undefined
    ? yield* new SecretsUnavailable({
        message: "GATEWAY_MASTER_KEY_PREVIOUS is required beside GATEWAY_MASTER_KEY"
      })
    : { masterKey, previousMasterKey }
})

const resealWith = ({
  masterKey,
  previousMasterKey
}: Effect.Success<ReturnType<typeof bothKeys>>) =>
  Effect.andThen(applySchema, reseal).pipe(
    Effect.provide(layerVault(masterKey, previousMasterKey)),
    Effect.provide(layerCrypto)
  )

const program = Effect.gen(function* () {
  const config = yield* loadConfig
  const isKept =
    config.databaseUrl === null && config.masterKey === null && config.previousMasterKey === null
  // Before a database is opened, which would make an embedded one where there is none.
  yield* isKept ? requireKeptSecrets(config.dataDir) : bothKeys(config)
  const { masterKeyId, resealed, all } = yield* Effect.gen(function* () {
    // While the database is open here, no gateway runs that would go by the old file.
    if (isKept) yield* beginKeptRotation(config.dataDir)
    const done = yield* resealWith(yield* bothKeys(config))
    if (isKept) yield* endKeptRotation(config.dataDir)
    return done
  }).pipe(Effect.provide(layerDatabase(config)))
  yield* Console.log(
    `Sealed again under the master key with the id ${masterKeyId}: ${resealed} of ${all} secrets`
  )
}).pipe(
  Effect.provide([NodeServices.layer, NodeCrypto.layerSecureRandom]),
  reportingFailure("The master key was not rotated")
)

NodeRuntime.runMain(program, { disableErrorReporting: true })
