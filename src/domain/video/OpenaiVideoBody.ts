/** The request body of OpenAI's video API, and its translation into a gateway order. */
import { Schema } from "effect"
import { BillingUnavailable, InvalidRequest, VideoSkuInvalid } from "../Errors.ts"
import { sidesOfUrl } from "../image/pictureHeads.ts"
import { isFileId, MediaRef, MediaUrl, urlOf } from "../mediaUrls.ts"
import { type Metadata, MetadataField } from "../money/metadata.ts"
import { MAX_PROMPT, Prompt, plainText } from "../plainText.ts"
import { anyFields, CallbackUrl, fieldCheck, optional, unknownFields } from "../requestFields.ts"
import { frameOf, type Ratio, type SizeRequest, sizeNamed } from "./sizes.ts"
import { MAX_WAIT_SECONDS, type VideoBody, type VideoRole, WaitSeconds } from "./VideoBody.ts"
import { countInputs, type VideoInput } from "./VideoInput.ts"
import type { VideoSku } from "./VideoSku.ts"

const A_PICTURE = "a picture: a file of the form, {image_url}, {file_id} or a URL"

const Reference = Schema.Union([
  Schema.Struct({ image_url: MediaUrl.annotate({ description: "http, https or data URL" }) }),
  MediaRef
]).annotate({ expected: A_PICTURE })
type Reference = typeof Reference.Type

export const secondsField = optional(
  Schema.Union([plainText(32), Schema.Finite]),
  'seconds as a text or a number, such as "8"'
).annotate({
  description: "Output seconds that the model offers; 5 or the nearest when left out"
})

/** The seconds of a wait in a form, which has texts alone. */
const WaitText = Schema.String.check(
  Schema.makeFilter((text) => /^\d{1,5}$/.test(text) && Number(text) <= MAX_WAIT_SECONDS)
)

/** The fields that OpenAI's API does not have. */
export const commonFields = {
  user: optional(Schema.String, "a text").annotate({
    description: "Whom the order is for, in the client's own words; not sent to the vendor"
  }),
  metadata: MetadataField,
  callback_url: CallbackUrl,
  max_wait: optional(
    Schema.Union([WaitSeconds, WaitText]),
    `a whole number of seconds from 0 to ${MAX_WAIT_SECONDS}`
  ).annotate({
    description:
      "Seconds for which the order may wait for a place at a channel that has as many tasks as it may have; refused with 429 when left out"
  })
}

const Fields = Schema.Struct({
  model: plainText().annotate({ description: "A model of modality video" }),
  prompt: optional(Prompt, `a text of at most ${MAX_PROMPT} characters`).annotate({
    description: "What is to be seen"
  }),
  seconds: secondsField,
  size: optional(plainText(32), "a size such as 1280x720").annotate({
    description:
      "A size that the model offers, as `WxH`, or a resolution alone; 1280x720 when left out"
  }),
  input_reference: optional(Reference, A_PICTURE).annotate({
    description: "A picture to make the video from"
  }),
  ...commonFields
})

/** The names that the fields of this body have in the gateway's own API and in other APIs. */
const fieldAliases: ReadonlyMap<string, string> = new Map(
  Object.entries({
    seconds: ["duration", "duration_seconds", "length"],
    size: ["resolution", "ratio", "aspect_ratio", "quality"],
    input_reference: ["image", "images", "image_url", "reference_image", "first_frame"],
    callback_url: ["webhook", "webhook_url", "callback"]
  }).flatMap(([field, others]) => others.map((other) => [other, field] as const))
)

/** The body of `POST /v1/videos`, as JSON or as a form. */
export const OpenaiVideoBody: Schema.Codec<typeof Fields.Type, typeof Fields.Encoded> =
  Schema.StructWithRest(Fields, anyFields)
    .check(fieldCheck((body) => unknownFields(body, Fields.fields, fieldAliases)))
    .annotate({
      identifier: "OpenaiVideoOrder",
      description: "A video in the words of OpenAI's API; other fields than these are refused"
    })
export type OpenaiVideoBody = typeof OpenaiVideoBody.Type

/** What an order makes from another video, and the video: its URL, or the id of its task or file. */
export interface OpenaiSource {
  readonly role: Exclude<VideoRole, "reference_video">
  readonly video: string
}

/** An order in OpenAI's form; the image is a URL or a file id. */
export interface OpenaiVideoOrder {
  readonly model: string
  readonly prompt: string | null
  readonly image: string | null
  /** The video to edit or to extend; missing if there is none. */
  readonly source?: OpenaiSource
  /** The requested duration; a string if it is not a whole number. */
  readonly seconds: number | string | null
  readonly size: string | null
  readonly metadata: Metadata | null
  readonly callbackUrl: string | null
  /** The seconds for which the order may wait for a place at its channel. */
  readonly maxWait: number | null
}

/** The options that only OpenAI's form has. */
export type OpenaiOptions = Pick<OpenaiVideoOrder, "seconds" | "size">

const wholeNumber = /^-?\d{1,9}$/

const pictureOf = (reference: Reference): string =>
  typeof reference === "object" && "image_url" in reference ? reference.image_url : urlOf(reference)

/** The seconds of a body; a string if they are not a whole number. */
export const secondsOfText = (value: OpenaiVideoBody["seconds"]): OpenaiVideoOrder["seconds"] => {
  const seconds = value == null ? null : String(value).trim()
  return seconds !== null && wholeNumber.test(seconds) ? Number(seconds) : seconds
}

/** The seconds for which the order of a body may wait. */
export const waitOfText = (value: OpenaiVideoBody["max_wait"]): OpenaiVideoOrder["maxWait"] =>
  value == null ? null : Number(value)

export const openaiOrder = (body: OpenaiVideoBody): OpenaiVideoOrder => ({
  model: body.model,
  prompt: body.prompt ?? null,
  image: body.input_reference == null ? null : pictureOf(body.input_reference),
  seconds: secondsOfText(body.seconds),
  size: body.size?.trim().toLowerCase() ?? null,
  metadata: body.metadata ?? null,
  callbackUrl: body.callback_url ?? null,
  maxWait: waitOfText(body.max_wait)
})

/** The order in the gateway's own form, without the options that only OpenAI's form has. */
export const ownBodyOf = ({
  seconds: _,
  size: __,
  source,
  callbackUrl,
  maxWait,
  ...fields
}: OpenaiVideoOrder): VideoBody => ({
  ...fields,
  ...(source === undefined ? {} : { video: videoOf(source) }),
  callback_url: callbackUrl,
  max_wait: maxWait
})

const videoOf = ({ role, video }: OpenaiSource) =>
  isFileId(video) ? { file_id: video, role } : { url: video, role }

/**
 * Applies the order's options to the input; flags in the prompt count for options that are missing.
 * `defaultRatio` is the ratio of a video made from text alone.
 */
export const applyOpenaiOptions = (
  input: VideoInput,
  { seconds, size }: OpenaiOptions,
  defaultRatio: Ratio
): VideoInput => {
  const frame = size === null ? null : frameOf(size)
  const { images, videos } = countInputs(input.blocks)
  return {
    ...input,
    seconds: seconds ?? input.seconds,
    resolution: frame?.resolution ?? input.resolution,
    ratio: frame?.ratio ?? input.ratio ?? (images + videos === 0 ? defaultRatio : null)
  }
}

const INPUT_REFERENCE = "input_reference"

/** Renames the field in an error to its name in OpenAI's form. */
export const openaiErrorOf = <E>(
  error: E
): E | VideoSkuInvalid | BillingUnavailable | InvalidRequest => {
  if (error instanceof VideoSkuInvalid && error.param === "duration") {
    const message = error.message.replace(/^duration /, "seconds ")
    const { allowed, nearest } = error
    return new VideoSkuInvalid({ message, param: "seconds", allowed, nearest })
  }
  if (error instanceof InvalidRequest && /^image\b/.test(error.param ?? "")) {
    const message = error.message.replace(/^image[\w.]*/, INPUT_REFERENCE)
    return new InvalidRequest({ message, param: INPUT_REFERENCE })
  }
  if (error instanceof InvalidRequest && /^video\b/.test(error.param ?? "")) {
    const message = error.message.replace(/^video[\w.]*/, "video")
    return new InvalidRequest({ message, param: "video" })
  }
  if (error instanceof BillingUnavailable && error.param === "resolution") {
    const { message, priced } = error
    return new BillingUnavailable({
      message,
      param: "size",
      ...(priced === undefined ? {} : { priced })
    })
  }
  return error
}

/** The size to be checked; null if the order states none. */
export const sizeRequestOf = (
  { blocks }: VideoInput,
  { size }: OpenaiOptions
): SizeRequest | null => {
  if (size === null) return null
  const image = blocks.find((block) => block.type === "image")
  return { size, picture: image === undefined ? null : sidesOfUrl(image.url) }
}

/**
 * The size shown in answers: the ordered size, or only the resolution if an image decides the
 * shape.
 */
export const orderedSizeOf = (
  input: VideoInput,
  { size }: OpenaiOptions,
  { billedResolution }: VideoSku
): string => {
  if (size !== null && frameOf(size)?.ratio != null) return size
  return sizeNamed(billedResolution, countInputs(input.blocks).images > 0 ? null : input.ratio)
}
