/** Images in the common standard form: where they stand in an answer, and what may stand beside them. */
import { Predicate, Schema } from "effect"
import { WebAddress } from "../../domain/plainText.ts"
import { anyFields } from "../../domain/requestFields.ts"
import type { VendorFailure } from "../../domain/VendorOutcome.ts"
import { holdsAddress, markedBytes, mediaIn } from "../../redaction/patterns.ts"
import type { ChannelAccount, ImageResult } from "../../services/ProtocolAdapter.ts"
import { errorOf, saysError } from "../wire/errorText.ts"
import type { VendorAnswer } from "../wire/vendorAnswer.ts"
import { refusal, unusable } from "../wire/vendorFailures.ts"

export type Fields = Readonly<Record<string, unknown>>

export const isAnswer = Schema.is(
  Schema.StructWithRest(Schema.Struct({ data: Schema.Array(Schema.Unknown) }), anyFields)
)
/** Some vendors put the image itself into the address. */
const Address = Schema.Union([
  WebAddress,
  Schema.String.check(Schema.isPattern(/^data:image\//i, { expected: "an image as a data URL" }))
])
export const isImage = Schema.is(
  Schema.Union([
    Schema.StructWithRest(Schema.Struct({ b64_json: Schema.NonEmptyString }), anyFields),
    Schema.StructWithRest(Schema.Struct({ url: Address }), anyFields)
  ])
)

/** Fields of an image that hold it, each as one text. */
const imageFields: ReadonlySet<string> = new Set(["url", "b64_json"])
export const isOwnImage = (name: string, value: unknown): boolean =>
  imageFields.has(name) && typeof value === "string"

/** True for a value in which no image can be: no address, no encoded data. */
export const isHarmless = (value: unknown): boolean => {
  if (typeof value === "string") {
    return !holdsAddress(value) && mediaIn(value).length === 0 && markedBytes(value) === null
  }
  if (Array.isArray(value)) return value.every(isHarmless)
  return !Predicate.isObject(value) || Object.values(value).every(isHarmless)
}

/** Without other fields in which images could be, beside those that are paid for; itself if none is. */
export const plain = (fields: Fields, keeps: (name: string, value: unknown) => boolean): Fields => {
  const kept = Object.entries(fields).filter(
    ([name, value]) => keeps(name, value) || isHarmless(value)
  )
  return kept.length === Object.keys(fields).length ? fields : Object.fromEntries(kept)
}

/** Images that are there. */
export interface Drawn {
  /** In the standard form; the time is filled in where the vendor tells none. */
  readonly result: ImageResult
  /** Images that came beyond those ordered, and are left out. */
  readonly surplus: number
}

export interface StandardImages {
  readonly result: Fields
  /** Images that came beyond those ordered, and are left out. */
  readonly surplus: number
  /** Whether the answer is the result as it came. */
  readonly isUnchanged: boolean
}

/** The images of an answer, as many as were ordered, with what else it tells about them. */
export const imagesIn = (
  { status, body }: VendorAnswer,
  ordered: number
): StandardImages | null => {
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

/**
 * Why an answer without images is of no use. Where every image was refused on its own, the first one
 * speaks for the order.
 */
export const imagesFailure = (account: ChannelAccount, answer: VendorAnswer): VendorFailure => {
  const refused = isAnswer(answer.body) ? answer.body.data.find(saysError) : undefined
  return refused === undefined || saysError(answer.body)
    ? unusable(account, answer)
    : refusal(account, answer, { message: errorOf(refused).message })
}
