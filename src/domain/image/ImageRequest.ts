/** What a client may write in an image request. */
import { type Result, Schema } from "effect"
import type { InvalidRequest } from "../Errors.ts"
import { Media, mediaUrls, ONE_MEDIUM } from "../mediaUrls.ts"
import { MetadataField } from "../money/metadata.ts"
import { Prompt, plainText } from "../plainText.ts"
import {
  anyFields,
  CallbackUrl,
  optional,
  optionalWholeNumber,
  withoutFaults
} from "../requestFields.ts"
import { unpricedImageWork } from "../unpricedWork.ts"
import { DEFAULT_IMAGES, MAX_IMAGES, MIN_IMAGES } from "./ImageProtocol.ts"

const COUNT = `a whole number from ${MIN_IMAGES} to ${MAX_IMAGES}`
const media = optional(Media, `${ONE_MEDIUM}, or an array of them`).annotate({
  description: `Reference images: ${ONE_MEDIUM}, or an array of them`
})

const NO_STREAM = "since images are answered whole and not as a stream"

const ImageFields = Schema.Struct({
  model: plainText().annotate({ description: "A model of modality image" }),
  prompt: Prompt.check(Schema.isNonEmpty()).annotate({ description: "What is to be seen" }),
  n: optionalWholeNumber(COUNT, { minimum: MIN_IMAGES, maximum: MAX_IMAGES }).annotate({
    description: `Images to make and to pay, ${DEFAULT_IMAGES} when left out`
  }),
  size: optional(plainText(64), "a size such as 1024x1024").annotate({
    description: "Size, as the vendor names it"
  }),
  response_format: optional(Schema.Literals(["url", "b64_json"]), "url or b64_json").annotate({
    description: "Addresses, which is the default, or base64; ip_b always answers addresses"
  }),
  image: media,
  images: media,
  image_url: media,
  stream: optional(Schema.Literal(false), `false, ${NO_STREAM}`).annotate({
    description: "Images are answered whole, so nothing else is taken"
  }),
  partial_images: optional(Schema.Literal(0), `0, ${NO_STREAM}`).annotate({
    description: "Images are answered whole, so nothing else is taken"
  }),
  metadata: MetadataField,
  callback_url: CallbackUrl
})

/**
 * Body of `POST /v1/images/generations`. Fields not named here belong to the vendor: `ip_a` and
 * the standard form behind `ip_c` pass them on, the others send only those they know.
 */
export const ImageBody = Schema.StructWithRest(ImageFields, anyFields).annotate({
  identifier: "ImageOrder",
  description:
    "Further fields belong to the vendor: ip_a and the standard form behind ip_c pass them on, but for those that would have more images made than n says, or have them delivered elsewhere"
})
export type ImageBody = typeof ImageBody.Type

/** The number ordered and billed, whatever number comes back. */
export const imageCount = (body: ImageBody): number => body.n ?? DEFAULT_IMAGES

/** Addresses of the reference images, those of `image` first, then `images`, then `image_url`. */
export const referenceImages = (body: ImageBody): ReadonlyArray<string> =>
  [body.image, body.images, body.image_url].flatMap(mediaUrls)

/** Nothing is ordered by them, whatever stands in them. */
const labels = ["user"]
const ownFields: ReadonlySet<string> = new Set([...Object.keys(ImageFields.fields), ...labels])

/**
 * Refuses a body that is to be passed on with fields by which a vendor would make more than is paid
 * for, or deliver it elsewhere.
 */
export const checkPassedOn = (body: ImageBody): Result.Result<void, InvalidRequest> =>
  withoutFaults(unpricedImageWork(body, ownFields))
