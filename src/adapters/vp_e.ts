/** vp_e: one path per kind of order, `Token` authentication; billed by ordered seconds. */
import { Redacted, Result, Schema } from "effect"
import { JobId, WebAddress } from "../domain/plainText.ts"
import type { VendorFailure, VendorRefused } from "../domain/VendorOutcome.ts"
import { countInputs, textOf, type VideoBlock } from "../domain/video/VideoInput.ts"
import type { ChannelAccount, VideoOrder } from "../services/ProtocolAdapter.ts"
import { type VideoDialect, videoCalls } from "./common/adapterCalls.ts"
import { flatFailure } from "./common/flatErrors.ts"
import { failedTask, finishedTask, openTask, unknownTask } from "./common/videoStatus.ts"
import { errorText } from "./wire/errorText.ts"
import type { VendorAnswer } from "./wire/vendorAnswer.ts"
import { refusal, refusedUnsent } from "./wire/vendorFailures.ts"
import { get, given, post, rootOf, secondsOf } from "./wire/vendorRequest.ts"

// Wire schemas

const Submitted = Schema.Struct({ task_id: JobId })
const Polled = Schema.Struct({
  state: Schema.String,
  creations: Schema.optional(Schema.Unknown)
})
const Creation = Schema.Struct({ url: WebAddress })
const Refused = Schema.Struct({ reason: Schema.String })
const FailedSubmit = Schema.Struct({ state: Schema.Literal("failed") })
const Coded = Schema.Struct({ err_code: Schema.NonEmptyString })

const isSubmitted = Schema.is(Submitted)
const isPolled = Schema.is(Polled)
const isCreation = Schema.is(Creation)
const isRefused = Schema.is(Refused)
const isFailedSubmit = Schema.is(FailedSubmit)
const isCoded = Schema.is(Coded)

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
    model: order.upstreamModel,
    prompt: textOf(order.blocks),
    images: mode === "text2video" ? null : ordered.map(({ url }) => url),
    duration: secondsOf(order),
    resolution: order.resolution?.toLowerCase(),
    aspect_ratio: takesRatio.has(mode) ? order.ratio : null,
    audio: order.generateAudio,
    seed: order.seed,
    watermark: order.watermark ?? false,
    payload: order.taskId
  })
}

export const extras = ["seed", "watermark"] as const

const unwanted = (field: string) =>
  Result.fail(
    refusedUnsent({ code: 400, reason: "FieldUnwanted", message: `unwanted field: ${field}` })
  )

/** Path and body of an order; reference audio and video have no field on this tier. */
export const toSubmit = (
  order: VideoOrder
): Result.Result<{ readonly path: string; readonly body: object }, VendorRefused> => {
  const { audios, videos } = countInputs(order.blocks)
  if (audios > 0) return unwanted("audios")
  if (videos > 0) return unwanted("videos")
  const images = order.blocks.filter((block) => block.type === "image")
  const mode = modeOf(images)
  return Result.succeed({ path: `/ent/v2/${mode}`, body: toBody(order, mode, images) })
}

export const pollPath = (upstreamId: string): string =>
  `/ent/v2/tasks/${encodeURIComponent(upstreamId)}/creations`

const authorized = (account: ChannelAccount) => ({
  authorization: `Token ${Redacted.value(account.apiKey)}`
})

const submitRequest: VideoDialect["submitRequest"] = (account, order) =>
  Result.map(toSubmit(order), ({ path, body }) =>
    post(`${rootOf(account)}${path}`, authorized(account), body)
  )

const pollRequest: VideoDialect["pollRequest"] = (account, { upstreamId }) =>
  Result.succeed(get(`${rootOf(account)}${pollPath(upstreamId)}`, authorized(account)))

// From the vendor

const openWords = new Set(["created", "queueing", "processing"])

/** An empty account is an HTTP 400 here; it must not look like the client's own fault. */
const failure = (account: ChannelAccount, answer: VendorAnswer): VendorFailure =>
  isRefused(answer.body) && answer.body.reason === "CreditInsufficient"
    ? refusal(account, answer, { effectiveStatus: 402 })
    : flatFailure(account, answer)

const failedMessage = (body: unknown): string | null =>
  errorText(body).message ??
  (isCoded(body) ? `The vendor failed to make the video: ${body.err_code}` : null)

/** The task's id; an answer that already says `failed` is a refusal, whether it names a task or not. */
export const readSubmitted: VideoDialect["readSubmitted"] = (account, answer) => {
  if (answer.status < 300 && isFailedSubmit(answer.body)) {
    const message = failedMessage(answer.body) ?? "The vendor failed to make the video"
    return Result.fail(refusal(account, answer, { message, isVerdict: true }))
  }
  return answer.status < 300 && isSubmitted(answer.body)
    ? Result.succeed(answer.body.task_id)
    : Result.fail(failure(account, answer))
}

export const readPolled: VideoDialect["readPolled"] = (account, answer) => {
  if (answer.status === 404) return unknownTask
  if (answer.status >= 300 || !isPolled(answer.body)) {
    return Result.fail(failure(account, answer))
  }
  const { body } = answer
  switch (body.state) {
    case "success": {
      const creations: ReadonlyArray<unknown> = Array.isArray(body.creations) ? body.creations : []
      return finishedTask(answer, creations.find(isCreation)?.url)
    }
    case "failed":
      return failedTask(account, isCoded(body) ? body.err_code : "failed", failedMessage(body))
    default:
      return openTask(openWords, body.state)
  }
}

// Calls

export const makeVpE = videoCalls("vp_e", {
  submitRequest,
  readSubmitted,
  pollRequest,
  readPolled,
  extras: () => extras
})
