/**
 * Replaces the master key: every secret sealed under `GATEWAY_MASTER_KEY_PREVIOUS` is sealed again
 * under `GATEWAY_MASTER_KEY`, and so are stored responses. The rotation may be run again at any time, also after it was
 * interrupted.
 *
 * With the embedded database and a generated master key, these variables are not needed: a new key
 * is generated, and replaces the old one in `secrets.json`.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { type GatewayConfig, loadConfig } from "../../config.ts"
import { layerCrypto } from "../../crypto.ts"
import { resealResponses } from "../../features/responses/layer.ts"
import { applySchema } from "../../postgres/schema/applySchema.ts"
import { reseal } from "../../postgres/stores/masterKeyRotation.ts"
import { reasonOf } from "../../run.ts"
import { namingDatabase } from "../../runtime/databaseErrors.ts"
import {
  beginStoredRotation,
  endStoredRotation,
  loadSecrets,
  requireStoredSecrets,
  SecretsUnavailable
} from "../../secrets.ts"
import { layerVault } from "../../services/Vault.ts"
import { CommandFailure } from "../failures.ts"
import { printResult } from "../output.ts"
import { layerDatabase } from "./database.ts"

const readKeys = Effect.fnUntraced(function* (config: GatewayConfig) {
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
}: Effect.Success<ReturnType<typeof readKeys>>) =>
  Effect.andThen(applySchema, Effect.all({ secrets: reseal, responses: resealResponses })).pipe(
    Effect.provide(Layer.provide(layerVault(masterKey, previousMasterKey), layerCrypto))
  )

/** Seals all secrets and stored responses again, and returns their numbers. */
const rotate = Effect.gen(function* () {
  const config = yield* loadConfig
  const isKept =
    config.databaseUrl === null && config.masterKey === null && config.previousMasterKey === null
  // The keys are checked before the database is opened, since opening an embedded database creates
  // one where none exists.
  yield* isKept ? requireStoredSecrets(config.dataDir) : readKeys(config)
  return yield* Effect.gen(function* () {
    // No gateway can read the old secrets file meanwhile: while this process has the embedded
    // database open, no gateway can run on it.
    if (isKept) yield* beginStoredRotation(config.dataDir)
    const report = yield* resealWith(yield* readKeys(config))
    if (isKept) yield* endStoredRotation(config.dataDir)
    return report
  }).pipe(Effect.provide(layerDatabase(config)), namingDatabase(config))
}).pipe(Effect.provide(NodeCrypto.layerSecureRandom))

export const rotateCommand = Command.make(
  "rotate-master-key",
  {},
  Effect.fn("cli.rotateMasterKey")(function* () {
    const { secrets, responses } = yield* Effect.mapError(
      rotate,
      (error) =>
        new CommandFailure({ message: `The master key was not rotated: ${reasonOf(error)}` })
    )
    yield* printResult(
      {
        master_key_id: secrets.masterKeyId,
        resealed: secrets.resealed,
        all: secrets.all,
        resealed_responses: responses.resealed,
        unreadable_responses: responses.unreadable
      },
      () =>
        `Sealed again under the master key with the id ${secrets.masterKeyId}: ` +
        `${secrets.resealed} of ${secrets.all} secrets, ${responses.resealed} stored responses` +
        (responses.unreadable === 0
          ? ""
          : `; ${responses.unreadable} stored responses are of another master key and stay unreadable`)
    )
  })
).pipe(
  Command.withDescription(
    "Seal everything again under GATEWAY_MASTER_KEY that GATEWAY_MASTER_KEY_PREVIOUS has sealed, or under a new key where it was generated"
  )
)
