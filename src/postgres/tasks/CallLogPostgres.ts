/**
 * The log of vendor calls in PostgreSQL, except for calls that are stored with an order. Calls are
 * described and written in the background, in batches, so that neither a client nor a poll waits.
 */
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Clock, Effect, Exit, FiberSet, Layer, Metric, Semaphore, Struct } from "effect"
import { SecureRandom } from "effect/crypto"
import { startJob } from "../../runtime/backgroundJobs.ts"
import { Settings } from "../../runtime/Settings.ts"
import {
  CallLog,
  type CallLogShape,
  type CallReport,
  type CallSubject
} from "../../services/CallLog.ts"
import { Distribution } from "../citus/Distribution.ts"
import { deleteInBatches, retryForMinute, runOnce } from "../client/rows.ts"
import { type Column, columns } from "../client/typedColumns.ts"
import { type CallRow, makeUnwrittenCalls } from "./unwrittenCalls.ts"

const WRITE_BATCH_SIZE = 200
/** The maximum number of calls that wait to be described or written; further calls are dropped. */
const MAX_WAITING = 5000
/**
 * The maximum number of characters in bodies that wait to be described; further calls are dropped.
 */
const MAX_WEIGHT = 128 * 1024 * 1024
const FLUSH_TIMEOUT = "5 seconds"
/**
 * The time for which repeats of a poll are gathered in one row, and the maximum number of such
 * rows. A row has at most about 8 KiB.
 */
const GATHER_MILLIS = 15_000
const MAX_GATHERED = 4000
/**
 * The maximum number of jobs whose last poll is cached; for any further job, every poll has its own
 * row.
 */
const MAX_JOBS = 100_000
/** How long a last poll is cached; a poll after a longer pause is a new row. */
const LAST_POLL_TTL_MILLIS = 300_000
/**
 * The number of days whose tables are created ahead, so that calls have a table after an outage of
 * all gateways.
 */
const DAYS_AHEAD = 7

/** Calls that are missing from the log, because there were too many or writing them failed. */
export const droppedCalls = Metric.counter("gateway_call_log_dropped_total", {
  description: "Calls to vendors that are missing from the operator's log",
  incremental: true
})

/** The maximum number of calls that are described before the event loop runs again. */
const CALLS_PER_TURN = 16

interface ReportedCall {
  readonly subject: CallSubject
  readonly report: CallReport
  readonly weight: number
}

const { text, int4, timestamptz } = PgTypes.OID

const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value))

const callColumns = {
  organization_id: [text, (call) => call.organizationId],
  job_id: [text, (call) => call.jobId],
  started_at: [timestamptz, (call) => call.startedAt],
  id: [text, (call) => call.id],
  channel_id: [text, (call) => call.channelId],
  purpose: [text, (call) => call.purpose],
  method: [text, (call) => call.method],
  url: [text, (call) => call.url],
  status: [int4, (call) => call.status],
  failure: [text, (call) => call.failure],
  duration_ms: [int4, (call) => Math.round(call.durationMillis)],
  repeats: [int4, (call) => call.repeats],
  last_at: [timestamptz, (call) => call.lastAt],
  request: [text, (call) => json(call.request)],
  answer: [text, (call) => json(call.answer)]
} as const satisfies Record<string, Column<CallRow>>

/** The route, after the columns. */
const routeParameter = `$${Object.keys(callColumns).length + 1}::text`

const columnNames = Struct.keys(callColumns).join(", ")

/**
 * The text of the statement is constant, so that each connection prepares it only once. Calls of an
 * erased task are not written.
 */
const writeRows = `
  INSERT INTO upstream_calls (${columnNames})
  SELECT ${columnNames.replace("request, answer", "request::jsonb, answer::jsonb")}
    FROM unnest(${Object.keys(callColumns).map((_, index) => `$${index + 1}`)}) AS c(${columnNames})
   WHERE (SELECT t.erased_at FROM tasks t
           WHERE t.organization_id = c.organization_id AND t.id = c.job_id
             AND (${routeParameter} IS NULL OR t.organization_id = ${routeParameter})) IS NULL
  ON CONFLICT (organization_id, job_id, started_at, id) DO UPDATE
     SET duration_ms = excluded.duration_ms, answer = excluded.answer,
         repeats = excluded.repeats, last_at = excluded.last_at`

export const layerCallLog = Layer.effect(
  CallLog,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const random = yield* SecureRandom.SecureRandom
    const { callLogDays } = yield* Settings

    const { isCoordinator, routeOf } = yield* Distribution

    const pendingCalls: Array<ReportedCall> = []
    let waitingWeight = 0
    const unwrittenCalls = makeUnwrittenCalls(MAX_JOBS, MAX_GATHERED)

    const countDroppedCalls = (count: number) => Metric.update(droppedCalls, count)

    /**
     * A failure is logged without its cause, which may quote secrets that should have been
     * redacted.
     */
    const describe = Effect.fnUntraced(function* ({ subject, report }: ReportedCall) {
      const id = `uc_${yield* random.uuidV7()}`
      const now = yield* Clock.currentTimeMillis
      try {
        unwrittenCalls.add(id, subject, report.describe(), now)
      } catch {
        yield* countDroppedCalls(1)
        yield* Effect.logWarning("call log: call dropped, its description failed").pipe(
          Effect.annotateLogs({
            order_id: subject.jobId,
            channel: subject.channelId,
            purpose: subject.purpose
          })
        )
      }
    })

    const describeTurn = Effect.suspend(() => {
      const batch = pendingCalls.splice(0, CALLS_PER_TURN)
      for (const { weight } of batch) waitingWeight -= weight
      return Effect.forEach(batch, describe, { discard: true })
    })

    /**
     * Describes all calls, and yields after each batch, so that requests and responses are handled
     * first.
     */
    const describeAll = Effect.whileLoop({
      while: () => pendingCalls.length > 0,
      body: () => Effect.andThen(Effect.yieldNow, Effect.uninterruptible(describeTurn)),
      step: () => {}
    })

    const write = (route: string | null, rows: ReadonlyArray<CallRow>) =>
      Effect.suspend(() =>
        retryForMinute(sql.unsafe(writeRows, [...columns(callColumns, rows), route]))
      ).pipe(
        Effect.catchCause((cause) =>
          Effect.andThen(
            countDroppedCalls(rows.length),
            Effect.logWarning("call log: writing calls failed", cause)
          )
        ),
        Effect.onExit((exit) =>
          Effect.sync(() => {
            if (Exit.hasInterrupts(exit)) unwrittenCalls.putBack(rows)
          })
        )
      )

    const writePermit = yield* Semaphore.make(1)
    /** Writes all waiting rows, and the rows whose repeats were gathered for `gatherMillis`. */
    const writeAll = (gatherMillis: number) =>
      Effect.andThen(
        Effect.map(Clock.currentTimeMillis, (now) => {
          unwrittenCalls.forget(now - LAST_POLL_TTL_MILLIS)
          unwrittenCalls.release(now - gatherMillis)
        }),
        Effect.whileLoop({
          while: () => unwrittenCalls.waiting() > 0,
          body: () =>
            Effect.forEach(
              Map.groupBy(unwrittenCalls.take(WRITE_BATCH_SIZE), (row) =>
                routeOf(row.organizationId)
              ),
              ([route, rows]) => write(route, rows),
              { discard: true }
            ),
          step: () => {}
        })
      ).pipe(writePermit.withPermit)

    const flush = Effect.asVoid(
      Effect.timeoutOption(Effect.andThen(describeAll, writeAll(0)), FLUSH_TIMEOUT)
    )
    yield* Effect.addFinalizer(() => flush)
    const fork = yield* FiberSet.makeRuntime()

    const record: CallLogShape["record"] = (subject, report) =>
      Effect.suspend(() => {
        if (
          pendingCalls.length + unwrittenCalls.waiting() >= MAX_WAITING ||
          waitingWeight > MAX_WEIGHT
        ) {
          return countDroppedCalls(1)
        }
        const weight = report.weigh()
        waitingWeight += weight
        // If more than one call waits, `describeAll` is running already.
        if (pendingCalls.push({ subject, report, weight }) === 1) fork(describeAll)
        return Effect.void
      })

    yield* startJob({
      name: "call log writes",
      interval: "500 millis",
      run: writeAll(GATHER_MILLIS),
      onFailure: (cause) => Effect.logWarning("call log: write job failed", cause),
      metric: droppedCalls
    })

    const retention = sql`make_interval(secs => ${callLogDays * 86_400})`
    // Only the coordinator of a cluster creates and drops tables.
    const turnDays = isCoordinator
      ? runOnce(sql`SELECT turn_call_days(${retention}, ${DAYS_AHEAD})`)
      : Effect.void
    const prune = turnDays.pipe(
      Effect.andThen(
        deleteInBatches(
          (limit) => sql`
            DELETE FROM upstream_calls_other c
             USING (SELECT organization_id, job_id, started_at, id FROM upstream_calls_other
                     WHERE started_at < now() - ${retention} LIMIT ${limit}) old
             WHERE (c.organization_id, c.job_id, c.started_at, c.id)
                   = (old.organization_id, old.job_id, old.started_at, old.id)
            RETURNING c.id`
        )
      ),
      Effect.asVoid,
      Effect.withSpan("CallLog.prune")
    )

    return { record, flush, prune }
  })
)
