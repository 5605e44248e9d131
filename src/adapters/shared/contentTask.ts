/** What the task interfaces with content blocks have in common: vp_a, vp_b and the relay's. */
import { Result, Schema } from "effect"
import { WebAddress } from "../../domain/plainText.ts"
import type { VendorFailure } from "../../domain/VendorOutcome.ts"
import type { VideoBlock } from "../../domain/video/VideoRequest.ts"
import type { ChannelAccount, VideoOrder, VideoStatus } from "../../services/ProtocolAdapter.ts"
import { errorText } from "../wire/errorText.ts"
import type { VendorAnswer } from "../wire/vendorAnswer.ts"
import {
  completionTokens,
  failedTask,
  finishedTask,
  openTask,
  unknownTask,
  wholeSeconds
} from "./videoStatus.ts"

/** Only the status is needed whatever it is: a failed task may say anything about its content. */
const ContentTask = Schema.Struct({
  status: Schema.String,
  content: Schema.optional(Schema.Unknown),
  usage: Schema.optional(Schema.Unknown),
  duration: Schema.optional(Schema.Unknown),
  error: Schema.optional(Schema.Unknown)
})
const Content = Schema.Struct({ video_url: WebAddress })

const isContentTask = Schema.is(ContentTask)
const isContent = Schema.is(Content)

const toContentBlock = (block: VideoBlock) => {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text }
    case "image":
      return { type: "image_url", role: block.role, image_url: { url: block.url } }
    case "audio":
      return { type: "audio_url", role: "reference_audio", audio_url: { url: block.url } }
    case "video":
      return { type: "video_url", role: "reference_video", video_url: { url: block.url } }
  }
}

/** The fields all of them take; a length left to the model is -1. */
export const contentFields = (order: VideoOrder) => ({
  model: order.upstreamModel,
  content: order.blocks.map(toContentBlock),
  duration: order.seconds === "smart" ? -1 : order.seconds,
  ...(order.ratio === null ? {} : { ratio: order.ratio }),
  ...(order.generateAudio === null ? {} : { generate_audio: order.generateAudio })
})

/** The fields of vp_a, which the relay takes as well: resolution in lower case, a watermark only when ordered. */
export const contentFieldsWithTier = (order: VideoOrder) => ({
  ...contentFields(order),
  ...(order.resolution === null ? {} : { resolution: order.resolution.toLowerCase() }),
  ...(order.seed === undefined ? {} : { seed: order.seed }),
  ...(order.cameraFixed === undefined ? {} : { camera_fixed: order.cameraFixed }),
  watermark: order.watermark ?? false
})

export const extrasWithTier = ["seed", "cameraFixed", "watermark"] as const

/** Resellers of the protocol say `pending` and `processing`. */
const openWords = new Set(["queued", "running", "pending", "processing"])

const failedWords: Readonly<Record<string, string>> = {
  failed: "The vendor failed to make the video",
  cancelled: "The vendor cancelled the task",
  expired: "The task expired at the vendor"
}

/** `unusable` tells why any other answer is of no use, in the words of the vendor's errors. */
export const readContentTask = (
  account: ChannelAccount,
  answer: VendorAnswer,
  unusable: (account: ChannelAccount, answer: VendorAnswer) => VendorFailure
): Result.Result<VideoStatus, VendorFailure> => {
  if (answer.status === 404) return unknownTask
  if (answer.status >= 300 || !isContentTask(answer.body)) {
    return Result.fail(unusable(account, answer))
  }
  const { status, content, usage, duration, error } = answer.body
  if (status === "succeeded") {
    return finishedTask(answer, isContent(content) ? content.video_url : undefined, {
      completionTokens: completionTokens(usage),
      outputSeconds: wholeSeconds(duration)
    })
  }
  const fallback = Object.hasOwn(failedWords, status) ? failedWords[status] : undefined
  if (fallback === undefined) return openTask(openWords, status)
  const { code, message } = errorText(error)
  return failedTask(account, code ?? status, message, fallback)
}
