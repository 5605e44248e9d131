import { globSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { applySchema } from "../../../src/postgres/schema/applySchema.ts"
import { emptyServerDatabase, layerDatabaseAt } from "../../support/databases.ts"

/** Runs the effect as a gateway with connections of its own. */
const on =
  (url: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.provide(effect, layerDatabaseAt(url), { local: true })

describe("the schema", () => {
  it.live(
    "is applied once by gateways that start together, and not again later",
    () =>
      Effect.gen(function* () {
        const url = yield* emptyServerDatabase
        const applied = yield* Effect.all(
          Array.from({ length: 4 }, () => applySchema.pipe(on(url))),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(applied.map((ran) => ran.length).toSorted(), [0, 0, 0, 1])
        assert.deepStrictEqual(yield* applySchema.pipe(on(url)), [])
      }).pipe(Effect.scoped),
    60_000
  )

  it.live(
    "is refused by a database that an unreleased version has filled, which stays as it is",
    () =>
      Effect.gen(function* () {
        const url = yield* emptyServerDatabase
        const error = yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* sql`CREATE TABLE effect_sql_migrations (migration_id int, name text)`
          yield* sql`INSERT INTO effect_sql_migrations VALUES (1, 'access'), (23, 'lateness')`
          const error = yield* Effect.flip(applySchema)
          assert.deepStrictEqual(yield* sql`SELECT to_regclass('organizations') AS made`, [
            { made: null }
          ])
          return error
        }).pipe(on(url))
        assert.strictEqual(error._tag, "UnsupportedDatabase")
        assert.match(error.message, /empty one: another DATABASE_URL or DATA_DIR/)
      }).pipe(Effect.scoped),
    60_000
  )

  it("leaves no file of the folder out", () => {
    const src = join(import.meta.dirname, "../../../src")
    const schema = join(src, "postgres/schema")
    const applied = readFileSync(join(schema, "migrations.ts"), "utf8")
    const files = globSync("{postgres/schema,features/*}/*.sql", { cwd: src })
    assert.deepStrictEqual(
      [...applied.matchAll(/"(\.[\w./]+\.sql)"/g)]
        .map(([, file = ""]) => relative(src, join(schema, file)))
        .toSorted(),
      files.toSorted()
    )
  })
})
