import { Effect, Layer } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { VideoBody } from "../../../domain/video/VideoBody.ts"
import { Orders } from "../../../orders/Orders.ts"
import { customerApi } from "../../api/contractOf.ts"
import { VideosGroup } from "../../api/orders/VideosApi.ts"
import { bodyOf } from "../../server/requestRules.ts"
import { placeOrder } from "../respond.ts"
import { makeFileResponses } from "./fileResponses.ts"
import { narrowContext } from "./narrowContext.ts"
import { makeTaskResponses, youngTask } from "./taskResponses.ts"

const videoBody = bodyOf(VideoBody)

export const layerVideosHandlers = Layer.unwrap(
  Effect.gen(function* () {
    const orders = yield* Orders
    const tasks = yield* makeTaskResponses("video")
    const files = yield* makeFileResponses

    return narrowContext(
      HttpApiBuilder.group(customerApi(VideosGroup), "videos", (handlers) => {
        const orderHandlers = handlers.handleRaw(
          "create",
          Effect.fnUntraced(function* (request) {
            const body = yield* videoBody
            yield* tasks.checkCallbackUrl(body.callback_url)
            const { id, kind, isWaiting } = yield* placeOrder(request, body, orders.video)
            const queue = isWaiting === false ? {} : yield* tasks.queueField(id)
            return HttpServerResponse.jsonUnsafe(
              { id, task_status: "processing", ...queue },
              { headers: { location: `/v1/videos/${id}`, ...tasks.retryHeaders(youngTask(kind)) } }
            )
          })
        )
        return orderHandlers.handleAll({
          list: ({ query }) => tasks.list(query),
          read: ({ params, query }) => tasks.answer(params.task_id, query.wait),
          cancel: ({ params }) => tasks.cancel(params.task_id),
          remove: ({ params }) => tasks.remove(params.task_id),
          content: ({ params, query, headers }) =>
            files.video(params.task_id, query.variant ?? "video", headers),
          events: ({ params, headers }) => tasks.events(params.task_id, headers["last-event-id"])
        })
      })
    )
  })
)
