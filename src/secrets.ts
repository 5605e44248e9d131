/**
 * The master key and the admin token, from the environment. With the embedded database, secrets
 * that are not set in the environment are generated once and stored in `DATA_DIR/secrets.json`,
 * which only the owner of the file can read. The demo's API key is stored in the same directory.
 */
import { Effect, FileSystem, Path, Redacted, Schema } from "effect"
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
  /**
   * The previous master key, which decrypts secrets from before the current rotation; null when
   * there is no rotation.
   */
  readonly previousMasterKey?: Redacted.Redacted<Uint8Array> | null
  /** The admin token of the configuration; null where none is set. */
  readonly adminToken: Redacted.Redacted | null
}

const SecretsFile = Schema.fromJsonString(
  Schema.Struct({
    master_key: Schema.String,
    /** Present from the beginning of a key rotation to its end. */
    previous_master_key: Schema.optionalKey(Schema.String),
    admin_token: Schema.String
  })
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

const SECRETS = "secrets.json"
const DEMO_KEY = "demo-key"

const fileIn = (dataDir: string, name: string) =>
  Effect.map(Path.Path, (path) => path.join(dataDir, name))

const read = Effect.fnUntraced(function* (dataDir: string) {
  const files = yield* FileSystem.FileSystem
  return yield* Schema.decodeEffect(SecretsFile)(
    yield* files.readFileString(yield* fileIn(dataDir, SECRETS))
  )
})

/**
 * Writes a temporary file and renames it, so that a crash cannot leave an incomplete secret. The
 * file is synced to the disk, so that a key in it cannot be lost after data was encrypted with the
 * key.
 */
const writeText = Effect.fnUntraced(function* (dataDir: string, name: string, text: string) {
  const files = yield* FileSystem.FileSystem
  const file = yield* fileIn(dataDir, name)
  yield* files.makeDirectory(dataDir, { recursive: true, mode: 0o700 })
  yield* files.remove(`${file}.new`, { force: true })
  yield* Effect.scoped(
    Effect.gen(function* () {
      const handle = yield* files.open(`${file}.new`, { flag: "wx", mode: 0o600 })
      yield* handle.writeAll(new TextEncoder().encode(text))
      yield* handle.sync
    })
  )
  yield* files.rename(`${file}.new`, file)
  yield* Effect.scoped(Effect.flatMap(files.open(dataDir, { flag: "r" }), ({ sync }) => sync))
})

const write = (dataDir: string, secrets: typeof SecretsFile.Type) =>
  Effect.flatMap(Schema.encodeEffect(SecretsFile)(secrets), (text) =>
    writeText(dataDir, SECRETS, text)
  )

const newMasterKey = Effect.flatMap(SecureRandom.SecureRandom, (random) =>
  Effect.map(random.randomBytes(MASTER_KEY_BYTES), (bytes) => Base64.encode(bytes))
)

const unavailableIn = <A, E extends Error, R>(effect: Effect.Effect<A, E, R>, dataDir: string) =>
  Effect.mapError(
    effect,
    (error) =>
      new SecretsUnavailable({
        message: `The secrets in ${dataDir} cannot be read or written: ${error.message}`
      })
  )

const readOrGenerate = Effect.fnUntraced(function* (dataDir: string) {
  const files = yield* FileSystem.FileSystem
  const random = yield* SecureRandom.SecureRandom
  if (yield* files.exists(yield* fileIn(dataDir, SECRETS))) return yield* read(dataDir)
  const secrets: typeof SecretsFile.Type = {
    master_key: yield* newMasterKey,
    admin_token: `admin_${Base64Url.encode(yield* random.randomBytes(24))}`
  }
  yield* write(dataDir, secrets)
  return secrets
}, unavailableIn)

/** Fails where no generated master key is stored. */
export const requireStoredSecrets = (dataDir: string) =>
  unavailableIn(Effect.asVoid(read(dataDir)), dataDir)

/**
 * Begins a key rotation: stores a new master key as the current key, and the old master key as the
 * previous one. Does nothing where a rotation has already begun. Gateways that start afterwards can
 * decrypt the secrets of both keys.
 */
export const beginStoredRotation = Effect.fnUntraced(function* (dataDir: string) {
  const { master_key, previous_master_key, admin_token } = yield* read(dataDir)
  if (previous_master_key !== undefined) return
  yield* write(dataDir, {
    master_key: yield* newMasterKey,
    previous_master_key: master_key,
    admin_token
  })
}, unavailableIn)

/**
 * Ends a key rotation by removing the previous master key. Before that, all stored secrets must be
 * encrypted with the new key.
 */
export const endStoredRotation = Effect.fnUntraced(function* (dataDir: string) {
  const { master_key, admin_token } = yield* read(dataDir)
  yield* write(dataDir, { master_key, admin_token })
}, unavailableIn)

/** The generated admin token; null where none is stored. */
export const readStoredAdminToken = Effect.fnUntraced(function* (dataDir: string) {
  const files = yield* FileSystem.FileSystem
  return (yield* files.exists(yield* fileIn(dataDir, SECRETS)))
    ? Redacted.make((yield* read(dataDir)).admin_token)
    : null
}, unavailableIn)

/** The demo's API key; null where none is stored. */
export const readStoredDemoKey = Effect.fnUntraced(function* (dataDir: string) {
  const files = yield* FileSystem.FileSystem
  const file = yield* fileIn(dataDir, DEMO_KEY)
  return (yield* files.exists(file)) ? Redacted.make(yield* files.readFileString(file)) : null
}, unavailableIn)

/**
 * Stores the demo's API key for later starts, because the database has only the hash of the key.
 */
export const storeDemoKey = Effect.fnUntraced(function* (dataDir: string, key: Redacted.Redacted) {
  yield* writeText(dataDir, DEMO_KEY, Redacted.value(key))
}, unavailableIn)

const decodeOptionalKey = (text: Redacted.Redacted | null, source: string) =>
  text === null ? Effect.succeed(null) : decodeMasterKey(Redacted.value(text), source)

/**
 * Loads the secrets. With a server database no master key is generated, because all gateways on it
 * must have the same key.
 */
export const loadSecrets = Effect.fnUntraced(function* (config: GatewayConfig) {
  const masterKey = yield* decodeOptionalKey(config.masterKey, "GATEWAY_MASTER_KEY")
  const previousMasterKey = yield* decodeOptionalKey(
    config.previousMasterKey,
    "GATEWAY_MASTER_KEY_PREVIOUS"
  )
  const { adminToken } = config
  if (config.databaseUrl !== null) {
    if (masterKey === null) {
      return yield* new SecretsUnavailable({
        message: "GATEWAY_MASTER_KEY is required together with DATABASE_URL"
      })
    }
    return { masterKey, previousMasterKey, adminToken } satisfies Secrets
  }
  const stored = yield* readOrGenerate(config.dataDir)
  const previousStoredKey =
    masterKey === null && stored.previous_master_key !== undefined
      ? yield* decodeMasterKey(stored.previous_master_key, "previous_master_key in secrets.json")
      : null
  return {
    masterKey:
      masterKey ?? (yield* decodeMasterKey(stored.master_key, "master_key in secrets.json")),
    previousMasterKey: previousMasterKey ?? previousStoredKey,
    adminToken: adminToken ?? Redacted.make(stored.admin_token)
  } satisfies Secrets
})
