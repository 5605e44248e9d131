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
import { errorText } from "./errorText.ts"
import { VendorLimits } from "./limits.ts"
import { scrubText } from "./scrub.ts"
import { completionTokens, wholeSeconds } from "./usage.ts"
import { brokenAnswer, send, unusable } from "./vendorHttp.ts"

// Wire schemas

const Submitted = Schema.Struct({ id: Schema.NonEmptyString })

/** Only the status is needed whatever it is: a failed task may say anything about its content. */
const Polled = Schema.Struct({
  status: Schema.String,
  content: Schema.optional(Schema.Unknown),
  usage: Schema.optional(Schema.Unknown),
  duration: Schema.optional(Schema.Unknown),
  error: Schema.optional(Schema.Unknown)
})
const Content = Schema.Struct({ video_url: Schema.NonEmptyString })

const isSubmitted = Schema.is(Submitted)
const isPolled = Schema.is(Polled)
const isContent = Schema.is(Content)

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
  ...(order.generateAudio === null ? {} : { generate_audio: order.generateAudio }),
  watermark: false
})

// From the vendor

const failedWords: Readonly<Record<string, string>> = {
  failed: "The vendor failed to make the video",
  cancelled: "The vendor cancelled the task",
  expired: "The task expired at the vendor"
}

/** Null when it claims a success and shows no video. */
const toStatus = (account: ChannelAccount, body: typeof Polled.Type): VideoStatus | null => {
  if (body.status === "succeeded") {
    return isContent(body.content)
      ? {
          _tag: "Succeeded",
          videoUrl: body.content.video_url,
          usage: {
            completionTokens: completionTokens(body.usage),
            outputSeconds: wholeSeconds(body.duration)
          }
        }
      : null
  }
  const fallback = Object.hasOwn(failedWords, body.status) ? failedWords[body.status] : undefined
  if (fallback === undefined) return { _tag: "Processing" }
  const { code, message } = errorText(body.error)
  return {
    _tag: "Failed",
    code: scrubText(account, code ?? body.status),
    message: scrubText(account, message ?? fallback)
  }
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
    return answer.status < 300 && isSubmitted(answer.body)
      ? answer.body.id
      : yield* Effect.fail(unusable(account, answer))
  })

  const poll: VideoAdapter["poll"] = Effect.fn("vp_a.poll")(function* (account, task) {
    const url = `${tasksUrl(account.baseUrl)}/${encodeURIComponent(task.upstreamId)}`
    const request = HttpClientRequest.get(url).pipe(HttpClientRequest.bearerToken(account.apiKey))
    const answer = yield* send(http, request, limits.poll)
    if (answer.status === 404) return { _tag: "Unknown" as const }
    if (answer.status >= 300 || !isPolled(answer.body)) {
      return yield* Effect.fail(unusable(account, answer))
    }
    const status = toStatus(account, answer.body)
    return status ?? (yield* brokenAnswer(account, answer))
  })

  return { submit, poll } satisfies VideoAdapter
})
