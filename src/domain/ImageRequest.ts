/** What a client may write in an image request. */
import { Schema } from "effect"
import { DEFAULT_IMAGES, MAX_IMAGES, MIN_IMAGES } from "./ImageProtocol.ts"
import { Media } from "./VideoRequest.ts"

const maybe = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/**
 * Body of `POST /v1/images/generations`. Fields not named here belong to the vendor: `ip_a` passes
 * them on, the other protocols leave them out.
 */
export const ImageBody = Schema.StructWithRest(
  Schema.Struct({
    model: Schema.NonEmptyString,
    prompt: Schema.NonEmptyString,
    n: maybe(
      Schema.Int.check(
        Schema.isBetween(
          { minimum: MIN_IMAGES, maximum: MAX_IMAGES },
          { expected: `a whole number from ${MIN_IMAGES} to ${MAX_IMAGES}` }
        )
      )
    ),
    size: maybe(Schema.NonEmptyString),
    response_format: maybe(Schema.Literals(["url", "b64_json"])),
    image: maybe(Media),
    images: maybe(Media),
    image_url: maybe(Media)
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)
export type ImageBody = typeof ImageBody.Type

/** The number ordered and billed (Image 2). */
export const imageCount = (body: ImageBody): number => body.n ?? DEFAULT_IMAGES
