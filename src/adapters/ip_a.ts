/** ip_a: the common standard form; everything but `model` passes through unchanged. */
import { Effect } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import type { ImageAdapter } from "../services/ProtocolAdapter.ts"
import { VendorLimits } from "./limits.ts"
import { readStandardImages } from "./standardImages.ts"
import { send } from "./vendorHttp.ts"

// To the vendor

/** The base holds the version segment; one without any path gets `/v1`. */
const imagesUrl = (baseUrl: string): string => {
  const base = baseUrl.replace(/\/+$/, "")
  return /^https?:\/\/[^/]+$/i.test(base)
    ? `${base}/v1/images/generations`
    : `${base}/images/generations`
}

// Calls

export const makeIpA = Effect.gen(function* () {
  const http = yield* HttpClient.HttpClient
  const limits = yield* VendorLimits

  const generate: ImageAdapter["generate"] = Effect.fn("ip_a.generate")(function* (account, order) {
    const request = HttpClientRequest.post(imagesUrl(account.baseUrl)).pipe(
      HttpClientRequest.bearerToken(account.apiKey),
      HttpClientRequest.bodyJsonUnsafe({ ...order.body, model: order.upstreamModel })
    )
    return yield* readStandardImages(account, yield* send(http, request, limits.image))
  })

  return { generate } satisfies ImageAdapter
})
