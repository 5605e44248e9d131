/** Every adapter the gateway has, by protocol. */
import { Effect, Layer } from "effect"
import { ProtocolAdapter } from "../services/ProtocolAdapter.ts"
import { makeIpA } from "./ip_a.ts"
import { makeVpA } from "./vp_a.ts"
import { makeVpD } from "./vp_d.ts"

export const layerAdapters = Layer.effect(
  ProtocolAdapter,
  Effect.gen(function* () {
    return ProtocolAdapter.of({
      video: { vp_a: yield* makeVpA, vp_d: yield* makeVpD },
      image: { ip_a: yield* makeIpA }
    })
  })
)
