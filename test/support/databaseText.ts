/** Everything that stands in the database, as a dump of it would show. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"

const Columns = Schema.Array(
  Schema.Struct({ table_name: Schema.String, column_name: Schema.String })
)
const Values = Schema.Array(Schema.Struct({ value: Schema.NullOr(Schema.String) }))

/** Every value of every column of every table, as text. */
export const databaseColumns = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const columns = yield* Effect.flatMap(
    sql`SELECT table_name, column_name FROM information_schema.columns
         WHERE table_schema = 'public' ORDER BY table_name, ordinal_position`,
    Schema.decodeUnknownEffect(Columns)
  )
  return yield* Effect.forEach(columns, ({ table_name, column_name }) =>
    sql`SELECT ${sql(column_name)}::text AS value FROM ${sql(table_name)}`.pipe(
      Effect.flatMap(Schema.decodeUnknownEffect(Values)),
      Effect.map((rows) => ({
        column: `${table_name}.${column_name}`,
        text: rows.map(({ value }) => value ?? "").join("\n")
      }))
    )
  )
}).pipe(Effect.orDie)

export const databaseText = Effect.map(databaseColumns, (columns) =>
  columns.map(({ text }) => text).join("\n")
)
