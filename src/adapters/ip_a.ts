/**
 * ip_a: the common standard form; everything but `model` passes through unchanged. A family of the
 * relay answers in the same form.
 */
import { Result } from "effect"
import { type ImageFamily, imageFamilyOf, imageProtocols } from "../domain/image/ImageProtocol.ts"
import { type ImageEdit, imageCount } from "../domain/image/ImageRequest.ts"
import type { ChannelAccount, ImageOrder } from "../services/ProtocolAdapter.ts"
import { modelsCheck } from "./common/accountCheck.ts"
import { type ImageDialect, imageCalls, isDated, type Read } from "./common/adapterCalls.ts"
import { makeImageStream } from "./common/imageStream.ts"
import { standardRefusals } from "./common/standardErrors.ts"
import { type Drawn, type Fields, imagesFailure, imagesIn } from "./common/standardImages.ts"
import { isFileUrl, isFormValue } from "./wire/multipartBody.ts"
import { decodedWhole } from "./wire/vendorAnswer.ts"
import { bearer, post, postForm, standardUrl, type VendorRequest } from "./wire/vendorRequest.ts"

// Wire schemas: those of `common/standardImages.ts`

// To the vendor

const fileFields: ReadonlySet<string> = new Set(["image", "image[]", "mask"])

/**
 * An edit is a form where all its pictures are at hand, which every vendor takes, and JSON where some
 * are addresses or a field has no place in a form.
 */
const editRequest = (account: ChannelAccount, fields: Fields, edit: ImageEdit): VendorRequest => {
  const { references, mask } = edit
  const url = standardUrl(account, "images/edits")
  const masked = mask === null ? [] : [mask]
  if (![...references, ...masked].every(isFileUrl) || !Object.values(fields).every(isFormValue)) {
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

/** Models that make one image a call have no field for a number. */
const fieldsOf = ({ body, upstreamModel: model }: ImageOrder): Fields => {
  const { n: _, ...others } = body
  return { ...(familyOf(model).isOneByOne === true ? others : body), model }
}

/** One picture is a text, which the models take that have room for no more. */
const pictureField = ({ references: [first, ...others] }: ImageEdit): Fields =>
  first === undefined ? {} : { image: others.length === 0 ? first : [first, ...others] }

const generateRequest: ImageDialect["generateRequest"] = (account, order) => {
  const { edit = null, upstreamModel } = order
  const fields = fieldsOf(order)
  if (edit !== null && familyOf(upstreamModel).edits !== "field") {
    return Result.succeed(editRequest(account, fields, edit))
  }
  const pictures = edit === null ? {} : pictureField(edit)
  const body = { ...fields, ...pictures }
  return Result.succeed(post(standardUrl(account, "images/generations"), bearer(account), body))
}

// From the vendor

/** Passes the answer on as it came where nothing in it is to be changed, else what it holds. */
export const readGenerated: Read<ImageOrder, Drawn> = (account, answer, order) => {
  const images = imagesIn(answer, imageCount(order.body))
  const { large } = answer
  if (large !== undefined) {
    return images?.isUnchanged === true && isDated(images.result)
      ? Result.succeed({ result: large.raw, surplus: 0 })
      : readGenerated(account, decodedWhole(answer), order)
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
  check: modelsCheck
})
