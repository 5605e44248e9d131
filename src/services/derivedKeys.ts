/** One key per purpose, derived from the master key, so that none can be used in place of another. */
import { hkdfSync } from "node:crypto"
import { Redacted } from "effect"

/** The labels are part of what is stored and signed: another label would be another key. */
type KeyPurpose = "channel credentials" | "key id" | "content links"

export const deriveKey = (
  masterKey: Redacted.Redacted<Uint8Array>,
  purpose: KeyPurpose
): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", Redacted.value(masterKey), "media-gateway", purpose, 32))
