/**
 * vp_f: cloud tasks whose wire form depends on the model; billed by ordered seconds. An upstream
 * model has a kind (text, image, reference) and a version, both read from its id; each pair has its
 * own places for media, size and ratio.
 */
import { Result, Schema } from "effect"
import { JobId, WebAddress } from "../domain/plainText.ts"
import type { VendorRefused } from "../domain/VendorOutcome.ts"
import { textOf, type VideoBlock } from "../domain/video/VideoInput.ts"
import type { ChannelAccount, VideoOrder } from "../services/ProtocolAdapter.ts"
import { type VideoDialect, videoCalls } from "./common/adapterCalls.ts"
import { cloudRefusals, flatFailure } from "./common/flatErrors.ts"
import { type TaskWords, taskStatus, unknownTask } from "./common/videoStatus.ts"
import { refusedUnsent } from "./wire/vendorFailures.ts"
import { bearer, get, given, post, rootOf, secondsOf } from "./wire/vendorRequest.ts"

// Wire schemas

const isSubmitted = Schema.is(Schema.Struct({ output: Schema.Struct({ task_id: JobId }) }))
const isPolled = Schema.is(
  Schema.Struct({
    output: Schema.Struct({
      task_status: Schema.String,
      video_url: Schema.optional(Schema.Unknown),
      code: Schema.optional(Schema.Unknown),
      message: Schema.optional(Schema.Unknown)
    })
  })
)
const isText = Schema.is(Schema.NonEmptyString)
const isAddress = Schema.is(WebAddress)

// To the vendor

type Kind = "text" | "image" | "reference"

interface Form {
  readonly kind: Kind
  /** Version 2.6 and older; every other id, also one without a version, takes the newest form. */
  readonly old: boolean
  /** The variant whose sound can be switched off. */
  readonly flash: boolean
}

type MediaBlock = Exclude<VideoBlock, { readonly type: "text" }>

const kinds: Readonly<Record<string, Kind>> = { t2v: "text", i2v: "image", r2v: "reference" }

/** The kind an order needs, where the model's id does not say which it is. */
const kindOfInputs = (media: ReadonlyArray<MediaBlock>): Kind => {
  const references = media.filter(
    (block) => block.type === "image" && (block.role ?? "reference_image") === "reference_image"
  ).length
  if (references > 1 || media.some(({ type }) => type === "video")) return "reference"
  return media.some(({ type }) => type === "image") ? "image" : "text"
}

/** Ids are such as `x2.6-t2v`, `x2.6-i2v-flash` and, on a relay, `x2.7-r2v-cn`. */
const formOf = (model: string, media: ReadonlyArray<MediaBlock>): Form => {
  const kind = /(?:^|[-_.])([tir]2v)(?![a-z0-9])/i.exec(model)?.[1]?.toLowerCase()
  const [, major, minor] = /(\d+)\.(\d+)/.exec(model) ?? []
  return {
    kind: kinds[kind ?? ""] ?? kindOfInputs(media),
    old: major !== undefined && (Number(major) < 2 || (major === "2" && Number(minor) <= 6)),
    flash: /(?:^|[-_.])flash(?![a-z0-9])/i.test(model)
  }
}

const refuse = (message: string) =>
  Result.fail(refusedUnsent({ code: "InvalidParameter", message }))

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
}

/** A size stands for resolution and ratio together, so a ratio without a size cannot be said. */
const sizeOf = (order: VideoOrder) => {
  const resolution = order.resolution ?? "720p"
  const ratio = order.ratio ?? "16:9"
  const size = new Map(Object.entries(sizes[resolution] ?? {})).get(ratio)
  return size === undefined
    ? refuse(`The size is not match the allowed size: ${resolution} at ${ratio}`)
    : Result.succeed({ size })
}

/** An image's own shape decides, so no ratio goes out with it. */
const pictureOf = (
  order: VideoOrder,
  { kind, old }: Form
): Result.Result<object, VendorRefused> => {
  if (kind !== "image" && old) return sizeOf(order)
  const ratio = kind === "image" ? null : order.ratio
  return Result.succeed({ resolution: order.resolution?.toUpperCase(), ratio })
}

const hasSound = ({ kind, flash }: Form): boolean =>
  kind === "reference" || (kind === "image" && flash)

/** Fields that each hold one address; a second one of a type has no field. */
const single = (media: ReadonlyArray<MediaBlock>, places: Readonly<Record<string, string>>) => {
  const found = media.map(({ type, url }) => [places[type], type, url] as const)
  for (const [index, [field, type]] of found.entries()) {
    if (field === undefined) return refuse(`The model does not accept ${type} input`)
    if (found.findIndex(([other]) => other === field) < index) {
      return refuse(`The model accepts only one ${type} input`)
    }
  }
  return Result.succeed(Object.fromEntries(found.map(([field, , url]) => [field, url])))
}

const toItem = (block: MediaBlock, kind: Kind) => {
  const types = {
    first_frame: "first_frame",
    last_frame: "last_frame",
    reference_image: kind === "image" ? "first_frame" : "reference_image",
    audio: "driving_audio",
    video: "reference_video"
  }
  return {
    type: types[block.type === "image" ? (block.role ?? "reference_image") : block.type],
    url: block.url
  }
}

/** Where the media of an order go; what has no place is refused instead of left out. */
const mediaOf = (
  media: ReadonlyArray<MediaBlock>,
  { kind, old }: Form
): Result.Result<Readonly<Record<string, unknown>>, VendorRefused> => {
  if (kind === "text") return single(media, { audio: "audio_url" })
  if (kind === "image" && media.some(({ type }) => type === "video")) {
    return refuse("The model does not accept video input")
  }
  if (!old) return Result.succeed({ media: media.map((block) => toItem(block, kind)) })
  if (kind === "image") {
    return media.some((block) => block.type === "image" && block.role === "last_frame")
      ? refuse("The model does not accept a last frame")
      : single(media, { image: "img_url", audio: "audio_url" })
  }
  return media.some(({ type }) => type === "audio")
    ? refuse("The model does not accept audio input")
    : Result.succeed({ reference_urls: media.map(({ url }) => url) })
}

/** The whole envelope; fails with the refusal of an order that its model has no form for. */
export const toBody = (
  order: VideoOrder
): Result.Result<
  { readonly model: string; readonly input: unknown; readonly parameters: unknown },
  VendorRefused
> =>
  Result.gen(function* () {
    const media = order.blocks.filter((block) => block.type !== "text")
    const form = formOf(order.upstreamModel, media)
    const { negative_prompt, ...parameters } = order.parameters
    return {
      model: order.upstreamModel,
      input: given({
        prompt: textOf(order.blocks),
        negative_prompt,
        ...(yield* mediaOf(media, form))
      }),
      parameters: given({
        watermark: false,
        ...parameters,
        ...(yield* pictureOf(order, form)),
        duration: secondsOf(order),
        audio: hasSound(form) ? order.generateAudio : null
      })
    }
  })

const apiUrl = (account: ChannelAccount): string => `${rootOf(account, "/api/v1")}/api/v1`

const submitRequest: VideoDialect["submitRequest"] = (account, order) =>
  Result.map(toBody(order), (body) =>
    post(
      `${apiUrl(account)}/services/aigc/video-generation/video-synthesis`,
      { ...bearer(account), "x-dashscope-async": "enable" },
      body
    )
  )

const pollRequest: VideoDialect["pollRequest"] = (account, { upstreamId }) =>
  Result.succeed(get(`${apiUrl(account)}/tasks/${encodeURIComponent(upstreamId)}`, bearer(account)))

// From the vendor

const readSubmitted: VideoDialect["readSubmitted"] = (account, answer) =>
  answer.status < 300 && isSubmitted(answer.body)
    ? Result.succeed(answer.body.output.task_id)
    : Result.fail(flatFailure(account, answer))

const words: TaskWords = {
  open: ["PENDING", "RUNNING"],
  finished: ["SUCCEEDED"],
  unknown: ["UNKNOWN"],
  failed: ["FAILED"],
  cancelled: ["CANCELED", "CANCELLED"]
}

const readPolled: VideoDialect["readPolled"] = (account, answer) => {
  if (answer.status === 404) return unknownTask
  if (answer.status >= 300 || !isPolled(answer.body)) {
    return Result.fail(flatFailure(account, answer))
  }
  const { task_status: word, video_url: url, code, message } = answer.body.output
  return taskStatus(account, answer, words, {
    word,
    videoUrl: isAddress(url) ? url : undefined,
    code: isText(code) ? code : null,
    message: isText(message) ? message : null
  })
}

// Calls

export const vpF: VideoDialect = {
  submitRequest,
  readSubmitted,
  pollRequest,
  readPolled,
  refusals: () => cloudRefusals
}
export const makeVpF = videoCalls("vp_f", vpF)
