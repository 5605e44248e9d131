/** Secrets that are encrypted with the master key. */
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { Aead, SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import { deriveKey } from "./derivedKeys.ts"

/** The secret was sealed with an unavailable master key or for another subject or origin, or is damaged. */
export class CannotOpen extends Schema.TaggedError<CannotOpen>()("CannotOpen", {
  message: Schema.String
}) {}

export interface Sealed {
  /** Identifies the master key without revealing it. */
  readonly keyId: string
  /** Nonce, then ciphertext, then tag. */
  readonly bytes: Uint8Array
}

export class Vault extends Context.Service<
  Vault,
  {
    /** Ids of the available master keys. The first one seals; all of them open. */
    readonly keyIds: readonly [current: string, ...previous: ReadonlyArray<string>]
    /**
     * Encrypts with AES-256-GCM. The owner of the secret (such as a channel's id) and the only origin it may
     * be sent to are authenticated, so that it opens only for the same two. `origin` is empty for a secret
     * that is not sent.
     */
    seal(secret: Redacted.Redacted, subject: string, origin: string): Effect.Effect<Sealed>
    open(
      sealed: Sealed,
      subject: string,
      origin: string
    ): Effect.Effect<Redacted.Redacted, CannotOpen>
  }
>()("gateway/services/Vault") {}

export const MASTER_KEY_BYTES = 32
const NONCE_BYTES = 12

const utf8 = (text: string) => new TextEncoder().encode(text)

/** No id contains a line break, so different pairs have different texts. */
const bindingOf = (subject: string, origin: string) => utf8(`${subject}\n${origin}`)

/** One master key, ready for use. */
const prepare = Effect.fnUntraced(function* (masterKey: Redacted.Redacted<Uint8Array>) {
  const sealKey = yield* Effect.orDie(
    Aead.key(Aead.aes256Gcm, deriveKey(masterKey, "channel credentials"))
  )
  return { keyId: Hex.encode(deriveKey(masterKey, "key id").slice(0, 8)), sealKey }
})

/**
 * Builds the vault; master keys have exactly `MASTER_KEY_BYTES` bytes. Secrets that the previous key sealed
 * can be opened, and no secret is sealed with it.
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
      const others = previous === null ? [] : [yield* prepare(previous)]
      const keys = new Map([...others, current].map((key) => [key.keyId, key]))

      const seal: Vault["Service"]["seal"] = Effect.fn("Vault.seal")(
        function* (secret, subject, origin) {
          const nonce = yield* random.randomBytes(NONCE_BYTES)
          const sealed = yield* aead
            .encrypt(current.sealKey, utf8(Redacted.value(secret)), {
              nonce,
              aad: bindingOf(subject, origin)
            })
            .pipe(Effect.orDie)
          return { keyId: current.keyId, bytes: Buffer.concat([nonce, sealed]) }
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
          const opened = yield* aead
            .decrypt(key.sealKey, sealed.bytes.subarray(NONCE_BYTES), {
              nonce: sealed.bytes.subarray(0, NONCE_BYTES),
              aad: bindingOf(subject, origin)
            })
            .pipe(
              Effect.mapError(
                () => new CannotOpen({ message: `The secret of ${subject} cannot be opened` })
              )
            )
          return Redacted.make(new TextDecoder().decode(opened))
        }
      )

      return Vault.of({
        keyIds: [current.keyId, ...others.map(({ keyId }) => keyId)],
        seal,
        open
      })
    })
  )
