import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ImageBody } from "../../domain/image/ImageRequest.ts"
import { Images } from "../../orders/ImageOrders.ts"
import type { Caller } from "../../services/Access.ts"
import { GatewayApi } from "../api/GatewayApi.ts"
import { CurrentCaller } from "../api/middlewares.ts"
import { bodyOf } from "../server/requestRules.ts"
import { makeOnce, otherKind } from "./idempotent.ts"
import { answerErrors, answerOf, responseOf } from "./respond.ts"

const asImages = bodyOf(ImageBody)

/** How image requests are answered, whichever way they come. */
export const makeImageAnswers = Effect.gen(function* () {
  const images = yield* Images
  const once = yield* makeOnce

  const generate = Effect.fnUntraced(function* (
    caller: Caller,
    key: string | undefined,
    body: ImageBody
  ) {
    const result = yield* once(
      { organizationId: caller.organizationId, key, path: "/v1/images/generations", body },
      {
        order: (key) => images.generate(caller, body, key),
        replay: (recalled) =>
          recalled._tag === "Images" ? Effect.succeed(recalled.result) : otherKind(recalled)
      }
    )
    return answerOf(result)
  })

  return { generate }
})

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
