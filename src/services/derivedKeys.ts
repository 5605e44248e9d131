/**
 * Derives one key per purpose from the master key, so that a key for one purpose cannot be used for
 * another.
 */
import { hkdfSync } from "node:crypto"
import { Redacted } from "effect"

/**
 * The purposes of derived keys. The text of a purpose is an input of the derivation, so changing it
 * makes stored secrets or signed links invalid.
 */
type KeyPurpose =
  | "channel credentials"
  | "key id"
  | "content links"
  | "order quotes"
  | "reasoning makers"

export const deriveKey = (
  masterKey: Redacted.Redacted<Uint8Array>,
  purpose: KeyPurpose
): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", Redacted.value(masterKey), "media-gateway", purpose, 32))
