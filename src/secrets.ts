/**
 * The master key and the admin token: from the environment, or, with the embedded database,
 * generated once and kept in `DATA_DIR/secrets.json`, readable by its owner alone.
 */
import { Effect, FileSystem, Option, Path, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Base64, Base64Url } from "effect/encoding"
import type { GatewayConfig } from "./config.ts"
import { MASTER_KEY_BYTES } from "./services/Vault.ts"

export class SecretsUnavailable extends Schema.TaggedError<SecretsUnavailable>()(
  "SecretsUnavailable",
  { message: Schema.String }
) {}

export interface Secrets {
  readonly masterKey: Redacted.Redacted<Uint8Array>
  /** Null: the admin interface lets nobody in. */
  readonly adminToken: Redacted.Redacted | null
}

const SecretsFile = Schema.fromJsonString(
  Schema.Struct({ master_key: Schema.String, admin_token: Schema.String })
)

const decodeMasterKey = (text: string, source: string) => {
  const bytes = Base64.decode(text)
  return bytes._tag === "Success" && bytes.success.length === MASTER_KEY_BYTES
    ? Effect.succeed(Redacted.make(bytes.success))
    : Effect.fail(
        new SecretsUnavailable({
          message: `${source} must be ${MASTER_KEY_BYTES} bytes in base64: openssl rand -base64 ${MASTER_KEY_BYTES} makes one`
        })
      )
}

const readOrGenerate = Effect.fnUntraced(
  function* (dataDir: string) {
    const files = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const random = yield* SecureRandom.SecureRandom
    const file = path.join(dataDir, "secrets.json")
    if (yield* files.exists(file)) {
      return yield* Schema.decodeEffect(SecretsFile)(yield* files.readFileString(file))
    }
    const secrets = {
      master_key: Base64.encode(yield* random.randomBytes(MASTER_KEY_BYTES)),
      admin_token: `admin_${Base64Url.encode(yield* random.randomBytes(24))}`
    }
    yield* files.makeDirectory(dataDir, { recursive: true, mode: 0o700 })
    // Written beside and renamed, so that a crash cannot leave half a secret.
    yield* files.writeFileString(`${file}.new`, yield* Schema.encodeEffect(SecretsFile)(secrets), {
      mode: 0o600
    })
    yield* files.rename(`${file}.new`, file)
    return secrets
  },
  (effect, dataDir) =>
    Effect.mapError(
      effect,
      (error) =>
        new SecretsUnavailable({
          message: `The secrets in ${dataDir} cannot be read or written: ${error.message}`
        })
    )
)

/** With a server database every gateway must be given the same master key, so none is invented. */
export const loadSecrets = Effect.fnUntraced(function* (config: GatewayConfig) {
  const given = Option.fromNullOr(config.masterKey)
  if (config.databaseUrl !== null) {
    if (Option.isNone(given)) {
      return yield* new SecretsUnavailable({
        message: "GATEWAY_MASTER_KEY is required together with DATABASE_URL"
      })
    }
    const masterKey = yield* decodeMasterKey(Redacted.value(given.value), "GATEWAY_MASTER_KEY")
    return { masterKey, adminToken: config.adminToken } satisfies Secrets
  }
  const stored = yield* readOrGenerate(config.dataDir)
  return {
    masterKey: Option.isSome(given)
      ? yield* decodeMasterKey(Redacted.value(given.value), "GATEWAY_MASTER_KEY")
      : yield* decodeMasterKey(stored.master_key, "master_key in secrets.json"),
    adminToken: config.adminToken ?? Redacted.make(stored.admin_token)
  } satisfies Secrets
})
