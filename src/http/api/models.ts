/** The entry of a model in lists of models: what can be ordered of it, and its price. */
import { Schema } from "effect"
import { Modality } from "../../domain/catalog/Modality.ts"
import { ModelLimits } from "../../domain/catalog/ModelLimits.ts"
import { Prices } from "../../domain/catalog/Prices.ts"
import { VendorParameter } from "../../domain/catalog/vendorParameters.ts"
import type { InputRole } from "../../domain/video/families/VideoFamily.ts"
import { arrayOf, flag, integer, nullable, oneOf, text } from "./shared.ts"

const ModelTakes = Schema.Struct({
  inputs: arrayOf(
    Schema.Struct({
      first_frame: Schema.optionalKey(integer("Pictures that the video begins with")),
      middle_frame: Schema.optionalKey(integer("Pictures between the first and the last one")),
      last_frame: Schema.optionalKey(integer("Pictures that it ends with")),
      reference_image: Schema.optionalKey(integer("Reference pictures")),
      reference_video: Schema.optionalKey(integer("Reference videos")),
      reference_audio: Schema.optionalKey(integer("Reference sounds")),
      edit_video: Schema.optionalKey(integer("Videos to edit")),
      extend_video: Schema.optionalKey(integer("Videos to extend"))
    } satisfies Record<InputRole, unknown>),
    "Media that may be given together, with the most of each; an empty one is a text alone"
  ),
  durations: Schema.Struct({
    min: integer("Least seconds"),
    max: integer("Most seconds"),
    only: Schema.optionalKey(arrayOf(Schema.Int, "The seconds there are, where not all of them")),
    smart: flag("Whether the model can choose its length")
  }).annotate({ description: "Whole output seconds" }),
  resolutions: arrayOf(Schema.String, "What it renders"),
  sound: oneOf(
    ["switch", "always", "never", "unset"],
    "Whether generate_audio is its switch, or it sounds always, never, or as it likes"
  )
}).annotate({ identifier: "ModelTakes", description: "What a vendor takes of a model" })

export const ModelEntry = Schema.Struct({
  id: text("The name to order it by"),
  aliases: Schema.optionalKey(
    arrayOf(Schema.String, "Other names to order it by; left out where there are none")
  ),
  object: Schema.Literal("model").annotate({ description: "Tells what this is" }),
  created: integer("Unix seconds since which this catalog is in force"),
  owned_by: text("Who made the model"),
  modality: Modality,
  status: oneOf(["open", "coming_soon", "planned"], "Whether the modality can be ordered"),
  input_forms: arrayOf(
    Schema.String,
    "What it takes, as the catalog lists it, and image where `references` has any: display only, nothing is refused by it"
  ),
  durations: Schema.optionalKey(
    Schema.Struct({
      min: integer("Least seconds"),
      max: integer("Most seconds"),
      only: Schema.optionalKey(
        arrayOf(Schema.Int, "The seconds that can be ordered, where not all of them")
      ),
      default: integer("Seconds when none are given"),
      smart: flag("Whether -1 lets the model choose")
    }).annotate({ description: "Of video models: whole output seconds" })
  ),
  resolutions: Schema.optionalKey(arrayOf(Schema.String, "Of video models: what can be ordered")),
  ratios: Schema.optionalKey(
    arrayOf(Schema.String, "Of video models with such limits: the only ratios that can be ordered")
  ),
  max_prompt: Schema.optionalKey(
    integer("Of video models with such a limit: the most characters of all texts of an order")
  ),
  shots: Schema.optionalKey(
    Schema.Struct({
      max: integer("Most shots"),
      seconds: Schema.Struct({
        min: integer("Least seconds"),
        max: integer("Most seconds")
      }).annotate({ description: "Whole seconds of one shot" })
    }).annotate({ description: "Of video models of which an order can list the shots" })
  ),
  silent: Schema.optionalKey(
    flag("Of video models: false where a video without sound cannot be ordered")
  ),
  sound: Schema.optionalKey(
    flag("Of video models: false where a video with sound cannot be ordered")
  ),
  images: Schema.optionalKey(
    Schema.Struct({
      min: integer("Least images"),
      max: integer("Most images"),
      default: integer("Images when no number is given")
    }).annotate({ description: "Of image models: images in one request" })
  ),
  parameters: Schema.optionalKey(
    Schema.Record(Schema.String, VendorParameter).annotate({
      description:
        "Further fields that an order may have, by their names: those of the vendor's own, and of rankings, speech and transcriptions those of the standard form"
    })
  ),
  references: Schema.optionalKey(
    nullable(
      Schema.Struct({
        min: Schema.optionalKey(integer("Least images of any order; left out where it needs none")),
        max: integer("Most images of an edit"),
        mask: flag("Whether an edit may have a mask")
      }),
      "Of image models: what an edit may have; null where there are none"
    )
  ),
  streams: Schema.optionalKey(flag("Of image models: whether images can come while they are made")),
  takes: Schema.optionalKey(
    arrayOf(
      ModelTakes,
      "Of video models, where it is known: what its vendors take of it. A hint: what is within the protocol's bounds is handed on, and the vendor says no itself"
    )
  ),
  limits: Schema.optionalKey(ModelLimits),
  currency: text("Currency of the prices"),
  prices: nullable(Prices, "Null where nothing can be ordered yet")
}).annotate({
  identifier: "Model",
  description: "A model, what can be ordered of it, and its price"
})
export type ModelEntry = typeof ModelEntry.Type
