/**
 * Signed quotes: an order with the id of a quote has the fields that were quoted, is limited to the
 * quoted hold, and can be placed once. Nothing is stored before the order.
 */
import { createHmac } from "node:crypto"
import { Clock, Context, Effect, Layer, type Redacted } from "effect"
import { Mac, SecureRandom } from "effect/crypto"
import { Base64Url } from "effect/encoding"
import { InvalidRequest } from "../../domain/Errors.ts"
import { Settings } from "../../runtime/Settings.ts"
import type { Caller } from "../../services/Access.ts"
import { deriveKey } from "../../services/derivedKeys.ts"

interface QuotedOrder {
  readonly caller: Pick<Caller, "organizationId" | "keyId">
  /** A digest of the order's tool and fields, in hex. */
  readonly digest: string
}

interface SignedQuote {
  readonly id: string
  readonly expiresAt: Date
}

interface VerifiedQuote {
  readonly holdNano: bigint
  /** The idempotency key of the only order of the quote. */
  readonly key: string
}

export class OrderQuotes extends Context.Service<
  OrderQuotes,
  {
    /**
     * Signs a quote of this hold for the caller's key; it is valid for ten minutes, and no longer than
     * idempotency keys are stored.
     */
    sign(order: QuotedOrder, holdNano: bigint): Effect.Effect<SignedQuote>
    /**
     * Verifies the id of a quote. Fails for a quote that is forged, expired, of another key, or of
     * other fields.
     */
    verify(id: string, order: QuotedOrder): Effect.Effect<VerifiedQuote, InvalidRequest>
  }
>()("gateway/features/mcp/OrderQuotes") {}

const LIFETIME_SECONDS = 600
const NONCE_BYTES = 12
const ID = /^qt_(\d{1,12})\.(\d{1,19})\.([0-9a-f]{64})\.([\w-]{16})\.([\w-]{43})$/

const macOf = (
  key: Uint8Array,
  { organizationId, keyId }: QuotedOrder["caller"],
  signedParts: ReadonlyArray<string>
): Buffer =>
  createHmac("sha256", key)
    .update(JSON.stringify([organizationId, keyId, ...signedParts]))
    .digest()

const refusal = (message: string) =>
  new InvalidRequest({ message: `quote_id: ${message}`, param: "quote_id" })

const notOfThisKey = refusal("Expected a quote_id of get_quote, as this key got it")
const expiredQuote = refusal(
  "The quote has expired: list_orders shows whether it was ordered, and get_quote quotes anew"
)
const ofOtherFields = refusal(
  "The quote is of another order: send the tool and the fields that were quoted, or quote these"
)

/** Quotes that were signed under the previous master key stay valid until they expire. */
export const layerOrderQuotes = (
  masterKey: Redacted.Redacted<Uint8Array>,
  previous: Redacted.Redacted<Uint8Array> | null = null
) =>
  Layer.effect(
    OrderQuotes,
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const { idempotencySeconds } = yield* Settings
      // A quote that outlived the key of its order could be ordered again.
      const lifetimeSeconds = Math.min(LIFETIME_SECONDS, idempotencySeconds)
      const current = deriveKey(masterKey, "order quotes")
      const keys = previous === null ? [current] : [current, deriveKey(previous, "order quotes")]
      return OrderQuotes.of({
        sign: Effect.fnUntraced(function* ({ caller, digest }, holdNano) {
          const end = Math.floor((yield* Clock.currentTimeMillis) / 1000 + lifetimeSeconds)
          const nonce = Base64Url.encode(yield* random.randomBytes(NONCE_BYTES))
          const signedParts = [String(end), String(holdNano), digest, nonce]
          const mac = macOf(current, caller, signedParts).toString("base64url")
          return { id: `qt_${[...signedParts, mac].join(".")}`, expiresAt: new Date(end * 1000) }
        }),
        verify: Effect.fnUntraced(function* (id, { caller, digest }) {
          const [, end = "", hold = "", quotedDigest = "", nonce = "", signature = ""] =
            ID.exec(id) ?? []
          const mac = Buffer.from(signature, "base64url")
          const isSigned = keys.some((key) =>
            Mac.timingSafeEqual(macOf(key, caller, [end, hold, quotedDigest, nonce]), mac)
          )
          if (!isSigned) return yield* notOfThisKey
          if (Number(end) * 1000 <= (yield* Clock.currentTimeMillis)) return yield* expiredQuote
          if (quotedDigest !== digest) return yield* ofOtherFields
          // Several texts decode to the same signature, so none of them names the order.
          return { holdNano: BigInt(hold), key: `mcp:quote:${mac.toString("base64url")}` }
        })
      })
    })
  )
