/** Reads over many rows, such as a month of orders, for which an operator waits. */
import { Duration, Effect, Semaphore } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { withTimeout } from "./rows.ts"

const STATEMENT_TIMEOUT = Duration.minutes(1)

/**
 * Makes a function that runs long reads one after the other, so that they take at most one database
 * connection from orders.
 */
export const makeLongReads = (sql: SqlClient.SqlClient) =>
  Effect.map(
    Semaphore.make(1),
    (turns) =>
      <A>(statement: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A, SqlError.SqlError> =>
        turns.withPermits(1)(
          withTimeout(STATEMENT_TIMEOUT)(
            sql.withTransaction(
              Effect.andThen(
                sql`SELECT set_config('statement_timeout', ${`${Duration.toMillis(STATEMENT_TIMEOUT)}`}, true)`,
                statement
              )
            )
          )
        )
  )
