import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { RerankBody } from "../../../domain/rerank/RerankRequest.ts"
import { ChatBody, EmbeddingBody } from "../../../domain/text/TextRequest.ts"
import { Orders } from "../../../orders/Orders.ts"
import { StreamedAnswer } from "../../../orders/streamedAnswer.ts"
import { customerApi } from "../../api/contractOf.ts"
import { TextsGroup } from "../../api/orders/TextsApi.ts"
import { bodyOf } from "../../server/requestRules.ts"
import { dataEvent, endWith, placeOrder, responseOf, streamResponse } from "../respond.ts"
import { narrowContext } from "./narrowContext.ts"
import { makeOrderBody } from "./orderBody.ts"

const chatBody = bodyOf(ChatBody)
const embeddingBody = bodyOf(EmbeddingBody)

/** The last event, sent when the charge is recorded in the ledger. */
const doneEvent = dataEvent("[DONE]")

export const layerTextsHandlers = Layer.unwrap(
  Effect.gen(function* () {
    const orders = yield* Orders
    const { json: rerankBody } = (yield* makeOrderBody)(RerankBody, "rerank")
    return narrowContext(
      HttpApiBuilder.group(customerApi(TextsGroup), "texts", (handlers) =>
        handlers
          .handleRaw(
            "chat",
            Effect.fnUntraced(function* (request) {
              const answer = yield* placeOrder(request, yield* chatBody, orders.chat)
              return answer instanceof StreamedAnswer
                ? yield* streamResponse(answer, endWith(doneEvent))
                : responseOf(answer)
            })
          )
          .handleRaw(
            "embed",
            Effect.fnUntraced(function* (request) {
              return responseOf(yield* placeOrder(request, yield* embeddingBody, orders.embeddings))
            })
          )
          .handleRaw(
            "rerank",
            Effect.fnUntraced(function* (request) {
              return responseOf(yield* placeOrder(request, yield* rerankBody, orders.rerank))
            })
          )
      )
    )
  })
)
