/** Reading rows: each is decoded, and a database that fails is a defect at this edge. */
import { Duration, Effect, Schedule, Schema } from "effect"
import { SqlError } from "effect/sql"
import { isTransient } from "../../runtime/databaseErrors.ts"
import { cutPage, type PageRequest, unknownCursor } from "../../runtime/Page.ts"

type Statement = Effect.Effect<ReadonlyArray<object>, SqlError.SqlError>

/** How long a client waits for a database that is away, before it is told to come again. */
export const BRIEF = Duration.millis(2500)
/** Longer than the server lets a statement wait for a lock and run, so that its own error comes first. */
const ONE_TRY = Duration.seconds(10)
const MINUTE = Duration.minutes(1)

/** The trouble of a database that took longer. */
export const unanswered = (limit: Duration.Duration) => {
  const message = `The database did not answer within ${Duration.format(limit)}`
  return new SqlError.SqlError({
    reason: new SqlError.ConnectionError({ cause: new Error(message), message })
  })
}

/**
 * Fails after the duration, with trouble that passes, without waiting for what it leaves behind:
 * taking a statement back from a connection that is lost takes seconds more. Covers the wait for a
 * free connection, which the pool itself does not bound. A fiber and a timer are all it takes, as
 * every statement pays for it.
 */
export const within =
  (limit: Duration.Duration) =>
  <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E | SqlError.SqlError> =>
    Effect.withFiber(({ context }) =>
      Effect.callback<A, E | SqlError.SqlError>((resume) => {
        const statement = Effect.runForkWith(context)(effect)
        const end = () => {
          clearTimeout(timer)
          statement.interruptUnsafe()
        }
        const timer = setTimeout(() => {
          resume(Effect.fail(unanswered(limit)))
          end()
        }, Duration.toMillis(limit))
        statement.addObserver((exit) => {
          clearTimeout(timer)
          resume(exit)
        })
        return Effect.sync(end)
      })
    )

/** Runs a statement or transaction once; no answer within 10 s is trouble that passes. */
export const oneTry = within(ONE_TRY)

/** Runs a statement or transaction once, and dies after 10 s. */
export const bounded = <A>(statement: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A> =>
  statement.pipe(oneTry, Effect.orDie)

/**
 * Repeats a statement that may be repeated without harm, because its effect happens once. An answer
 * that was lost may have been a commit, so the statement itself must tell what had happened before.
 * Gives up after 2.5 s: for what a client waits for and can ask again.
 */
export const repeatable = <A>(statement: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A> =>
  statement.pipe(
    Effect.retry({
      while: isTransient,
      schedule: Schedule.exponential("50 millis").pipe(Schedule.jittered)
    }),
    within(BRIEF),
    Effect.orDie
  )

const untilWritten = <A>(statement: Effect.Effect<A, SqlError.SqlError>) =>
  statement.pipe(
    oneTry,
    Effect.retry({
      while: isTransient,
      schedule: Schedule.min([Schedule.exponential("50 millis"), Schedule.spaced("1 second")]).pipe(
        Schedule.jittered
      )
    })
  )

/** Like `repeatable`, for what must be written down: waits until the database can be reached. */
export const lasting = <A>(statement: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A> =>
  Effect.orDie(untilWritten(statement))

/** Like `lasting`, but gives up after a minute. */
export const persistent = <A>(statement: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A> =>
  statement.pipe(untilWritten, within(MINUTE), Effect.orDie)

/**
 * Decodes every row of a statement; a row that does not decode dies. By the schema itself: one made
 * around it would be compiled again at every call.
 */
export const decodeRows = <S extends Schema.Top & { readonly DecodingServices: never }>(
  schema: S
) => {
  const decode = Schema.decodeUnknownSync(schema)
  return (statement: Statement): Effect.Effect<ReadonlyArray<S["Type"]>, SqlError.SqlError> =>
    Effect.map(statement, (rows) => rows.map((row) => decode(row)))
}

/** Decodes every row of a statement; failures of statement or decoding die. */
export const rowsOf = <S extends Schema.Top & { readonly DecodingServices: never }>(schema: S) => {
  const decode = decodeRows(schema)
  return (statement: Statement): Effect.Effect<ReadonlyArray<S["Type"]>> =>
    Effect.orDie(decode(statement))
}

/** Like `rowsOf`, for statements that answer exactly one row. */
export const rowOf = <S extends Schema.Top & { readonly DecodingServices: never }>(schema: S) => {
  const decode = rowsOf(schema)
  return (statement: Statement): Effect.Effect<S["Type"]> =>
    Effect.flatMap(decode(statement), (rows) => {
      const [row] = rows
      return rows.length === 1 && row !== undefined
        ? Effect.succeed(row)
        : Effect.die(new Error(`one row was expected, and ${rows.length} came`))
    })
}

/**
 * Reads a page of a list, and one row more, newest first. `isEntry` finds a cursor's entry, and
 * `newest` the rows before it, or from the newest one on.
 */
export const readPage = Effect.fnUntraced(function* <
  S extends Schema.Top & { readonly DecodingServices: never }
>(
  schema: S,
  { after, limit }: PageRequest,
  statements: { readonly isEntry: (after: string) => Statement; readonly newest: Statement }
) {
  if (after !== null && (yield* repeatable(statements.isEntry(after))).length === 0) {
    return yield* unknownCursor
  }
  return cutPage(yield* rowsOf(schema)(repeatable(statements.newest)), limit)
})

const DELETED_AT_ONCE = 1000

/** Deletes at most so many rows a time until none is left, and answers how many there were. */
export const deleteInBatches = Effect.fnUntraced(function* (
  deleteSome: (most: number) => Statement
) {
  let [deleted, total] = [DELETED_AT_ONCE, 0]
  while (deleted === DELETED_AT_ONCE) {
    deleted = (yield* bounded(deleteSome(DELETED_AT_ONCE))).length
    total += deleted
  }
  return total
})

/** How far the clocks of gateways, which mint ids, and of the database may lie apart. */
export const CLOCKS_APART_MILLIS = 60_000

/** How long ago that was, as a column. */
export const secondsSince = (time: string): string => `extract(epoch FROM now() - ${time})::float8`

const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/**
 * The columns of a row, each under the name of its field: `t.member_id AS "memberId"`. `from` tells
 * those that are called or made otherwise.
 */
export const columnsOf = (
  row: { readonly fields: object },
  table: string,
  from: Readonly<Record<string, string>> = {}
): string =>
  Object.keys(row.fields)
    .map((name) => `${from[name] ?? `${table}.${snakeCase(name)}`} AS "${name}"`)
    .join(", ")
