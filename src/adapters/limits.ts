/** How long a vendor may take, and how much it may say. */
import { Context, Duration } from "effect"
import type { SendOptions } from "./vendorHttp.ts"

export interface VendorLimits {
  readonly submit: SendOptions
  readonly poll: SendOptions
  readonly image: SendOptions
}

const MEBIBYTE = 1024 * 1024

/** Image calls are synchronous at the vendor and may last minutes; ten base64 images are large. */
export const VendorLimits = Context.Reference<VendorLimits>("gateway/adapters/VendorLimits", {
  defaultValue: () => ({
    submit: { timeout: Duration.seconds(60), maxBytes: MEBIBYTE },
    poll: { timeout: Duration.seconds(20), maxBytes: MEBIBYTE },
    image: { timeout: Duration.seconds(180), maxBytes: 128 * MEBIBYTE }
  })
})
