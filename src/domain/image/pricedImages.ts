/** Prices an image order, and writes the values that the price depends on into the request. */
import { Result } from "effect"
import type { ImagePrices, ImageTokenPrices } from "../catalog/Prices.ts"
import { BillingUnavailable, type InvalidRequest } from "../Errors.ts"
import { withoutFaults } from "../requestFields.ts"
import { bytesIn, bytesOf } from "../text/textSize.ts"
import { dimensionFaults } from "../unpricedWork.ts"
import type { ImageFamily } from "./ImageProtocol.ts"
import { type ImageQuote, imagePrice, quoteAtPrice, quoteImages } from "./ImageQuote.ts"
import {
  gatewayImageFields,
  type ImageBody,
  type ImageRequest,
  imageCount,
  referenceImages
} from "./ImageRequest.ts"
import {
  capImageTokenQuote,
  type ImageTokenFacts,
  type ImageTokenQuote,
  outputBound,
  quoteImageTokens
} from "./ImageTokenQuote.ts"
import { AUTO, type ImageTier, pricedDimensions, type TierPrice } from "./imagePrices.ts"

/** An order in the form in which every price table prices it. */
export interface OrderedImages extends ImageRequest {
  readonly tier: ImageTier
  readonly family: ImageFamily
}

interface PricedImages {
  readonly quote: ImageQuote | ImageTokenQuote
  readonly ordered: OrderedImages
  /** The request to the vendor, except for the model's name. */
  readonly request: ImageRequest
}

/** The quote of an order whose charge may never be above its hold. */
export const capImageQuote = (quote: PricedImages["quote"]): PricedImages["quote"] =>
  quote.kind === "image_tokens" ? capImageTokenQuote(quote) : quote

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
  prices: ImagePrices | ImageTokenPrices,
  { body, edit }: ImageRequest,
  family: ImageFamily
): Result.Result<PricedImages, BillingUnavailable | InvalidRequest> => {
  if (family.passesOn) {
    const pricedFields = pricedDimensions(
      prices.kind === "image" ? prices.per_image : prices.most_output_tokens
    )
    const checked = withoutFaults(dimensionFaults(body, gatewayImageFields(family), pricedFields))
    if (Result.isFailure(checked)) return Result.fail(checked.failure)
  }
  const requestedTier: ImageTier = {
    quality: explicitValue(body.quality),
    size: explicitValue(body.size),
    edit: edit !== null || referenceImages(body).length > 0
  }
  const ordered: OrderedImages = { body, edit, tier: requestedTier, family }
  return Result.flatMap(quoteWithTier(prices, ordered), ({ quote, vendorTier }) => {
    if (vendorTier === undefined) {
      return Result.succeed({ quote, ordered, request: { body, edit } })
    }
    if (vendorTier.size === AUTO && !family.hasAutoSize) return Result.fail(missingSize())
    const vendorBody: ImageBody = {
      ...body,
      ...(vendorTier.size === null ? {} : { size: vendorTier.size }),
      ...(vendorTier.quality === null || !Object.hasOwn(family.parameters, "quality")
        ? {}
        : { quality: vendorTier.quality })
    }
    return Result.succeed({ quote, ordered, request: { body: vendorBody, edit } })
  })
}

/** The quote, with the quality and size that must be sent so that the price is correct. */
const quoteWithTier = (
  prices: ImagePrices | ImageTokenPrices,
  ordered: OrderedImages
): Result.Result<
  Pick<PricedImages, "quote"> & { readonly vendorTier: TierPrice["vendorTier"] | undefined },
  BillingUnavailable
> =>
  prices.kind === "image"
    ? Result.map(imagePrice(prices, ordered.tier), (price) => ({
        quote: quoteAtPrice(price, imageCount(ordered.body), ordered.tier),
        vendorTier: price.vendorTier
      }))
    : Result.flatMap(outputBound(prices, ordered.tier), ({ vendorTier }) =>
        Result.map(quoteImageTokens(prices, tokenFactsOf(ordered)), (quote) => ({
          quote,
          vendorTier
        }))
      )

/** The quote of an order by another price table, such as the cost of a mount. */
export const quoteImagesBy = (
  prices: ImagePrices | ImageTokenPrices,
  ordered: OrderedImages
): Result.Result<ImageQuote | ImageTokenQuote, BillingUnavailable> =>
  prices.kind === "image"
    ? quoteImages(prices, imageCount(ordered.body), ordered.tier)
    : quoteImageTokens(prices, tokenFactsOf(ordered))

/** The facts that prices of tokens need. They are counted only for such prices. */
const tokenFactsOf = ({
  body,
  edit,
  tier,
  family: { isOneByOne = false }
}: OrderedImages): ImageTokenFacts => {
  const { image: _, images: __, image_url: ___, model: ____, ...texts } = body
  const images = imageCount(body)
  return {
    images,
    promptBytes: bytesOf(body.prompt),
    textBytes: bytesIn(texts),
    inputImages:
      referenceImages(body).length +
      (edit === null ? 0 : edit.references.length + (edit.mask === null ? 0 : 1)),
    calls: isOneByOne ? images : 1,
    partialImages: body.stream === true ? (body.partial_images ?? 0) : 0,
    tier
  }
}
