import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { errors } from "../../http/api/apiErrors.ts"
import { operation } from "../../http/api/document.ts"
import { FreeCall, LookUp, RequiredScope } from "../../http/api/middlewares.ts"
import { ModelEntry } from "../../http/api/models.ts"
import { arrayOf, text } from "../../http/api/shared.ts"

const id = text(
  "The model's id, or an alias. One with slashes may be written as it is: `/v1/models/maker/film-1`",
  "film-1"
)

export class ModelsGroup extends HttpApiGroup.make("models").add(
  HttpApiEndpoint.get("list", "/models", {
    query: {
      modality: Schema.optionalKey(
        text("Only models of this modality, or of its short name such as language or image-text")
      )
    },
    success: Schema.Struct({
      object: Schema.Literal("list").annotate({ description: "Tells that it is a list" }),
      data: arrayOf(ModelEntry, "The models this key may order")
    })
  })
    .annotate(RequiredScope, "models")
    .annotate(FreeCall, "models")
    .annotateMerge(
      operation("List models", "Every model the key may order, with its limits and prices.")
    ),
  HttpApiEndpoint.get("read", "/models/:id", {
    params: { id },
    success: ModelEntry,
    error: errors.ModelNotFound
  })
    .annotate(LookUp, true)
    .annotate(RequiredScope, "models")
    .annotate(FreeCall, "models")
    .annotateMerge(
      operation(
        "Read a model",
        "One model with its limits and prices, as the list has it, by its id or an alias. A model that the key may not order is not found."
      )
    )
) {}
