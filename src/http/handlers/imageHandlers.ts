import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ImageBody } from "../../domain/image/ImageRequest.ts"
import { Orders } from "../../orders/Orders.ts"
import type { Caller } from "../../services/Access.ts"
import { CurrentCaller } from "../api/AuthorizationApi.ts"
import { GatewayApi } from "../api/GatewayApi.ts"
import { bodyOf } from "../server/requestRules.ts"
import { answerErrors, answerOf, answerTo, responseOf } from "./respond.ts"

const asImages = bodyOf(ImageBody)

/** How image requests are answered, whichever way they come. */
export const makeImageAnswers = Effect.map(Orders, (orders) => ({
  generate: Effect.fnUntraced(function* (caller: Caller, key: string | undefined, body: ImageBody) {
    return answerOf(yield* answerTo(yield* orders.images(caller, body, key)))
  })
}))

export const layerImagesHandlers = HttpApiBuilder.group(
  GatewayApi,
  "images",
  Effect.fn(function* (handlers) {
    const { generate } = yield* makeImageAnswers
    return handlers.handleRaw(
      "generate",
      Effect.fnUntraced(function* ({ headers }) {
        const caller = yield* CurrentCaller
        const body = yield* asImages
        return responseOf(yield* generate(caller, headers["idempotency-key"], body))
      }, answerErrors)
    )
  })
)
