/** The cryptography everything here is built on: Node's own. */
import { getRandomValues } from "node:crypto"
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Layer } from "effect"
import { SecureRandom } from "effect/crypto"

/** Drawn from the system at a time: a call for each id would cost more than the id. */
const DRAWN_BYTES = 8 * 1024

/** Random bytes, each handed out once. */
const makeRandomBytes = () => {
  const drawn = new Uint8Array(DRAWN_BYTES)
  let used = DRAWN_BYTES
  return (size: number): Uint8Array => {
    if (size > DRAWN_BYTES / 8) return getRandomValues(new Uint8Array(size))
    if (used + size > DRAWN_BYTES) {
      getRandomValues(drawn)
      used = 0
    }
    const bytes = drawn.slice(used, used + size)
    drawn.fill(0, used, used + size)
    used += size
    return bytes
  }
}

export const layerSecureRandom = Layer.sync(SecureRandom.SecureRandom, () =>
  SecureRandom.make(makeRandomBytes())
)

export const layerCrypto = Layer.merge(NodeCrypto.layerAead, NodeCrypto.layerDigest).pipe(
  Layer.provideMerge(layerSecureRandom)
)
