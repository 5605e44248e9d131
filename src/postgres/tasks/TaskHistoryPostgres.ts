/** The history of an order in PostgreSQL, gathered from the tables its course has left rows in. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TaskNotFound } from "../../domain/Errors.ts"
import { Quote } from "../../domain/money/Quote.ts"
import { isOrderId } from "../../domain/orderIds.ts"
import { TaskState } from "../../domain/video/VideoTask.ts"
import { CallLog } from "../../services/CallLog.ts"
import { type LoggedCall, TaskHistory, type VideoHistory } from "../../services/TaskHistory.ts"
import { repeatable, rowsOf } from "../client/rows.ts"
import { toUsage, UsageRow, usageColumns } from "../ledger/UsageLogPostgres.ts"
import { JobColumn, OrphanRow, orphanColumns, toJob, toOrphan } from "./OrphansPostgres.ts"

const MAX_CALLS = 500

const HoldRow = Schema.Struct({
  organization_id: Schema.String,
  id: Schema.String,
  member_id: Schema.String,
  job: JobColumn,
  quote: Quote,
  amount: Schema.BigInt,
  state: Schema.Literals(["open", "captured", "released"]),
  captured: Schema.BigInt,
  overage: Schema.BigInt,
  created_at: Schema.Date,
  expires_at: Schema.Date,
  closed_at: Schema.NullOr(Schema.Date),
  closed_by: Schema.NullOr(Schema.String),
  keyed: Schema.Boolean
})

const VideoRow = Schema.Struct({
  key_id: Schema.String,
  model: Schema.String,
  listed_protocol: Schema.String,
  summary: Schema.Unknown,
  state: TaskState,
  upstream_id: Schema.NullOr(Schema.String),
  completion_tokens: Schema.NullOr(Schema.BigInt),
  error_code: Schema.NullOr(Schema.String),
  error_message: Schema.NullOr(Schema.String),
  submit_deadline: Schema.Date,
  deadline: Schema.Date,
  accepted_at: Schema.NullOr(Schema.Date),
  asked_at: Schema.NullOr(Schema.Date),
  next_poll_at: Schema.NullOr(Schema.Date),
  unknown_since: Schema.NullOr(Schema.Date),
  finished_at: Schema.NullOr(Schema.Date)
})

const CallRow = Schema.Struct({
  id: Schema.String,
  purpose: Schema.Literals(["submit", "poll", "image", "text"]),
  method: Schema.String,
  url: Schema.String,
  status: Schema.NullOr(Schema.Int),
  failure: Schema.NullOr(
    Schema.Literals(["unreachable", "timeout", "connection_lost", "broken_answer", "interrupted"])
  ),
  started_at: Schema.Date,
  duration_ms: Schema.Int,
  request: Schema.Unknown,
  answer: Schema.Unknown,
  repeats: Schema.Int,
  last_at: Schema.Date,
  total: Schema.BigInt
})

const CaptureRow = Schema.Struct({ amount: Schema.BigInt, created_at: Schema.Date })

const toVideo = (row: typeof VideoRow.Type): VideoHistory => ({
  keyId: row.key_id,
  model: row.model,
  listedProtocol: row.listed_protocol,
  summary: row.summary,
  state: row.state,
  upstreamId: row.upstream_id,
  completionTokens: row.completion_tokens,
  errorCode: row.error_code,
  errorMessage: row.error_message,
  submitDeadline: row.submit_deadline,
  deadline: row.deadline,
  acceptedAt: row.accepted_at,
  askedAt: row.asked_at,
  nextPollAt: row.next_poll_at,
  unknownSince: row.unknown_since,
  finishedAt: row.finished_at
})

const toCall = (row: typeof CallRow.Type): LoggedCall => ({
  id: row.id,
  purpose: row.purpose,
  method: row.method,
  url: row.url,
  status: row.status,
  failure: row.failure,
  startedAt: row.started_at,
  durationMillis: row.duration_ms,
  request: row.request,
  answer: row.answer,
  repeats: row.repeats,
  lastAt: row.last_at
})

export const layerTaskHistory = Layer.effect(
  TaskHistory,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const callLog = yield* CallLog

    // One look into each organisation's keys: an index of its own would be paid for by every hold.
    const findHold = (id: string) =>
      rowsOf(HoldRow)(
        repeatable(sql`
        SELECT h.organization_id, h.id, h.member_id, h.job, h.quote, h.amount, h.state, h.captured,
               h.overage, h.created_at, h.expires_at, h.closed_at, h.closed_by,
               EXISTS (SELECT 1 FROM idempotency_keys k
                        WHERE k.organization_id = h.organization_id AND k.hold_id = h.id) AS keyed
          FROM organizations o
          CROSS JOIN LATERAL (
            SELECT * FROM holds WHERE organization_id = o.id AND id = ${id} LIMIT 1) h`)
      )

    const find: TaskHistory["Service"]["find"] = Effect.fn("TaskHistory.find")(function* (id) {
      const [hold] = isOrderId(id) ? yield* findHold(id) : []
      if (hold === undefined) {
        return yield* new TaskNotFound({ message: `No task is called ${JSON.stringify(id)}` })
      }
      const organizationId = hold.organization_id
      const [video] = yield* rowsOf(VideoRow)(
        repeatable(sql`
        SELECT key_id, model, listed_protocol, summary, state, upstream_id, completion_tokens,
               error_code, error_message, submit_deadline, deadline, accepted_at, asked_at,
               next_poll_at, unknown_since, finished_at
          FROM tasks WHERE organization_id = ${organizationId} AND id = ${id}`)
      )
      const [capture] = yield* rowsOf(CaptureRow)(
        repeatable(sql`
        SELECT amount, created_at FROM transfers
         WHERE organization_id = ${organizationId} AND hold_id = ${id} AND kind = 'capture'`)
      )
      const [usage] = yield* rowsOf(UsageRow)(
        repeatable(sql`
        SELECT ${sql.literal(usageColumns)} FROM usage_records
         WHERE organization_id = ${organizationId} AND hold_id = ${id}`)
      )
      const [orphan] = yield* rowsOf(OrphanRow)(
        repeatable(sql`
        SELECT ${sql.literal(orphanColumns)} FROM orphans o
          JOIN holds h ON h.organization_id = o.organization_id AND h.id = o.hold_id
         WHERE o.organization_id = ${organizationId} AND o.hold_id = ${id}`)
      )
      yield* callLog.flush
      const calls = yield* rowsOf(CallRow)(
        repeatable(sql`
        SELECT id, purpose, method, url, status, failure, started_at, duration_ms, request, answer,
               repeats, last_at, count(*) OVER () AS total
          FROM upstream_calls
         WHERE organization_id = ${organizationId} AND job_id = ${id}
         ORDER BY started_at DESC, id DESC LIMIT ${MAX_CALLS}`)
      )
      return {
        organizationId,
        id,
        memberId: hold.member_id,
        job: toJob(hold.job),
        quote: hold.quote,
        hold: {
          amountNano: hold.amount,
          state: hold.state,
          capturedNano: hold.captured,
          overageNano: hold.overage,
          createdAt: hold.created_at,
          expiresAt: hold.expires_at,
          closedAt: hold.closed_at,
          closedBy: hold.closed_by
        },
        video: video === undefined ? null : toVideo(video),
        calls: calls.map(toCall).toReversed(),
        totalCalls: Number(calls[0]?.total ?? 0n),
        capture:
          capture === undefined ? null : { amountNano: capture.amount, at: capture.created_at },
        usage: usage === undefined ? null : toUsage(usage),
        orphan: orphan === undefined ? null : toOrphan(orphan),
        hasIdempotencyKey: hold.keyed
      }
    })

    return TaskHistory.of({ find })
  })
)
