/** Encryption of secrets with the master key. */
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { Aead, SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import { deriveKey } from "./derivedKeys.ts"

/**
 * The secret cannot be decrypted: the master key that encrypted it is not available, it was
 * encrypted for another subject or origin, or its bytes are damaged.
 */
export class CannotOpen extends Schema.TaggedError<CannotOpen>()("CannotOpen", {
  message: Schema.String
}) {}

export interface SealedSecret {
  /** Identifies the master key without revealing it. */
  readonly keyId: string
  /** The nonce, followed by the ciphertext and the authentication tag. */
  readonly bytes: Uint8Array
}

export class Vault extends Context.Service<
  Vault,
  {
    /**
     * Ids of the available master keys. New secrets are sealed with the first key; every key can
     * open secrets.
     */
    readonly keyIds: readonly [current: string, ...previous: ReadonlyArray<string>]
    /**
     * Encrypts a secret with AES-256-GCM. The owner of the secret (such as a channel's id) and the
     * only origin it may be sent to are authenticated data, so that it can be opened only for this
     * owner and origin. `origin` is empty for a secret that is not sent.
     */
    seal(secret: Redacted.Redacted, subject: string, origin: string): Effect.Effect<SealedSecret>
    open(
      sealed: SealedSecret,
      subject: string,
      origin: string
    ): Effect.Effect<Redacted.Redacted, CannotOpen>
  }
>()("gateway/services/Vault") {}

export const MASTER_KEY_BYTES = 32
const NONCE_BYTES = 12

const utf8 = (text: string) => new TextEncoder().encode(text)

/**
 * The authenticated data. Ids contain no line break, so two different pairs of subject and origin
 * never give the same text.
 */
const bindingOf = (subject: string, origin: string) => utf8(`${subject}\n${origin}`)

/** Derives the id and the sealing key of a master key. */
const prepare = Effect.fnUntraced(function* (masterKey: Redacted.Redacted<Uint8Array>) {
  const sealKey = yield* Effect.orDie(
    Aead.key(Aead.aes256Gcm, deriveKey(masterKey, "channel credentials"))
  )
  return { keyId: Hex.encode(deriveKey(masterKey, "key id").slice(0, 8)), sealKey }
})

/**
 * Builds the vault; master keys have exactly `MASTER_KEY_BYTES` bytes. The previous key only opens
 * secrets that were sealed with it, and seals none.
 */
export const layerVault = (
  masterKey: Redacted.Redacted<Uint8Array>,
  previous: Redacted.Redacted<Uint8Array> | null = null
) =>
  Layer.effect(
    Vault,
    Effect.gen(function* () {
      const aead = yield* Aead.Aead
      const random = yield* SecureRandom.SecureRandom
      const current = yield* prepare(masterKey)
      const previousKeys = previous === null ? [] : [yield* prepare(previous)]
      const keys = new Map([...previousKeys, current].map((key) => [key.keyId, key]))

      const seal: Vault["Service"]["seal"] = Effect.fn("Vault.seal")(
        function* (secret, subject, origin) {
          const nonce = yield* random.randomBytes(NONCE_BYTES)
          const ciphertext = yield* aead
            .encrypt(current.sealKey, utf8(Redacted.value(secret)), {
              nonce,
              aad: bindingOf(subject, origin)
            })
            .pipe(Effect.orDie)
          return { keyId: current.keyId, bytes: Buffer.concat([nonce, ciphertext]) }
        }
      )

      const open: Vault["Service"]["open"] = Effect.fn("Vault.open")(
        function* (sealed, subject, origin) {
          const key = keys.get(sealed.keyId)
          if (key === undefined) {
            return yield* new CannotOpen({
              message:
                `The secret of ${subject} belongs to the master key with the id ${sealed.keyId}, ` +
                `and only ${[...keys.keys()].join(" and ")} can be used here`
            })
          }
          const plaintext = yield* aead
            .decrypt(key.sealKey, sealed.bytes.subarray(NONCE_BYTES), {
              nonce: sealed.bytes.subarray(0, NONCE_BYTES),
              aad: bindingOf(subject, origin)
            })
            .pipe(
              Effect.mapError(
                () => new CannotOpen({ message: `The secret of ${subject} cannot be opened` })
              )
            )
          return Redacted.make(new TextDecoder().decode(plaintext))
        }
      )

      return Vault.of({
        keyIds: [current.keyId, ...previousKeys.map(({ keyId }) => keyId)],
        seal,
        open
      })
    })
  )
