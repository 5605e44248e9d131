import { assert, layer } from "@effect/vitest"
import { Deferred, Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { layerDatabase } from "../../support/databases.ts"

layer(layerDatabase("postgres"), { excludeTestServices: true })("layerPostgres", (it) => {
  it.effect("sets every session's limits", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql<{ readonly name: string; readonly value: string }>`
        SELECT name, current_setting(name) AS value FROM pg_settings WHERE name IN (
          'application_name', 'lock_timeout', 'statement_timeout',
          'idle_in_transaction_session_timeout', 'synchronous_commit', 'TimeZone')`
      assert.deepStrictEqual(Object.fromEntries(rows.map(({ name, value }) => [name, value])), {
        application_name: "media-gateway",
        idle_in_transaction_session_timeout: "10s",
        lock_timeout: "2s",
        statement_timeout: "5s",
        synchronous_commit: "on",
        TimeZone: "UTC"
      })
    })
  )

  it.effect("ends a wait for a lock after two seconds and a statement after five", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE locked (id int)`
      const held = yield* Deferred.make<void>()
      const over = yield* Deferred.make<void>()
      const holder = sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`LOCK TABLE locked`
          yield* Deferred.succeed(held, undefined)
          yield* Deferred.await(over)
        })
      )
      const waiter = Effect.andThen(Deferred.await(held), sql`SELECT * FROM locked`).pipe(
        Effect.flip,
        Effect.timed,
        Effect.ensuring(Deferred.succeed(over, undefined))
      )
      const sleeper = sql.withTransaction(sql`SELECT pg_sleep(30)`).pipe(Effect.flip, Effect.timed)
      const [, [waited, lockError], [slept, statementError]] = yield* Effect.all(
        [holder, waiter, sleeper],
        { concurrency: "unbounded" }
      )
      assert.strictEqual(lockError.reason._tag, "LockTimeoutError")
      assert.approximately(Duration.toSeconds(waited), 2, 1)
      assert.strictEqual(statementError.reason._tag, "StatementTimeoutError")
      assert.approximately(Duration.toSeconds(slept), 5, 1)
    })
  )
})
