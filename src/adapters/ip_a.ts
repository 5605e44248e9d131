/** ip_a: the common standard form; everything but `model` passes through unchanged. */
import { Effect } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import type { ImageAdapter } from "../services/ProtocolAdapter.ts"
import { VendorLimits } from "./limits.ts"
import { readStandardImages } from "./standardImages.ts"
import { standardUrl } from "./standardUrl.ts"
import { send } from "./vendorHttp.ts"

export const makeIpA = Effect.gen(function* () {
  const http = yield* HttpClient.HttpClient
  const limits = yield* VendorLimits

  const generate: ImageAdapter["generate"] = Effect.fn("ip_a.generate")(function* (account, order) {
    const request = HttpClientRequest.post(standardUrl(account.baseUrl, "images/generations")).pipe(
      HttpClientRequest.bearerToken(account.apiKey),
      HttpClientRequest.bodyJsonUnsafe({ ...order.body, model: order.upstreamModel })
    )
    return yield* readStandardImages(account, yield* send(http, request, limits.image))
  })

  return { generate } satisfies ImageAdapter
})
