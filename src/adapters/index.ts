/** Every adapter the gateway has, by protocol. */
import { Effect, Layer } from "effect"
import { ProtocolAdapter } from "../services/ProtocolAdapter.ts"
import { makeIpA } from "./ip_a.ts"
import { makeIpB } from "./ip_b.ts"
import { makeIpC } from "./ip_c.ts"
import { makeVpA } from "./vp_a.ts"
import { makeVpB } from "./vp_b.ts"
import { makeVpC } from "./vp_c/vp_c.ts"
import { makeVpD } from "./vp_d.ts"
import { makeVpE } from "./vp_e.ts"
import { makeVpF } from "./vp_f.ts"

export const layerAdapters = Layer.effect(
  ProtocolAdapter,
  Effect.gen(function* () {
    return ProtocolAdapter.of({
      video: {
        vp_a: yield* makeVpA,
        vp_b: yield* makeVpB,
        vp_c: yield* makeVpC,
        vp_d: yield* makeVpD,
        vp_e: yield* makeVpE,
        vp_f: yield* makeVpF
      },
      image: { ip_a: yield* makeIpA, ip_b: yield* makeIpB, ip_c: yield* makeIpC }
    })
  })
)
