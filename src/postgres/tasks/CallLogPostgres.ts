/**
 * Calls to vendors in PostgreSQL. They are described and written in the background, many at a time,
 * so that neither a client nor a poll waits for it.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Effect, Exit, FiberSet, Layer, Metric, Schedule, Schema, Semaphore } from "effect"
import { SecureRandom } from "effect/crypto"
import { Settings } from "../../runtime/Settings.ts"
import {
  CallLog,
  type CallLogShape,
  type CallReport,
  type CallSubject,
  type VendorCall
} from "../../services/CallLog.ts"
import { oneTry, persistent, rowOf } from "../client/rows.ts"
import { type CallItem, makeCallRepeats } from "./callRepeats.ts"
import { makeWriteCalls } from "./callRows.ts"

const WRITE_EVERY = "500 millis"
const BATCH = 200
/** Calls that wait to be described or written; the newest beyond them are dropped. */
const MAX_WAITING = 5000
/** Characters of the bodies that wait to be described; calls that come on top are dropped. */
const MAX_WEIGHT = 128 * 1024 * 1024
const PATIENCE = "5 seconds"
/** How long repeats of the same answer are gathered, of how many jobs, and their characters. */
const GATHER_MILLIS = 15_000
const MAX_JOBS = 20_000
const MAX_GATHERED = 32 * 1024 * 1024
const PRUNE_BATCH = 1000

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
}

const itemOf = (id: string, subject: CallSubject, call: VendorCall): CallItem => {
  const startedAt = call.startedAt.toISOString()
  return {
    organization_id: subject.organizationId,
    job_id: subject.jobId,
    id,
    purpose: subject.purpose,
    method: call.method,
    url: call.url,
    status: call.status,
    failure: call.failure,
    outcome: call.outcome,
    started_at: startedAt,
    duration_ms: Math.round(call.durationMillis),
    request: call.request,
    answer: call.answer,
    repeats: 0,
    last_at: startedAt
  }
}

/** Times of one form, which stand in the order of their characters. */
const byStart = (a: CallItem, b: CallItem): number =>
  a.started_at < b.started_at ? -1 : a.started_at > b.started_at ? 1 : 0

export const layerCallLog = Layer.effect(
  CallLog,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const random = yield* SecureRandom.SecureRandom
    const { callLogDays } = yield* Settings

    const writeCalls = makeWriteCalls(sql)
    const described: Array<CallItem> = []
    const repeats = makeCallRepeats(MAX_JOBS, MAX_GATHERED)
    let waiting = 0
    let weight = 0

    const dropped = (count: number) => Metric.update(droppedCalls, count)

    const push = (items: ReadonlyArray<CallItem>) => {
      waiting += items.length
      described.push(...items)
    }

    const write = (batch: ReadonlyArray<CallItem>) =>
      persistent(writeCalls(batch)).pipe(
        Effect.catchCause((cause) =>
          Effect.andThen(
            dropped(batch.length),
            Effect.logWarning("calls to vendors could not be logged", cause)
          )
        ),
        Effect.onExit((exit) =>
          Effect.sync(() => {
            if (Exit.hasInterrupts(exit)) described.unshift(...batch)
            else waiting -= batch.length
          })
        )
      )

    /** Has what was gathered for so long written as well. */
    const release = (forMillis: number) =>
      Effect.map(Clock.currentTimeMillis, (now) => push(repeats.take(now - forMillis)))

    const writing = yield* Semaphore.make(1)
    const writeAll = writing.withPermit(
      Effect.whileLoop({
        while: () => described.length > 0,
        body: () => {
          const batch = described.splice(0, BATCH)
          return write(batch.toSorted(byStart))
        },
        step: () => {}
      })
    )

    // Stopped in the reverse order: descriptions are awaited first, then written.
    const writeEverything = Effect.andThen(release(0), Effect.timeoutOption(writeAll, PATIENCE))
    yield* Effect.addFinalizer(() => writeEverything)
    const describing = yield* FiberSet.make()
    const describe = yield* FiberSet.runtime(describing)()
    const settle = Effect.timeoutOption(FiberSet.awaitEmpty(describing), PATIENCE)
    yield* Effect.addFinalizer(() => settle)

    /** False when it could not be described; without the reason, which may quote what it hides. */
    const keep = ({ subject, report }: Reported, uuid: string, nowMillis: number): boolean => {
      waiting -= 1
      try {
        const item = itemOf(`uc_${uuid}`, subject, report.describe())
        push(repeats.add(item, report.weight, nowMillis))
        return true
      } catch {
        return false
      }
    }

    const reported: Array<Reported> = []
    /** The answers go on their way first, and requests come in between. */
    const describeAll = Effect.gen(function* () {
      while (reported.length > 0) {
        yield* Effect.yieldNow
        const now = yield* Clock.currentTimeMillis
        for (const one of reported.splice(0, AT_A_TURN)) {
          weight -= one.report.weight
          if (!keep(one, yield* random.uuidV7(), now)) {
            yield* dropped(1)
            yield* Effect.logWarning("a call to a vendor could not be described")
          }
        }
      }
      isDescribing = false
    })
    let isDescribing = false

    const record: CallLogShape["record"] = (subject, report) =>
      Effect.suspend(() => {
        if (waiting >= MAX_WAITING || weight > MAX_WEIGHT) return dropped(1)
        waiting += 1
        weight += report.weight
        reported.push({ subject, report })
        if (isDescribing) return Effect.void
        isDescribing = true
        describe(describeAll)
        return Effect.void
      })

    const flush = Effect.asVoid(Effect.andThen(settle, writeEverything))

    yield* Effect.andThen(release(GATHER_MILLIS), writeAll).pipe(
      Effect.repeat(Schedule.spaced(WRITE_EVERY)),
      Effect.forkScoped
    )

    const pruneBatch = rowOf(Schema.Struct({ gone: Schema.BigInt }))(
      oneTry(sql`
      WITH old AS (
        SELECT organization_id, job_id, started_at, id FROM upstream_calls
         WHERE started_at < now() - make_interval(secs => ${callLogDays * 86_400})
         ORDER BY started_at LIMIT ${PRUNE_BATCH}
      ), gone AS (
        DELETE FROM upstream_calls c USING old
         WHERE (c.organization_id, c.job_id, c.started_at, c.id) =
               (old.organization_id, old.job_id, old.started_at, old.id)
        RETURNING 1
      )
      SELECT count(*) AS gone FROM gone`)
    )

    const prune = Effect.gen(function* () {
      let total = 0
      let gone = PRUNE_BATCH
      while (gone === PRUNE_BATCH) {
        gone = Number((yield* pruneBatch).gone)
        total += gone
      }
      return total
    }).pipe(Effect.withSpan("CallLog.prune"))

    return { record, flush, prune }
  })
)
