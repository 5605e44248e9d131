/**
 * One key per purpose, derived from the master key, so that a key for one purpose cannot be used
 * for another.
 */
import { hkdfSync } from "node:crypto"
import { Redacted } from "effect"

/**
 * The labels enter the derivation: with another label, stored secrets and signed links become
 * invalid.
 */
type KeyPurpose = "channel credentials" | "key id" | "content links"

export const deriveKey = (
  masterKey: Redacted.Redacted<Uint8Array>,
  purpose: KeyPurpose
): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", Redacted.value(masterKey), "media-gateway", purpose, 32))
