/**
 * The migrations of this gateway's schema, in order. From the first release on, a released
 * migration is never edited: a change of the schema is a further migration at the end, with its own
 * `.sql` file.
 */
import { readFileSync } from "node:fs"
import { Context, Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"

export interface Migration {
  readonly name: string
  /**
   * What a gateway does that does not know the migration. `serve`: the migration only adds tables,
   * columns or functions that such a gateway never reads, so it keeps serving and may start again.
   * `stop`: such a gateway would lose data or fail, so it reports that it is not ready, and does
   * not start.
   */
  readonly olderGateways: "serve" | "stop"
  readonly apply: Effect.Effect<unknown, SqlError.SqlError, SqlClient.SqlClient>
}

/**
 * The SQL files in the order in which a database needs them; a feature's tables and functions are
 * in its folder. The functions of `moveFunds.sql` count holds and charges in budgets and usage
 * sums, so the files of both come before it. Organisations refer to price lists.
 */
const files = [
  "../../features/priceLists/priceLists.sql",
  "./access.sql",
  "./catalog.sql",
  "./ledger.sql",
  "./tasks.sql",
  "./queue.sql",
  "../../features/usage/usageSums.sql",
  "../../features/budgets/budgets.sql",
  "./moveFunds.sql",
  "./audit.sql",
  "./log.sql",
  "../../features/webhooks/webhooks.sql",
  "../../features/archive/archive.sql",
  "../../features/reconciliations/reconciliations.sql",
  "../../features/files/files.sql",
  "../../features/responses/responses.sql",
  "../../features/signIn/signIn.sql"
] as const

const BODY = "$sql_file$"

/**
 * Runs a file of commands through `EXECUTE`, since the driver sends only one command per statement.
 */
export const runFile = Effect.fnUntraced(function* (file: string) {
  const sql = yield* SqlClient.SqlClient
  const text = readFileSync(new URL(file, import.meta.url), "utf8")
  yield* sql.unsafe(`DO $do$ BEGIN EXECUTE ${BODY}${text}${BODY}; END $do$`)
})

export const shippedMigrations: ReadonlyArray<Migration> = [
  {
    name: "gateway",
    olderGateways: "stop",
    apply: Effect.forEach(files, runFile, { discard: true })
  }
]

/** The migrations that this gateway knows. The number of a migration is its position, from 1. */
export const Migrations = Context.Reference<ReadonlyArray<Migration>>(
  "gateway/postgres/Migrations",
  { defaultValue: () => shippedMigrations }
)
