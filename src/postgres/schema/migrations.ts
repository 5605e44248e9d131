/**
 * What this gateway's schema is made of, in order. From the first release on a released migration is
 * never edited: what changes the schema is a further one at the end, with a `.sql` file of its own.
 */
import { readFile } from "node:fs/promises"
import { Context, Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"

export interface Migration {
  readonly name: string
  /**
   * What gateways do that do not know the migration. `serve`: it only adds what they never read, so they
   * keep serving and may start again. `stop`: they would lose data or fail, so they report that they are
   * not ready, and do not start.
   */
  readonly olderGateways: "serve" | "stop"
  readonly apply: Effect.Effect<unknown, SqlError.SqlError, SqlClient.SqlClient>
}

/**
 * In the order in which a database needs them; a feature's tables and functions stand in its room.
 * Holds count in budgets and in sums of usage, so `move_funds` needs both before it.
 */
const files = [
  "./access.sql",
  "./catalog.sql",
  "./ledger.sql",
  "./tasks.sql",
  "../../features/usage/usageSums.sql",
  "../../features/budgets/budgets.sql",
  "./moveFunds.sql",
  "./audit.sql",
  "./log.sql",
  "../../features/webhooks/webhooks.sql",
  "../../features/archive/archive.sql",
  "../../features/reconciliations/reconciliations.sql",
  "../../features/files/files.sql"
] as const

const BODY = "$sql_file$"

/** A statement of the driver is one command, and `EXECUTE` takes a file of them. */
const run = Effect.fnUntraced(function* (file: string) {
  const sql = yield* SqlClient.SqlClient
  const text = yield* Effect.promise(() => readFile(new URL(file, import.meta.url), "utf8"))
  yield* sql.unsafe(`DO $do$ BEGIN EXECUTE ${BODY}${text}${BODY}; END $do$`)
})

export const shippedMigrations: ReadonlyArray<Migration> = [
  {
    name: "gateway",
    olderGateways: "stop",
    apply: Effect.forEach(files, run, { discard: true })
  }
]

/** The migrations that this gateway knows. Their numbers are their positions, from 1 on. */
export const Migrations = Context.Reference<ReadonlyArray<Migration>>(
  "gateway/postgres/Migrations",
  { defaultValue: () => shippedMigrations }
)
