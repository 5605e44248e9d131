/** The cryptography services of the gateway, which are Node's own. */
import { getRandomValues } from "node:crypto"
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Layer } from "effect"
import { SecureRandom } from "effect/crypto"

/**
 * Size of the pool of random bytes. A whole pool is read from the system at a time, because a
 * system call for each id is expensive.
 */
const POOL_BYTES = 8 * 1024

/** Creates a function that returns random bytes from the pool. Each byte is used only once. */
const makeRandomBytes = () => {
  const pool = new Uint8Array(POOL_BYTES)
  let usedBytes = POOL_BYTES
  return (size: number): Uint8Array => {
    if (size > POOL_BYTES / 8) return getRandomValues(new Uint8Array(size))
    if (usedBytes + size > POOL_BYTES) {
      getRandomValues(pool)
      usedBytes = 0
    }
    const bytes = pool.slice(usedBytes, usedBytes + size)
    pool.fill(0, usedBytes, usedBytes + size)
    usedBytes += size
    return bytes
  }
}

export const layerSecureRandom = Layer.sync(SecureRandom.SecureRandom, () =>
  SecureRandom.make(makeRandomBytes())
)

export const layerCrypto = Layer.merge(NodeCrypto.layerAead, NodeCrypto.layerDigest).pipe(
  Layer.provideMerge(layerSecureRandom)
)
