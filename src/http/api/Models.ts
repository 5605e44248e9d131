import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Modality } from "../../domain/Modality.ts"
import { Prices } from "../../domain/Prices.ts"
import { Authorization, RequiredScope } from "./Authorization.ts"
import { RequestRules } from "./RequestRules.ts"

export const ModelEntry = Schema.Struct({
  id: Schema.String,
  object: Schema.Literal("model"),
  /** Unix seconds. */
  created: Schema.Int,
  owned_by: Schema.String,
  modality: Modality,
  status: Schema.Literals(["open", "coming_soon", "planned"]),
  input_forms: Schema.Array(Schema.String),
  /** Whole output seconds; `smart` says whether -1 lets the model choose. */
  durations: Schema.optionalKey(
    Schema.Struct({
      min: Schema.Int,
      max: Schema.Int,
      default: Schema.Int,
      smart: Schema.Boolean
    })
  ),
  resolutions: Schema.optionalKey(Schema.Array(Schema.String)),
  images: Schema.optionalKey(
    Schema.Struct({ min: Schema.Int, max: Schema.Int, default: Schema.Int })
  ),
  currency: Schema.String,
  prices: Schema.NullOr(Prices)
})

export class ModelsGroup extends HttpApiGroup.make("models")
  .add(
    HttpApiEndpoint.get("list", "/models", {
      query: { modality: Schema.optionalKey(Schema.String) },
      success: Schema.Struct({ object: Schema.Literal("list"), data: Schema.Array(ModelEntry) })
    }).annotate(RequiredScope, "models")
  )
  .middleware(RequestRules)
  .middleware(Authorization)
  .prefix("/v1") {}
