import { PgClient } from "@effect/sql-pg"
import type { Layer, Redacted } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/**
 * A pool of at most `maxConnections` connections to a PostgreSQL server.
 *
 * A connection serves one caller at a time. Pipelining the statements of several callers
 * (`multiplex`) served 2.5 times as many point reads in a measurement. But each caller waited for
 * the slowest statement or transaction on its connection, although other connections were idle: 200
 * ms instead of 2 ms next to a statement that sleeps 200 ms, and up to the time-outs below.
 *
 * Every session waits at most 2 s for a lock, 5 s for a statement and 10 s for the next statement
 * of an open transaction; then the server ends the wait with an error (in the last case, the
 * session). Times are UTC, and a commit is answered after it has been flushed to the disk.
 */
export const layerPostgres = (options: {
  readonly url: Redacted.Redacted
  readonly maxConnections: number
}): Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, SqlError.SqlError> =>
  PgClient.layer({
    url: options.url,
    maxConnections: options.maxConnections,
    applicationName: "media-gateway",
    keepAlive: "30 seconds",
    startupParameters: {
      lock_timeout: "2s",
      statement_timeout: "5s",
      idle_in_transaction_session_timeout: "10s",
      synchronous_commit: "on",
      TimeZone: "UTC"
    }
  })
