/** ip_c: the relay's images; the upstream model's name decides between its two families. */
import { Effect } from "effect"
import { imageCount } from "../domain/image/ImageRequest.ts"
import type { ImageAdapter } from "../services/ProtocolAdapter.ts"
import { generateByMessages } from "./messageImages.ts"
import { imageRowOf, relayRoot } from "./relay.ts"
import { readStandardImages } from "./standardImages.ts"
import { VendorLimits } from "./wire/limits.ts"
import { VendorWire } from "./wire/VendorWire.ts"
import { sendOutlined } from "./wire/vendorHttp.ts"
import { bearer, post } from "./wire/vendorRequest.ts"

// To the vendor

const messageUrls = (family: string) => ({
  generate: `${family}/api/v1/services/aigc/image-generation/generation`,
  task: (id: string) => `${family}/api/v1/tasks/image/${encodeURIComponent(id)}`
})

// Calls

export const makeIpC = Effect.gen(function* () {
  const wire = yield* VendorWire
  const limits = yield* VendorLimits

  const generate: ImageAdapter["generate"] = Effect.fnUntraced(function* (account, order) {
    const { segment, form } = imageRowOf(order.upstreamModel)
    const family = `${relayRoot(account.baseUrl)}/${segment}`
    if (form === "messages") {
      return yield* generateByMessages(wire, limits, account, messageUrls(family), order)
    }
    const request = post(`${family}/v1/images/generations`, bearer(account), {
      ...order.body,
      model: order.upstreamModel,
      n: imageCount(order.body)
    })
    const answer = yield* sendOutlined(wire, request, limits.image)
    return yield* readStandardImages(account, answer, limits.image, imageCount(order.body))
  })

  return { generate } satisfies ImageAdapter
})
