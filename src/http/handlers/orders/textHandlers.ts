import { Effect, Stream } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ChatBody, EmbeddingBody } from "../../../domain/text/TextRequest.ts"
import { Orders } from "../../../orders/Orders.ts"
import { StreamedAnswer } from "../../../orders/streamedAnswer.ts"
import { customerApi } from "../../api/contractOf.ts"
import { TextsGroup } from "../../api/orders/TextsApi.ts"
import { bodyOf } from "../../server/requestRules.ts"
import { answerOrder, dataEvent, responseOf, streamResponse } from "../respond.ts"

const asChat = bodyOf(ChatBody)
const asEmbeddings = bodyOf(EmbeddingBody)

/** Tells that the charge is in the books. */
const done = Stream.succeed(dataEvent("[DONE]"))

export const layerTextsHandlers = HttpApiBuilder.group(
  customerApi(TextsGroup),
  "texts",
  Effect.fn(function* (handlers) {
    const orders = yield* Orders
    return handlers
      .handleRaw(
        "chat",
        Effect.fnUntraced(function* (request) {
          const answer = yield* answerOrder(request, yield* asChat, orders.chat)
          return answer instanceof StreamedAnswer
            ? yield* streamResponse(answer, done)
            : responseOf(answer)
        })
      )
      .handleRaw(
        "embed",
        Effect.fnUntraced(function* (request) {
          return responseOf(yield* answerOrder(request, yield* asEmbeddings, orders.embeddings))
        })
      )
  })
)
