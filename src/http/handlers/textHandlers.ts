import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { ChatBody, EmbeddingBody } from "../../domain/text/TextRequest.ts"
import { Orders } from "../../orders/Orders.ts"
import { WrittenText } from "../../orders/textStream.ts"
import type { Caller } from "../../services/Access.ts"
import { CurrentCaller } from "../api/AuthorizationApi.ts"
import { GatewayApi } from "../api/GatewayApi.ts"
import { bodyOf } from "../server/requestRules.ts"
import { EventAnswer, eventHeaders, eventsUnlessCut } from "./eventAnswer.ts"
import { answerErrors, answerOf, answerTo, responseOf } from "./respond.ts"

const asChat = bodyOf(ChatBody)
const asEmbeddings = bodyOf(EmbeddingBody)

/** How chat and embeddings requests are answered, whichever way they come. */
export const makeTextAnswers = Effect.map(Orders, (orders) => ({
  chat: Effect.fnUntraced(function* (caller: Caller, key: string | undefined, body: ChatBody) {
    const answer = yield* answerTo(yield* orders.chat(caller, body, key))
    return answer instanceof WrittenText ? new EventAnswer(answer) : answerOf(answer)
  }),
  embed: Effect.fnUntraced(function* (
    caller: Caller,
    key: string | undefined,
    body: EmbeddingBody
  ) {
    return answerOf(yield* answerTo(yield* orders.embeddings(caller, body, key)))
  })
}))

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
