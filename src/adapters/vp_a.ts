/**
 * vp_a: task interface with content blocks; billed by the completion tokens it reports. vp_b and a
 * family of the relay speak it with other addresses and fewer fields.
 */
import { Result, Schema } from "effect"
import { JobId, WebAddress } from "../domain/plainText.ts"
import type { VendorFailure } from "../domain/VendorOutcome.ts"
import type { VideoBlock } from "../domain/video/VideoInput.ts"
import type { ChannelAccount, VideoOrder, VideoStatus } from "../services/ProtocolAdapter.ts"
import { type VideoDialect, videoCalls } from "./common/adapterCalls.ts"
import {
  completionTokens,
  failedTask,
  finishedTask,
  openTask,
  unknownTask,
  wholeSeconds
} from "./common/videoStatus.ts"
import { errorText } from "./wire/errorText.ts"
import type { VendorAnswer } from "./wire/vendorAnswer.ts"
import { unusable } from "./wire/vendorFailures.ts"
import { bearer, get, given, post, rootOf, secondsOf } from "./wire/vendorRequest.ts"

// Wire schemas

const Submitted = Schema.Struct({ id: JobId })

/** Only the status is needed whatever it is: a failed task may say anything about its content. */
const Task = Schema.Struct({
  status: Schema.String,
  content: Schema.optional(Schema.Unknown),
  usage: Schema.optional(Schema.Unknown),
  duration: Schema.optional(Schema.Unknown),
  error: Schema.optional(Schema.Unknown)
})
const Content = Schema.Struct({ video_url: WebAddress })

const isSubmitted = Schema.is(Submitted)
const isTask = Schema.is(Task)
const isContent = Schema.is(Content)

// To the vendor

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

/** The fields that vp_b takes as well. */
export const commonFields = (order: VideoOrder) =>
  given({
    model: order.upstreamModel,
    content: order.blocks.map(toContentBlock),
    duration: secondsOf(order),
    ratio: order.ratio,
    generate_audio: order.generateAudio
  })

/** The fields that the relay takes as well; a watermark is made only where it is ordered. */
export const allFields = (order: VideoOrder) =>
  given({
    ...commonFields(order),
    resolution: order.resolution?.toLowerCase(),
    seed: order.seed,
    camera_fixed: order.cameraFixed,
    watermark: order.watermark ?? false
  })

export const extras = ["seed", "cameraFixed", "watermark"] as const

/** The interface's root: bases may already end in its version, or in a reseller's `/v1`. */
const tasksUrl = (account: ChannelAccount): string => {
  const base = rootOf(account)
  const root = /\/(?:api\/v3|v1)$/.test(base) ? base : `${base}/api/v3`
  return `${root}/contents/generations/tasks`
}

const submitRequest: VideoDialect["submitRequest"] = (account, order) =>
  Result.succeed(post(tasksUrl(account), bearer(account), allFields(order)))

const pollRequest: VideoDialect["pollRequest"] = (account, { upstreamId }) =>
  Result.succeed(get(`${tasksUrl(account)}/${encodeURIComponent(upstreamId)}`, bearer(account)))

// From the vendor

const readSubmitted: VideoDialect["readSubmitted"] = (account, answer) =>
  answer.status < 300 && isSubmitted(answer.body)
    ? Result.succeed(answer.body.id)
    : Result.fail(unusable(account, answer))

/** Resellers of the protocol say `pending` and `processing`. */
const openWords = new Set(["queued", "running", "pending", "processing"])

const failedWords: Readonly<Record<string, string>> = {
  failed: "The vendor failed to make the video",
  cancelled: "The vendor cancelled the task",
  expired: "The task expired at the vendor"
}

/** `failureOf` tells why any other answer is of no use, by the errors the vendor has. */
export const readTask = (
  account: ChannelAccount,
  answer: VendorAnswer,
  failureOf: (account: ChannelAccount, answer: VendorAnswer) => VendorFailure
): Result.Result<VideoStatus, VendorFailure> => {
  if (answer.status === 404) return unknownTask
  if (answer.status >= 300 || !isTask(answer.body)) {
    return Result.fail(failureOf(account, answer))
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

const readPolled: VideoDialect["readPolled"] = (account, answer) =>
  readTask(account, answer, unusable)

// Calls

export const makeVpA = videoCalls("vp_a", {
  submitRequest,
  readSubmitted,
  pollRequest,
  readPolled,
  extras: () => extras
})
