import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ImageBody } from "../../domain/ImageRequest.ts"
import { Authorization, RequiredScope } from "./Authorization.ts"
import { BodyLimit, RequestRules } from "./RequestRules.ts"
import { idempotencyHeader } from "./shared.ts"

/** `url` entries, or `b64_json` ones when they were asked for and the protocol has them. */
export const ImageAnswer = Schema.StructWithRest(
  Schema.Struct({
    created: Schema.Number,
    data: Schema.Array(Schema.Record(Schema.String, Schema.Unknown))
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)

export class ImagesGroup extends HttpApiGroup.make("images")
  .add(
    HttpApiEndpoint.post("generate", "/images/generations", {
      headers: idempotencyHeader,
      payload: ImageBody,
      success: ImageAnswer
    })
      .annotate(RequiredScope, "images")
      .annotate(BodyLimit, "media")
  )
  .middleware(RequestRules)
  .middleware(Authorization)
  .prefix("/v1") {}
