import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert } from "@effect/vitest"
import { Effect, Layer, Metric, Schema } from "effect"
import { Digest } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { applySchema } from "../../../src/postgres/schema/applySchema.ts"
import { droppedCalls, layerCallLog } from "../../../src/postgres/tasks/CallLogPostgres.ts"
import { CallLog, type CallSubject, type VendorCall } from "../../../src/services/CallLog.ts"
import { describeOnBoth } from "../../support/databases.ts"

const layerLog = layerCallLog.pipe(
  Layer.provide([NodeCrypto.layerSecureRandom, Digest.layerWebCrypto])
)

let clock = Date.now()

/** Each call begins 10 ms after the one before it. */
const nextStart = () => {
  clock += 10
  return new Date(clock)
}

const callOf = (outcome: string, answer: unknown = null): VendorCall => ({
  method: "GET",
  url: "http://vendor.test/t",
  status: 200,
  failure: null,
  startedAt: nextStart(),
  durationMillis: 3,
  request: null,
  answer,
  outcome
})

const subjectOf = (jobId: string, purpose: CallSubject["purpose"] = "poll"): CallSubject => ({
  organizationId: "org_1",
  jobId,
  channelId: "ch",
  purpose,
  upstreamId: null
})

const record = (subject: CallSubject, call: VendorCall) =>
  Effect.flatMap(CallLog, (log) =>
    log.record(subject, { answeredCall: null, weigh: () => 1, describe: () => call })
  )

const Rows = Schema.Array(
  Schema.Struct({
    purpose: Schema.String,
    repeats: Schema.Int,
    answer: Schema.Unknown,
    took: Schema.BigInt
  })
)

/** Kept calls of the job in their order; `took` is the time from the first to the last repeat. */
const kept = Effect.fnUntraced(function* (jobId: string) {
  const sql = yield* SqlClient.SqlClient
  return yield* Effect.flatMap(
    sql`SELECT purpose, repeats, answer,
               (extract(epoch FROM last_at - started_at) * 1000)::bigint AS took
          FROM upstream_calls WHERE job_id = ${jobId} ORDER BY started_at, id`,
    Schema.decodeUnknownEffect(Rows)
  ).pipe(Effect.orDie)
})

const countAll = (jobPrefix: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.orDie(
      Effect.map(
        sql`SELECT 1 FROM upstream_calls WHERE starts_with(job_id, ${jobPrefix})`,
        (rows) => rows.length
      )
    )
  )

describeOnBoth(
  "the log of calls to vendors",
  (it) => {
    it.effect("bodies of any shape are kept as they are, of polls and of others", () =>
      Effect.gen(function* () {
        yield* Effect.orDie(applySchema)
        const log = yield* CallLog
        const bodies = [["x", [1, null]], "text", { a: { b: [] } }, 7, false, null, []]
        for (const purpose of ["image", "poll"] as const) {
          for (const [index, body] of bodies.entries()) {
            yield* record(subjectOf(`shape-${purpose}`, purpose), callOf(`200 ${index}`, body))
          }
        }
        yield* log.flush
        for (const purpose of ["image", "poll"]) {
          const rows = yield* kept(`shape-${purpose}`)
          assert.deepStrictEqual(
            rows.map(({ purpose, answer, took }) => [purpose, answer, took]),
            bodies.map((body) => [purpose, body, 0n])
          )
        }
      }).pipe(Effect.provide(layerLog))
    )

    it.effect("polls with the same end are one row until something else happens", () =>
      Effect.gen(function* () {
        yield* Effect.orDie(applySchema)
        const log = yield* CallLog
        const job = subjectOf("job-a")
        yield* record(subjectOf("job-c", "image"), callOf("200"))
        yield* record(subjectOf("job-a", "submit"), callOf("200"))
        yield* record(job, callOf("200", { n: 1 }))
        yield* record(job, callOf("200 running", { n: 2 }))
        yield* record(subjectOf("job-b"), callOf("200 running"))
        yield* record(job, callOf("200 running", { n: 3 }))
        yield* log.flush
        yield* record(job, callOf("200 running", { n: 4 }))
        yield* record(job, callOf("500"))
        yield* record(job, callOf("200 running", { n: 5 }))
        yield* log.flush
        const row = (repeats: number, answer: unknown, took: bigint) => ({
          purpose: "poll",
          repeats,
          answer,
          took
        })
        assert.deepStrictEqual(yield* kept("job-a"), [
          { ...row(0, null, 0n), purpose: "submit" },
          row(0, { n: 1 }, 0n),
          row(2, { n: 4 }, 30n),
          row(0, null, 0n),
          row(0, { n: 5 }, 0n)
        ])
        assert.strictEqual((yield* kept("job-b")).length, 1)
        assert.strictEqual((yield* kept("job-c")).length, 1)
      }).pipe(Effect.provide(layerLog))
    )

    it.effect("what does not fit or cannot be described is counted, and nobody fails", () =>
      Effect.gen(function* () {
        yield* Effect.orDie(applySchema)
        const log = yield* CallLog
        const dropped = Effect.map(Metric.value(droppedCalls), ({ count }) => Number(count))
        const before = yield* dropped
        for (let n = 0; n < 12_000; n += 1) yield* record(subjectOf(`many-${n}`), callOf("200"))
        yield* log.flush
        const overflow = (yield* dropped) - before
        assert.isAbove(overflow, 0)
        assert.strictEqual((yield* countAll("many-")) + overflow, 12_000)
        const describe = () => {
          throw new Error("no JSON")
        }
        yield* log.record(subjectOf("odd"), { answeredCall: null, weigh: () => 1, describe })
        yield* record(subjectOf("odd"), { ...callOf("200"), url: "\u0000" })
        yield* record(subjectOf("odder"), callOf("200"))
        yield* log.flush
        assert.strictEqual((yield* dropped) - before, overflow + 3)
        yield* record(subjectOf("even"), callOf("200"))
        yield* log.flush
        assert.strictEqual(yield* countAll("even"), 1)
      }).pipe(Effect.provide(layerLog))
    )

    it.effect(
      "a day of calls goes as a table, and calls without one are moved or go one by one",
      () =>
        Effect.gen(function* () {
          yield* Effect.orDie(applySchema)
          const sql = yield* SqlClient.SqlClient
          const log = yield* CallLog
          const days = Effect.orDie(sql`
          SELECT right(inhrelid::regclass::text, 8) AS day FROM pg_inherits
           WHERE inhparent = 'upstream_calls'::regclass ORDER BY 1`)
          const calls = Effect.orDie(sql`
          SELECT job_id, tableoid::regclass::text LIKE '%other' AS other FROM upstream_calls
           WHERE job_id LIKE 'day-%' ORDER BY 1`)
          // Made as 40 days ago, then the same day as if nobody had made it, and a time of no day at all.
          yield* Effect.orDie(sql`
          DO $$ DECLARE day text := to_char(now() - interval '40 days', 'YYYYMMDD'); BEGIN
            EXECUTE format('CREATE TABLE upstream_calls_%s PARTITION OF upstream_calls
                              FOR VALUES FROM (%L) TO (%L)', day, day, day::date + 1);
            EXECUTE format('DROP TABLE upstream_calls_%s', to_char(now(), 'YYYYMMDD'));
          END $$`)
          const write = (job: string, at: string) =>
            Effect.orDie(sql`
            INSERT INTO upstream_calls (organization_id, job_id, started_at, id, channel_id, purpose,
                                        method, url, duration_ms, last_at)
            VALUES ('org_1', ${job}, ${at}::timestamptz, 'uc', 'ch', 'poll', 'GET', 'u', 1, now())`)
          yield* write("day-dropped", new Date(Date.now() - 40 * 86_400_000).toISOString())
          yield* write("day-old", "1970-01-01")
          yield* write("day-today", new Date().toISOString())
          yield* write("day-young", new Date(Date.now() - 29 * 86_400_000).toISOString())
          assert.deepStrictEqual(yield* calls, [
            { job_id: "day-dropped", other: false },
            { job_id: "day-old", other: true },
            { job_id: "day-today", other: true },
            { job_id: "day-young", other: true }
          ])
          yield* log.prune
          assert.deepStrictEqual(yield* calls, [
            { job_id: "day-today", other: false },
            { job_id: "day-young", other: true }
          ])
          const left = yield* days
          assert.isAtLeast(left.length, 9)
          yield* log.prune
          assert.deepStrictEqual(yield* days, left)
        }).pipe(Effect.provide(layerLog))
    )

    it.effect("calls that are still being described are written before the gateway ends", () =>
      Effect.gen(function* () {
        yield* Effect.orDie(applySchema)
        yield* Effect.gen(function* () {
          for (let n = 0; n < 300; n += 1) {
            yield* record(subjectOf(`last-${n}`), callOf("200"))
          }
        }).pipe(Effect.provide(layerLog), Effect.scoped)
        assert.strictEqual(yield* countAll("last-"), 300)
      })
    )
  },
  { excludeTestServices: true }
)
