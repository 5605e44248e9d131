import { existsSync, readdirSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Logger } from "effect"
import { SqlClient } from "effect/sql"
import { layerEmbedded, maintain } from "../../src/postgres/embedded/EmbeddedPostgres.ts"
import { temporaryDataDir } from "../support/databases.ts"
import { startable, startProcess } from "../support/processes.ts"

const startInserting = (dataDir: string, env?: { readonly TMPDIR: string }) =>
  startProcess({
    entry: startable(join(import.meta.dirname, "insertUntilKilled.ts")),
    env: { DATA_DIR: dataDir, ...env }
  })

const withDatabase = <A, E>(
  dataDir: string,
  use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>
) => Effect.flatMap(SqlClient.SqlClient, use).pipe(Effect.provide(layerEmbedded({ dataDir })))

describe("the embedded database", () => {
  it.effect("loses no acknowledged row and shows no half transaction after kill -9", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDataDir({ initialised: true })
      const acknowledged = new Set<string>()
      for (const enough of [/^row .*50$/, /^pair .*77$/, /^row \d+00$/]) {
        const inserting = yield* startInserting(dataDir)
        yield* inserting.waitForLine(enough)
        yield* inserting.kill("SIGKILL")
        assert.strictEqual((yield* inserting.end).signal, "SIGKILL")
        assert.strictEqual(inserting.stderr(), "")
        // The last line may have been cut short by the kill.
        for (const line of inserting.stdout().split("\n").slice(0, -1)) {
          const id = /^(?:row|pair) (\d+)$/.exec(line)?.[1]
          if (id !== undefined) acknowledged.add(id)
          else assert.strictEqual(line, "ready")
        }
      }
      const { halves, ids } = yield* withDatabase(dataDir, (sql) =>
        Effect.all({
          ids: sql<{ readonly id: bigint }>`SELECT id FROM entries`,
          halves: sql`SELECT half FROM entries WHERE half > 0 GROUP BY half
            HAVING count(*) <> (SELECT count(*) / 2 FROM entries WHERE half > 0)`
        })
      )
      const stored = new Set(ids.map(({ id }) => String(id)))
      assert.isAbove(acknowledged.size, 100)
      assert.deepStrictEqual(
        [...acknowledged].filter((id) => !stored.has(id)),
        []
      )
      assert.deepStrictEqual(halves, [])
    })
  )

  // One test, since a first start takes several seconds.
  it.live(
    "starts again after kill -9 amid its very first start, and keeps rows over a restart",
    () =>
      Effect.gen(function* () {
        const dataDir = join(yield* temporaryDataDir(), "created", "by", "the", "database")
        const unfinished = join(dataDir, "postgres.unfinished")
        const starting = yield* startInserting(dataDir)
        yield* Effect.sync(() => existsSync(unfinished)).pipe(
          Effect.delay("5 millis"),
          Effect.repeat({ until: (creating) => creating })
        )
        yield* starting.kill("SIGKILL")
        yield* starting.end
        assert.isFalse(existsSync(join(dataDir, "postgres")))

        yield* withDatabase(dataDir, (sql) =>
          Effect.andThen(sql`CREATE TABLE kept (id int)`, sql`INSERT INTO kept VALUES (1), (2)`)
        )
        assert.isFalse(existsSync(unfinished))
        const rows = yield* withDatabase(dataDir, (sql) => sql`SELECT id FROM kept ORDER BY id`)
        assert.deepStrictEqual(rows, [{ id: 1 }, { id: 2 }])
        assert.strictEqual(statSync(dataDir).mode & 0o777, 0o700)
      }).pipe(Effect.scoped)
  )

  it.effect("refuses a second process by name, until the first is gone, even by kill -9", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDataDir({ initialised: true })
      const first = yield* startInserting(dataDir)
      yield* first.waitForLine(/^ready$/)

      const second = yield* startInserting(dataDir)
      assert.strictEqual((yield* second.end).code, 1)
      assert.include(
        second.stdout() + second.stderr(),
        `The data directory ${dataDir} is in use by process ${first.pid}. ` +
          "Stop that process, choose another DATA_DIR, or set DATABASE_URL"
      )

      yield* first.kill("SIGKILL")
      yield* first.end
      const third = yield* startInserting(dataDir)
      yield* third.waitForLine(/^ready$/)
    })
  )

  it.effect("removes the socket a killed process left", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDataDir({ initialised: true })
      const TMPDIR = yield* temporaryDataDir()
      const killed = yield* startInserting(dataDir, { TMPDIR })
      yield* killed.waitForLine(/^ready$/)
      yield* killed.kill("SIGKILL")
      yield* killed.end
      const [abandoned, ...others] = readdirSync(TMPDIR)
      assert.deepStrictEqual(others, [])
      const next = yield* startInserting(dataDir, { TMPDIR })
      yield* next.waitForLine(/^ready$/)
      assert.strictEqual(readdirSync(TMPDIR).length, 1)
      assert.notInclude(readdirSync(TMPDIR), abandoned)
    })
  )

  it.effect("goes to exactly one of several processes that start together", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDataDir({ initialised: true })
      const processes = yield* Effect.forEach([1, 2, 3, 4], () => startInserting(dataDir), {
        concurrency: "unbounded"
      })
      const lines = yield* Effect.forEach(
        processes,
        (started) => started.waitForLine(/^ready$|DataDirectoryInUse/),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(lines.filter(([line]) => line === "ready").length, 1)
    })
  )

  it.effect("refuses a second opening within one process, until the first is closed", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDataDir({ initialised: true })
      const open = withDatabase(dataDir, (sql) => sql`SELECT 1 AS one`)
      const refusal = yield* withDatabase(dataDir, () => Effect.flip(open))
      assert.deepInclude(refusal, {
        _tag: "DataDirectoryInUse",
        directory: dataDir,
        ownerPid: process.pid
      })
      assert.deepStrictEqual(yield* open, [{ one: 1 }])
    })
  )

  it.effect("flushes each commit to the disk before it answers", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDataDir({ initialised: true })
      const flushed = yield* withDatabase(dataDir, (sql) =>
        Effect.gen(function* () {
          const flushes = Effect.andThen(
            sql`SELECT pg_stat_force_next_flush()`,
            sql<{ readonly flushes: string }>`
              SELECT sum(fsyncs) AS flushes FROM pg_stat_io WHERE object = 'wal'`
          ).pipe(Effect.map(([row]) => Number(row?.flushes)))
          yield* sql`CREATE TABLE flushed (id int)`
          const before = yield* flushes
          for (let id = 0; id < 20; id++) yield* sql`INSERT INTO flushed VALUES (${id})`
          return (yield* flushes) - before
        })
      )
      assert.isAtLeast(flushed, 20)
    })
  )

  it.effect("keeps the write-ahead log and dead rows from growing", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDataDir({ initialised: true })
      const { after, before } = yield* withDatabase(dataDir, (sql) =>
        Effect.gen(function* () {
          const measure = Effect.andThen(
            sql`SELECT pg_stat_force_next_flush()`,
            sql<{ readonly log: number; readonly dead: bigint }>`
              SELECT (pg_current_wal_lsn() - redo_lsn)::float8 AS log, n_dead_tup AS dead
              FROM pg_control_checkpoint(), pg_stat_user_tables WHERE relname = 'busy'`
          ).pipe(Effect.map(([row]) => ({ log: row?.log ?? 0, dead: row?.dead ?? 0n })))
          yield* sql`CREATE TABLE busy (id int, filling text)`
          yield* sql`INSERT INTO busy SELECT i, repeat('x', 2000) FROM generate_series(1, 9000) i`
          for (let round = 0; round < 4; round++) yield* sql`UPDATE busy SET id = id + 1`
          const before = yield* measure
          yield* Effect.provideService(maintain, SqlClient.SqlClient, sql)
          return { before, after: yield* measure }
        })
      )
      assert.isAbove(before.log, 64 * 1024 * 1024)
      assert.isAbove(Number(before.dead), 10_000)
      assert.isBelow(after.log, 1024 * 1024)
      assert.strictEqual(after.dead, 0n)
    })
  )

  it.effect("fails statements and logs a fatal error when it dies", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDataDir({ initialised: true })
      const logged = yield* Deferred.make<string>()
      const logger = Logger.make(({ logLevel, message }) => {
        if (logLevel === "Fatal") Deferred.doneUnsafe(logged, Effect.succeed(String(message)))
      })
      yield* withDatabase(dataDir, (sql) =>
        Effect.gen(function* () {
          rmSync(join(dataDir, "postgres", "pg_wal"), { recursive: true })
          const running = yield* Effect.andThen(
            sql`SELECT pg_switch_wal()`,
            sql`CREATE TABLE lost ()`
          ).pipe(Effect.flip)
          assert.strictEqual(running.reason._tag, "ConnectionError")
          assert.match(yield* Deferred.await(logged), /stopped: .*PANIC/)
          const later = yield* Effect.flip(sql.withTransaction(sql`SELECT 1`))
          assert.strictEqual(later.reason._tag, "ConnectionError")
        })
      ).pipe(Effect.provide(Logger.layer([logger])))
    })
  )
})
