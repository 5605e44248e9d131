/** vp_f: cloud tasks whose wire form depends on the model's kind; billed by ordered seconds. */
import { Effect, Result, Schema } from "effect"
import { JobId, WebAddress } from "../domain/plainText.ts"
import type { VendorFailure } from "../domain/VendorOutcome.ts"
import { scrubText } from "../hiding/credentialsFromClients.ts"
import type { ChannelAccount, VideoAdapter, VideoStatus } from "../services/ProtocolAdapter.ts"
import { flatFailure } from "./flatErrors.ts"
import { inTheWorks } from "./openStatus.ts"
import { extras, toBody } from "./vp_f.body.ts"
import { VendorLimits } from "./wire/limits.ts"
import { VendorWire } from "./wire/VendorWire.ts"
import type { VendorAnswer } from "./wire/vendorAnswer.ts"
import { brokenAnswer } from "./wire/vendorFailures.ts"
import { send } from "./wire/vendorHttp.ts"
import { bearer, get, post } from "./wire/vendorRequest.ts"

// Wire schemas

const Submitted = Schema.Struct({ output: Schema.Struct({ task_id: JobId }) })
const Polled = Schema.Struct({
  output: Schema.Struct({
    task_status: Schema.String,
    video_url: Schema.optional(Schema.Unknown),
    code: Schema.optional(Schema.Unknown),
    message: Schema.optional(Schema.Unknown)
  })
})

const isSubmitted = Schema.is(Submitted)
const isPolled = Schema.is(Polled)
const isText = Schema.is(Schema.NonEmptyString)
const isAddress = Schema.is(WebAddress)

// To the vendor

const root = (baseUrl: string): string => baseUrl.replace(/\/+$/, "")

// From the vendor

const openWords = new Set(["PENDING", "RUNNING"])

export const readSubmitted = (
  account: ChannelAccount,
  answer: VendorAnswer
): Result.Result<string, VendorFailure> =>
  answer.status < 300 && isSubmitted(answer.body)
    ? Result.succeed(answer.body.output.task_id)
    : Result.fail(flatFailure(account, answer))

const failedWords: Readonly<Record<string, string>> = {
  FAILED: "The vendor failed to make the video",
  CANCELED: "The vendor cancelled the task",
  CANCELLED: "The vendor cancelled the task"
}

export const readPolled = (
  account: ChannelAccount,
  answer: VendorAnswer
): Result.Result<VideoStatus, VendorFailure> => {
  if (answer.status === 404) return Result.succeed({ _tag: "Unknown" })
  if (answer.status >= 300 || !isPolled(answer.body)) {
    return Result.fail(flatFailure(account, answer))
  }
  const { task_status: word, video_url: videoUrl, code, message } = answer.body.output
  if (word === "UNKNOWN") return Result.succeed({ _tag: "Unknown" })
  if (word === "SUCCEEDED") {
    return isAddress(videoUrl)
      ? Result.succeed({
          _tag: "Succeeded",
          videoUrl,
          usage: { completionTokens: null, outputSeconds: null }
        })
      : Result.fail(brokenAnswer(answer))
  }
  const fallback = Object.hasOwn(failedWords, word) ? failedWords[word] : undefined
  return Result.succeed(
    fallback === undefined
      ? inTheWorks(openWords, word)
      : {
          _tag: "Failed",
          code: scrubText(account, isText(code) ? code : word),
          message: scrubText(account, isText(message) ? message : fallback)
        }
  )
}

// Calls

export const makeVpF = Effect.gen(function* () {
  const wire = yield* VendorWire
  const limits = yield* VendorLimits

  const submit: VideoAdapter["submit"] = Effect.fn("vp_f.submit")(function* (account, order) {
    const body = yield* Effect.fromResult(toBody(order))
    const url = `${root(account.baseUrl)}/api/v1/services/aigc/video-generation/video-synthesis`
    const request = post(url, { ...bearer(account), "x-dashscope-async": "enable" }, body)
    const answer = yield* send(wire, request, limits.submit)
    return yield* Effect.fromResult(readSubmitted(account, answer))
  })

  const poll: VideoAdapter["poll"] = Effect.fnUntraced(function* (account, task) {
    const url = `${root(account.baseUrl)}/api/v1/tasks/${encodeURIComponent(task.upstreamId)}`
    const request = get(url, bearer(account))
    const answer = yield* send(wire, request, limits.poll)
    return yield* Effect.fromResult(readPolled(account, answer))
  })

  return { submit, poll, extras: () => extras } satisfies VideoAdapter
})
