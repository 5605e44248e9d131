/** The cryptography everything here is built on: Node's own. */
import { NodeCrypto } from "@effect/platform-node"
import { Layer } from "effect"

export const layerCrypto = Layer.mergeAll(
  NodeCrypto.layerAead,
  NodeCrypto.layerDigest,
  NodeCrypto.layerMac,
  NodeCrypto.layerKdf
).pipe(Layer.provideMerge(NodeCrypto.layerSecureRandom))
