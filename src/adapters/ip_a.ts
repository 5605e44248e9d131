/** ip_a: the common standard form; everything but `model` passes through unchanged. */
import { Clock, Effect, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import type { ChannelAccount, ImageAdapter } from "../services/ProtocolAdapter.ts"
import { messageOf, saysError } from "./errorText.ts"
import { VendorLimits } from "./limits.ts"
import { refusal, send, unusable, type VendorAnswer } from "./vendorHttp.ts"

// Wire schemas

const Answer = Schema.StructWithRest(
  Schema.Struct({
    created: Schema.optional(Schema.Unknown),
    data: Schema.Array(Schema.Unknown)
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)

const isAnswer = Schema.is(Answer)
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

/** The answer when it holds an image; items refused beside it stay as they are. */
const toResult = (answer: VendorAnswer): typeof Answer.Type | null =>
  answer.status < 300 &&
  !saysError(answer.body) &&
  isAnswer(answer.body) &&
  answer.body.data.some((item) => isImage(item))
    ? answer.body
    : null

/** Where every image was refused on its own, the first one speaks for the order. */
const failure = (account: ChannelAccount, answer: VendorAnswer) => {
  const refused = isAnswer(answer.body) ? answer.body.data.find(saysError) : undefined
  return refused === undefined || saysError(answer.body)
    ? unusable(account, answer)
    : refusal(account, answer, { message: messageOf(refused) })
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
    const result = toResult(answer)
    if (result === null) return yield* Effect.fail(failure(account, answer))
    return Number.isSafeInteger(result.created)
      ? result
      : { ...result, created: Math.floor((yield* Clock.currentTimeMillis) / 1000) }
  })

  return { generate } satisfies ImageAdapter
})
