/** Lists of orders in memory; each read filters all orders. */
import { Effect, Layer } from "effect"
import { NO_PRICE_LIST } from "../../domain/catalog/PriceList.ts"
import { cutPage, unknownCursor } from "../../runtime/Page.ts"
import {
  type ListedOrder,
  noSuchOrder,
  type OrderFilter,
  OrderLists,
  type OrderSumFilter,
  type OrderTotals,
  totalsOfState
} from "../../services/OrderLists.ts"
import {
  type Books,
  dateOrNull,
  type MemoryState,
  MemoryStore,
  overageOf,
  type StoredOrder
} from "../memory/MemoryStore.ts"

const uuidOf = (id: string): string => id.slice(id.indexOf("_") + 1)

const returnedOf = ({ transfers }: Books, orderId: string): bigint =>
  transfers
    .filter((transfer) => transfer.orderId === orderId)
    .reduce((sum, { amountNano }) => sum + amountNano, 0n)

const toListedOrder = ({ orphans }: MemoryState, books: Books, order: StoredOrder): ListedOrder => {
  const { request, task, job, state, chargeNano, costNano, vendorBill, reportedCostNano } = order
  const { id, organizationId, memberId, keyId, model, modality, metadata = null } = request
  return {
    id,
    organizationId,
    memberId,
    keyId,
    model,
    modality,
    metadata,
    promptDigest: request.promptDigest ?? null,
    job,
    state,
    chargeNano,
    costNano,
    vendorBill,
    reportedCostNano,
    priceListId: request.priceList ?? null,
    holdNano: request.amountNano,
    upstreamId: task?.upstreamId ?? orphans.get(id)?.upstreamId ?? null,
    overageNano: overageOf(order),
    returnedNano: returnedOf(books, id),
    createdAt: order.held.at,
    closedAt: order.ended?.at ?? null,
    expiresAt: new Date(order.expiresAt),
    isTask: task !== null,
    taskState: task?.state ?? null,
    summary: task?.ordered.summary ?? null,
    errorCode: task?.errorCode ?? order.failure?.code ?? null,
    errorMessage: order.failure?.message ?? task?.errorMessage ?? null,
    acceptedAt: dateOrNull(task?.acceptedAt ?? null),
    erasedAt: dateOrNull(task?.erasedAt ?? null),
    askedAt: dateOrNull(task?.askedAt ?? null),
    nextPollAt: dateOrNull(task?.nextPollAt ?? null)
  }
}

const matchesSumFilter = (order: ListedOrder, filter: OrderSumFilter): boolean =>
  (filter.organizationId ?? order.organizationId) === order.organizationId &&
  (filter.memberId ?? order.memberId) === order.memberId &&
  (filter.keyId ?? order.keyId) === order.keyId &&
  (filter.model ?? order.model) === order.model &&
  (filter.modality ?? order.modality) === order.modality &&
  (filter.channelId ?? order.job.channelId) === order.job.channelId &&
  (filter.priceListId === null || filter.priceListId === (order.priceListId ?? NO_PRICE_LIST)) &&
  (filter.tag === null || order.metadata?.[filter.tag.name] === filter.tag.value)

const isInPeriod = (at: Date, { from, to }: OrderSumFilter): boolean =>
  (from === null || at >= from) && (to === null || at < to)

const matchesFilter = (order: ListedOrder, filter: OrderFilter): boolean =>
  matchesSumFilter(order, filter) &&
  isInPeriod(order.createdAt, filter) &&
  (filter.state ?? order.state) === order.state &&
  (order.isTask || !filter.tasksOnly) &&
  (filter.upstreamId === null || (order.isTask && order.upstreamId === filter.upstreamId)) &&
  (filter.promptDigest === null || order.promptDigest === filter.promptDigest) &&
  (filter.taskState === null || order.taskState === filter.taskState)

const sumOf = (
  orders: ReadonlyArray<ListedOrder>,
  amountOf: (order: ListedOrder) => bigint
): bigint => orders.reduce((sum, order) => sum + amountOf(order), 0n)

export const layerOrderListsMemory = Layer.effect(
  OrderLists,
  Effect.map(MemoryStore, (store) => {
    const allOrders = () =>
      [...store.organizations.values()].flatMap((books) =>
        [...books.orders.values()].map((order) => toListedOrder(store, books, order))
      )

    const totalsOf = (filter: OrderSumFilter): OrderTotals => {
      const matches = allOrders().filter((order) => matchesSumFilter(order, filter))
      const inTime = matches.filter(({ createdAt }) => isInPeriod(createdAt, filter))
      const openOrders = inTime.filter(
        ({ state, isTask }) => state === "open" && (isTask || !filter.tasksOnly)
      )
      const chargedOrders = inTime.filter(({ state }) => state === "captured")
      const ids = new Set(matches.map(({ id }) => id))
      return {
        processing: openOrders.length,
        succeeded: chargedOrders.length,
        failed: inTime.filter(({ state }) => state === "released").length,
        heldNano: sumOf(openOrders, ({ holdNano }) => holdNano),
        chargeNano: sumOf(chargedOrders, ({ chargeNano }) => chargeNano),
        returnedNano: [...store.organizations.values()]
          .flatMap(({ transfers }) => transfers)
          .filter(
            ({ orderId, createdAt }) => ids.has(orderId ?? "") && isInPeriod(createdAt, filter)
          )
          .reduce((sum, { amountNano }) => sum + amountNano, 0n),
        costNano: sumOf(chargedOrders, ({ costNano }) => costNano ?? 0n),
        withoutCost: chargedOrders.filter(({ costNano }) => costNano === null).length,
        reportedCostNano: sumOf(chargedOrders, ({ reportedCostNano }) => reportedCostNano ?? 0n),
        withoutReportedCost: chargedOrders.filter(
          ({ reportedCostNano }) => reportedCostNano === null
        ).length
      }
    }

    return OrderLists.of({
      list: Effect.fn("OrderLists.list")((filter, { after, limit }) =>
        Effect.suspend(() => {
          const ownOrders = allOrders().filter(
            ({ organizationId, memberId }) =>
              (filter.organizationId ?? organizationId) === organizationId &&
              (filter.memberId ?? memberId) === memberId
          )
          if (after !== null && !ownOrders.some(({ id }) => id === after)) {
            return Effect.fail(unknownCursor)
          }
          const matches = ownOrders
            .filter(({ id }) => after === null || uuidOf(id) < uuidOf(after))
            .filter((order) => matchesFilter(order, filter))
            .toSorted((one, other) => (uuidOf(one.id) < uuidOf(other.id) ? 1 : -1))
          const page = cutPage(matches, limit)
          return Effect.succeed({
            ...page,
            next: page.hasMore ? (page.data.at(-1)?.id ?? null) : null
          })
        })
      ),
      find: Effect.fn("OrderLists.find")((owner, id) =>
        Effect.suspend(() => {
          const order = allOrders().find(
            (total) =>
              total.id === id &&
              total.organizationId === owner.organizationId &&
              total.memberId === owner.memberId
          )
          return order === undefined ? Effect.fail(noSuchOrder) : Effect.succeed(order)
        })
      ),
      totals: Effect.fn("OrderLists.totals")((filter) =>
        Effect.sync(() => totalsOfState(totalsOf(filter), filter.state))
      )
    })
  })
)
