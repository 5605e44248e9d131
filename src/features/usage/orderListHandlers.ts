import { DateTime, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { InvalidRequest } from "../../domain/Errors.ts"
import { formatNano } from "../../domain/money/Money.ts"
import { operatorApi } from "../../http/api/contractOf.ts"
import { timeRange } from "../../http/handlers/money/times.ts"
import { listViewWithNext, pageOf } from "../../http/handlers/respond.ts"
import { formatNanoOrNull, isoOrNull, tagOf } from "../../http/handlers/views.ts"
import { withoutEchoes } from "../../redaction/promptsFromRecords.ts"
import { Settings } from "../../runtime/Settings.ts"
import { type ListedOrder, type OrderFilter, OrderLists, type OrderTotals } from "./OrderLists.ts"
import { OrderListsGroup } from "./OrderListsApi.ts"
import { orderStates, orderView } from "./orderViews.ts"

interface Query {
  readonly after?: string
  readonly limit: number
  readonly tag?: string
  readonly organization_id?: string
  readonly member_id?: string
  readonly key_id?: string
  readonly model?: string
  readonly modality?: string
  readonly channel?: string
  readonly state?: keyof typeof orderStates
  readonly from?: string
  readonly to?: string
  readonly upstream_id?: string
  readonly prompt_digest?: string
  readonly task_state?: NonNullable<OrderFilter["taskState"]>
  readonly totals: "true" | "false"
}

const operatorView = (currency: string) => {
  const asOrder = orderView(currency)
  return (order: ListedOrder) => ({
    ...asOrder(order),
    ...{ organization_id: order.organizationId, member_id: order.memberId },
    channel: order.job.channelId,
    protocol: order.job.protocol,
    upstream_model: order.job.upstreamModel,
    upstream_id: order.upstreamId,
    error_code: order.errorCode === null ? null : withoutEchoes(order.errorCode, []),
    cost: formatNanoOrNull(order.costNano)
  })
}

const taskView = (currency: string) => {
  const asOrder = operatorView(currency)
  return (task: ListedOrder) => ({
    ...asOrder(task),
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
  ...{ processing: totals.processing, succeeded: totals.succeeded, failed: totals.failed },
  held: formatNano(totals.heldNano),
  charge: formatNano(totals.chargeNano),
  returned: formatNano(totals.returnedNano),
  cost: formatNano(totals.costNano),
  without_cost: totals.withoutCost,
  currency
})

/** Sums know of no such thing. */
const notSummed = (param: string, expected: string) =>
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
        state: query.state === undefined ? null : orderStates[query.state],
        tasksOnly,
        tag: tagOf(query),
        upstreamId: query.upstream_id ?? null,
        promptDigest: query.prompt_digest ?? null,
        taskState: query.task_state ?? null
      } satisfies OrderFilter
    })

    const isDay = (at: Date | null) =>
      at === null ||
      DateTime.makeZonedUnsafe(at, { timeZone }).pipe(
        DateTime.startOf("day"),
        DateTime.toEpochMillis
      ) === at.getTime()

    /** Refused before anything is read. */
    const totalsOf = Effect.fnUntraced(function* (query: Query, filter: OrderFilter) {
      if (query.totals === "false") return {}
      const day = "a day such as 2027-01-31"
      if (!isDay(filter.from)) return yield* notSummed("from", day)
      if (!isDay(filter.to)) return yield* notSummed("to", day)
      if (filter.upstreamId !== null) return yield* notSummed("upstream_id", "nothing")
      if (filter.promptDigest !== null) return yield* notSummed("prompt_digest", "nothing")
      if (filter.taskState !== null) return yield* notSummed("task_state", "nothing")
      // Images that are tasks stand in one sum with those that their clients wait for.
      if (filter.tasksOnly && filter.modality !== "video" && filter.state !== "open") {
        return yield* notSummed("modality", "video, or state=processing")
      }
      return { totals: totalsView(currency, yield* lists.totals(filter)) }
    })

    const answered = Effect.fnUntraced(function* <View extends { readonly id: string }>(
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
        answered(query, false, operatorView(currency))
      ),
      listTasks: Effect.fn("orderLists.listTasks")(({ query }) =>
        answered(query, true, taskView(currency))
      )
    })
  })
)
