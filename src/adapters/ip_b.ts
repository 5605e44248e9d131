/** ip_b: the cloud vendor's messages; only addresses come back, never base64. */
import { Effect } from "effect"
import type { ImageAdapter } from "../services/ProtocolAdapter.ts"
import { generateByMessages } from "./messageImages.ts"
import { VendorLimits } from "./wire/limits.ts"
import { VendorWire } from "./wire/VendorWire.ts"

// To the vendor

const urlsAt = (baseUrl: string) => {
  const api = `${baseUrl.replace(/\/+$/, "")}/api/v1`
  return {
    generate: `${api}/services/aigc/multimodal-generation/generation`,
    task: (id: string) => `${api}/tasks/${encodeURIComponent(id)}`
  }
}

// Calls

export const makeIpB = Effect.gen(function* () {
  const wire = yield* VendorWire
  const limits = yield* VendorLimits

  const generate: ImageAdapter["generate"] = Effect.fn("ip_b.generate")((account, order) =>
    generateByMessages(wire, limits, account, urlsAt(account.baseUrl), order)
  )

  return { generate } satisfies ImageAdapter
})
