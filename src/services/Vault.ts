/**
 * Everything derived from the master key: sealing of channel keys, the hash of API keys, and
 * deployment-wide values that must be the same on every gateway.
 */
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { Aead, Kdf, Mac, SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"

/** Sealed under another master key, for another subject, or damaged. */
export class CannotOpen extends Schema.TaggedError<CannotOpen>()("CannotOpen", {
  message: Schema.String
}) {}

export interface Sealed {
  /** Names the master key, without telling anything of it. */
  readonly keyId: string
  /** Nonce, then ciphertext, then tag. */
  readonly bytes: Uint8Array
}

export class Vault extends Context.Service<
  Vault,
  {
    /** AES-256-GCM; `subject` (the channel id) is authenticated with the secret. */
    seal(secret: Redacted.Redacted, subject: string): Effect.Effect<Sealed>
    open(sealed: Sealed, subject: string): Effect.Effect<Redacted.Redacted, CannotOpen>
    /** Keyed hash: equal for equal text under one master key, useless without it. */
    hash(text: Redacted.Redacted): Effect.Effect<Uint8Array>
    /** A value bound to the master key and the label: the same on every gateway and restart. */
    derive(label: string): Effect.Effect<Uint8Array>
  }
>()("gateway/services/Vault") {}

export const MASTER_KEY_BYTES = 32
const NONCE_BYTES = 12

const utf8 = (text: string) => new TextEncoder().encode(text)

/** Builds the vault; the master key has exactly `MASTER_KEY_BYTES` bytes. */
export const layerVault = (masterKey: Redacted.Redacted<Uint8Array>) =>
  Layer.effect(
    Vault,
    Effect.gen(function* () {
      const aead = yield* Aead.Aead
      const mac = yield* Mac.Mac
      const kdf = yield* Kdf.Kdf
      const random = yield* SecureRandom.SecureRandom
      const derive = (label: string) =>
        kdf
          .derive(Kdf.hkdfSha256, Redacted.value(masterKey), {
            salt: utf8("media-gateway"),
            info: utf8(label),
            length: 32
          })
          .pipe(Effect.orDie)

      const sealKey = yield* derive("channel credentials").pipe(
        Effect.flatMap((bytes) => Aead.key(Aead.aes256Gcm, bytes)),
        Effect.orDie
      )
      const hashKey = yield* derive("api key hash").pipe(
        Effect.flatMap((bytes) => Mac.key(Mac.hmacSha256, bytes)),
        Effect.orDie
      )
      const keyId = Hex.encode((yield* derive("key id")).slice(0, 8))

      const seal: Vault["Service"]["seal"] = Effect.fn("Vault.seal")(function* (secret, subject) {
        const nonce = yield* random.randomBytes(NONCE_BYTES)
        const sealed = yield* aead
          .encrypt(sealKey, utf8(Redacted.value(secret)), { nonce, aad: utf8(subject) })
          .pipe(Effect.orDie)
        return { keyId, bytes: Buffer.concat([nonce, sealed]) }
      })

      const open: Vault["Service"]["open"] = Effect.fn("Vault.open")(function* (sealed, subject) {
        if (sealed.keyId !== keyId) {
          return yield* new CannotOpen({
            message: `The secret of ${subject} was sealed under another master key (${sealed.keyId})`
          })
        }
        const opened = yield* aead
          .decrypt(sealKey, sealed.bytes.subarray(NONCE_BYTES), {
            nonce: sealed.bytes.subarray(0, NONCE_BYTES),
            aad: utf8(subject)
          })
          .pipe(
            Effect.mapError(
              () => new CannotOpen({ message: `The secret of ${subject} cannot be opened` })
            )
          )
        return Redacted.make(new TextDecoder().decode(opened))
      })

      return Vault.of({
        seal,
        open,
        hash: (text) => Effect.orDie(mac.sign(hashKey, utf8(Redacted.value(text)))),
        derive
      })
    })
  )
