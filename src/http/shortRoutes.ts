/** The requests that come most: orders of every kind, and questions about one task. */
import { Effect, Result, Schema, SchemaIssue } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import type { GatewayError } from "../domain/Errors.ts"
import { ImageBody } from "../domain/ImageRequest.ts"
import { ChatBody, EmbeddingBody } from "../domain/TextRequest.ts"
import { VideoBody } from "../domain/VideoRequest.ts"
import type { Caller } from "../services/Access.ts"
import { GatewayApi } from "./api/Api.ts"
import { idempotencyHeader } from "./api/shared.ts"
import type { EventAnswer } from "./handlers/eventAnswer.ts"
import { makeImageAnswers } from "./handlers/images.ts"
import type { Answer } from "./handlers/respond.ts"
import { makeTextAnswers } from "./handlers/texts.ts"
import { makeVideoAnswers } from "./handlers/videos.ts"
import { invalidRequestOf } from "./requestRules.ts"

/** What an order is answered with: at once, or event by event. */
export type OrderAnswer = Answer | EventAnswer

/** An order, whose body is still to be read. */
export interface ShortOrder {
  readonly endpoint: HttpApiEndpoint.Top
  readonly answer: (
    caller: Caller,
    key: string | undefined,
    text: string
  ) => Effect.Effect<OrderAnswer, GatewayError>
}

/** A question about what the end of its path names. */
export interface ShortRead {
  readonly endpoint: HttpApiEndpoint.Top
  readonly answer: (caller: Caller, id: string) => Effect.Effect<Answer, GatewayError>
}

const decodeHeaders = Schema.decodeUnknownResult(Schema.Struct(idempotencyHeader))

const parsed = (text: string): Result.Result<unknown, SchemaIssue.Issue> => {
  try {
    return Result.succeed(JSON.parse(text))
  } catch {
    return Result.fail(new SchemaIssue.InvalidValue({ message: "Expected a valid JSON body" }))
  }
}

const orderOf = <S extends Schema.Top & { readonly DecodingServices: never }>(
  endpoint: HttpApiEndpoint.Top,
  payload: S,
  answer: (
    caller: Caller,
    key: string | undefined,
    body: S["Type"]
  ) => Effect.Effect<OrderAnswer, GatewayError>
): readonly [path: string, ShortOrder] => {
  // What the contract's own decoder is made of, so that both say the same of a bad body.
  const decode = Schema.decodeUnknownResult(Schema.Union([Schema.toCodecJson(payload)]))
  return [
    endpoint.path,
    {
      endpoint,
      answer: (caller, key, text) => {
        const headers =
          key === undefined ? Result.succeed({}) : decodeHeaders({ "idempotency-key": key })
        if (Result.isFailure(headers)) {
          return Effect.fail(invalidRequestOf(headers.failure.issue))
        }
        const json = parsed(text)
        if (Result.isFailure(json)) return Effect.fail(invalidRequestOf(json.failure))
        const body = decode(json.success)
        return Result.isFailure(body)
          ? Effect.fail(invalidRequestOf(body.failure.issue))
          : answer(caller, key, body.success)
      }
    }
  ]
}

export const makeShortRoutes = Effect.gen(function* () {
  const images = yield* makeImageAnswers
  const videos = yield* makeVideoAnswers
  const texts = yield* makeTextAnswers
  const { groups } = GatewayApi
  const { create, read } = groups.videos.endpoints
  const orders: ReadonlyMap<string, ShortOrder> = new Map([
    orderOf(groups.images.endpoints.generate, ImageBody, images.generate),
    orderOf(create, VideoBody, videos.create),
    orderOf(groups.texts.endpoints.chat, ChatBody, texts.chat),
    orderOf(groups.texts.endpoints.embed, EmbeddingBody, texts.embed)
  ])
  const reads: ReadonlyMap<string, ShortRead> = new Map([
    [read.path.replace(":task_id", ""), { endpoint: read, answer: videos.read }]
  ])
  return { orders, reads }
})
