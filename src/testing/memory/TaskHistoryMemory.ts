/** The task history in memory, collected from the order and the stores related to it. */
import { Effect, Layer } from "effect"
import { TaskNotFound } from "../../domain/Errors.ts"
import { CallLog } from "../../services/CallLog.ts"
import { type JobHistory, type TaskFacts, TaskHistory } from "../../services/TaskHistory.ts"
import {
  appliedPriceList,
  type Books,
  dateOrNull,
  decodeQuote,
  type MemoryState,
  MemoryStore,
  overageOf,
  type StoredOrder,
  type StoredTask,
  usageOf
} from "./MemoryStore.ts"
import { orphanName } from "./OrphansMemory.ts"

const MAX_CALLS = 500

const toFacts = (task: StoredTask): TaskFacts => ({
  listedProtocol: task.ordered.listedProtocol,
  summary: task.ordered.summary,
  state: task.state,
  upstreamId: task.upstreamId,
  completionTokens: task.completionTokens,
  errorCode: task.errorCode,
  errorMessage: task.errorMessage,
  submitDeadline: new Date(task.submitDeadline),
  deadline: new Date(task.deadline),
  acceptedAt: dateOrNull(task.acceptedAt),
  askedAt: dateOrNull(task.askedAt),
  nextPollAt: dateOrNull(task.nextPollAt),
  unknownSince: dateOrNull(task.unknownSince),
  finishedAt: dateOrNull(task.finishedAt),
  isQueued: task.ordered.isWaiting === true,
  erasedAt: dateOrNull(task.erasedAt)
})

const toHistory = (state: MemoryState, books: Books, order: StoredOrder): JobHistory => {
  const { id, memberId, keyId, model, quote, amountNano, priceList = null } = order.request
  const usage = usageOf(order)
  const calls = state.calls
    .filter(({ subject }) => subject.jobId === id && subject.organizationId === books.id)
    .toSorted((a, b) => a.startedAt.getTime() - b.startedAt.getTime())
  return {
    organizationId: books.id,
    id,
    memberId,
    keyId,
    model,
    job: order.job,
    refusals: order.refusals,
    failure: order.failure,
    quote: decodeQuote(quote),
    priceList: appliedPriceList(state.priceLists, priceList),
    hold: {
      amountNano,
      state: order.state,
      capturedNano: order.chargeNano,
      overageNano: overageOf(order),
      createdAt: order.held.at,
      expiresAt: new Date(order.expiresAt),
      closedAt: order.ended?.at ?? null,
      closedBy: order.closedBy
    },
    task: order.task === null ? null : toFacts(order.task),
    calls: calls.slice(-MAX_CALLS).map(({ subject: _, outcome: __, ...call }) => call),
    totalCalls: calls.length,
    call: order.call,
    capture: usage === null ? null : { amountNano: usage.chargeNano, at: usage.createdAt },
    usage,
    orphan: state.orphans.get(orphanName(books.id, id)) ?? null,
    hasIdempotencyKey: [...books.requestKeys.values()].some(({ holdId }) => holdId === id)
  }
}

export const layerTaskHistoryMemory = Layer.effect(
  TaskHistory,
  Effect.gen(function* () {
    const store = yield* MemoryStore
    const callLog = yield* CallLog

    return TaskHistory.of({
      find: Effect.fn("TaskHistory.find")(function* (id) {
        yield* callLog.flush
        for (const books of store.organizations.values()) {
          const order = books.orders.get(id)
          if (order !== undefined) return toHistory(store, books, order)
        }
        return yield* new TaskNotFound({ message: `No task is called ${JSON.stringify(id)}` })
      })
    })
  })
)
