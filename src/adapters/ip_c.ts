/** ip_c: the relay's images; the upstream model's name decides between its two families. */
import { Effect } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { imageCount } from "../domain/ImageRequest.ts"
import type { ImageAdapter } from "../services/ProtocolAdapter.ts"
import { VendorLimits } from "./limits.ts"
import { generateByMessages } from "./messageImages.ts"
import { imageRowOf, relayRoot } from "./relay.ts"
import { readStandardImages } from "./standardImages.ts"
import { send } from "./vendorHttp.ts"

// To the vendor

const messageUrls = (family: string) => ({
  generate: `${family}/api/v1/services/aigc/image-generation/generation`,
  task: (id: string) => `${family}/api/v1/tasks/image/${encodeURIComponent(id)}`
})

// Calls

export const makeIpC = Effect.gen(function* () {
  const http = yield* HttpClient.HttpClient
  const limits = yield* VendorLimits

  const generate: ImageAdapter["generate"] = Effect.fn("ip_c.generate")(function* (account, order) {
    const { segment, form } = imageRowOf(order.upstreamModel)
    const family = `${relayRoot(account.baseUrl)}/${segment}`
    if (form === "messages") {
      return yield* generateByMessages(http, limits, account, messageUrls(family), order)
    }
    const request = HttpClientRequest.post(`${family}/v1/images/generations`).pipe(
      HttpClientRequest.bearerToken(account.apiKey),
      HttpClientRequest.bodyJsonUnsafe({
        ...order.body,
        model: order.upstreamModel,
        n: imageCount(order.body)
      })
    )
    return yield* readStandardImages(account, yield* send(http, request, limits.image))
  })

  return { generate } satisfies ImageAdapter
})
