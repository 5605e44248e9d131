/**
 * The relay's family d: the older API of vp_d's vendor, with one path for text and one for an
 * image.
 */
import { Result, Schema } from "effect"
import { readBill } from "../../domain/money/vendorBill.ts"
import { JobId, WebAddress } from "../../domain/plainText.ts"
import type { olderUnifiedResolutions } from "../../domain/video/families/vp_d.ts"
import type { Resolution } from "../../domain/video/tiers.ts"
import { countInputs, textOf } from "../../domain/video/VideoInput.ts"
import type { ChannelAccount, VideoOrder } from "../../services/ProtocolAdapter.ts"
import type { VideoDialect } from "../common/adapterCalls.ts"
import { flatFailure } from "../common/flatErrors.ts"
import { noUsage, type StatusNames, taskStatus } from "../common/videoStatus.ts"
import { openEnvelope } from "../vp_d.ts"
import { brokenAnswer, localRefusal } from "../wire/vendorFailures.ts"
import { bearer, get, omitEmpty, post, rootOf, secondsOf } from "../wire/vendorRequest.ts"

// Wire schemas

const isSubmitted = Schema.is(Schema.Struct({ task_id: JobId }))
const isPolled = Schema.is(
  Schema.Struct({
    task_status: Schema.String,
    task_status_msg: Schema.optional(Schema.Unknown),
    task_result: Schema.optional(Schema.Unknown),
    final_unit_deduction: Schema.optional(Schema.Unknown)
  })
)
const isFinished = Schema.is(Schema.Struct({ videos: Schema.Array(Schema.Unknown) }))
const isVideo = Schema.is(Schema.Struct({ url: WebAddress }))
const isText = Schema.is(Schema.NonEmptyString)

// To the vendor

const videosUrl = (account: ChannelAccount): string => `${rootOf(account)}/v1/videos`

/** The quality modes, in which resolutions are sent; a resolution without a mode is refused. */
const modes: Readonly<Partial<Record<Resolution, string>>> = {
  "720p": "std",
  "1080p": "pro",
  "4K": "4k"
} satisfies Record<(typeof olderUnifiedResolutions)[number], string>

const pathOf = (order: VideoOrder) =>
  countInputs(order.blocks).images === 0 ? "text2video" : "image2video"

const refuse = (message: string) => Result.fail(localRefusal(message, { code: 1201, message }))

const submitRequest: VideoDialect["submitRequest"] = (account, order) => {
  const { audios, videos } = countInputs(order.blocks)
  const images = order.blocks.filter((block) => block.type === "image")
  const [image] = images
  const mode = modes[order.resolution ?? "720p"]
  if (audios > 0) return refuse("Audio input is not supported")
  if (videos > 0) return refuse("Video input is not supported")
  if (images.length > 1) return refuse("Only one image is supported")
  if (image?.role === "last_frame") return refuse("A last frame is not supported")
  // A reference image is refused, because the path has a single image field, which is the first
  // frame.
  if (image?.role === "reference_image") {
    return refuse("A reference image is not supported, only a first frame")
  }
  if (mode === undefined) return refuse(`Resolution ${order.resolution} is not supported`)
  const body = omitEmpty({
    model_name: order.upstreamModel,
    prompt: textOf(order.blocks),
    image: image?.url,
    duration: String(secondsOf(order)),
    mode,
    aspect_ratio: image === undefined ? order.ratio : null,
    sound: order.generateAudio === null ? null : order.generateAudio ? "on" : "off"
  })
  return Result.succeed(post(`${videosUrl(account)}/${pathOf(order)}`, bearer(account), body))
}

/**
 * Polls a task. A task exists only on the path of its order, so the stored id includes the path, as
 * in `text2video/8601`.
 */
const pollRequest: VideoDialect["pollRequest"] = (account, { upstreamId }) => {
  const [, path, id] = /^(text2video|image2video)\/(.*)$/s.exec(upstreamId) ?? []
  const task = `${path ?? "text2video"}/${encodeURIComponent(id ?? upstreamId)}`
  return Result.succeed(get(`${videosUrl(account)}/${task}`, bearer(account)))
}

// From the vendor

const readSubmitted: VideoDialect["readSubmitted"] = (account, answer, order) =>
  Result.flatMap(openEnvelope(account, answer, flatFailure), (data) =>
    isSubmitted(data)
      ? Result.succeed(`${pathOf(order)}/${data.task_id}`)
      : Result.fail(brokenAnswer(answer))
  )

const statusNames: StatusNames = {
  open: ["submitted", "processing"],
  finished: ["succeed"],
  failed: ["failed"]
}

const readPolled: VideoDialect["readPolled"] = (account, answer) =>
  Result.flatMap(openEnvelope(account, answer, flatFailure), (data) => {
    if (!isPolled(data)) return Result.fail(brokenAnswer(answer))
    const { task_status: statusName, task_status_msg: message, task_result: result } = data
    return taskStatus(account, answer, statusNames, {
      status: statusName,
      videoUrl: isFinished(result) ? result.videos.find(isVideo)?.url : undefined,
      usage: { ...noUsage, ...readBill("unit", data.final_unit_deduction) },
      message: isText(message) ? message : null
    })
  })

// Calls: those of vp_c

export const familyD: VideoDialect = {
  submitRequest,
  readSubmitted,
  pollRequest,
  readPolled
}
