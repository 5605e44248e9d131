/**
 * ip_a: the common standard form; everything but `model` passes through unchanged. A family of the
 * relay answers in the same form.
 */
import { Result } from "effect"
import { type ImageEdit, imageCount } from "../domain/image/ImageRequest.ts"
import type { ChannelAccount, ImageOrder } from "../services/ProtocolAdapter.ts"
import { modelsCheck } from "./common/accountCheck.ts"
import {
  type Drawn,
  type ImageDialect,
  imageCalls,
  isDated,
  type Read
} from "./common/adapterCalls.ts"
import { makeImageStream } from "./common/imageStream.ts"
import { standardRefusals } from "./common/standardErrors.ts"
import { type Fields, imagesIn, isAnswer } from "./common/standardImages.ts"
import { errorOf, saysError } from "./wire/errorText.ts"
import { isFileUrl, isFormValue } from "./wire/multipartBody.ts"
import { decodedWhole, type VendorAnswer } from "./wire/vendorAnswer.ts"
import { refusal, unusable } from "./wire/vendorFailures.ts"
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

const generateRequest: ImageDialect["generateRequest"] = (
  account,
  { body, edit = null, upstreamModel }
) => {
  const fields = { ...body, model: upstreamModel }
  return Result.succeed(
    edit === null
      ? post(standardUrl(account, "images/generations"), bearer(account), fields)
      : editRequest(account, fields, edit)
  )
}

// From the vendor

/** Where every image was refused on its own, the first one speaks for the order. */
const failure = (account: ChannelAccount, answer: VendorAnswer) => {
  const refused = isAnswer(answer.body) ? answer.body.data.find(saysError) : undefined
  return refused === undefined || saysError(answer.body)
    ? unusable(account, answer)
    : refusal(account, answer, { message: errorOf(refused).message })
}

/** Passes the answer on as it came where nothing in it is to be changed, else what it holds. */
export const readGenerated: Read<ImageOrder, Drawn> = (account, answer, order) => {
  const images = imagesIn(answer, imageCount(order.body))
  const { large } = answer
  if (large !== undefined) {
    return images?.isUnchanged === true && isDated(images.result)
      ? Result.succeed({ result: large.raw, surplus: 0 })
      : readGenerated(account, decodedWhole(answer), order)
  }
  return images === null ? Result.fail(failure(account, answer)) : Result.succeed(images)
}

// Calls

export const makeIpA = imageCalls("ip_a", {
  generateRequest,
  readGenerated,
  refusals: () => standardRefusals,
  readStream: makeImageStream,
  check: modelsCheck
})
