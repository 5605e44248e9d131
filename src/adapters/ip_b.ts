/** ip_b: the cloud vendor's messages; only addresses come back, never base64. */
import type { ChannelAccount } from "../services/ProtocolAdapter.ts"
import { type ImageDialect, imageCalls } from "./shared/adapterCalls.ts"
import { readMessageImages, toEnvelope } from "./shared/messageImages.ts"
import { bearer, post, rootOf } from "./wire/vendorRequest.ts"

// Wire schemas: those of shared/messageImages.ts

// To the vendor

const apiUrl = (account: ChannelAccount): string => `${rootOf(account)}/api/v1`

const generateRequest: ImageDialect["generateRequest"] = (account, order) =>
  post(
    `${apiUrl(account)}/services/aigc/multimodal-generation/generation`,
    bearer(account),
    toEnvelope(order)
  )

// From the vendor

const readGenerated: ImageDialect["readGenerated"] = (account, answer, order) =>
  readMessageImages(account, answer, order, `${apiUrl(account)}/tasks`)

// Calls

export const makeIpB = imageCalls("ip_b", { generateRequest, readGenerated })
