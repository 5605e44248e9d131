/** vp_a: task interface with content blocks; billed by the completion tokens it reports. */
import { Effect, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import type { VideoBlock } from "../domain/VideoRequest.ts"
import type {
  ChannelAccount,
  VideoAdapter,
  VideoOrder,
  VideoStatus
} from "../services/ProtocolAdapter.ts"
import { VendorLimits } from "./limits.ts"
import { completionTokens, wholeSeconds } from "./usage.ts"
import { brokenAnswer, refusal, send, type VendorAnswer } from "./vendorHttp.ts"

// Wire schemas

const Submitted = Schema.Struct({ id: Schema.NonEmptyString })

const Polled = Schema.Struct({
  status: Schema.String,
  content: Schema.optional(
    Schema.NullOr(Schema.Struct({ video_url: Schema.optional(Schema.NullOr(Schema.String)) }))
  ),
  usage: Schema.optional(Schema.Unknown),
  duration: Schema.optional(Schema.Unknown),
  error: Schema.optional(Schema.Unknown)
})

const ErrorDetail = Schema.Struct({
  code: Schema.optional(Schema.NullOr(Schema.String)),
  message: Schema.optional(Schema.NullOr(Schema.String))
})
const ErrorBody = Schema.Struct({ error: ErrorDetail })

const isSubmitted = Schema.is(Submitted)
const isPolled = Schema.is(Polled)
const isErrorBody = Schema.is(ErrorBody)
const isErrorDetail = Schema.is(ErrorDetail)

// To the vendor

/** The interface's root: bases may already end in its version, or in a reseller's `/v1`. */
const tasksUrl = (baseUrl: string): string => {
  const base = baseUrl.replace(/\/+$/, "")
  const root = /\/(?:api\/v3|v1)$/.test(base) ? base : `${base}/api/v3`
  return `${root}/contents/generations/tasks`
}

export const toContentBlock = (block: VideoBlock) => {
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

const toBody = (order: VideoOrder) => ({
  model: order.upstreamModel,
  content: order.blocks.map(toContentBlock),
  duration: order.seconds === "smart" ? -1 : order.seconds,
  ...(order.resolution === null ? {} : { resolution: order.resolution.toLowerCase() }),
  ...(order.ratio === null ? {} : { ratio: order.ratio }),
  ...(order.generateAudio === null ? {} : { generate_audio: order.generateAudio })
})

// From the vendor

const refused = (account: ChannelAccount, answer: VendorAnswer) =>
  refusal(account, answer, {
    message:
      (isErrorBody(answer.body) ? answer.body.error.message : null) ??
      `The vendor answered HTTP ${answer.status}`
  })

const failedWords: Readonly<Record<string, string>> = {
  failed: "The vendor failed to make the video",
  cancelled: "The vendor cancelled the task",
  expired: "The task expired at the vendor"
}

const toStatus = (body: typeof Polled.Type): VideoStatus | null => {
  if (body.status === "succeeded") {
    const videoUrl = body.content?.video_url
    return typeof videoUrl === "string" && videoUrl !== ""
      ? {
          _tag: "Succeeded",
          videoUrl,
          usage: {
            completionTokens: completionTokens(body.usage),
            outputSeconds: wholeSeconds(body.duration)
          }
        }
      : null
  }
  const fallback = Object.hasOwn(failedWords, body.status) ? failedWords[body.status] : undefined
  if (fallback === undefined) return { _tag: "Processing" }
  const detail = isErrorDetail(body.error) ? body.error : {}
  return { _tag: "Failed", code: detail.code ?? body.status, message: detail.message ?? fallback }
}

// Calls

export const makeVpA = Effect.gen(function* () {
  const http = yield* HttpClient.HttpClient
  const limits = yield* VendorLimits

  const submit: VideoAdapter["submit"] = Effect.fn("vp_a.submit")(function* (account, order) {
    const request = HttpClientRequest.post(tasksUrl(account.baseUrl)).pipe(
      HttpClientRequest.bearerToken(account.apiKey),
      HttpClientRequest.bodyJsonUnsafe(toBody(order))
    )
    const answer = yield* send(http, request, limits.submit)
    if (answer.status >= 300) return yield* Effect.fail(refused(account, answer))
    if (!isSubmitted(answer.body)) return yield* brokenAnswer(account, answer)
    return answer.body.id
  })

  const poll: VideoAdapter["poll"] = Effect.fn("vp_a.poll")(function* (account, task) {
    const url = `${tasksUrl(account.baseUrl)}/${encodeURIComponent(task.upstreamId)}`
    const request = HttpClientRequest.get(url).pipe(HttpClientRequest.bearerToken(account.apiKey))
    const answer = yield* send(http, request, limits.poll)
    if (answer.status === 404) return { _tag: "Unknown" as const }
    if (answer.status >= 300) return yield* Effect.fail(refused(account, answer))
    const status = isPolled(answer.body) ? toStatus(answer.body) : null
    return status ?? (yield* brokenAnswer(account, answer))
  })

  return { submit, poll } satisfies VideoAdapter
})
