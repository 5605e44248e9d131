/** Handlers of a member's own orders. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { customerApi } from "../../http/api/contractOf.ts"
import { CurrentCaller } from "../../http/api/middlewares.ts"
import { timeRange } from "../../http/handlers/money/times.ts"
import { listViewWithNext } from "../../http/handlers/respond.ts"
import { isoOrNull, tagOf } from "../../http/handlers/views.ts"
import { Settings } from "../../runtime/Settings.ts"
import { makeModelFilter } from "../../services/Catalog.ts"
import { usageId } from "../../services/UsageLog.ts"
import { type ListedOrder, OrderLists } from "./OrderLists.ts"
import { OrdersGroup } from "./OrdersApi.ts"
import { orderStates, orderView } from "./orderViews.ts"

const makeOwnOrderView = (currency: string) => {
  const commonView = orderView(currency)
  return (order: ListedOrder) => ({
    ...commonView(order),
    error_message: order.errorMessage,
    error:
      order.errorCode === null
        ? null
        : { code: order.errorCode, message: order.errorMessage ?? "" },
    usage_id: order.state === "captured" ? usageId(order.id) : null,
    accepted_at: isoOrNull(order.acceptedAt),
    deleted_at: isoOrNull(order.erasedAt)
  })
}

export const layerOrdersHandlers = HttpApiBuilder.group(
  customerApi(OrdersGroup),
  "orders",
  Effect.fn(function* (handlers) {
    const lists = yield* OrderLists
    const modelFilter = yield* makeModelFilter
    const { currency, timeZone } = yield* Settings
    const view = makeOwnOrderView(currency)
    return handlers.handleAll({
      list: Effect.fn("orders.list")(function* ({ query }) {
        const { organizationId, memberId } = yield* CurrentCaller
        const { after = null, limit, model, modality = null, state } = query
        const filter = {
          ...(yield* timeRange(query, timeZone)),
          organizationId,
          memberId,
          keyId: null,
          model: yield* modelFilter(model),
          modality,
          channelId: null,
          priceListId: null,
          state: state === undefined ? null : orderStates[state],
          tag: tagOf(query),
          upstreamId: null,
          promptDigest: null,
          tasksOnly: false,
          taskState: null
        }
        const page = yield* lists.list(filter, { after, limit })
        return listViewWithNext(page, view)
      }),
      read: Effect.fn("orders.read")(function* ({ params }) {
        return view(yield* lists.find(yield* CurrentCaller, params.id))
      })
    })
  })
)
