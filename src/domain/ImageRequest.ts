/** What a client may write in an image request. */
import { Schema } from "effect"
import { DEFAULT_IMAGES, MAX_IMAGES, MIN_IMAGES } from "./ImageProtocol.ts"
import { optional } from "./optional.ts"
import { Prompt, plainText } from "./text.ts"
import { Media, ModelName, mediaUrls } from "./VideoRequest.ts"

const COUNT = `a whole number from ${MIN_IMAGES} to ${MAX_IMAGES}`

const media = optional(Media, "a URL, {url} or an array of them")

/**
 * Body of `POST /v1/images/generations`. Fields not named here belong to the vendor: `ip_a` passes
 * them on, the other protocols send only those they know.
 */
export const ImageBody = Schema.StructWithRest(
  Schema.Struct({
    model: ModelName,
    prompt: Prompt.check(Schema.isNonEmpty()),
    n: optional(
      Schema.Int.check(
        Schema.isBetween({ minimum: MIN_IMAGES, maximum: MAX_IMAGES }, { expected: COUNT })
      ),
      COUNT
    ),
    size: optional(plainText(64), "a size such as 1024x1024"),
    response_format: optional(Schema.Literals(["url", "b64_json"]), "url or b64_json"),
    image: media,
    images: media,
    image_url: media
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)
export type ImageBody = typeof ImageBody.Type

/** The number ordered and billed (Image 2). */
export const imageCount = (body: ImageBody): number => body.n ?? DEFAULT_IMAGES

/** Addresses of the reference images, those of `image` first, then `images`, then `image_url`. */
export const referenceImages = (body: ImageBody): ReadonlyArray<string> =>
  [body.image, body.images, body.image_url].flatMap(mediaUrls)
