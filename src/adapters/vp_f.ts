/**
 * vp_f: cloud tasks whose wire format depends on the model, billed by ordered seconds. A table
 * contains the format of each family of the vendor's models: media, size and ratio. For other
 * models, the kind (text, image, reference) and the version are read from the id, or inferred from
 * the order if the id contains neither.
 */
import { Result, Schema } from "effect"
import { readBill } from "../domain/money/vendorBill.ts"
import { JobId, WebAddress } from "../domain/plainText.ts"
import type { VendorRefused } from "../domain/VendorOutcome.ts"
import {
  canSound,
  describeInputs,
  familyOf,
  type InputRole,
  type PlacedOrder,
  placeMedia
} from "../domain/video/families/VideoFamily.ts"
import {
  type CloudFamily,
  type CloudMode,
  cloudFamilies,
  isFrameBlock,
  isReferenceBlock,
  type sizedCloudResolutions,
  type UnknownCloudModel,
  unknownCloudModel
} from "../domain/video/families/vp_f.ts"
import { readResolution } from "../domain/video/tiers.ts"
import type { ImageRole } from "../domain/video/VideoBody.ts"
import type { VideoUsage } from "../domain/video/VideoCharge.ts"
import { textOf, type VideoBlock } from "../domain/video/VideoInput.ts"
import type { VideoOrder } from "../services/ProtocolAdapter.ts"
import { type VideoDialect, videoCalls } from "./common/adapterCalls.ts"
import { cloudCancel, cloudPollRequest } from "./common/cloudTasks.ts"
import { cloudRefusals, flatFailure } from "./common/flatErrors.ts"
import { type StatusNames, taskStatus, unknownTask } from "./common/videoStatus.ts"
import { localRefusal } from "./wire/vendorFailures.ts"
import { bearer, cloudUrl, omitEmpty, post, secondsOf } from "./wire/vendorRequest.ts"

// Wire schemas

const isSubmitted = Schema.is(Schema.Struct({ output: Schema.Struct({ task_id: JobId }) }))
const isPolled = Schema.is(
  Schema.Struct({
    output: Schema.Struct({
      task_status: Schema.String,
      video_url: Schema.optional(Schema.Unknown),
      code: Schema.optional(Schema.Unknown),
      message: Schema.optional(Schema.Unknown)
    }),
    usage: Schema.optional(Schema.Unknown)
  })
)
/**
 * Matches the durations in an answer, in seconds, and the rows of the resolution (`SR`). Older
 * models call the duration of the output `video_duration`.
 */
const isUsage = Schema.is(
  Schema.Struct({
    duration: Schema.optional(Schema.Unknown),
    input_video_duration: Schema.optional(Schema.Unknown),
    output_video_duration: Schema.optional(Schema.Unknown),
    video_duration: Schema.optional(Schema.Unknown),
    SR: Schema.optional(Schema.Unknown)
  })
)
/** Matches the duration of a plausible video, in seconds. */
const isLength = Schema.is(
  Schema.Finite.check(Schema.isGreaterThan(0), Schema.isLessThanOrEqualTo(3600))
)
const isText = Schema.is(Schema.NonEmptyString)
const isAddress = Schema.is(WebAddress)

// To the vendor

type MediaBlock = Exclude<VideoBlock, { readonly type: "text" }>

/** The wire format of an order for its model. */
interface WrittenForm {
  /** The fields of `input` that contain the media. */
  readonly media: Readonly<Record<string, unknown>>
  readonly picture: CloudFamily["picture"]
  readonly hasSoundSwitch: boolean
}

const refuse = (message: string) =>
  Result.fail(localRefusal(message, { code: "InvalidParameter", message }))

/** The type of a medium in the list; a video that is continued is the first clip of the result. */
const itemTypeOf = (role: InputRole, { soundItem }: CloudFamily): string | undefined => {
  if (role === "reference_audio") return soundItem
  return role === "extend_video" ? "first_clip" : role
}

const writeMedia = (family: CloudFamily, { mode, media }: PlacedOrder<CloudMode>) => {
  const urlOf = (role: InputRole) => media.find((medium) => medium.role === role)?.url
  switch (mode) {
    case "fields":
      return omitEmpty({ img_url: urlOf("first_frame"), audio_url: urlOf("reference_audio") })
    case "reference_urls":
      return { reference_urls: media.map(({ url }) => url) }
    case "media":
      return {
        media: media.map(({ role, url }) => ({ type: itemTypeOf(role, family), url }))
      }
  }
}

/**
 * Whether every medium has a field. A field holds only one address, so a second medium of the same
 * role has no field.
 */
const hasFieldForEach = ({ mode, media }: PlacedOrder<CloudMode>): boolean =>
  mode !== "fields" || new Set(media.map(({ role }) => role)).size === media.length

const formOfFamily = (
  family: CloudFamily,
  order: VideoOrder
): Result.Result<WrittenForm, VendorRefused> => {
  const { picture, sound } = family
  const placedMedia = placeMedia(family, order.blocks)
  if (Result.isFailure(placedMedia) || !hasFieldForEach(placedMedia.success)) {
    return refuse(`Not all of this input has a place: the model takes ${describeInputs(family)}`)
  }
  return canSound(sound, order.generateAudio)
    ? Result.succeed({
        media: writeMedia(family, placedMedia.success),
        picture,
        hasSoundSwitch: sound === "switch"
      })
    : refuse("The model always makes sound: it has no field by which generate_audio can be false")
}

/**
 * Puts each medium into the field of its type. Fails if the model has no field for a type, or if
 * there are two media of a type.
 */
const fieldsOfMedia = (
  media: ReadonlyArray<MediaBlock>,
  fieldByType: Readonly<Record<string, string>>
) => {
  const entries = media.map(({ type, url }) => [fieldByType[type], type, url] as const)
  for (const [index, [field, type]] of entries.entries()) {
    if (field === undefined) return refuse(`The model does not accept ${type} input`)
    if (entries.findIndex(([otherField]) => otherField === field) < index) {
      return refuse(`The model accepts only one ${type} input`)
    }
  }
  return Result.succeed(Object.fromEntries(entries.map(([field, , url]) => [field, url])))
}

const toItem = (block: MediaBlock, defaultRole: ImageRole) => {
  const types = { audio: "driving_audio", video: "reference_video" }
  return {
    type: block.type === "image" ? (block.role ?? defaultRole) : types[block.type],
    url: block.url
  }
}

/** The fields of an order's media; a medium without a field is refused, not left out. */
const mediaOf = (
  media: ReadonlyArray<MediaBlock>,
  { kind, isOld, defaultRole }: UnknownCloudModel
): Result.Result<WrittenForm["media"], VendorRefused> => {
  if (kind === "text") return fieldsOfMedia(media, { audio: "audio_url" })
  if (kind === "image" && media.some(isReferenceBlock)) {
    return media.some(({ type }) => type === "video")
      ? refuse("The model does not accept video input")
      : refuse("The model does not accept a reference image: an image is its first frame")
  }
  if (!isOld) return Result.succeed({ media: media.map((block) => toItem(block, defaultRole)) })
  if (kind === "image") {
    return media.some((block) => block.type === "image" && block.role === "last_frame")
      ? refuse("The model does not accept a last frame")
      : fieldsOfMedia(media, { image: "img_url", audio: "audio_url" })
  }
  if (media.some(({ type }) => type === "audio")) {
    return refuse("The model does not accept audio input")
  }
  return media.some(isFrameBlock)
    ? refuse("The model does not accept frames: its images are references")
    : Result.succeed({ reference_urls: media.map(({ url }) => url) })
}

const formByInputs = ({
  upstreamModel,
  blocks
}: VideoOrder): Result.Result<WrittenForm, VendorRefused> => {
  const media = blocks.filter((block) => block.type !== "text")
  const model = unknownCloudModel(upstreamModel, blocks)
  const { kind, isOld, sound } = model
  return Result.map(mediaOf(media, model), (media) => ({
    media,
    picture: kind === "image" ? "resolution" : isOld ? "size" : "resolution_and_ratio",
    hasSoundSwitch: sound === "switch"
  }))
}

const sizes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "720p": {
    "16:9": "1280*720",
    "9:16": "720*1280",
    "1:1": "960*960",
    "4:3": "1088*832",
    "3:4": "832*1088"
  },
  "1080p": {
    "16:9": "1920*1080",
    "9:16": "1080*1920",
    "1:1": "1440*1440",
    "4:3": "1632*1248",
    "3:4": "1248*1632"
  }
} satisfies Record<(typeof sizedCloudResolutions)[number], Readonly<Record<string, string>>>

/**
 * The size to send. A size combines resolution and ratio, so a ratio for which the table has no
 * size cannot be sent.
 */
const sizeOf = (order: VideoOrder) => {
  const resolution = order.resolution ?? "720p"
  const ratio = order.ratio ?? "16:9"
  const size = new Map(Object.entries(sizes[resolution] ?? {})).get(ratio)
  return size === undefined
    ? refuse(`The size is not match the allowed size: ${resolution} at ${ratio}`)
    : Result.succeed({ size })
}

/** The fields of the frame. No ratio is sent if a first frame decides the shape. */
const pictureOf = (
  order: VideoOrder,
  picture: WrittenForm["picture"]
): Result.Result<object, VendorRefused> => {
  if (picture === "size") return sizeOf(order)
  const ratio = picture === "resolution" ? null : order.ratio
  return Result.succeed({ resolution: order.resolution?.toUpperCase(), ratio })
}

/** The body of an order; fails with a refusal if the model has no format for it. */
export const toBody = (
  order: VideoOrder
): Result.Result<
  { readonly model: string; readonly input: unknown; readonly parameters: unknown },
  VendorRefused
> =>
  Result.gen(function* () {
    const { upstreamModel: model, blocks, generateAudio } = order
    const family = familyOf(cloudFamilies, model)
    const form = yield* family === null ? formByInputs(order) : formOfFamily(family, order)
    const { negative_prompt, ...parameters } = order.parameters
    return {
      model,
      input: omitEmpty({ prompt: textOf(blocks), negative_prompt, ...form.media }),
      parameters: omitEmpty({
        watermark: false,
        ...parameters,
        duration: secondsOf(order),
        ...(yield* pictureOf(order, form.picture)),
        audio: form.hasSoundSwitch ? generateAudio : null
      })
    }
  })

const submitRequest: VideoDialect["submitRequest"] = (account, order) =>
  Result.map(toBody(order), (body) =>
    post(
      cloudUrl(account, "services/aigc/video-generation/video-synthesis"),
      { ...bearer(account), "x-dashscope-async": "enable" },
      body
    )
  )

// From the vendor

const readSubmitted: VideoDialect["readSubmitted"] = (account, answer) =>
  answer.status < 300 && isSubmitted(answer.body)
    ? Result.succeed(answer.body.output.task_id)
    : Result.fail(flatFailure(account, answer))

const statusNames: StatusNames = {
  queued: ["PENDING"],
  open: ["RUNNING"],
  finished: ["SUCCEEDED"],
  unknown: ["UNKNOWN"],
  failed: ["FAILED"],
  cancelled: ["CANCELED", "CANCELLED"]
}

/** Reads a duration, which is sometimes a string of digits; a part of a second counts as one. */
const lengthOf = (value: unknown): number | null => {
  const seconds = typeof value === "string" ? Number(value) : value
  return isLength(seconds) ? Math.ceil(seconds) : null
}

/** The seconds of the usage. The vendor's `duration` is the sum of input and output seconds. */
const readUsage = (usage: unknown): VideoUsage => {
  if (!isUsage(usage)) return { completionTokens: null, outputSeconds: null }
  const inputSeconds = lengthOf(usage.input_video_duration)
  const renderedSeconds = lengthOf(usage.output_video_duration) ?? lengthOf(usage.video_duration)
  const totalSeconds = lengthOf(usage.duration)
  const resolution = readResolution(`${usage.SR}p`)
  return {
    completionTokens: null,
    outputSeconds: renderedSeconds,
    ...(inputSeconds === null ? {} : { inputSeconds }),
    ...(totalSeconds === null ? {} : { totalSeconds }),
    ...readBill("second", usage.duration),
    ...(resolution === undefined ? {} : { resolution })
  }
}

const readPolled: VideoDialect["readPolled"] = (account, answer) => {
  if (answer.status === 404) return unknownTask
  if (answer.status >= 300 || !isPolled(answer.body)) {
    return Result.fail(flatFailure(account, answer))
  }
  const { output, usage } = answer.body
  const { task_status: statusName, video_url: url, code, message } = output
  return taskStatus(account, answer, statusNames, {
    status: statusName,
    videoUrl: isAddress(url) ? url : undefined,
    usage: readUsage(usage),
    code: isText(code) ? code : null,
    message: isText(message) ? message : null
  })
}

// Calls

export const vpF: VideoDialect = {
  submitRequest,
  readSubmitted,
  pollRequest: cloudPollRequest,
  readPolled,
  refusals: () => cloudRefusals,
  cancel: cloudCancel
}
export const makeVpF = videoCalls("vp_f", vpF)
