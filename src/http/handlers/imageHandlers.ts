import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ImageBody } from "../../domain/image/ImageRequest.ts"
import { Orders } from "../../orders/Orders.ts"
import { GatewayApi } from "../api/GatewayApi.ts"
import { CurrentCaller } from "../api/middlewares.ts"
import { bodyOf } from "../server/requestRules.ts"
import { answerErrors, answerTo, responseOf } from "./respond.ts"

const asImages = bodyOf(ImageBody)

export const layerImagesHandlers = HttpApiBuilder.group(
  GatewayApi,
  "images",
  Effect.fn(function* (handlers) {
    const orders = yield* Orders
    return handlers.handleRaw(
      "generate",
      Effect.fnUntraced(function* ({ headers }) {
        const caller = yield* CurrentCaller
        const body = yield* asImages
        const ordered = yield* orders.images(caller, body, headers["idempotency-key"])
        return responseOf(yield* answerTo(ordered))
      }, answerErrors)
    )
  })
)
