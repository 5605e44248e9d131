import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { ChatBody, EmbeddingBody } from "../../domain/text/TextRequest.ts"
import { type TextRefusal, Texts } from "../../orders/TextOrders.ts"
import type { Caller } from "../../services/Access.ts"
import type { KeyAlreadyUsed, Recalled } from "../../services/IdempotencyKeys.ts"
import { GatewayApi } from "../api/GatewayApi.ts"
import { CurrentCaller } from "../api/middlewares.ts"
import { bodyOf } from "../server/requestRules.ts"
import { EventAnswer, eventHeaders, eventsUnlessCut } from "./eventAnswer.ts"
import { makeOnce, otherKind } from "./idempotent.ts"
import { type Answer, answerErrors, answerOf, responseOf } from "./respond.ts"

const asChat = bodyOf(ChatBody)
const asEmbeddings = bodyOf(EmbeddingBody)

const replay = (recalled: Recalled) =>
  recalled._tag === "Text" ? Effect.succeed(answerOf(recalled.result)) : otherKind(recalled)

/** How chat and embeddings requests are answered, whichever way they come. */
export const makeTextAnswers = Effect.gen(function* () {
  const texts = yield* Texts
  const once = yield* makeOnce

  const chat = (caller: Caller, key: string | undefined, body: ChatBody) =>
    once(
      { organizationId: caller.organizationId, key, path: "/v1/chat/completions", body },
      {
        order: (key): Effect.Effect<Answer | EventAnswer, TextRefusal | KeyAlreadyUsed> =>
          body.stream === true
            ? Effect.map(texts.write(caller, body, key), (text) => new EventAnswer(text))
            : Effect.map(texts.complete(caller, body, key), answerOf),
        replay
      }
    )

  const embed = (caller: Caller, key: string | undefined, body: EmbeddingBody) =>
    once(
      { organizationId: caller.organizationId, key, path: "/v1/embeddings", body },
      {
        order: (key) => Effect.map(texts.embed(caller, body, key), answerOf),
        replay
      }
    )

  return { chat, embed }
})

const eventStream = Effect.fnUntraced(function* ({ text }: EventAnswer) {
  const request = yield* HttpServerRequest.HttpServerRequest
  yield* Effect.addFinalizer(() => text.leave)
  const cutOff = () => NodeHttpServerRequest.toIncomingMessage(request).socket.destroy()
  const { "content-type": contentType, ...headers } = eventHeaders
  return HttpServerResponse.stream(eventsUnlessCut(text, cutOff), { contentType, headers })
})

export const layerTextsHandlers = HttpApiBuilder.group(
  GatewayApi,
  "texts",
  Effect.fn(function* (handlers) {
    const { chat, embed } = yield* makeTextAnswers
    return handlers
      .handleRaw(
        "chat",
        Effect.fnUntraced(function* ({ headers }) {
          const caller = yield* CurrentCaller
          const body = yield* asChat
          const answer = yield* chat(caller, headers["idempotency-key"], body)
          return answer instanceof EventAnswer ? yield* eventStream(answer) : responseOf(answer)
        }, answerErrors)
      )
      .handleRaw(
        "embed",
        Effect.fnUntraced(function* ({ headers }) {
          const caller = yield* CurrentCaller
          const body = yield* asEmbeddings
          return responseOf(yield* embed(caller, headers["idempotency-key"], body))
        }, answerErrors)
      )
  })
)
