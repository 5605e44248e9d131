import type { Vendor } from "../Vendor.ts"
import * as cloud from "./cloud.ts"
import { authenticate, refuse, relayRoutes } from "./relayVendor.ts"
import { routesOfA } from "./vp_c/a.ts"
import { routesOfD } from "./vp_c/d.ts"
import * as vp_e from "./vp_eVendor.ts"
import * as vp_f from "./vp_fVendor.ts"

const relay = { protocol: "vp_c", refuse }

/**
 * A relay with one key for the protocols of several vendors, each under its own path segment.
 * Invalid requests get an error in the family's form, all other errors have the relay's form.
 */
export const vp_c: Vendor = {
  ...relay,
  authenticate,
  routes: [
    ...relayRoutes("a", routesOfA(relay)),
    ...relayRoutes("d", routesOfD(relay)),
    ...relayRoutes(
      "e",
      vp_e.routesAt({ ...relay, family: "e", moderatedInput: vp_e.moderatedInput })
    ),
    ...relayRoutes(
      "f",
      vp_f.routesAt(
        { ...relay, family: "f", moderatedInput: cloud.moderatedInput },
        {
          submit: "/api/v1/services/aigc/video-generation/generation",
          poll: "/api/v1/tasks/video",
          needsHeader: false
        }
      )
    )
  ]
}
