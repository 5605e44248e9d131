/** What a client may write in an image request. */
import { Schema } from "effect"
import { DEFAULT_IMAGES, MAX_IMAGES, MIN_IMAGES } from "./ImageProtocol.ts"
import { optional } from "./optional.ts"
import { anyFields, shallow } from "./passedOn.ts"
import { Prompt, plainText } from "./text.ts"
import { Media, ModelName, mediaUrls } from "./VideoRequest.ts"
import { wholeNumber } from "./wholeNumber.ts"

const COUNT = `a whole number from ${MIN_IMAGES} to ${MAX_IMAGES}`
const media = optional(Media, "a URL, {url} or an array of them").annotate({
  description: "Reference images: a URL, {url} or an array of them"
})

/**
 * Body of `POST /v1/images/generations`. Fields not named here belong to the vendor: `ip_a` passes
 * them on, the other protocols send only those they know.
 */
export const ImageBody = Schema.StructWithRest(
  Schema.Struct({
    model: ModelName.annotate({ description: "A model of modality image" }),
    prompt: Prompt.check(Schema.isNonEmpty()).annotate({ description: "What is to be seen" }),
    n: optional(
      wholeNumber(COUNT).check(
        Schema.isBetween({ minimum: MIN_IMAGES, maximum: MAX_IMAGES }, { expected: COUNT })
      ),
      COUNT
    ).annotate({ description: `Images to make and to pay, ${DEFAULT_IMAGES} when left out` }),
    size: optional(plainText(64), "a size such as 1024x1024").annotate({
      description: "Size, as the vendor names it"
    }),
    response_format: optional(Schema.Literals(["url", "b64_json"]), "url or b64_json").annotate({
      description: "Addresses, which is the default, or base64; ip_b always answers addresses"
    }),
    image: media,
    images: media,
    image_url: media
  }),
  anyFields
)
  .check(shallow)
  .annotate({
    identifier: "ImageOrder",
    description: "Further fields belong to the vendor: ip_a passes them on"
  })
export type ImageBody = typeof ImageBody.Type

/** The number ordered and billed (Image 2). */
export const imageCount = (body: ImageBody): number => body.n ?? DEFAULT_IMAGES

/** Addresses of the reference images, those of `image` first, then `images`, then `image_url`. */
export const referenceImages = (body: ImageBody): ReadonlyArray<string> =>
  [body.image, body.images, body.image_url].flatMap(mediaUrls)
