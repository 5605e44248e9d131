import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Images } from "../../services/Images.ts"
import { GatewayApi } from "../api/Api.ts"
import { CurrentCaller } from "../api/Authorization.ts"
import { answerErrors } from "./respond.ts"

export const layerImagesHandlers = HttpApiBuilder.group(
  GatewayApi,
  "images",
  Effect.fn(function* (handlers) {
    const images = yield* Images
    return handlers.handleAll({
      generate: Effect.fn("images.generate")(function* ({ payload }) {
        const caller = yield* CurrentCaller
        return HttpServerResponse.jsonUnsafe(yield* images.generate(caller, payload))
      }, answerErrors)
    })
  })
)
