/** vp_e: one path per kind of order, `Token` authentication; billed by ordered seconds. */
import { Redacted, Result, Schema } from "effect"
import { JobId, WebAddress } from "../domain/plainText.ts"
import { countInputs, textOf, type VideoBlock } from "../domain/video/VideoInput.ts"
import type { ChannelAccount, VideoOrder } from "../services/ProtocolAdapter.ts"
import { type VideoDialect, videoCalls } from "./common/adapterCalls.ts"
import { flatFailure } from "./common/flatErrors.ts"
import { type TaskWords, taskStatus, unknownTask } from "./common/videoStatus.ts"
import { errorText } from "./wire/errorText.ts"
import { flatReason, meanings, refusalTable } from "./wire/refusalTable.ts"
import { listOf } from "./wire/vendorAnswer.ts"
import { refusal, refusedUnsent } from "./wire/vendorFailures.ts"
import { get, given, post, rootOf, secondsOf } from "./wire/vendorRequest.ts"

// Wire schemas

const isSubmitted = Schema.is(Schema.Struct({ task_id: JobId }))
const isPolled = Schema.is(
  Schema.Struct({ state: Schema.String, creations: Schema.optional(Schema.Unknown) })
)
const isCreation = Schema.is(Schema.Struct({ url: WebAddress }))
const isFailedSubmit = Schema.is(Schema.Struct({ state: Schema.Literal("failed") }))
const isCoded = Schema.is(Schema.Struct({ err_code: Schema.NonEmptyString }))

// To the vendor

type Mode = "text2video" | "img2video" | "start-end2video" | "reference2video"

type ImageBlock = Extract<VideoBlock, { readonly type: "image" }>

/** Frames come first frame first; a last frame without a first one is the vendor's to refuse. */
const modeOf = (images: ReadonlyArray<ImageBlock>): Mode => {
  if (images.length === 0) return "text2video"
  const lasts = images.filter(({ role }) => role === "last_frame").length
  const firsts = images.filter(({ role }) => role === "first_frame").length
  if (images.length === 1) return lasts === 1 ? "start-end2video" : "img2video"
  return images.length === 2 && firsts === 1 && lasts === 1 ? "start-end2video" : "reference2video"
}

const takesRatio: ReadonlySet<Mode> = new Set(["text2video", "reference2video"])

const toBody = (order: VideoOrder, mode: Mode, images: ReadonlyArray<ImageBlock>) => {
  const ordered =
    mode === "start-end2video"
      ? images.toSorted((a, b) => Number(a.role === "last_frame") - Number(b.role === "last_frame"))
      : images
  return given({
    watermark: false,
    ...order.parameters,
    model: order.upstreamModel,
    prompt: textOf(order.blocks),
    images: mode === "text2video" ? null : ordered.map(({ url }) => url),
    duration: secondsOf(order),
    resolution: order.resolution?.toLowerCase(),
    aspect_ratio: takesRatio.has(mode) ? order.ratio : null,
    audio: order.generateAudio,
    payload: order.taskId
  })
}

const unwanted = (field: string) =>
  Result.fail(
    refusedUnsent({ code: 400, reason: "FieldUnwanted", message: `unwanted field: ${field}` })
  )

const apiUrl = (account: ChannelAccount): string => `${rootOf(account)}/ent/v2`

const authorized = (account: ChannelAccount) => ({
  authorization: `Token ${Redacted.value(account.apiKey)}`
})

/** Reference audio and video have no field on this tier. */
const submitRequest: VideoDialect["submitRequest"] = (account, order) => {
  const { audios, videos } = countInputs(order.blocks)
  if (audios > 0) return unwanted("audios")
  if (videos > 0) return unwanted("videos")
  const images = order.blocks.filter((block) => block.type === "image")
  const mode = modeOf(images)
  const body = toBody(order, mode, images)
  return Result.succeed(post(`${apiUrl(account)}/${mode}`, authorized(account), body))
}

const pollRequest: VideoDialect["pollRequest"] = (account, { upstreamId }) => {
  const task = encodeURIComponent(upstreamId)
  return Result.succeed(get(`${apiUrl(account)}/tasks/${task}/creations`, authorized(account)))
}

// From the vendor

const words: TaskWords = {
  open: ["created", "queueing", "processing"],
  finished: ["success"],
  failed: ["failed"]
}

export const reasonRefusals = refusalTable([flatReason], {
  // An empty account is an HTTP 400 here, and must not look like the client's own fault.
  CreditInsufficient: meanings.balance,
  InternalServiceFailure: meanings.unsure,
  ModelUnavailable: meanings.model,
  OperationInProcess: meanings.unsure,
  QuotaExceeded: meanings.rate,
  SystemThrottling: meanings.rate,
  TooManyRequests: meanings.rate,
  UserCancelled: meanings.unsure
})

const failedMessage = (body: unknown): string | null =>
  errorText(body).message ??
  (isCoded(body) ? `The vendor failed to make the video: ${body.err_code}` : null)

/** The task's id; an answer that already says `failed` is a refusal, whether it names a task or not. */
const readSubmitted: VideoDialect["readSubmitted"] = (account, answer) => {
  if (answer.status < 300 && isFailedSubmit(answer.body)) {
    const message = failedMessage(answer.body) ?? "The vendor failed to make the video"
    return Result.fail(refusal(account, answer, { message, isVerdict: true }))
  }
  return answer.status < 300 && isSubmitted(answer.body)
    ? Result.succeed(answer.body.task_id)
    : Result.fail(flatFailure(account, answer))
}

const readPolled: VideoDialect["readPolled"] = (account, answer) => {
  if (answer.status === 404) return unknownTask
  if (answer.status >= 300 || !isPolled(answer.body)) {
    return Result.fail(flatFailure(account, answer))
  }
  const { body } = answer
  return taskStatus(account, answer, words, {
    word: body.state,
    videoUrl: listOf(body.creations).find(isCreation)?.url,
    code: isCoded(body) ? body.err_code : null,
    message: failedMessage(body)
  })
}

// Calls

export const vpE: VideoDialect = {
  submitRequest,
  readSubmitted,
  pollRequest,
  readPolled,
  refusals: () => reasonRefusals,
  noTask: { upstreamId: "0" }
}
export const makeVpE = videoCalls("vp_e", vpE)
