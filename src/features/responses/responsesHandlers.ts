import { Effect, Layer, Stream } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { InvalidRequest } from "../../domain/Errors.ts"
import { ResponsesBody } from "../../domain/responses/ResponsesRequest.ts"
import { eventsOfResponse } from "../../domain/responses/responseEvents.ts"
import { customerApi } from "../../http/api/contractOf.ts"
import { CurrentCaller } from "../../http/api/middlewares.ts"
import { narrowContext } from "../../http/handlers/orders/narrowContext.ts"
import {
  eventResponse,
  placeOrder,
  responseOf,
  streamResponse
} from "../../http/handlers/respond.ts"
import { bodyOf } from "../../http/server/requestRules.ts"
import { Orders } from "../../orders/Orders.ts"
import { StreamedResponse } from "../../orders/streamedAnswer.ts"
import { encodeEvents } from "../../orders/text/chatPieces.ts"
import { noSuchResponse, StoredResponses } from "../../services/results/StoredResponses.ts"
import { ResponsesGroup } from "./ResponsesApi.ts"

const responsesBody = bodyOf(ResponsesBody)

const unknownItem = (after: string) =>
  new InvalidRequest({
    message: `after: No item of the response is called ${JSON.stringify(after)}`,
    param: "after"
  })

const otherNumbers = new InvalidRequest({
  message:
    "starting_after: Expected it to be left out, as the events of a stored response have other numbers than those of its stream",
  param: "starting_after"
})

export const layerResponsesHandlers = Layer.unwrap(
  Effect.gen(function* () {
    const orders = yield* Orders
    const responseStore = yield* StoredResponses

    const find = Effect.fnUntraced(function* (id: string) {
      const { organizationId } = yield* CurrentCaller
      const response = yield* responseStore.find(organizationId, id)
      return response ?? (yield* noSuchResponse(id))
    })

    return narrowContext(
      HttpApiBuilder.group(customerApi(ResponsesGroup), "responses", (handlers) =>
        handlers
          .handleRaw(
            "create",
            Effect.fnUntraced(function* (request) {
              const answer = yield* placeOrder(request, yield* responsesBody, orders.response)
              return answer instanceof StreamedResponse
                ? yield* streamResponse(answer.answer, answer.lastEventsOf)
                : responseOf(answer)
            })
          )
          .handleRaw(
            "read",
            Effect.fnUntraced(function* ({ params, query }) {
              const { response } = yield* find(params.id)
              if (query.stream !== "true") return responseOf(response)
              if (query.starting_after !== undefined) return yield* otherNumbers
              const events = encodeEvents(eventsOfResponse(response))
              return eventResponse(Stream.fromIterable(events === null ? [] : [events]))
            })
          )
          .handleAll({
            items: Effect.fn("responses.items")(function* ({ params, query }) {
              const { id, input } = yield* find(params.id)
              const { after, limit, order } = query
              const namedItems = input.map((item, index) => ({
                ...item,
                id: item.id ?? `item_${id.slice("resp_".length)}_${index}`
              }))
              const items = order === "asc" ? namedItems : namedItems.toReversed()
              const start =
                after === undefined ? 0 : items.findIndex((item) => item.id === after) + 1
              if (after !== undefined && start === 0) return yield* unknownItem(after)
              const data = items.slice(start, start + limit)
              return {
                object: "list" as const,
                data,
                has_more: items.length > start + limit,
                first_id: data[0]?.id ?? null,
                last_id: data.at(-1)?.id ?? null
              }
            }),
            remove: Effect.fn("responses.remove")(function* ({ params }) {
              const { organizationId } = yield* CurrentCaller
              const { id } = params
              if (!(yield* responseStore.remove(organizationId, id)))
                return yield* noSuchResponse(id)
              return { id, object: "response" as const, deleted: true }
            })
          })
      )
    )
  })
)
