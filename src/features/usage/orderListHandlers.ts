import { Clock, DateTime, Effect, type Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { InvalidRequest } from "../../domain/Errors.ts"
import { formatNano } from "../../domain/money/Money.ts"
import { operatorApi } from "../../http/api/contractOf.ts"
import { timeRange } from "../../http/handlers/money/times.ts"
import { orderStates, orderView } from "../../http/handlers/orderViews.ts"
import { listViewWithNext, pageOf } from "../../http/handlers/respond.ts"
import { formatNanoOrNull, isoOrNull, tagOf, vendorBillView } from "../../http/handlers/views.ts"
import { withoutEchoes } from "../../redaction/promptsFromRecords.ts"
import { Settings } from "../../runtime/Settings.ts"
import {
  type ListedOrder,
  MAX_COUNTED_DAYS,
  type OrderFilter,
  OrderLists,
  type OrderTotals
} from "../../services/OrderLists.ts"
import { OrderListsGroup, type taskQuery } from "./OrderListsApi.ts"

type Query = Schema.Struct.Type<typeof taskQuery>

const makeOrderView = (currency: string) => {
  const commonView = orderView(currency)
  return (order: ListedOrder) => ({
    ...commonView(order),
    organization_id: order.organizationId,
    member_id: order.memberId,
    channel: order.job.channelId,
    protocol: order.job.protocol,
    upstream_model: order.job.upstreamModel,
    upstream_id: order.upstreamId,
    error_code: order.errorCode === null ? null : withoutEchoes(order.errorCode, []),
    cost: formatNanoOrNull(order.costNano),
    ...vendorBillView(order),
    price_list: order.priceListId
  })
}

const makeTaskView = (currency: string) => {
  const operatorView = makeOrderView(currency)
  return (task: ListedOrder) => ({
    ...operatorView(task),
    object: "task" as const,
    task_state: task.taskState ?? "submitting",
    deadline: task.expiresAt.toISOString(),
    asked_at: isoOrNull(task.askedAt),
    next_poll_at: isoOrNull(task.nextPollAt),
    summary: task.summary
  })
}

const totalsView = (currency: string, totals: OrderTotals) => ({
  count: totals.processing + totals.succeeded + totals.failed,
  processing: totals.processing,
  succeeded: totals.succeeded,
  failed: totals.failed,
  held: formatNano(totals.heldNano),
  charge: formatNano(totals.chargeNano),
  returned: formatNano(totals.returnedNano),
  cost: formatNano(totals.costNano),
  without_cost: totals.withoutCost,
  reported_cost: formatNano(totals.reportedCostNano),
  without_reported_cost: totals.withoutReportedCost,
  currency
})

/** The error of a filter that totals do not support. */
const notInTotals = (param: string, expected: string) =>
  new InvalidRequest({ message: `${param}: Expected ${expected}, as totals are asked for`, param })

export const layerOrderListsHandlers = HttpApiBuilder.group(
  operatorApi(OrderListsGroup),
  "orderLists",
  Effect.fn(function* (handlers) {
    const lists = yield* OrderLists
    const { currency, timeZone } = yield* Settings

    const filterOf = Effect.fnUntraced(function* (query: Query, tasksOnly: boolean) {
      return {
        ...(yield* timeRange(query, timeZone)),
        organizationId: query.organization_id ?? null,
        memberId: query.member_id ?? null,
        keyId: query.key_id ?? null,
        model: query.model ?? null,
        modality: query.modality ?? null,
        channelId: query.channel ?? null,
        priceListId: query.price_list ?? null,
        state: query.state === undefined ? null : orderStates[query.state],
        tasksOnly,
        tag: tagOf(query),
        upstreamId: query.upstream_id ?? null,
        promptDigest: query.prompt_digest ?? null,
        taskState: query.task_state ?? null
      } satisfies OrderFilter
    })

    const startOfDay = (at: Date | number) =>
      DateTime.makeZonedUnsafe(at, { timeZone }).pipe(DateTime.startOf("day"))
    const isDay = (at: Date | null) =>
      at === null || DateTime.toEpochMillis(startOfDay(at)) === at.getTime()

    /** Refuses a period of a price list with more orders than totals may count one by one. */
    const checkPeriod = Effect.fnUntraced(function* ({ priceListId, from, to }: OrderFilter) {
      if (priceListId === null) return
      const end =
        to === null
          ? DateTime.add(startOfDay(yield* Clock.currentTimeMillis), { days: 1 })
          : startOfDay(to)
      const earliest = DateTime.subtract(end, { days: MAX_COUNTED_DAYS })
      if (from === null || from.getTime() < DateTime.toEpochMillis(earliest)) {
        const day = DateTime.formatIsoDate(earliest)
        return yield* notInTotals("from", `${day} or later with a price_list`)
      }
    })

    /** Reads the totals if the query requests them; refuses filters that totals do not support. */
    const totalsOf = Effect.fnUntraced(function* (query: Query, filter: OrderFilter) {
      if (query.totals === "false") return {}
      const day = "a day such as 2027-01-31"
      if (!isDay(filter.from)) return yield* notInTotals("from", day)
      if (!isDay(filter.to)) return yield* notInTotals("to", day)
      for (const param of ["upstream_id", "prompt_digest", "task_state"] as const) {
        if (query[param] !== undefined) return yield* notInTotals(param, "nothing")
      }
      yield* checkPeriod(filter)
      // The sums of images do not distinguish tasks from orders without a task.
      if (filter.tasksOnly && filter.modality !== "video" && filter.state !== "open") {
        return yield* notInTotals("modality", "video, or state=processing")
      }
      return { totals: totalsView(currency, yield* lists.totals(filter)) }
    })

    const answerList = Effect.fnUntraced(function* <View extends { readonly id: string }>(
      query: Query,
      tasksOnly: boolean,
      view: (order: ListedOrder) => View
    ) {
      const filter = yield* filterOf(query, tasksOnly)
      const totals = yield* totalsOf(query, filter)
      const { after, limit } = query
      const page = yield* lists.list(
        filter,
        pageOf(after === undefined ? { limit } : { after, limit })
      )
      return { ...listViewWithNext(page, view), ...totals }
    })

    return handlers.handleAll({
      listOrders: Effect.fn("orderLists.listOrders")(({ query }) =>
        answerList(query, false, makeOrderView(currency))
      ),
      listTasks: Effect.fn("orderLists.listTasks")(({ query }) =>
        answerList(query, true, makeTaskView(currency))
      )
    })
  })
)
