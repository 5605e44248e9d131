/** The rows of protocols that documents describe. */
import { Result } from "effect"
import { parametersTogether } from "../catalog/vendorParameters.ts"
import type { ImageFamily, ImageProtocolRow } from "../image/ImageProtocol.ts"
import type { VideoFamily } from "../video/families/VideoFamily.ts"
import { ratios as allRatios } from "../video/sizes.ts"
import { Resolution } from "../video/tiers.ts"
import type { VideoProtocolRow } from "../video/VideoProtocol.ts"
import { hasOneOf, secondsOfLimit, spanOf } from "../video/videoLimits.ts"
import {
  imageModelsOf,
  type QueueDocument,
  type QueueImageModel,
  type QueueVideoModel,
  videoModelsOf
} from "./QueueDocument.ts"
import { formsOf, imageBodyOf, isSingleImage, referencesOf } from "./queueBody.ts"
import { parametersOfModel } from "./queueParameters.ts"

/** A pattern that matches exactly this id. */
const exactly = (id: string): RegExp => new RegExp(`^${id.replaceAll(/[^\w ]/g, "\\$&")}$`)

const videoFamilyOf = (document: QueueDocument, model: QueueVideoModel): VideoFamily => {
  const { id, seconds, smart, resolutions = [], ratios, shots, sound = "unset" } = model
  const lengths = secondsOfLimit(seconds)
  const parameters = parametersOfModel(model, document)
  return {
    name: id,
    ids: exactly(id),
    forms: formsOf(model),
    seconds: spanOf(lengths),
    ...(hasOneOf(seconds) ? { onlySeconds: lengths } : {}),
    ...(smart === true ? { isSmart: true } : {}),
    resolutions: Resolution.literals.filter((name) => resolutions.includes(name)),
    ...(ratios === undefined ? {} : { acceptedRatios: ratios }),
    ...(shots === undefined ? {} : { shots }),
    sound,
    parameters: Object.keys(parameters),
    ownParameters: parameters
  }
}

/** Whether the image that a video begins with decides the shape: no model has a ratio beside it. */
const isShapedByImage = (models: ReadonlyArray<QueueVideoModel>): boolean =>
  models.every(
    ({ fields }) => fields.first_frame === undefined || (fields.ratio ?? fields.size) === undefined
  )

/** The row of the document's video models. */
export const videoRowOf = (document: QueueDocument): VideoProtocolRow => {
  const models = videoModelsOf(document)
  const families = models.map((model) => videoFamilyOf(document, model))
  const ratios = new Set(models.flatMap((model) => model.ratios ?? []))
  const { bill } = document.answers
  return {
    families,
    isLimitedByFamily: true,
    seconds: families.length === 0 ? [1, 1] : spanOf(families.flatMap(({ seconds }) => seconds)),
    smart: families.some(({ isSmart }) => isSmart === true) ? "usage_billed" : "never",
    resolutions: Resolution.literals.filter((name) =>
      families.some(({ resolutions }) => resolutions.includes(name))
    ),
    ...(ratios.size === 0 ? {} : { ratios: allRatios.filter((ratio) => ratios.has(ratio)) }),
    ...(isShapedByImage(models) ? { isShapedByImage: true } : {}),
    billing: null,
    ...(bill === undefined ? {} : { billUnit: bill.unit }),
    needsAppId: false,
    relays: false,
    relayFamily: null,
    parameters: parametersTogether(families.map(({ ownParameters = {} }) => ownParameters))
  }
}

const imageFamilyOf = (document: QueueDocument, model: QueueImageModel): ImageFamily => {
  const { least, most } = referencesOf(model)
  return {
    models: exactly(model.id),
    passesOn: false,
    hasAllFields: true,
    parameters: parametersOfModel(model, document),
    references:
      most === 0
        ? null
        : {
            ...(least === 0 ? {} : { min: least }),
            max: most,
            mask: model.fields.mask !== undefined
          },
    streams: false,
    hasAutoSize: false,
    ...(isSingleImage(model) ? { isOneByOne: true } : {}),
    edits: "field",
    faultOf: (order) => Result.getOrNull(Result.flip(imageBodyOf(document, model, order)))
  }
}

/** The row of the document's image models. */
export const imageRowOf = (document: QueueDocument): ImageProtocolRow => ({
  families: imageModelsOf(document).map((model) => imageFamilyOf(document, model))
})
