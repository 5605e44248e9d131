import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Images } from "../../services/Images.ts"
import { GatewayApi } from "../api/Api.ts"
import { CurrentCaller } from "../api/Authorization.ts"
import { makeOnce, otherKind } from "./once.ts"
import { answerErrors, answerOf } from "./respond.ts"

export const layerImagesHandlers = HttpApiBuilder.group(
  GatewayApi,
  "images",
  Effect.fn(function* (handlers) {
    const images = yield* Images
    const once = yield* makeOnce
    return handlers.handleAll({
      generate: Effect.fnUntraced(function* ({ headers, payload }) {
        const caller = yield* CurrentCaller
        const result = yield* once(
          {
            organizationId: caller.organizationId,
            key: headers["idempotency-key"],
            path: "/v1/images/generations",
            body: payload
          },
          {
            order: (key) => images.generate(caller, payload, key),
            replay: (recalled) =>
              recalled._tag === "Images" ? Effect.succeed(recalled.result) : otherKind(recalled)
          }
        )
        return answerOf(result)
      }, answerErrors)
    })
  })
)
