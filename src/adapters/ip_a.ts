/**
 * ip_a: the common standard form; everything but `model` passes through unchanged. A family of the
 * relay answers in the same form.
 */
import { Predicate, Result, Schema } from "effect"
import { imageCount } from "../domain/image/ImageRequest.ts"
import { WebAddress } from "../domain/plainText.ts"
import { anyFields } from "../domain/requestFields.ts"
import { holdsAddress, markedBytes, mediaIn } from "../hiding/patterns.ts"
import type { ChannelAccount, ImageOrder } from "../services/ProtocolAdapter.ts"
import { modelsCheck } from "./common/accountCheck.ts"
import {
  type Drawn,
  type ImageDialect,
  imageCalls,
  isDated,
  type Read
} from "./common/adapterCalls.ts"
import { errorOf, saysError } from "./wire/errorText.ts"
import { decodedWhole, type VendorAnswer } from "./wire/vendorAnswer.ts"
import { refusal, unusable } from "./wire/vendorFailures.ts"
import { bearer, post, standardUrl } from "./wire/vendorRequest.ts"

// Wire schemas

type Fields = Readonly<Record<string, unknown>>

const isAnswer = Schema.is(
  Schema.StructWithRest(Schema.Struct({ data: Schema.Array(Schema.Unknown) }), anyFields)
)
/** Some vendors put the image itself into the address. */
const Address = Schema.Union([
  WebAddress,
  Schema.String.check(Schema.isPattern(/^data:image\//i, { expected: "an image as a data URL" }))
])
const isImage = Schema.is(
  Schema.Union([
    Schema.StructWithRest(Schema.Struct({ b64_json: Schema.NonEmptyString }), anyFields),
    Schema.StructWithRest(Schema.Struct({ url: Address }), anyFields)
  ])
)

// To the vendor

const generateRequest: ImageDialect["generateRequest"] = (account, { body, upstreamModel }) =>
  Result.succeed(
    post(standardUrl(account, "images/generations"), bearer(account), {
      ...body,
      model: upstreamModel
    })
  )

// From the vendor

/** Fields of an image that hold it, each as one text. */
const imageFields: ReadonlySet<string> = new Set(["url", "b64_json"])
const isOwnImage = (name: string, value: unknown): boolean =>
  imageFields.has(name) && typeof value === "string"

/** True for a value in which no image can be: no address, no encoded data. */
const isHarmless = (value: unknown): boolean => {
  if (typeof value === "string") {
    return !holdsAddress(value) && mediaIn(value).length === 0 && markedBytes(value) === null
  }
  if (Array.isArray(value)) return value.every(isHarmless)
  return !Predicate.isObject(value) || Object.values(value).every(isHarmless)
}

/** Without other fields in which images could be, beside those that are paid for; itself if none is. */
const plain = (fields: Fields, keeps: (name: string, value: unknown) => boolean): Fields => {
  const kept = Object.entries(fields).filter(
    ([name, value]) => keeps(name, value) || isHarmless(value)
  )
  return kept.length === Object.keys(fields).length ? fields : Object.fromEntries(kept)
}

interface Images extends Drawn {
  readonly result: Fields
  /** Whether the answer is the result as it came. */
  readonly isUnchanged: boolean
}

/** The images of an answer, as many as were ordered, with what else it tells about them. */
const imagesIn = ({ status, body }: VendorAnswer, ordered: number): Images | null => {
  if (status >= 300 || !isAnswer(body) || !body.data.some(isImage)) return null
  let left = ordered
  const data = body.data.flatMap((item) => {
    if (!isImage(item)) return isHarmless(item) ? [item] : []
    left -= 1
    return left < 0 ? [] : [plain(item, isOwnImage)]
  })
  const fields = plain(body, (name) => name === "data")
  const isSame =
    data.length === body.data.length && data.every((item, at) => item === body.data[at])
  return {
    result: { ...fields, data },
    surplus: Math.max(0, -left),
    isUnchanged: isSame && fields === body
  }
}

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
  check: modelsCheck
})
