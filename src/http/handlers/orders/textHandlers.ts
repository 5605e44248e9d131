import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect, Stream } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { ChatBody, EmbeddingBody } from "../../../domain/text/TextRequest.ts"
import { Orders } from "../../../orders/Orders.ts"
import { WrittenText } from "../../../orders/text/textStream.ts"
import { GatewayApi } from "../../api/GatewayApi.ts"
import { errorBody } from "../../server/errorResponse.ts"
import { bodyOf } from "../../server/requestRules.ts"
import { answerTo, eventResponse, responseOf } from "../respond.ts"

const asChat = bodyOf(ChatBody)
const asEmbeddings = bodyOf(EmbeddingBody)

const utf8 = new TextEncoder()
const event = (data: string): Uint8Array => utf8.encode(`data: ${data}\n\n`)

/**
 * Every event as soon as it is there. The last one tells that the charge is in the books, or what
 * became of the rest. A client that takes nothing for too long is cut off at its socket: who sends is
 * waiting for it then.
 */
const answerWith = Effect.fnUntraced(function* (text: WrittenText) {
  const request = yield* HttpServerRequest.HttpServerRequest
  yield* Effect.addFinalizer(() => text.leave)
  text.onCut(() => NodeHttpServerRequest.toIncomingMessage(request).socket.destroy())
  return eventResponse(
    text.events.pipe(
      Stream.concat(Stream.succeed(event("[DONE]"))),
      Stream.catch((error) => Stream.succeed(event(JSON.stringify(errorBody(error)))))
    )
  )
})

export const layerTextsHandlers = HttpApiBuilder.group(
  GatewayApi,
  "texts",
  Effect.fn(function* (handlers) {
    const orders = yield* Orders
    return handlers
      .handleRaw(
        "chat",
        Effect.fnUntraced(function* (request) {
          const answer = yield* answerTo(request, yield* asChat, orders.chat)
          return answer instanceof WrittenText ? yield* answerWith(answer) : responseOf(answer)
        })
      )
      .handleRaw(
        "embed",
        Effect.fnUntraced(function* (request) {
          return responseOf(yield* answerTo(request, yield* asEmbeddings, orders.embeddings))
        })
      )
  })
)
