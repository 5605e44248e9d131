/**
 * Whoever locks rows of several organisations locks them in one order, or two of them wait for each
 * other. Seen from what is locked while the second row cannot be had.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Schedule, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { moveTogether } from "../../../src/postgres/ledger/ledgerBatch.ts"
import { TaskRepo } from "../../../src/services/TaskRepo.ts"
import { layerStoresOnServer, organization } from "../../support/ledger.ts"
import { submittedTasks, upstream } from "../../support/tasks.ts"

type Table = "pools" | "tasks"

const lockOf = (sql: SqlClient.SqlClient, table: Table, organizationId: string) =>
  sql`SELECT 1 FROM ${sql.literal(table)} WHERE organization_id = ${organizationId} FOR UPDATE`

/** Keeps the organisation's rows from others until it is told to let go. */
const keep = Effect.fnUntraced(function* (table: Table, organizationId: string) {
  const sql = yield* SqlClient.SqlClient
  const kept = yield* Deferred.make<void, SqlError.SqlError>()
  const letGo = yield* Deferred.make<void>()
  const keeping = yield* lockOf(sql, table, organizationId).pipe(
    Effect.andThen(Deferred.succeed(kept, undefined)),
    Effect.andThen(Deferred.await(letGo)),
    sql.withTransaction,
    Effect.forkScoped
  )
  yield* Deferred.await(kept)
  return () => Effect.andThen(Deferred.succeed(letGo, undefined), Fiber.join(keeping))
})

const Seen = Schema.Tuple([Schema.Struct({ waiters: Schema.Int, free: Schema.Int })])

/** Of the organisation's rows, at a moment at which somebody waits for a lock. */
const areFreeWhileSomebodyWaits = Effect.fnUntraced(function* (
  table: Table,
  organizationId: string
) {
  const sql = yield* SqlClient.SqlClient
  const look = sql`
    WITH free AS (${lockOf(sql, table, organizationId)} SKIP LOCKED)
    SELECT (SELECT count(*)::int FROM pg_stat_activity
             WHERE datname = current_database() AND wait_event_type = 'Lock') AS waiters,
           (SELECT count(*)::int FROM free) AS free`.pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(Seen)),
    Effect.map(([seen]) => seen)
  )
  const { free } = yield* Effect.repeat(look, {
    until: ({ waiters }) => waiters > 0,
    schedule: Schedule.spaced("10 millis")
  })
  return free > 0
})

const byOrganization = (
  one: { readonly organizationId: string },
  other: { readonly organizationId: string }
): number => (one.organizationId < other.organizationId ? -1 : 1)

layer(layerStoresOnServer(), { excludeTestServices: true, timeout: "60 seconds" })(
  "rows of several organisations are locked in order",
  (it) => {
    it.effect("by acceptances", () =>
      Effect.gen(function* () {
        const repo = yield* TaskRepo
        const tasks = yield* Effect.forEach(["a", "b", "c"], (channel) =>
          submittedTasks(channel, 1)
        )
        const [first, second, third] = tasks.toSorted(byOrganization)
        if (first === undefined || second === undefined || third === undefined) return
        const accept = ({ organizationId, ids: [id = ""] }: typeof first) =>
          Effect.forkScoped(repo.accept(organizationId, id, upstream(`up-${id}`), 60), {
            startImmediately: true
          })
        const letThirdGo = yield* keep("tasks", third.organizationId)
        const letSecondGo = yield* keep("tasks", second.organizationId)
        const alone = yield* accept(third)
        // The two wait for the one before them, and then go together.
        const together = [yield* accept(second), yield* accept(first)]
        yield* letThirdGo()
        assert.isTrue(yield* Fiber.join(alone))

        assert.isFalse(yield* areFreeWhileSomebodyWaits("tasks", first.organizationId))
        yield* letSecondGo()
        assert.deepStrictEqual(yield* Effect.forEach(together, Fiber.join), [true, true])
      })
    )

    it.effect("by movements of money", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const [first, second] = [yield* organization(1n), yield* organization(1n)].toSorted(
          byOrganization
        )
        if (first === undefined || second === undefined) return
        const letSecondGo = yield* keep("pools", second.organizationId)
        const holding = yield* Effect.forkScoped(
          moveTogether(
            sql,
            "UTC",
            [second, first].map(({ hold }) => ({
              _tag: "Hold",
              request: hold(1n),
              keySeconds: 60
            }))
          ).pipe(Effect.exit)
        )

        assert.isFalse(yield* areFreeWhileSomebodyWaits("pools", first.organizationId))
        yield* letSecondGo()
        yield* Fiber.join(holding)
      })
    )
  }
)
