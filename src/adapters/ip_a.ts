/** ip_a: the common standard form; everything but `model` passes through unchanged. */
import { type ImageDialect, imageCalls } from "./shared/adapterCalls.ts"
import { readStandardImages } from "./shared/standardImages.ts"
import { bearer, post, standardUrl } from "./wire/vendorRequest.ts"

// Wire schemas: those of shared/standardImages.ts

// To the vendor

const generateRequest: ImageDialect["generateRequest"] = (account, { body, upstreamModel }) =>
  post(standardUrl(account, "images/generations"), bearer(account), {
    ...body,
    model: upstreamModel
  })

// From the vendor

const readGenerated: ImageDialect["readGenerated"] = readStandardImages

// Calls

export const makeIpA = imageCalls("ip_a", { generateRequest, readGenerated })
