/** Prices an image order, and writes the values that the price depends on into the request. */
import { Result } from "effect"
import type { ImagePrices } from "../catalog/Prices.ts"
import { BillingUnavailable, type InvalidRequest } from "../Errors.ts"
import { withoutFaults } from "../requestFields.ts"
import { dimensionFaults } from "../unpricedWork.ts"
import type { ImageFamily } from "./ImageProtocol.ts"
import { type ImageQuote, imagePrice, quoteAtPrice } from "./ImageQuote.ts"
import {
  gatewayImageFields,
  type ImageBody,
  type ImageRequest,
  imageCount,
  referenceImages
} from "./ImageRequest.ts"
import { AUTO, type ImageTier, pricedDimensions } from "./imagePrices.ts"

interface PricedImages {
  readonly quote: ImageQuote
  /** The ordered quality and size, which are looked up in every price table. */
  readonly requestedTier: ImageTier
  /** The request to the vendor, except for the model's name. */
  readonly request: ImageRequest
}

/**
 * The value that the client chose; null if the value is missing, empty or `auto`, which leave the
 * choice to the vendor.
 */
const explicitValue = (value: unknown): string | null =>
  typeof value === "string" && value !== "" && value.toLowerCase() !== AUTO ? value : null

/**
 * The error for an order without a size, if the price depends on the size and the vendor has no
 * `auto`.
 */
const missingSize = () =>
  new BillingUnavailable({
    message:
      "The price of this model depends on the size, so this order cannot be billed without one",
    param: "size"
  })

/**
 * Prices an order by its quality and size. If the price depends on one of them, its value is sent
 * to the vendor even if the client left it out. If the vendor reads unknown fields, any other field
 * that could set this value is refused.
 */
export const priceImages = (
  prices: ImagePrices,
  { body, edit }: ImageRequest,
  family: ImageFamily
): Result.Result<PricedImages, BillingUnavailable | InvalidRequest> => {
  if (family.passesOn) {
    const pricedFields = pricedDimensions(prices.per_image)
    const checked = withoutFaults(dimensionFaults(body, gatewayImageFields(family), pricedFields))
    if (Result.isFailure(checked)) return Result.fail(checked.failure)
  }
  const requestedTier: ImageTier = {
    quality: explicitValue(body.quality),
    size: explicitValue(body.size),
    edit: edit !== null || referenceImages(body).length > 0
  }
  return Result.flatMap(imagePrice(prices, requestedTier), (price) => {
    const quote = quoteAtPrice(price, imageCount(body), requestedTier)
    const { vendorTier } = price
    if (vendorTier === undefined) {
      return Result.succeed({ quote, requestedTier, request: { body, edit } })
    }
    if (vendorTier.size === AUTO && !family.hasAutoSize) return Result.fail(missingSize())
    const vendorBody: ImageBody = {
      ...body,
      ...(vendorTier.size === null ? {} : { size: vendorTier.size }),
      ...(vendorTier.quality === null || !Object.hasOwn(family.parameters, "quality")
        ? {}
        : { quality: vendorTier.quality })
    }
    return Result.succeed({ quote, requestedTier, request: { body: vendorBody, edit } })
  })
}
