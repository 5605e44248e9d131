/** The history of an order in PostgreSQL, read from all tables with rows about the order. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { AppliedPriceList } from "../../domain/catalog/PriceList.ts"
import { Quote } from "../../domain/money/Quote.ts"
import { isOrderId } from "../../domain/orderIds.ts"
import { OrderFailure } from "../../domain/VendorOutcome.ts"
import { columnsOf, retryBriefly, rowOf, rowsOf } from "../../postgres/client/rows.ts"
import { usageColumns } from "../../postgres/ledger/UsageLogPostgres.ts"
import { appliedPriceList } from "../../postgres/stores/priceListRows.ts"
import { AnsweredCall, CallLog } from "../../services/CallLog.ts"
import { RefusedJob, VendorJob } from "../../services/Ledger.ts"
import { OrphanRecord } from "../../services/Orphans.ts"
import {
  HoldHistory,
  LoggedCall,
  noSuchTask,
  TaskFacts,
  TaskHistory
} from "../../services/TaskHistory.ts"
import { UsageRecord } from "../../services/UsageLog.ts"
import { orphanColumns, orphansWithOrders } from "./OrphansPostgres.ts"

const MAX_CALLS = 500

const OrderRow = Schema.Struct({
  organizationId: Schema.String,
  memberId: Schema.String,
  keyId: Schema.String,
  model: Schema.String,
  job: VendorJob,
  refusals: Schema.Array(RefusedJob),
  failure: Schema.NullOr(OrderFailure),
  quote: Quote,
  priceList: Schema.NullOr(AppliedPriceList),
  call: Schema.NullOr(AnsweredCall),
  hasIdempotencyKey: Schema.Boolean
})

const CountRow = Schema.Struct({ total: Schema.Int })

const holdColumns = columnsOf(HoldHistory, "q", {
  amountNano: "q.hold",
  capturedNano: "q.charge",
  overageNano: "q.overage"
})
const orderColumns = columnsOf(OrderRow, "q", {
  refusals: "coalesce(q.refusals, '[]')",
  priceList: appliedPriceList("q"),
  hasIdempotencyKey: `EXISTS (SELECT 1 FROM idempotency_keys k
    WHERE k.organization_id = q.organization_id AND k.order_id = q.id)`
})
const callColumns = columnsOf(LoggedCall, "c", { durationMillis: "c.duration_ms" })

export const layerTaskHistory = Layer.effect(
  TaskHistory,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const callLog = yield* CallLog

    const select = (columns: string, from: Statement.Fragment) =>
      retryBriefly(sql`SELECT ${sql.literal(columns)} FROM ${from}`)

    return TaskHistory.of({
      find: Effect.fn("TaskHistory.find")(function* (id) {
        const rows = isOrderId(id)
          ? yield* select(`${orderColumns}, ${holdColumns}`, sql`orders q WHERE q.id = ${id}`)
          : []
        const [order] = yield* rowsOf(OrderRow)(Effect.succeed(rows))
        if (order === undefined) return yield* noSuchTask(id)
        const hold = yield* rowOf(HoldHistory)(Effect.succeed(rows))
        const isOfOwner = sql`organization_id = ${order.organizationId}`
        const [usage = null] = yield* rowsOf(UsageRecord)(
          select(
            usageColumns,
            sql`orders o WHERE ${isOfOwner} AND id = ${id} AND state = 'captured'`
          )
        )
        const [task = null] = yield* rowsOf(TaskFacts)(
          select(columnsOf(TaskFacts, "t"), sql`tasks t WHERE ${isOfOwner} AND id = ${id}`)
        )
        const [orphan = null] = yield* rowsOf(OrphanRecord)(
          select(
            orphanColumns,
            sql`${sql.literal(orphansWithOrders)}
            WHERE o.organization_id = ${order.organizationId} AND o.order_id = ${id}`
          )
        )
        yield* callLog.flush
        const calls = sql`upstream_calls c WHERE ${isOfOwner} AND job_id = ${id}`
        const { total } = yield* rowOf(CountRow)(select("count(*)::int AS total", calls))
        const newest = yield* rowsOf(LoggedCall)(
          select(callColumns, sql`${calls} ORDER BY started_at DESC, id DESC LIMIT ${MAX_CALLS}`)
        )
        return {
          ...order,
          id,
          hold,
          task,
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
