import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ImageEditBody } from "../../../domain/image/ImageEditRequest.ts"
import { ImageBody } from "../../../domain/image/ImageRequest.ts"
import type { OrderResult } from "../../../orders/idempotency.ts"
import { Orders } from "../../../orders/Orders.ts"
import { StreamedAnswer } from "../../../orders/streamedAnswer.ts"
import type { Caller } from "../../../services/Access.ts"
import type { AnswerBody } from "../../../services/IdempotencyKeys.ts"
import { Protocols } from "../../../services/ProtocolAdapter.ts"
import { customerApi } from "../../api/contractOf.ts"
import { RequestForm } from "../../api/middlewares.ts"
import { ImagesGroup } from "../../api/orders/ImagesApi.ts"
import { bodyOf, decodeBody } from "../../server/requestRules.ts"
import { endWith, placeOrder, responseOf, streamResponse } from "../respond.ts"
import { makeFileResponses } from "./fileResponses.ts"
import { editOfForm, formKinds } from "./imageForms.ts"
import { narrowContext } from "./narrowContext.ts"
import { acceptedTask, needsTask, prefersTask } from "./respondAsync.ts"
import { makeTaskResponses, youngTask } from "./taskResponses.ts"

const imageBody = bodyOf(ImageBody)
const decodeJsonEdit = bodyOf(ImageEditBody)

type Order<Body, A, E> = (
  caller: Caller,
  body: Body,
  key?: string
) => Effect.Effect<OrderResult<A>, E>

interface OrderRequest {
  readonly headers: { readonly prefer?: string; readonly "idempotency-key"?: string }
}

export const layerImagesHandlers = Layer.unwrap(
  Effect.gen(function* () {
    const orders = yield* Orders
    const tasks = yield* makeTaskResponses("image")
    const files = yield* makeFileResponses

    const protocols = yield* Protocols
    const decodeFormEdit = decodeBody(ImageEditBody)

    const editBody = Effect.flatMap(RequestForm, (form) =>
      form === null
        ? decodeJsonEdit
        : form.pipe(
            Effect.flatMap((parts) => editOfForm(parts, formKinds(protocols.image.values()))),
            Effect.flatMap(decodeFormEdit)
          )
    )

    /** Answers an order with its images, or with its task where the request prefers a task. */
    const answerWith = Effect.fnUntraced(function* <Body extends ImageBody | ImageEditBody, E, F>(
      request: OrderRequest,
      body: Body,
      orderImages: Order<Body, AnswerBody | StreamedAnswer, E>,
      orderTask: Order<Body, string, F>
    ) {
      if (!prefersTask(request.headers.prefer)) {
        if (body.callback_url != null) return yield* needsTask("images")
        const answer = yield* placeOrder(request, body, orderImages)
        return answer instanceof StreamedAnswer
          ? yield* streamResponse(answer, endWith(null))
          : responseOf(answer)
      }
      yield* tasks.checkCallbackUrl(body.callback_url)
      const id = yield* placeOrder(request, body, orderTask)
      return acceptedTask("image", id, tasks.retryHeaders(youngTask(null)))
    })

    return narrowContext(
      HttpApiBuilder.group(customerApi(ImagesGroup), "images", (handlers) => {
        const orderHandlers = handlers
          .handleRaw("generate", (request) =>
            Effect.flatMap(imageBody, (body) =>
              answerWith(request, body, orders.images, orders.imageTask)
            )
          )
          .handleRaw("edit", (request) =>
            Effect.flatMap(editBody, (body) =>
              answerWith(request, body, orders.edits, orders.editTask)
            )
          )
        return orderHandlers.handleAll({
          list: ({ query }) => tasks.list(query),
          read: ({ params, query }) => tasks.answer(params.task_id, query.wait),
          cancel: ({ params }) => tasks.cancel(params.task_id),
          remove: ({ params }) => tasks.remove(params.task_id),
          content: ({ params, headers }) => files.image(params.task_id, params.n, headers),
          events: ({ params, headers }) => tasks.events(params.task_id, headers["last-event-id"])
        })
      })
    )
  })
)
