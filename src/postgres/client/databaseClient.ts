import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { serverUrls } from "../../runtime/serverUrls.ts"
import { makePrimaryUrl } from "./primaryServer.ts"

/**
 * The lifetime of a connection to one of several servers. A connection to a former primary that
 * does not answer any more, and does not close either, is not used for longer.
 */
const CONNECTION_TTL = "30 seconds"

/**
 * A pool of at most `maxConnections` connections to a PostgreSQL server, or to the primary of several.
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
  Layer.unwrap(
    Effect.map(makePrimaryUrl(options.url), (primaryUrl) =>
      PgClient.layer({
        // The client reads the URL again for each new connection.
        get url() {
          return primaryUrl()
        },
        ...(serverUrls(Redacted.value(options.url)).length > 1
          ? { connectionTTL: CONNECTION_TTL }
          : {}),
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
    )
  )
