import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { MessagesBody } from "../../domain/messages/MessagesRequest.ts"
import { customerApi } from "../../http/api/contractOf.ts"
import { strictParsing } from "../../http/api/shared.ts"
import { narrowContext } from "../../http/handlers/orders/narrowContext.ts"
import { placeOrder, responseOf, streamResponse } from "../../http/handlers/respond.ts"
import { messageErrorEvent } from "../../http/server/messageErrors.ts"
import { bodyOf } from "../../http/server/requestRules.ts"
import { Orders } from "../../orders/Orders.ts"
import { StreamedResponse } from "../../orders/streamedAnswer.ts"
import { MessagesGroup } from "./MessagesApi.ts"

const messagesBody = bodyOf(MessagesBody, strictParsing)

export const layerMessagesHandlers = Layer.unwrap(
  Effect.gen(function* () {
    const orders = yield* Orders
    return narrowContext(
      HttpApiBuilder.group(customerApi(MessagesGroup), "messages", (handlers) =>
        handlers.handleRaw(
          "create",
          Effect.fnUntraced(function* (request) {
            const answer = yield* placeOrder(request, yield* messagesBody, orders.message)
            return answer instanceof StreamedResponse
              ? yield* streamResponse(answer.answer, (error) =>
                  error === null ? answer.lastEventsOf(null) : messageErrorEvent(error)
                )
              : responseOf(answer)
          })
        )
      )
    )
  })
)
