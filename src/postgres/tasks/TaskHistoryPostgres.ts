/** The history of an order in PostgreSQL, gathered from the tables its course has left rows in. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { TaskNotFound } from "../../domain/Errors.ts"
import { Quote } from "../../domain/money/Quote.ts"
import { isOrderId } from "../../domain/orderIds.ts"
import { TaskState } from "../../domain/video/VideoTask.ts"
import { CallLog } from "../../services/CallLog.ts"
import { TaskHistory } from "../../services/TaskHistory.ts"
import { columnsOf, repeatable, rowOf, rowsOf } from "../client/rows.ts"
import { UsageRow, usageColumns } from "../ledger/UsageLogPostgres.ts"
import { OrphanRow, orphanColumns, orphansWithOrders, VendorJob } from "./OrphansPostgres.ts"

const MAX_CALLS = 500

const OrderRow = Schema.Struct({
  organizationId: Schema.String,
  memberId: Schema.String,
  job: VendorJob,
  quote: Quote,
  hasIdempotencyKey: Schema.Boolean
})

const HoldRow = Schema.Struct({
  amountNano: Schema.BigInt,
  state: Schema.Literals(["open", "captured", "released"]),
  capturedNano: Schema.BigInt,
  overageNano: Schema.BigInt,
  createdAt: Schema.Date,
  expiresAt: Schema.Date,
  closedAt: Schema.NullOr(Schema.Date),
  closedBy: Schema.NullOr(Schema.String)
})

const VideoRow = Schema.Struct({
  keyId: Schema.String,
  model: Schema.String,
  listedProtocol: Schema.String,
  summary: Schema.Unknown,
  state: TaskState,
  upstreamId: Schema.NullOr(Schema.String),
  completionTokens: Schema.NullOr(Schema.BigInt),
  errorCode: Schema.NullOr(Schema.String),
  errorMessage: Schema.NullOr(Schema.String),
  submitDeadline: Schema.Date,
  deadline: Schema.Date,
  acceptedAt: Schema.NullOr(Schema.Date),
  askedAt: Schema.NullOr(Schema.Date),
  nextPollAt: Schema.NullOr(Schema.Date),
  unknownSince: Schema.NullOr(Schema.Date),
  finishedAt: Schema.NullOr(Schema.Date)
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
  startedAt: Schema.Date,
  durationMillis: Schema.Int,
  request: Schema.Unknown,
  answer: Schema.Unknown,
  repeats: Schema.Int,
  lastAt: Schema.Date
})
const CountRow = Schema.Struct({ total: Schema.Int })

const holdColumns = columnsOf(HoldRow, "q", {
  amountNano: "q.hold",
  capturedNano: "q.charge",
  overageNano: "q.overage"
})
const orderColumns = columnsOf(OrderRow, "q", {
  hasIdempotencyKey: `EXISTS (SELECT 1 FROM idempotency_keys k
    WHERE k.organization_id = q.organization_id AND k.order_id = q.id)`
})
const callColumns = columnsOf(CallRow, "c", { durationMillis: "c.duration_ms" })

export const layerTaskHistory = Layer.effect(
  TaskHistory,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const callLog = yield* CallLog

    /** Read by its key, and decoded by the reader that knows what it is of. */
    const read = (columns: string, from: Statement.Fragment) =>
      repeatable(sql`SELECT ${sql.literal(columns)} FROM ${from}`)

    return TaskHistory.of({
      find: Effect.fn("TaskHistory.find")(function* (id) {
        // One look into each organisation's keys: an index of its own would be paid for by every order.
        const found = isOrderId(id)
          ? yield* read(
              `${orderColumns}, ${holdColumns}`,
              sql`organizations g CROSS JOIN LATERAL (
                    SELECT * FROM orders WHERE organization_id = g.id AND id = ${id} LIMIT 1) q`
            )
          : []
        const [order] = yield* rowsOf(OrderRow)(Effect.succeed(found))
        if (order === undefined) {
          return yield* new TaskNotFound({ message: `No task is called ${JSON.stringify(id)}` })
        }
        const hold = yield* rowOf(HoldRow)(Effect.succeed(found))
        const own = sql`organization_id = ${order.organizationId}`
        const [usage = null] = yield* rowsOf(UsageRow)(
          read(usageColumns, sql`orders o WHERE ${own} AND id = ${id} AND state = 'captured'`)
        )
        const [video = null] = yield* rowsOf(VideoRow)(
          read(columnsOf(VideoRow, "t"), sql`tasks t WHERE ${own} AND id = ${id}`)
        )
        const [orphan = null] = yield* rowsOf(OrphanRow)(
          read(
            orphanColumns,
            sql`${sql.literal(orphansWithOrders)}
            WHERE o.organization_id = ${order.organizationId} AND o.order_id = ${id}`
          )
        )
        yield* callLog.flush
        const calls = sql`upstream_calls c WHERE ${own} AND job_id = ${id}`
        const { total } = yield* rowOf(CountRow)(read("count(*)::int AS total", calls))
        const newest = yield* rowsOf(CallRow)(
          read(callColumns, sql`${calls} ORDER BY started_at DESC, id DESC LIMIT ${MAX_CALLS}`)
        )
        return {
          ...order,
          id,
          hold,
          video,
          calls: newest.toReversed(),
          totalCalls: total,
          capture: usage === null ? null : { amountNano: usage.chargeNano, at: usage.createdAt },
          usage,
          orphan
        }
      })
    })
  })
)
