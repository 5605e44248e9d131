import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ImageBody } from "../../domain/image/ImageRequest.ts"
import { Orders } from "../../orders/Orders.ts"
import { GatewayApi } from "../api/GatewayApi.ts"
import { bodyOf } from "../server/requestRules.ts"
import { answerTo, responseOf } from "./respond.ts"

const asImages = bodyOf(ImageBody)

export const layerImagesHandlers = HttpApiBuilder.group(
  GatewayApi,
  "images",
  Effect.fn(function* (handlers) {
    const orders = yield* Orders
    return handlers.handleRaw(
      "generate",
      Effect.fnUntraced(function* (request) {
        return responseOf(yield* answerTo(request, yield* asImages, orders.images))
      })
    )
  })
)
