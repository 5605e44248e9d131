/** Handlers of order histories, orphans and the audit log, for operators. */
import { Effect, Predicate } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { TaskProcessing } from "../../domain/Errors.ts"
import { formatNano } from "../../domain/money/Money.ts"
import { taskKindOf } from "../../domain/orderIds.ts"
import { publicState } from "../../domain/taskStates.ts"
import { operatorApi } from "../../http/api/contractOf.ts"
import { timeRange } from "../../http/handlers/money/times.ts"
import { listView, pageOf } from "../../http/handlers/respond.ts"
import {
  attemptViews,
  billingView,
  exposureView,
  isoOrNull,
  usageView,
  vendorBillView
} from "../../http/handlers/views.ts"
import { TaskSettlement } from "../../polling/TaskSettlement.ts"
import { withoutEchoes } from "../../redaction/promptsFromRecords.ts"
import { Settings } from "../../runtime/Settings.ts"
import { type OrphanRecord, Orphans } from "../../services/Orphans.ts"
import { AdminAudit } from "../../services/operators/AdminAudit.ts"
import {
  type JobHistory,
  kindOf,
  type LoggedCall,
  noSuchTask,
  stateOf,
  TaskHistory,
  transitionsOf
} from "../../services/TaskHistory.ts"
import { TaskRepo } from "../../services/TaskRepo.ts"
import { HistoryGroup } from "./HistoryApi.ts"

const orphanView = ({ job, answer, usage, ...orphan }: OrphanRecord) => ({
  id: orphan.id,
  organization_id: orphan.organizationId,
  channel: job.channelId,
  protocol: job.protocol,
  upstream_model: job.upstreamModel,
  upstream_id: orphan.upstreamId,
  reason: orphan.reason,
  answer: answer && { ...answer, request_id: answer.requestId },
  usage: usage && {
    input_tokens: usage.input === null ? null : Number(usage.input),
    output_tokens: Number(usage.output)
  },
  amount_held: formatNano(orphan.heldNano),
  charge: orphan.chargeNano === 0n ? null : formatNano(orphan.chargeNano),
  created_at: orphan.createdAt.toISOString(),
  resolved_at: isoOrNull(orphan.resolvedAt),
  note: orphan.note
})

const callView = ({ startedAt, durationMillis, lastAt, channelId, ...call }: LoggedCall) => ({
  ...call,
  channel: channelId,
  started_at: startedAt.toISOString(),
  duration_ms: durationMillis,
  bytes: null,
  request_id: null,
  last_at: lastAt.toISOString()
})

/**
 * The call that produced an image or a text: it is stored with the order and not in the call log.
 */
const answeredCallViews = (history: JobHistory) => {
  const { id, call } = history
  const kind = kindOf(history)
  if (call === null || kind === "video") return []
  const startedAt = call.startedAt.toISOString()
  return [
    {
      id,
      channel: history.job.channelId,
      purpose: kind,
      method: null,
      url: null,
      status: call.status,
      failure: null,
      started_at: startedAt,
      duration_ms: call.durationMillis,
      bytes: call.bytes,
      request_id: call.requestId,
      repeats: 0,
      last_at: startedAt,
      request: null,
      answer: null
    }
  ]
}

const quoteView = (quote: JobHistory["quote"]) => {
  const { inputs, ...billing } = billingView(quote)
  return {
    amount: formatNano(quote.holdNano),
    ...exposureView(quote),
    ...billing,
    ...inputs,
    ...(quote.kind === "second_video" ? { output_seconds: quote.outputSeconds } : {})
  }
}

/**
 * Ledger entries in order of time; entries of one commit are in the order hold, capture, overage,
 * usage, release.
 */
const ledgerView = ({ hold, capture, usage }: JobHistory) => {
  const entry = <K extends string>(kind: K, amountNano: bigint, at: Date) => ({
    kind,
    amount: formatNano(amountNano),
    at: at.toISOString()
  })
  return [
    entry("hold", hold.amountNano, hold.createdAt),
    capture && entry("capture", capture.amountNano, capture.at),
    hold.overageNano === 0n ? null : capture && entry("overage", hold.overageNano, capture.at),
    usage && { ...entry("usage", usage.chargeNano, usage.createdAt), usage: usageView(usage) },
    hold.closedAt && entry("release", hold.amountNano, hold.closedAt)
  ].filter(Predicate.isNotNull)
}

/**
 * The failure of the last channel, with the vendor's own message; null unless the order failed
 * there.
 */
const lastFailureOf = ({ failure, hold, orphan, task }: JobHistory) => {
  if (hold.state !== "released") return null
  if (failure !== null) {
    const { message, reason, status, vendorMessage } = failure
    return { reason, status, message: vendorMessage ?? message }
  }
  const reason = orphan?.reason ?? (task === null ? null : "job_failed")
  const message = task === null ? null : withoutEchoes(task.errorMessage ?? "", [])
  return reason === null ? null : { reason, status: null, message }
}

/** The failure of the order with the vendor's own message, in which addresses are redacted. */
const errorView = (history: JobHistory) => {
  const code = history.task?.errorCode ?? history.failure?.code ?? null
  const message = lastFailureOf(history)?.message ?? history.task?.errorMessage ?? ""
  return code === null
    ? null
    : { code: withoutEchoes(code, []), message: withoutEchoes(message, []) }
}

const timelineView = (history: JobHistory) => {
  const { hold, task, job } = history
  const answeredCalls = answeredCallViews(history)
  return {
    id: history.id,
    kind: kindOf(history),
    organization_id: history.organizationId,
    member_id: history.memberId,
    key_id: history.keyId,
    model: history.model,
    channel: job.channelId,
    protocol: job.protocol,
    listed_protocol: task?.listedProtocol ?? null,
    upstream_model: job.upstreamModel,
    upstream_id: task?.upstreamId ?? history.orphan?.upstreamId ?? null,
    state: stateOf(history),
    error: errorView(history),
    completion_tokens:
      task === null || task.completionTokens === null ? null : Number(task.completionTokens),
    ...vendorBillView(history.usage ?? undefined),
    summary: task?.summary ?? null,
    quote: quoteView(history.quote),
    price_list: history.priceList,
    created_at: hold.createdAt.toISOString(),
    submit_deadline: isoOrNull(task?.submitDeadline),
    deadline: hold.expiresAt.toISOString(),
    asked_at: isoOrNull(task?.askedAt),
    next_poll_at: isoOrNull(task?.nextPollAt),
    unknown_since: isoOrNull(task?.unknownSince),
    deleted_at: isoOrNull(task?.erasedAt),
    idempotency_key: history.hasIdempotencyKey,
    transitions: transitionsOf(history).map(({ at, ...transition }) => ({
      ...transition,
      at: at.toISOString()
    })),
    attempts: attemptViews(job, history.refusals, hold.createdAt, lastFailureOf(history)),
    upstream_calls: [...history.calls.map(callView), ...answeredCalls],
    upstream_calls_total: history.totalCalls + answeredCalls.length,
    ledger: ledgerView(history),
    orphan: history.orphan && orphanView(history.orphan)
  }
}

/** `Retry-After` in seconds, for an operator who deletes a task that is still processing. */
const RETRY_AFTER_SECONDS = 10

export const layerHistoryHandlers = HttpApiBuilder.group(
  operatorApi(HistoryGroup),
  "history",
  Effect.fn(function* (handlers) {
    const history = yield* TaskHistory
    const orphans = yield* Orphans
    const audit = yield* AdminAudit
    const tasks = yield* TaskRepo
    const settlement = yield* TaskSettlement
    const { timeZone } = yield* Settings

    return handlers.handleAll({
      readTask: Effect.fn("history.readTask")(function* ({ params }) {
        return timelineView(yield* history.find(params.id))
      }),
      deleteTask: Effect.fn("history.deleteTask")(function* ({ params }) {
        const { id, organizationId, task } = yield* history.find(params.id)
        const kind = taskKindOf(id)
        if (task === null || kind === null) return yield* noSuchTask(id)
        if (task.finishedAt === null) {
          return yield* new TaskProcessing({
            message: "The task is still processing: delete it when it has ended",
            retryAfterSeconds: RETRY_AFTER_SECONDS
          })
        }
        yield* tasks.erase(organizationId, id)
        return { id, object: `${kind}.deleted` as const, deleted: true }
      }),
      cancelTask: Effect.fn("history.cancelTask")(function* ({ params }) {
        const { id, organizationId, task: taskFacts } = yield* history.find(params.id)
        if (taskFacts === null) return yield* noSuchTask(id)
        const { task, cancellation } = yield* settlement.cancel(organizationId, id)
        return {
          id,
          task_status: publicState(task.state) ?? "failed",
          ...(cancellation === null ? {} : { cancellation })
        }
      }),
      listOrphans: Effect.fn("history.listOrphans")(function* ({ query }) {
        const {
          resolved,
          organization_id: organizationId = null,
          channel: channelId = null,
          reason = null,
          ...page
        } = query
        const filter = { isResolved: resolved === "true", organizationId, channelId, reason }
        return listView(yield* orphans.list(filter, pageOf(page)), orphanView)
      }),
      resolveOrphan: Effect.fn("history.resolveOrphan")(function* ({ params, payload }) {
        return orphanView(yield* orphans.resolve(params.id, payload.note))
      }),
      listAudit: Effect.fn("history.listAudit")(function* ({ query }) {
        const {
          operator_id: operatorId = null,
          action = null,
          subject_id: subjectId = null,
          ...page
        } = query
        const times = yield* timeRange(query, timeZone)
        return listView(
          yield* audit.list({ operatorId, action, subjectId, ...times }, pageOf(page)),
          ({ at, subjectId, requestId, operatorId, operatorName, ...entry }) => ({
            ...entry,
            at: at.toISOString(),
            subject_id: subjectId,
            request_id: requestId,
            operator_id: operatorId,
            operator_name: operatorName
          })
        )
      })
    })
  })
)
