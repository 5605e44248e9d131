/**
 * Keys of the deployment that stay as they are when the master key is rotated: what was made with
 * them is with customers and cannot be made anew.
 */
import { Context, Effect, Redacted } from "effect"
import { Mac } from "effect/crypto"

/** Each of 32 bytes, the same on every gateway and after every restart. */
export class LastingKeys extends Context.Service<
  LastingKeys,
  {
    readonly apiKeyHash: Redacted.Redacted<Uint8Array>
    readonly demoApiKey: Redacted.Redacted<Uint8Array>
  }
>()("gateway/services/LastingKeys") {}

export type LastingKey = keyof LastingKeys["Service"]

/** What a key is derived from the master key by, before it is kept. */
export const derivedBy = {
  apiKeyHash: "api key hash",
  demoApiKey: "demo api key"
} as const satisfies Record<LastingKey, string>

/** The keyed hash of API keys: equal for equal text, and useless without the key. */
export const makeApiKeyHash = Effect.gen(function* () {
  const mac = yield* Mac.Mac
  const { apiKeyHash } = yield* LastingKeys
  const key = yield* Effect.orDie(Mac.key(Mac.hmacSha256, Redacted.value(apiKeyHash)))
  return (text: Redacted.Redacted): Effect.Effect<Uint8Array> =>
    Effect.orDie(mac.sign(key, new TextEncoder().encode(Redacted.value(text))))
})
