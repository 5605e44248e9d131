/** ip_c: the relay's images; the upstream model's name decides between its two families. */
import { Result } from "effect"
import { imageCount } from "../domain/image/ImageRequest.ts"
import type { ChannelAccount } from "../services/ProtocolAdapter.ts"
import { type ImageDialect, imageCalls } from "./common/adapterCalls.ts"
import { imageRowOf, relayRoot } from "./common/relay.ts"
import * as ip_a from "./ip_a.ts"
import { readMessages, toEnvelope } from "./ip_b.ts"
import { bearer, post } from "./wire/vendorRequest.ts"

// Wire schemas: those of ip_a and ip_b

// To the vendor

const familyUrl = (account: ChannelAccount, upstreamModel: string): string =>
  `${relayRoot(account)}/${imageRowOf(upstreamModel).segment}`

const generateRequest: ImageDialect["generateRequest"] = (account, order) => {
  const { body, upstreamModel } = order
  const url = familyUrl(account, upstreamModel)
  const [path, content]: readonly [string, object] =
    imageRowOf(upstreamModel).form === "messages"
      ? ["/api/v1/services/aigc/image-generation/generation", toEnvelope(order)]
      : ["/v1/images/generations", { ...body, model: upstreamModel, n: imageCount(body) }]
  return Result.succeed(post(`${url}${path}`, bearer(account), content))
}

// From the vendor

const readGenerated: ImageDialect["readGenerated"] = (account, answer, order) => {
  const url = familyUrl(account, order.upstreamModel)
  return imageRowOf(order.upstreamModel).form === "messages"
    ? readMessages(account, answer, order, `${url}/api/v1/tasks/image`)
    : ip_a.readGenerated(account, answer, order)
}

// Calls

export const makeIpC = imageCalls("ip_c", { generateRequest, readGenerated })
