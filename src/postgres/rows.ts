/** Reading rows: each is decoded, and a database that fails is a defect at this edge. */
import { Effect, Schedule, Schema } from "effect"
import type { SqlError } from "effect/sql"
import { isPassing } from "../services/storeTrouble.ts"

type Statement = Effect.Effect<ReadonlyArray<object>, SqlError.SqlError>

/**
 * Repeats a statement that may be repeated without harm, because its effect happens once. An answer
 * that was lost may have been a commit, so the statement itself must tell what had happened before.
 */
export const repeatable = <A>(statement: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A> =>
  statement.pipe(
    Effect.retry({
      while: isPassing,
      schedule: Schedule.exponential("50 millis").pipe(Schedule.jittered),
      times: 8
    }),
    Effect.orDie
  )

/** Decodes every row of a statement; a row that does not decode dies. */
export const decodeRows = <S extends Schema.Top & { readonly DecodingServices: never }>(
  schema: S
) => {
  const decode = Schema.decodeUnknownEffect(Schema.Array(schema))
  return (statement: Statement): Effect.Effect<ReadonlyArray<S["Type"]>, SqlError.SqlError> =>
    Effect.flatMap(statement, (rows) => Effect.orDie(decode(rows)))
}

/** Decodes every row of a statement; failures of statement or decoding die. */
export const rowsOf = <S extends Schema.Top & { readonly DecodingServices: never }>(schema: S) => {
  const decode = decodeRows(schema)
  return (statement: Statement): Effect.Effect<ReadonlyArray<S["Type"]>> =>
    Effect.orDie(decode(statement))
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
