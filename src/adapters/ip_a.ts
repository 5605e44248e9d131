/** ip_a: the common standard form; everything but `model` passes through unchanged. */
import { Effect } from "effect"
import { imageCount } from "../domain/image/ImageRequest.ts"
import type { ImageAdapter } from "../services/ProtocolAdapter.ts"
import { readStandardImages } from "./standardImages.ts"
import { standardUrl } from "./standardUrl.ts"
import { VendorLimits } from "./wire/limits.ts"
import { VendorWire } from "./wire/VendorWire.ts"
import { sendOutlined } from "./wire/vendorHttp.ts"
import { bearer, post } from "./wire/vendorRequest.ts"

export const makeIpA = Effect.gen(function* () {
  const wire = yield* VendorWire
  const limits = yield* VendorLimits

  const generate: ImageAdapter["generate"] = Effect.fnUntraced(function* (account, order) {
    const request = post(standardUrl(account.baseUrl, "images/generations"), bearer(account), {
      ...order.body,
      model: order.upstreamModel
    })
    const answer = yield* sendOutlined(wire, request, limits.image)
    return yield* readStandardImages(account, answer, limits.image, imageCount(order.body))
  })

  return { generate } satisfies ImageAdapter
})
