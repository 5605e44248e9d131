/**
 * Images in the common standard form: their place in an answer, and the fields allowed next to
 * them.
 */
import { Predicate, Schema } from "effect"
import { type DeliveredImages, readImageUsage } from "../../domain/image/ImageTokenQuote.ts"
import { WebAddress } from "../../domain/plainText.ts"
import { anyFields } from "../../domain/requestFields.ts"
import type { VendorFailure } from "../../domain/VendorOutcome.ts"
import { holdsAddress, markedBytes, mediaIn } from "../../redaction/patterns.ts"
import type { ChannelAccount, ImageResult } from "../../services/ProtocolAdapter.ts"
import { errorOf, isErrorText } from "../wire/errorText.ts"
import type { VendorAnswer } from "../wire/vendorAnswer.ts"
import { refusal, unusableAnswer } from "../wire/vendorFailures.ts"

export type Fields = Readonly<Record<string, unknown>>

export const isAnswer = Schema.is(
  Schema.StructWithRest(Schema.Struct({ data: Schema.Array(Schema.Unknown) }), anyFields)
)
/** The address of an image; some vendors put the image itself into it as a data URL. */
const Address = Schema.Union([
  WebAddress,
  Schema.String.check(Schema.isPattern(/^data:image\//i, { expected: "an image as a data URL" }))
])
export const isImage = Schema.is(
  Schema.Union([
    Schema.Struct({ url: Address }),
    Schema.Struct({ b64_json: Schema.NonEmptyString })
  ])
)

/** Fields that contain the image as a single string. */
const imageFields: ReadonlySet<string> = new Set(["url", "b64_json"])
export const isImageField = (name: string, value: unknown): boolean =>
  imageFields.has(name) && typeof value === "string"

/**
 * Whether a value certainly contains no image, because it has neither an address nor encoded data.
 */
export const isFreeOfImages = (value: unknown): boolean => {
  if (typeof value === "string") {
    return !holdsAddress(value) && mediaIn(value).length === 0 && markedBytes(value) === null
  }
  if (Array.isArray(value)) return value.every(isFreeOfImages)
  return !Predicate.isObject(value) || Object.values(value).every(isFreeOfImages)
}

/** Removes fields that could contain unpaid images; returns `fields` itself if there are none. */
export const omitOtherImages = (
  fields: Fields,
  includesField: (name: string, value: unknown) => boolean
): Fields => {
  const entries = Object.entries(fields).filter(
    ([name, value]) => includesField(name, value) || isFreeOfImages(value)
  )
  return entries.length === Object.keys(fields).length ? fields : Object.fromEntries(entries)
}

/** The images of an order. */
export interface GeneratedImages {
  /** The answer in the standard form; `created` is filled in if the vendor leaves it out. */
  readonly result: ImageResult
  /** The number of images beyond the ordered number, which are left out. */
  readonly surplus: number
  /**
   * The ordered images that came, and the tokens that the vendor counted for them; absent where the
   * vendor counts no tokens.
   */
  readonly delivered?: DeliveredImages
}

interface StandardImages {
  readonly result: Fields
  readonly surplus: number
  readonly delivered: DeliveredImages
  /** Whether the result equals the answer. */
  readonly isUnchanged: boolean
}

/** The images of an answer, at most the ordered number, with the other fields of the answer. */
export const imagesIn = (
  { status, body }: VendorAnswer,
  orderedImages: number
): StandardImages | null => {
  if (status >= 300 || !isAnswer(body)) return null
  let images = 0
  const data = body.data.flatMap((item) => {
    if (!isImage(item)) return isFreeOfImages(item) ? [item] : []
    images += 1
    return images > orderedImages ? [] : [omitOtherImages(item, isImageField)]
  })
  if (images === 0) return null
  const fields = omitOtherImages(body, (name) => name === "data")
  const hasAllItems =
    data.length === body.data.length && data.every((item, index) => item === body.data[index])
  return {
    result: { ...fields, data },
    surplus: Math.max(0, images - orderedImages),
    delivered: {
      images: Math.min(images, orderedImages),
      usage: readImageUsage(body.usage)
    },
    isUnchanged: hasAllItems && fields === body
  }
}

/**
 * The failure of an answer without images. If every image was refused separately, the order fails
 * with the error of the first.
 */
export const imagesFailure = (account: ChannelAccount, answer: VendorAnswer): VendorFailure => {
  const refusedImage = isAnswer(answer.body) ? answer.body.data.find(isErrorText) : undefined
  return refusedImage === undefined || isErrorText(answer.body)
    ? unusableAnswer(account, answer)
    : refusal(account, answer, { message: errorOf(refusedImage).message })
}
