/** Handlers of a member's own orders. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { customerApi } from "../../http/api/contractOf.ts"
import { CurrentCaller } from "../../http/api/middlewares.ts"
import { timeRange } from "../../http/handlers/money/times.ts"
import { makeOwnOrderView, orderStates } from "../../http/handlers/orderViews.ts"
import { listViewWithNext } from "../../http/handlers/respond.ts"
import { tagOf } from "../../http/handlers/views.ts"
import { Settings } from "../../runtime/Settings.ts"
import { makeModelFilter } from "../../services/Catalog.ts"
import { OrderLists } from "../../services/OrderLists.ts"
import { OrdersGroup } from "./OrdersApi.ts"

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
