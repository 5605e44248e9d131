/** ip_a: the common standard form; everything but `model` passes through unchanged. */
import { Clock, Effect, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import type { ChannelAccount, ImageAdapter } from "../services/ProtocolAdapter.ts"
import { VendorLimits } from "./limits.ts"
import { brokenAnswer, refusal, send, type VendorAnswer } from "./vendorHttp.ts"

// Wire schemas

const Answer = Schema.StructWithRest(
  Schema.Struct({
    created: Schema.optional(Schema.Unknown),
    data: Schema.Array(Schema.Record(Schema.String, Schema.Unknown))
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)

/** Resellers write the error as an object with nullable fields, or as bare text. */
const ErrorBody = Schema.Struct({
  error: Schema.Union([
    Schema.String,
    Schema.Struct({ message: Schema.optional(Schema.NullOr(Schema.String)) })
  ])
})

const isAnswer = Schema.is(Answer)
const isErrorBody = Schema.is(ErrorBody)
const isImage = Schema.is(
  Schema.Union([
    Schema.Struct({ url: Schema.NonEmptyString }),
    Schema.Struct({ b64_json: Schema.NonEmptyString })
  ])
)

// To the vendor

/** The base holds the version segment; one without any path gets `/v1`. */
const imagesUrl = (baseUrl: string): string => {
  const base = baseUrl.replace(/\/+$/, "")
  return /^https?:\/\/[^/]+$/i.test(base)
    ? `${base}/v1/images/generations`
    : `${base}/images/generations`
}

// From the vendor

const refused = (account: ChannelAccount, answer: VendorAnswer) => {
  const error = isErrorBody(answer.body) ? answer.body.error : null
  return refusal(account, answer, {
    message:
      (typeof error === "string" ? error : error?.message) ??
      `The vendor answered HTTP ${answer.status}`,
    effectiveStatus: answer.status >= 300 ? answer.status : 502
  })
}

// Calls

export const makeIpA = Effect.gen(function* () {
  const http = yield* HttpClient.HttpClient
  const limits = yield* VendorLimits

  const generate: ImageAdapter["generate"] = Effect.fn("ip_a.generate")(function* (account, order) {
    const request = HttpClientRequest.post(imagesUrl(account.baseUrl)).pipe(
      HttpClientRequest.bearerToken(account.apiKey),
      HttpClientRequest.bodyJsonUnsafe({ ...order.body, model: order.upstreamModel })
    )
    const answer = yield* send(http, request, limits.image)
    if (answer.status >= 300 || isErrorBody(answer.body)) {
      return yield* Effect.fail(refused(account, answer))
    }
    if (!isAnswer(answer.body) || !answer.body.data.some((image) => isImage(image))) {
      return yield* brokenAnswer(account, answer)
    }
    const { created } = answer.body
    return typeof created === "number"
      ? answer.body
      : { ...answer.body, created: Math.floor((yield* Clock.currentTimeMillis) / 1000) }
  })

  return { generate } satisfies ImageAdapter
})
