/** What an image request costs: requested count times the listed price, exact. */
import { Result, Schema } from "effect"
import type { ImagePrices } from "../catalog/Prices.ts"
import { BillingUnavailable } from "../Errors.ts"

export const ImageQuote = Schema.Struct({
  kind: Schema.Literal("image"),
  images: Schema.Int,
  nanoPerImage: Schema.BigIntFromString,
  holdNano: Schema.BigIntFromString
})
export type ImageQuote = typeof ImageQuote.Type

/** `images` is the request's `n`; what the vendor returns changes nothing. */
export const quoteImages = (
  prices: ImagePrices,
  images: number
): Result.Result<ImageQuote, BillingUnavailable> =>
  prices.per_image === undefined
    ? Result.fail(
        new BillingUnavailable({
          message: "No price per image is configured for this model, so it cannot be billed",
          param: "model"
        })
      )
    : Result.succeed({
        kind: "image",
        images,
        nanoPerImage: prices.per_image,
        holdNano: BigInt(images) * prices.per_image
      })
