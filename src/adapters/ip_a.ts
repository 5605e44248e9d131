/**
 * ip_a: the common standard form; all fields but `model` are sent unchanged. A family of the relay
 * answers in the same form.
 */
import { Result } from "effect"
import { type ImageFamily, imageFamilyOf, imageProtocols } from "../domain/image/ImageProtocol.ts"
import { type ImageEdit, imageCount } from "../domain/image/ImageRequest.ts"
import type { ChannelAccount, ImageOrder } from "../services/ProtocolAdapter.ts"
import { modelsCheck } from "./common/accountCheck.ts"
import { hasCreationTime, type ImageDialect, imageCalls, type Read } from "./common/adapterCalls.ts"
import { makeImageStream } from "./common/imageStream.ts"
import { standardRefusals } from "./common/standardErrors.ts"
import {
  type Fields,
  type GeneratedImages,
  imagesFailure,
  imagesIn
} from "./common/standardImages.ts"
import { isFileUrl, isFormValue } from "./wire/multipartBody.ts"
import { decodeFully } from "./wire/vendorAnswer.ts"
import { bearer, post, postForm, standardUrl, type VendorRequest } from "./wire/vendorRequest.ts"

// Wire schemas: those of `common/standardImages.ts`

// To the vendor

const fileFields: ReadonlySet<string> = new Set(["image", "image[]", "mask"])

/**
 * The request of an edit. It is a form, which every vendor accepts, if all its images are data URLs
 * and all its fields fit into a form; otherwise it is JSON.
 */
const editRequest = (account: ChannelAccount, fields: Fields, edit: ImageEdit): VendorRequest => {
  const { references, mask } = edit
  const url = standardUrl(account, "images/edits")
  const masks = mask === null ? [] : [mask]
  if (![...references, ...masks].every(isFileUrl) || !Object.values(fields).every(isFormValue)) {
    return post(url, bearer(account), {
      ...fields,
      images: references.map((image_url) => ({ image_url })),
      ...(mask === null ? {} : { mask: { image_url: mask } })
    })
  }
  const pictures = references.length === 1 ? { image: references } : { "image[]": references }
  const form = { ...fields, ...pictures, ...(mask === null ? {} : { mask }) }
  return postForm(url, bearer(account), form, fileFields)
}

const familyOf = (upstreamModel: string): ImageFamily =>
  imageFamilyOf(imageProtocols.ip_a, upstreamModel)

/** The fields of an order. Models that generate one image per call have no field `n`. */
const fieldsOf = ({ body, upstreamModel: model }: ImageOrder): Fields => {
  if (familyOf(model).isOneByOne !== true) return { ...body, model }
  const { n: _, ...withoutCount } = body
  return { ...withoutCount, model }
}

/**
 * The field with the input images. A single image is sent as a string, because some models accept
 * no list.
 */
const pictureField = ({ references: [firstReference, ...otherReferences] }: ImageEdit): Fields =>
  firstReference === undefined
    ? {}
    : {
        image: otherReferences.length === 0 ? firstReference : [firstReference, ...otherReferences]
      }

const generateRequest: ImageDialect["generateRequest"] = (account, order) => {
  const { edit = null, upstreamModel } = order
  const fields = fieldsOf(order)
  if (edit !== null && familyOf(upstreamModel).edits !== "field") {
    return Result.succeed(editRequest(account, fields, edit))
  }
  const body = edit === null ? fields : { ...fields, ...pictureField(edit) }
  return Result.succeed(post(standardUrl(account, "images/generations"), bearer(account), body))
}

// From the vendor

/** Reads the images; a large answer is forwarded without decoding if nothing in it must change. */
export const readGenerated: Read<ImageOrder, GeneratedImages> = (account, answer, order) => {
  const images = imagesIn(answer, imageCount(order.body))
  const { large } = answer
  if (large !== undefined) {
    return images?.isUnchanged === true && hasCreationTime(images.result)
      ? Result.succeed({ result: large.raw, surplus: 0, delivered: images.delivered })
      : readGenerated(account, decodeFully(answer), order)
  }
  return images === null ? Result.fail(imagesFailure(account, answer)) : Result.succeed(images)
}

// Calls

export const makeIpA = imageCalls("ip_a", {
  generateRequest,
  readGenerated,
  isOneByOne: ({ upstreamModel }) => familyOf(upstreamModel).isOneByOne === true,
  refusals: () => standardRefusals,
  readStream: makeImageStream,
  check: modelsCheck,
  listsModels: true
})
