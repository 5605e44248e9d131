import { PgClient } from "@effect/sql-pg"
import { assert } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { describeOnBoth } from "../support/databases.ts"

class Refused {
  readonly _tag = "Refused"
}

describeOnBoth("the driver's connection", (it) => {
  it.effect("decodes the types we store alike", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      yield* sql`CREATE TABLE samples (
        amount bigint, at timestamptz, body jsonb, price numeric, flags text[], raw bytea, off boolean)`
      const stored = {
        amount: 9_007_199_254_740_993n,
        at: new Date("2026-02-28T23:59:59.123Z"),
        body: { nested: [1, "two", null, { ok: true }] },
        price: "46.000000001",
        flags: ["a", 'b"c'],
        raw: new Uint8Array([0, 255, 10]),
        off: false
      }
      yield* sql`INSERT INTO samples VALUES (${stored.amount}, ${stored.at}, ${sql.json(stored.body)},
        ${stored.price}, ${stored.flags}, ${stored.raw}, ${stored.off})`
      const rows = yield* sql`SELECT * FROM samples`
      assert.deepStrictEqual(
        rows.map((row) => ({ ...row, raw: Uint8Array.from(Object(row.raw)) })),
        [stored]
      )
      const totals =
        yield* sql`SELECT count(*), sum(amount), avg(amount) IS NULL AS none FROM samples`
      assert.deepStrictEqual(totals, [{ count: 1n, sum: "9007199254740993", none: false }])
      assert.deepStrictEqual(yield* sql`SELECT current_setting('TimeZone') AS zone`, [
        { zone: "UTC" }
      ])
    })
  )

  it.effect("rolls a failed transaction back and a nested one to its savepoint", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE steps (step text PRIMARY KEY)`
      const outer = sql.withTransaction(
        Effect.andThen(sql`INSERT INTO steps VALUES ('lost')`, Effect.fail(new Refused()))
      )
      assert.instanceOf(yield* Effect.flip(outer), Refused)
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`INSERT INTO steps VALUES ('kept')`
          yield* sql
            .withTransaction(sql`INSERT INTO steps VALUES ('undone'), ('kept')`)
            .pipe(Effect.flip)
          yield* sql`INSERT INTO steps VALUES ('also kept')`
        })
      )
      const rows = yield* sql`SELECT step FROM steps ORDER BY step`
      assert.deepStrictEqual(rows, [{ step: "also kept" }, { step: "kept" }])
    })
  )

  it.effect("keeps parallel statements and transactions apart", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE marks (owner int, half int)`
      const transaction = (owner: number) =>
        sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`INSERT INTO marks VALUES (${owner}, 1)`
            yield* Effect.yieldNow
            yield* sql`INSERT INTO marks VALUES (${owner}, 2)`
            if (owner % 2 === 1) return yield* Effect.fail(new Refused())
          })
        )
      const odd = sql`SELECT owner FROM marks GROUP BY owner HAVING count(*) <> 2`
      const owners = Array.from({ length: 40 }, (_, owner) => owner)
      const [, seen] = yield* Effect.all(
        [
          Effect.forEach(owners, (owner) => Effect.exit(transaction(owner)), {
            concurrency: "unbounded"
          }),
          Effect.forEach(owners, () => odd, { concurrency: "unbounded" })
        ],
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(seen.flat(), [])
      const rows = yield* sql`SELECT count(DISTINCT owner)::int AS owners FROM marks`
      assert.deepStrictEqual(rows, [{ owners: 20 }])
    })
  )

  it.effect("works on after an interrupted statement and an interrupted transaction", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE attempts (id int)`
      const slow = yield* Effect.forkChild(sql`SELECT pg_sleep(0.5)`)
      yield* sql`SELECT 1`
      yield* Fiber.interrupt(slow)
      const open = yield* Effect.forkChild(
        sql.withTransaction(Effect.andThen(sql`INSERT INTO attempts VALUES (1)`, Effect.never))
      )
      yield* Effect.yieldNow
      yield* Fiber.interrupt(open)
      assert.deepStrictEqual(yield* sql`SELECT id FROM attempts`, [])
    })
  )
})
