/** vp_e: one path per kind of order, `Token` authentication; billed by ordered seconds. */
import { Effect, Redacted, Result, Schema } from "effect"
import { JobId, WebAddress } from "../domain/plainText.ts"
import type { VendorFailure, VendorRefused } from "../domain/VendorOutcome.ts"
import { countInputs, textOf, type VideoBlock } from "../domain/video/VideoRequest.ts"
import { scrubText } from "../hiding/credentialsFromClients.ts"
import type {
  ChannelAccount,
  VideoAdapter,
  VideoOrder,
  VideoStatus
} from "../services/ProtocolAdapter.ts"
import { flatFailure } from "./flatErrors.ts"
import { inTheWorks } from "./openStatus.ts"
import { errorText } from "./wire/errorText.ts"
import { VendorLimits } from "./wire/limits.ts"
import { VendorWire } from "./wire/VendorWire.ts"
import type { VendorAnswer } from "./wire/vendorAnswer.ts"
import { brokenAnswer, refusal, refusedUnsent } from "./wire/vendorFailures.ts"
import { send } from "./wire/vendorHttp.ts"
import { get, post } from "./wire/vendorRequest.ts"

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
  const prompt = textOf(order.blocks)
  const ordered =
    mode === "start-end2video"
      ? images.toSorted((a, b) => Number(a.role === "last_frame") - Number(b.role === "last_frame"))
      : images
  return {
    model: order.upstreamModel,
    ...(prompt === "" ? {} : { prompt }),
    ...(mode === "text2video" ? {} : { images: ordered.map(({ url }) => url) }),
    duration: order.seconds === "smart" ? -1 : order.seconds,
    ...(order.resolution === null ? {} : { resolution: order.resolution.toLowerCase() }),
    ...(order.ratio === null || !takesRatio.has(mode) ? {} : { aspect_ratio: order.ratio }),
    ...(order.generateAudio === null ? {} : { audio: order.generateAudio }),
    ...(order.seed === undefined ? {} : { seed: order.seed }),
    watermark: order.watermark ?? false,
    payload: order.taskId
  }
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

// From the vendor

const openWords = new Set(["created", "queueing", "processing"])

/** An empty account is an HTTP 400 here; it must not look like the client's own fault. */
const failure = (account: ChannelAccount, answer: VendorAnswer): VendorFailure =>
  isRefused(answer.body) && answer.body.reason === "CreditInsufficient"
    ? refusal(account, answer, { effectiveStatus: 402 })
    : flatFailure(account, answer)

const failedMessage = (body: unknown): string =>
  errorText(body).message ??
  (isCoded(body)
    ? `The vendor failed to make the video: ${body.err_code}`
    : "The vendor failed to make the video")

/** The task's id; an answer that already says `failed` is a refusal, whether it names a task or not. */
export const readSubmitted = (
  account: ChannelAccount,
  answer: VendorAnswer
): Result.Result<string, VendorFailure> => {
  if (answer.status >= 300) return Result.fail(failure(account, answer))
  if (isFailedSubmit(answer.body)) {
    const message = failedMessage(answer.body)
    return Result.fail(refusal(account, answer, { message, isVerdict: true }))
  }
  return isSubmitted(answer.body)
    ? Result.succeed(answer.body.task_id)
    : Result.fail(failure(account, answer))
}

export const readPolled = (
  account: ChannelAccount,
  answer: VendorAnswer
): Result.Result<VideoStatus, VendorFailure> => {
  if (answer.status === 404) return Result.succeed({ _tag: "Unknown" })
  if (answer.status >= 300 || !isPolled(answer.body)) {
    return Result.fail(failure(account, answer))
  }
  const { body } = answer
  if (body.state === "failed") {
    return Result.succeed({
      _tag: "Failed",
      code: scrubText(account, isCoded(body) ? body.err_code : "failed"),
      message: scrubText(account, failedMessage(body))
    })
  }
  if (body.state !== "success") return Result.succeed(inTheWorks(openWords, body.state))
  const creation = Array.isArray(body.creations) ? body.creations.find(isCreation) : undefined
  return creation === undefined
    ? Result.fail(brokenAnswer(answer))
    : Result.succeed({
        _tag: "Succeeded",
        videoUrl: creation.url,
        usage: { completionTokens: null, outputSeconds: null }
      })
}

// Calls

const root = (baseUrl: string): string => baseUrl.replace(/\/+$/, "")

const authorized = (account: ChannelAccount) => ({
  authorization: `Token ${Redacted.value(account.apiKey)}`
})

export const makeVpE = Effect.gen(function* () {
  const wire = yield* VendorWire
  const limits = yield* VendorLimits

  const submit: VideoAdapter["submit"] = Effect.fn("vp_e.submit")(function* (account, order) {
    const { path, body } = yield* Effect.fromResult(toSubmit(order))
    const request = post(`${root(account.baseUrl)}${path}`, authorized(account), body)
    const answer = yield* send(wire, request, limits.submit)
    return yield* Effect.fromResult(readSubmitted(account, answer))
  })

  const poll: VideoAdapter["poll"] = Effect.fnUntraced(function* (account, task) {
    const request = get(`${root(account.baseUrl)}${pollPath(task.upstreamId)}`, authorized(account))
    const answer = yield* send(wire, request, limits.poll)
    return yield* Effect.fromResult(readPolled(account, answer))
  })

  return { submit, poll, extras: () => extras } satisfies VideoAdapter
})
