/**
 * Calls to vendors in PostgreSQL, but for those that an order's row tells of. They are described and
 * written in the background, many at a time, so that neither a client nor a poll waits for it.
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
import { bounded, deleteInBatches, persistent } from "../client/rows.ts"
import { type Column, columns } from "../client/typedColumns.ts"
import { type CallRow, makeUnwrittenCalls } from "./unwrittenCalls.ts"

const BATCH = 200
/** Calls that wait to be described or written; the newest beyond them are dropped. */
const MAX_WAITING = 5000
/** Characters of the bodies that wait to be described; calls that come on top are dropped. */
const MAX_WEIGHT = 128 * 1024 * 1024
const PATIENCE = "5 seconds"
/** How long repeats of a poll are gathered, and in how many rows; a row has some 8 KiB at most. */
const GATHER_MILLIS = 15_000
const MAX_GATHERED = 4000
/** The last polls of so many jobs are remembered; of jobs beyond them every poll is a row. */
const MAX_JOBS = 100_000
/** How long for: after more time without a poll the next one is a row. */
const REMEMBER_MILLIS = 300_000
/** Days whose table is made before their calls come: all gateways may be away for as long. */
const DAYS_AHEAD = 7

/** Calls that are missing from the log, because too many came at a time or could not be written. */
export const droppedCalls = Metric.counter("gateway_call_log_dropped_total", {
  description: "Calls to vendors that are missing from the operator's log",
  incremental: true
})

/** Described before the event loop gets its turn. */
const AT_A_TURN = 16

interface Reported {
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

const names = Struct.keys(callColumns).join(", ")

/**
 * Its text never changes, so that a connection prepares it once. Of a task that was erased nothing is
 * written any more.
 */
const writeRows = `
  INSERT INTO upstream_calls (${names})
  SELECT ${names.replace("request, answer", "request::jsonb, answer::jsonb")}
    FROM unnest(${Object.keys(callColumns).map((_, index) => `$${index + 1}`)}) AS c(${names})
   WHERE (SELECT t.erased_at FROM tasks t
           WHERE t.organization_id = c.organization_id AND t.id = c.job_id) IS NULL
  ON CONFLICT (organization_id, job_id, started_at, id) DO UPDATE
     SET duration_ms = excluded.duration_ms, answer = excluded.answer,
         repeats = excluded.repeats, last_at = excluded.last_at`

export const layerCallLog = Layer.effect(
  CallLog,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const random = yield* SecureRandom.SecureRandom
    const { callLogDays } = yield* Settings

    const reported: Array<Reported> = []
    let waitingWeight = 0
    const unwritten = makeUnwrittenCalls(MAX_JOBS, MAX_GATHERED)

    const dropped = (count: number) => Metric.update(droppedCalls, count)

    /** Without the reason where it cannot be, which may quote what it hides. */
    const describe = Effect.fnUntraced(function* ({ subject, report }: Reported) {
      const id = `uc_${yield* random.uuidV7()}`
      const now = yield* Clock.currentTimeMillis
      try {
        unwritten.add(id, subject, report.describe(), now)
      } catch {
        yield* dropped(1)
        yield* Effect.logWarning("a call to a vendor could not be described")
      }
    })

    const describeTurn = Effect.suspend(() => {
      const turn = reported.splice(0, AT_A_TURN)
      for (const { weight } of turn) waitingWeight -= weight
      return Effect.forEach(turn, describe, { discard: true })
    })

    /** The answers go on their way first, and requests come in between. */
    const describeAll = Effect.whileLoop({
      while: () => reported.length > 0,
      body: () => Effect.andThen(Effect.yieldNow, Effect.uninterruptible(describeTurn)),
      step: () => {}
    })

    const write = (rows: ReadonlyArray<CallRow>) =>
      Effect.suspend(() => persistent(sql.unsafe(writeRows, columns(callColumns, rows)))).pipe(
        Effect.catchCause((cause) =>
          Effect.andThen(
            dropped(rows.length),
            Effect.logWarning("calls to vendors could not be logged", cause)
          )
        ),
        Effect.onExit((exit) =>
          Effect.sync(() => {
            if (Exit.hasInterrupts(exit)) unwritten.putBack(rows)
          })
        )
      )

    const writing = yield* Semaphore.make(1)
    /** Also what was gathered for so long. */
    const writeAll = (forMillis: number) =>
      Effect.andThen(
        Effect.map(Clock.currentTimeMillis, (now) => {
          unwritten.forget(now - REMEMBER_MILLIS)
          unwritten.release(now - forMillis)
        }),
        Effect.whileLoop({
          while: () => unwritten.waiting() > 0,
          body: () => write(unwritten.take(BATCH)),
          step: () => {}
        })
      ).pipe(writing.withPermit)

    const flush = Effect.asVoid(
      Effect.timeoutOption(Effect.andThen(describeAll, writeAll(0)), PATIENCE)
    )
    yield* Effect.addFinalizer(() => flush)
    const fork = yield* FiberSet.makeRuntime()

    const record: CallLogShape["record"] = (subject, report) =>
      Effect.suspend(() => {
        if (reported.length + unwritten.waiting() >= MAX_WAITING || waitingWeight > MAX_WEIGHT) {
          return dropped(1)
        }
        const weight = report.weigh()
        waitingWeight += weight
        // A longer list is being described.
        if (reported.push({ subject, report, weight }) === 1) fork(describeAll)
        return Effect.void
      })

    yield* startJob({
      name: "call log writes",
      interval: "500 millis",
      run: writeAll(GATHER_MILLIS),
      onFailure: (cause) => Effect.logWarning("call log: writing calls failed", cause),
      metric: droppedCalls
    })

    const kept = sql`make_interval(secs => ${callLogDays * 86_400})`
    const prune = bounded(sql`SELECT turn_call_days(${kept}, ${DAYS_AHEAD})`).pipe(
      Effect.andThen(
        deleteInBatches(
          (most) => sql`
            DELETE FROM upstream_calls_other
             WHERE ctid = ANY (ARRAY(SELECT ctid FROM upstream_calls_other
                                      WHERE started_at < now() - ${kept} LIMIT ${most}))
            RETURNING 1`
        )
      ),
      Effect.asVoid,
      Effect.withSpan("CallLog.prune")
    )

    return { record, flush, prune }
  })
)
