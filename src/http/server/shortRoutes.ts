/** The requests that come most: orders of every kind, and questions about one task. */
import { Effect, Result, Schema } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import type { GatewayError } from "../../domain/Errors.ts"
import { ImageBody } from "../../domain/image/ImageRequest.ts"
import { ChatBody, EmbeddingBody } from "../../domain/text/TextRequest.ts"
import { VideoBody } from "../../domain/video/VideoBody.ts"
import type { Caller } from "../../services/Access.ts"
import { GatewayApi } from "../api/GatewayApi.ts"
import { idempotencyHeader } from "../api/shared.ts"
import type { EventAnswer } from "../handlers/eventAnswer.ts"
import { makeImageAnswers } from "../handlers/imageHandlers.ts"
import type { Answer } from "../handlers/respond.ts"
import { makeTextAnswers } from "../handlers/textHandlers.ts"
import { makeVideoAnswers } from "../handlers/videoHandlers.ts"
import { within } from "./bodies.ts"
import { parseJson } from "./jsonBody.ts"
import { decodeBody, invalidRequestOf, jsonBoundsOf } from "./requestRules.ts"

/** What an order is answered with: at once, or event by event. */
export type OrderAnswer = Answer | EventAnswer

/** An order, whose body is still to be read. */
export interface ShortOrder {
  readonly endpoint: HttpApiEndpoint.Top
  readonly answer: (
    caller: Caller,
    key: string | undefined,
    bytes: Buffer
  ) => Effect.Effect<OrderAnswer, GatewayError>
}

/** A question about what the end of its path names. */
export interface ShortRead {
  readonly endpoint: HttpApiEndpoint.Top
  readonly answer: (caller: Caller, id: string) => Effect.Effect<Answer, GatewayError>
}

const decodeHeaders = Schema.decodeUnknownResult(Schema.Struct(idempotencyHeader))

const orderOf = <S extends Schema.Top & { readonly DecodingServices: never }>(
  endpoint: HttpApiEndpoint.Top,
  payload: S,
  answer: (
    caller: Caller,
    key: string | undefined,
    body: S["Type"]
  ) => Effect.Effect<OrderAnswer, GatewayError>
): readonly [path: string, ShortOrder] => {
  const decode = decodeBody(payload)
  const bounds = jsonBoundsOf(endpoint)
  return [
    endpoint.path,
    {
      endpoint,
      answer: Effect.fnUntraced(function* (caller, key, bytes) {
        const body = yield* Effect.fromResult(within(bounds, bytes))
        if (key !== undefined) {
          const headers = decodeHeaders({ "idempotency-key": key })
          if (Result.isFailure(headers)) return yield* invalidRequestOf(headers.failure.issue)
        }
        return yield* answer(caller, key, yield* decode(yield* parseJson(body)))
      })
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
