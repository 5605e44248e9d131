import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { InvalidRequest } from "../../../domain/Errors.ts"
import { ImageBody } from "../../../domain/image/ImageRequest.ts"
import { Orders } from "../../../orders/Orders.ts"
import { GatewayApi } from "../../api/GatewayApi.ts"
import { bodyOf } from "../../server/requestRules.ts"
import { answerTo, responseOf } from "../respond.ts"
import { makeFileResponses } from "./fileResponses.ts"
import { makeTaskResponses } from "./taskResponses.ts"

const asImages = bodyOf(ImageBody)

const RESPOND_ASYNC = "respond-async"

/** Whether a `Prefer` header (RFC 7240) asks for an answer before the images are there. */
const prefersTask = (prefer = ""): boolean =>
  prefer.split(",").some((one) => one.split(";", 1)[0]?.trim().toLowerCase() === RESPOND_ASYNC)

const needsTask = new InvalidRequest({
  message: `callback_url: Send the header "Prefer: ${RESPOND_ASYNC}" with it, as the answer of an order without has the images`,
  param: "callback_url"
})

export const layerImagesHandlers = HttpApiBuilder.group(
  GatewayApi,
  "images",
  Effect.fn(function* (handlers) {
    const orders = yield* Orders
    const tasks = yield* makeTaskResponses("image")
    const files = yield* makeFileResponses

    const ordering = handlers.handleRaw(
      "generate",
      Effect.fnUntraced(function* (request) {
        const body = yield* asImages
        if (!prefersTask(request.headers.prefer)) {
          if (body.callback_url != null) return yield* needsTask
          return responseOf(yield* answerTo(request, body, orders.images))
        }
        yield* tasks.mayCallBack(body.callback_url)
        const id = yield* answerTo(request, body, orders.imageTask)
        return HttpServerResponse.jsonUnsafe(
          { id, task_status: "processing" },
          {
            status: 202,
            headers: {
              location: `/v1/images/${id}`,
              "preference-applied": RESPOND_ASYNC,
              ...tasks.pace(null, 0)
            }
          }
        )
      })
    )
    return ordering.handleAll({
      list: ({ query }) => tasks.list(query),
      read: ({ params, query }) => tasks.answer(params.task_id, query.wait),
      remove: ({ params }) => tasks.remove(params.task_id),
      content: ({ params, headers }) => files.image(params.task_id, params.n, headers),
      events: ({ params, headers }) => tasks.events(params.task_id, headers["last-event-id"])
    })
  })
)
