/** What an image request costs: requested count times the price of an image, exact. */
import { Result, Schema } from "effect"
import type { ImagePrices } from "../catalog/Prices.ts"
import { BillingUnavailable } from "../Errors.ts"
import { type ImageTier, type TierPrice, tierPrice } from "./imagePrices.ts"

export const ImageQuote = Schema.Struct({
  kind: Schema.Literal("image"),
  images: Schema.Int,
  nanoPerImage: Schema.BigIntFromString,
  holdNano: Schema.BigIntFromString,
  /** The ordered quality and size, by which the order is priced under another table. */
  quality: Schema.optionalKey(Schema.String),
  size: Schema.optionalKey(Schema.String),
  /** Where the prices are a table: the names in it whose price this is. */
  tier: Schema.optionalKey(Schema.Struct({ quality: Schema.String, size: Schema.String }))
})
export type ImageQuote = typeof ImageQuote.Type

const unspecifiedTier: ImageTier = { quality: null, size: null }

/** One price is for every quality and size. */
export const imagePrice = (
  { per_image: prices }: ImagePrices,
  requestedTier: ImageTier
): Result.Result<Pick<TierPrice, "nanoPerImage"> & Partial<TierPrice>, BillingUnavailable> => {
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

/** `images` is the request's `n`; what the vendor returns changes nothing. */
export const quoteImages = (
  prices: ImagePrices,
  images: number,
  requestedTier: ImageTier = unspecifiedTier
): Result.Result<ImageQuote, BillingUnavailable> =>
  Result.map(imagePrice(prices, requestedTier), ({ nanoPerImage, tier }) => ({
    kind: "image",
    images,
    nanoPerImage,
    holdNano: BigInt(images) * nanoPerImage,
    ...(requestedTier.quality === null ? {} : { quality: requestedTier.quality }),
    ...(requestedTier.size === null ? {} : { size: requestedTier.size }),
    ...(tier === undefined ? {} : { tier })
  }))
