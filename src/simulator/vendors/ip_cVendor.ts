import type { Desk, Vendor } from "../Vendor.ts"
import * as cloud from "./cloud.ts"
import * as ip_a from "./ip_aVendor.ts"
import * as ip_b from "./ip_bVendor.ts"
import { authenticate, refuse, relayRoutes } from "./relayVendor.ts"
import { moderatedInput } from "./standardErrors.ts"

const relay = { protocol: "ip_c", refuse }
const standard: Desk = { ...relay, family: "a", moderatedInput }
const native: Desk = { ...relay, family: "f", moderatedInput: cloud.moderatedInput }

/**
 * The image protocols of the relay: the standard form and the cloud's message form, each under the
 * segment of its family. The message form has the path of the cloud's asynchronous API, but is
 * answered synchronously unless the request asks for a task.
 */
export const ip_c: Vendor = {
  ...relay,
  authenticate,
  routes: [
    ...relayRoutes("a", [
      { method: "POST", path: "/v1/images/generations", handle: ip_a.submitAt(standard) }
    ]),
    ...relayRoutes("f", [
      {
        method: "POST",
        path: "/api/v1/services/aigc/image-generation/generation",
        handle: ip_b.submitAt(native, "either")
      },
      ip_b.pollRouteAt(native, "/api/v1/tasks/image")
    ])
  ]
}
