/** Secrets and signatures of webhooks, as in the Standard Webhooks specification. */
import { createHmac } from "node:crypto"
import { Effect, Redacted } from "effect"
import type { SecureRandom } from "effect/crypto"
import { Base64 } from "effect/encoding"

const PREFIX = "whsec_"
/** The specification allows 24 to 64 bytes. */
const SECRET_BYTES = 32
const HINT_LENGTH = 4

export const makeSecret = (
  random: SecureRandom.SecureRandom["Service"]
): Effect.Effect<Redacted.Redacted> =>
  Effect.map(random.randomBytes(SECRET_BYTES), (bytes) =>
    Redacted.make(`${PREFIX}${Base64.encode(bytes)}`)
  )

/** The last characters of a secret, which help its owner to recognise it but grant no access. */
export const hintOf = (secret: Redacted.Redacted): string =>
  `${PREFIX}...${Redacted.value(secret).slice(-HINT_LENGTH)}`

export interface SignedMessage {
  readonly id: string
  /** The time of the attempt, in Unix seconds. */
  readonly timestamp: number
  readonly body: string
}

/**
 * The headers by which a receiver verifies the sender, with one signature for each active secret.
 */
export const signedHeaders = (
  { id, timestamp, body }: SignedMessage,
  secrets: ReadonlyArray<Redacted.Redacted>
) => ({
  "webhook-id": id,
  "webhook-timestamp": String(timestamp),
  "webhook-signature": secrets
    .map((secret) => {
      const key = Buffer.from(Redacted.value(secret).slice(PREFIX.length), "base64")
      const mac = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")
      return `v1,${mac}`
    })
    .join(" ")
})
