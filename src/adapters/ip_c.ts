/** ip_c: the relay's images; the upstream model's name decides between its two families. */
import { imageCount } from "../domain/image/ImageRequest.ts"
import type { ChannelAccount } from "../services/ProtocolAdapter.ts"
import { type ImageDialect, imageCalls } from "./shared/adapterCalls.ts"
import { readMessageImages, toEnvelope } from "./shared/messageImages.ts"
import { imageRowOf, relayRoot } from "./shared/relay.ts"
import { readStandardImages } from "./shared/standardImages.ts"
import { bearer, post } from "./wire/vendorRequest.ts"

// Wire schemas: those of shared/standardImages.ts and shared/messageImages.ts

// To the vendor

const familyUrl = (account: ChannelAccount, upstreamModel: string): string =>
  `${relayRoot(account)}/${imageRowOf(upstreamModel).segment}`

const generateRequest: ImageDialect["generateRequest"] = (account, order) => {
  const { body, upstreamModel } = order
  const url = familyUrl(account, upstreamModel)
  return imageRowOf(upstreamModel).form === "messages"
    ? post(
        `${url}/api/v1/services/aigc/image-generation/generation`,
        bearer(account),
        toEnvelope(order)
      )
    : post(`${url}/v1/images/generations`, bearer(account), {
        ...body,
        model: upstreamModel,
        n: imageCount(body)
      })
}

// From the vendor

const readGenerated: ImageDialect["readGenerated"] = (account, answer, order) => {
  const url = familyUrl(account, order.upstreamModel)
  return imageRowOf(order.upstreamModel).form === "messages"
    ? readMessageImages(account, answer, order, `${url}/api/v1/tasks/image`)
    : readStandardImages(account, answer, order)
}

// Calls

export const makeIpC = imageCalls("ip_c", { generateRequest, readGenerated })
