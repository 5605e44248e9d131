import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ImageBody } from "../../domain/image/ImageRequest.ts"
import { anyFields } from "../../domain/requestFields.ts"
import { errors, orderErrors } from "./apiErrors.ts"
import { imageExamples, operation } from "./document.ts"
import { BodyLimit, RequiredScope } from "./middlewares.ts"
import { idempotencyHeader, many } from "./shared.ts"

/** `url` entries, or `b64_json` ones when they were asked for and the protocol has them. */
const ImageAnswer = Schema.StructWithRest(
  Schema.Struct({
    created: Schema.Number.annotateKey({ description: "Unix seconds" }),
    data: many(
      Schema.Record(Schema.String, Schema.Unknown),
      "One entry an image: its `url`, or `b64_json` where base64 was asked for"
    )
  }),
  anyFields
).annotate({
  identifier: "Images",
  description: "The images; of ip_a, with whatever else the vendor says"
})

export class ImagesGroup extends HttpApiGroup.make("images").add(
  HttpApiEndpoint.post("generate", "/images/generations", {
    headers: idempotencyHeader,
    payload: ImageBody,
    success: ImageAnswer,
    error: [errors.ImageUnsupportedProtocol, ...orderErrors]
  })
    .annotate(RequiredScope, "images")
    .annotate(BodyLimit, "media")
    .annotateMerge(
      operation(
        "Make images",
        "Holds the price of `n` images, has them made and answers them. Charged is what was asked for.",
        imageExamples
      )
    )
) {}
