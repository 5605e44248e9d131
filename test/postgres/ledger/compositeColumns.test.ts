/** Rows are joined to composite types by position, so columns and attributes must have one order. */
import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { closeColumns, holdColumns } from "../../../src/postgres/ledger/ledgerColumns.ts"
import { applySchema } from "../../../src/postgres/schema/applySchema.ts"
import { describeOnBoth } from "../../support/databases.ts"

const Attributes = Schema.Array(Schema.Struct({ name: Schema.String, element_oid: Schema.Int }))

describeOnBoth("the types of move_funds", (it) => {
  it.effect.each([
    ["order_close", closeColumns],
    ["order_hold", holdColumns]
  ] as const)("have the columns in their order: %s", ([type, columns]) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* applySchema
      const rows = yield* sql`
        SELECT attname AS name, atttypid::int AS element_oid
          FROM pg_attribute WHERE attrelid = ${type}::regclass AND attnum > 0 ORDER BY attnum`
      const attributes = yield* Schema.decodeUnknownEffect(Attributes)(rows)
      assert.deepStrictEqual(
        attributes.map(({ name, element_oid }) => [name, element_oid]),
        Object.entries(columns).map(([name, [elementOid]]) => [name, elementOid])
      )
    })
  )
})
