/** The history of an order, gathered from what its course has left in memory. */
import { Effect, Layer, Schema } from "effect"
import { TaskNotFound } from "../../domain/Errors.ts"
import { Quote } from "../../domain/money/Quote.ts"
import { CallLog } from "../../services/CallLog.ts"
import { type JobHistory, TaskHistory, type VideoHistory } from "../../services/TaskHistory.ts"
import {
  type Books,
  dateOrNull,
  findOrphan,
  type MemoryState,
  MemoryStore,
  overageOf,
  type StoredHold,
  type StoredTask
} from "./MemoryStore.ts"

const MAX_CALLS = 500

const decodeQuote = Schema.decodeUnknownSync(Quote)

const toVideo = (task: StoredTask): VideoHistory => ({
  keyId: task.ordered.keyId,
  model: task.ordered.model,
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
  finishedAt: dateOrNull(task.finishedAt)
})

const toHistory = (state: MemoryState, books: Books, hold: StoredHold): JobHistory => {
  const { id, memberId, job, quote, amountNano } = hold.request
  const task = books.tasks.get(id)
  const capture = books.journal.find((entry) => entry.kind === "capture" && entry.holdId === id)
  const calls = state.calls
    .filter(({ subject }) => subject.jobId === id && subject.organizationId === books.id)
    .toSorted((a, b) => a.startedAt.getTime() - b.startedAt.getTime())
  return {
    organizationId: books.id,
    id,
    memberId,
    job,
    quote: decodeQuote(quote),
    hold: {
      amountNano,
      state: hold.state,
      capturedNano: hold.capturedNano,
      overageNano: overageOf(hold),
      createdAt: new Date(hold.createdAt),
      expiresAt: new Date(hold.expiresAt),
      closedAt: dateOrNull(hold.closedAt),
      closedBy: hold.closedBy
    },
    video: task === undefined ? null : toVideo(task),
    calls: calls.slice(-MAX_CALLS).map(({ subject: _, outcome: __, ...call }) => call),
    totalCalls: calls.length,
    capture:
      capture === undefined ? null : { amountNano: capture.amountNano, at: capture.createdAt },
    usage: books.usage.find(({ holdId }) => holdId === id)?.record ?? null,
    orphan: findOrphan(state, books.id, id) ?? null,
    hasIdempotencyKey: [...books.requestKeys.values()].some(({ holdId }) => holdId === id)
  }
}

export const layerTaskHistoryMemory = Layer.effect(
  TaskHistory,
  Effect.gen(function* () {
    const store = yield* MemoryStore
    const callLog = yield* CallLog

    const find: TaskHistory["Service"]["find"] = Effect.fn("TaskHistory.find")(function* (id) {
      yield* callLog.flush
      for (const books of store.organizations.values()) {
        const hold = books.holds.get(id)
        if (hold !== undefined) return toHistory(store, books, hold)
      }
      return yield* new TaskNotFound({ message: `No task is called ${JSON.stringify(id)}` })
    })

    return TaskHistory.of({ find })
  })
)
