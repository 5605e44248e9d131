/**
 * The exact price of an image request: the requested number of images times the price of an image.
 */
import { Result, Schema } from "effect"
import type { ImagePrices } from "../catalog/Prices.ts"
import { BillingUnavailable } from "../Errors.ts"
import {
  type ImageTier,
  orderedTier,
  orderedTierFields,
  type TierPrice,
  tierPrice
} from "./imagePrices.ts"

export const ImageQuote = Schema.Struct({
  kind: Schema.Literal("image"),
  images: Schema.Int,
  nanoPerImage: Schema.BigIntFromString,
  holdNano: Schema.BigIntFromString,
  /** The facts of the order, with which it can be priced by another price table. */
  ...orderedTierFields,
  /** The names of the applied price in a price table; missing if the model has a single price. */
  tier: Schema.optionalKey(
    Schema.Struct({
      quality: Schema.String,
      size: Schema.String,
      edit: Schema.optionalKey(Schema.Boolean)
    })
  )
})
export type ImageQuote = typeof ImageQuote.Type

/** The price of one image; without a tier if the model has a single price. */
type ImagePrice = Pick<TierPrice, "nanoPerImage"> & Partial<TierPrice>

const unspecifiedTier: ImageTier = { quality: null, size: null, edit: false }

/**
 * The price of an image. If the model has a single price, that price applies to every quality and
 * size.
 */
export const imagePrice = (
  { per_image: prices }: ImagePrices,
  requestedTier: ImageTier
): Result.Result<ImagePrice, BillingUnavailable> => {
  if (prices === undefined) {
    return Result.fail(
      new BillingUnavailable({
        message: "No price per image is configured for this model, so it cannot be billed",
        param: "model"
      })
    )
  }
  return typeof prices === "bigint"
    ? Result.succeed({ nanoPerImage: prices })
    : tierPrice(prices, requestedTier)
}

/**
 * Computes the quote of an order at a price. `images` is the request's `n`; the number of images
 * that the vendor returns does not matter.
 */
export const quoteAtPrice = (
  { nanoPerImage, tier }: ImagePrice,
  images: number,
  requestedTier: ImageTier
): ImageQuote => ({
  kind: "image",
  images,
  nanoPerImage,
  holdNano: BigInt(images) * nanoPerImage,
  ...orderedTier(requestedTier),
  ...(tier === undefined ? {} : { tier })
})

/** Computes the quote of an order by a price table. */
export const quoteImages = (
  prices: ImagePrices,
  images: number,
  requestedTier: ImageTier = unspecifiedTier
): Result.Result<ImageQuote, BillingUnavailable> =>
  Result.map(imagePrice(prices, requestedTier), (price) =>
    quoteAtPrice(price, images, requestedTier)
  )
