/** Reading rows: each is decoded, and a database that fails is a defect at this edge. */
import { Effect, Schema } from "effect"
import type { SqlError } from "effect/sql"

type Statement = Effect.Effect<ReadonlyArray<object>, SqlError.SqlError>

/** Decodes every row of a statement; failures of statement or decoding die. */
export const rowsOf = <S extends Schema.Top & { readonly DecodingServices: never }>(schema: S) => {
  const decode = Schema.decodeUnknownEffect(Schema.Array(schema))
  return (statement: Statement): Effect.Effect<ReadonlyArray<S["Type"]>> =>
    Effect.orDie(Effect.flatMap(statement, (rows) => decode(rows)))
}

/** Like `rowsOf`, for statements that answer exactly one row. */
export const rowOf = <S extends Schema.Top & { readonly DecodingServices: never }>(schema: S) => {
  const decode = Schema.decodeUnknownEffect(Schema.Tuple([schema]))
  return (statement: Statement): Effect.Effect<S["Type"]> =>
    Effect.orDie(
      Effect.map(
        Effect.flatMap(statement, (rows) => decode(rows)),
        ([row]) => row
      )
    )
}
