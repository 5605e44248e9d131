import { join } from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { startDatabaseServer } from "./DatabaseServer.ts"
import { lockDataDirectory } from "./DataDirectoryLock.ts"
import type { EmbeddedDatabaseError } from "./embeddedErrors.ts"
import { maintainForever } from "./maintenance.ts"

/**
 * PostgreSQL inside this process: PGlite in a worker thread, reached through a unix socket by the
 * driver that also serves a real server. Its files are `DATA_DIR/postgres`.
 *
 * Durability: an answered commit has been flushed to the disk (see `SyncedNodeFs`), so it survives
 * the end of the process and of the machine. A start after a kill replays the write-ahead log.
 *
 * One connection serves everybody. Statements outside transactions share it; a transaction has it
 * alone, so a statement that is made inside a transaction's effect but not part of it would wait for
 * ever. `LISTEN` hangs. `statement_timeout` has no effect, `lock_timeout` no meaning, and
 * `idle_in_transaction_session_timeout` would shut the database down: none of them is set.
 *
 * Fails with `DataDirectoryInUse` while another process has the directory open. If the database
 * stops by itself, a fatal error is logged, running statements fail and so do all later ones.
 */
export const layerEmbedded = (options: {
  readonly dataDir: string
}): Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, EmbeddedDatabaseError | SqlError> =>
  PgClient.layerFrom(
    Effect.gen(function* () {
      const { directory, socketDirectory } = yield* lockDataDirectory(options.dataDir)
      const socketPath = join(socketDirectory, "s")
      const server = yield* startDatabaseServer({ directory, socketPath })
      const client = yield* PgClient.make({
        path: socketPath,
        username: "postgres",
        database: "postgres",
        applicationName: "media-gateway",
        minConnections: 1,
        maxConnections: 1,
        multiplex: true
      })
      yield* maintainForever.pipe(
        Effect.provideService(SqlClient.SqlClient, client),
        Effect.raceFirst(
          Effect.flatMap(server.awaitFailure, ({ message }) => Effect.logFatal(message))
        ),
        Effect.forkScoped
      )
      return client
    })
  )
