/**
 * Runs SQL statements with time-outs and retries, and decodes their rows; failures become defects.
 */
import { Clock, Duration, Effect, Exit, Schedule, Schema } from "effect"
import { SqlError } from "effect/sql"
import { isTransient, transientBackoff } from "../../runtime/databaseErrors.ts"
import { cutPage, type PageRequest, unknownCursor } from "../../runtime/Page.ts"

type Statement = Effect.Effect<ReadonlyArray<object>, SqlError.SqlError>

/**
 * How long a client waits for an unavailable database before it gets an error that asks for a
 * retry.
 */
export const CLIENT_TIMEOUT = Duration.millis(2500)
/**
 * Longer than the server's time-outs for locks and statements, so that the server's error comes
 * first.
 */
const STATEMENT_TIMEOUT = Duration.seconds(10)
const MINUTE = Duration.minutes(1)

/** The error of a database that did not answer in time. */
export const timeoutError = (limit: Duration.Duration) => {
  const message = `The database did not answer within ${Duration.format(limit)}`
  return new SqlError.SqlError({
    reason: new SqlError.ConnectionError({ cause: new Error(message), message })
  })
}

/**
 * Fails after the duration with a transient error, and does not wait for the interrupted statement,
 * since cancelling a statement on a lost connection takes seconds more. The duration includes the
 * wait for a free connection, which the pool itself does not limit. It is built from two fibers only,
 * the statement and a sleep of the caller's clock, since every statement pays for it.
 */
export const withTimeout =
  (limit: Duration.Duration) =>
  <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E | SqlError.SqlError> =>
    Effect.withFiber((fiber) =>
      Effect.callback<A, E | SqlError.SqlError>((resume) => {
        const fork = Effect.runForkWith(fiber.context)
        const statement = fork(effect)
        const exit = statement.pollUnsafe()
        if (exit !== undefined) return resume(exit)
        const timer = fork(fiber.getRef(Clock.Clock).sleep(limit))
        timer.addObserver((end) => {
          if (Exit.isFailure(end)) return
          resume(Effect.fail(timeoutError(limit)))
          statement.interruptUnsafe()
        })
        statement.addObserver((exit) => {
          timer.interruptUnsafe()
          resume(exit)
        })
        return Effect.sync(() => {
          timer.interruptUnsafe()
          statement.interruptUnsafe()
        })
      })
    )

/**
 * Runs a statement or transaction once; fails with a transient error after 10 s without an answer.
 */
export const withStatementTimeout = withTimeout(STATEMENT_TIMEOUT)

/** Runs a statement or transaction once, and dies after 10 s without an answer. */
export const runOnce = <A>(statement: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A> =>
  statement.pipe(withStatementTimeout, Effect.orDie)

/**
 * Retries an idempotent statement. An attempt whose answer was lost may have been committed, so the
 * statement must return the same result when its effect has already happened. Gives up after 2.5 s:
 * for calls that a client waits for and can repeat.
 */
export const retryBriefly = <A>(statement: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A> =>
  statement.pipe(
    Effect.retry({
      while: isTransient,
      schedule: Schedule.exponential("50 millis").pipe(Schedule.jittered)
    }),
    withTimeout(CLIENT_TIMEOUT),
    Effect.orDie
  )

const retryUntilWritten = <A>(statement: Effect.Effect<A, SqlError.SqlError>) =>
  statement.pipe(
    withStatementTimeout,
    Effect.retry({
      while: isTransient,
      schedule: transientBackoff
    })
  )

/**
 * Like `retryBriefly`, for writes that must not be lost: retries until the database can be reached.
 */
export const retryForever = <A>(statement: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A> =>
  Effect.orDie(retryUntilWritten(statement))

/** Like `retryForever`, but gives up after a minute. */
export const retryForMinute = <A>(
  statement: Effect.Effect<A, SqlError.SqlError>
): Effect.Effect<A> => statement.pipe(retryUntilWritten, withTimeout(MINUTE), Effect.orDie)

/**
 * Decodes every row of a statement; a row that does not decode dies. Each row is decoded by the
 * schema itself, since an array schema around it would be compiled again at every call.
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

/** Like `rowsOf`, for statements that return exactly one row. */
export const rowOf = <S extends Schema.Top & { readonly DecodingServices: never }>(schema: S) => {
  const decode = rowsOf(schema)
  return (statement: Statement): Effect.Effect<S["Type"]> =>
    Effect.flatMap(decode(statement), (rows) => {
      const [row] = rows
      return rows.length === 1 && row !== undefined
        ? Effect.succeed(row)
        : Effect.die(new Error(`expected one row, got ${rows.length}`))
    })
}

/**
 * Reads a page of a list, newest first. `isEntry` finds the entry that the cursor names. `newest`
 * reads the rows of the page and one more, which tells whether a further page exists.
 */
export const readPage = Effect.fnUntraced(function* <
  S extends Schema.Top & { readonly DecodingServices: never }
>(
  schema: S,
  { after, limit }: PageRequest,
  statements: { readonly isEntry: (after: string) => Statement; readonly newest: Statement }
) {
  if (after !== null && (yield* retryBriefly(statements.isEntry(after))).length === 0) {
    return yield* unknownCursor
  }
  return cutPage(yield* rowsOf(schema)(retryBriefly(statements.newest)), limit)
})

const DELETE_BATCH_SIZE = 1000

/** Deletes rows in batches until none is left, and returns how many rows it deleted. */
export const deleteInBatches = Effect.fnUntraced(function* (
  deleteBatch: (limit: number) => Statement
) {
  let total = 0
  while (true) {
    const { length } = yield* runOnce(deleteBatch(DELETE_BATCH_SIZE))
    total += length
    if (length < DELETE_BATCH_SIZE) return total
  }
})

/**
 * The largest expected difference between the clock of the database and the clock of a gateway,
 * which mints ids.
 */
export const MAX_CLOCK_SKEW_MILLIS = 60_000

/**
 * A column with the seconds since a time. A `RETURNING` on a cluster may not call `now()`, so `now`
 * is then a column of the statement.
 */
export const secondsSince = (time: string, now = "now()"): string =>
  `extract(epoch FROM ${now} - ${time})::float8`

const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/**
 * The columns of a row, each under the name of its field: `t.member_id AS "memberId"`.
 * `expressions` has the SQL of the fields that are not a column of the same name.
 */
export const columnsOf = (
  row: { readonly fields: object },
  table: string,
  expressions: Readonly<Record<string, string>> = {}
): string =>
  Object.keys(row.fields)
    .map((name) => `${expressions[name] ?? `${table}.${snakeCase(name)}`} AS "${name}"`)
    .join(", ")
