/**
 * What this gateway's schema is made of, in order. From the first release on a released migration is
 * never edited: what changes the schema is a further one at the end, with its `.sql` file beside this
 * one.
 */
import { readFile } from "node:fs/promises"
import { Context, Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"

export interface Migration {
  readonly name: string
  /**
   * What gateways do that do not know it. `serve`: it only adds what they never read, so they go on
   * beside it and may be started again. `stop`: they would lose something or fail, so they take
   * themselves from the balancer, and do not start.
   */
  readonly olderGateways: "serve" | "stop"
  readonly apply: Effect.Effect<unknown, SqlError.SqlError, SqlClient.SqlClient>
}

/** In the order in which a database needs them. */
const files = [
  "01_access.sql",
  "02_catalog.sql",
  "03_ledger.sql",
  "04_tasks.sql",
  "05_usage_sums.sql",
  "06_budgets.sql",
  "07_move_funds.sql",
  "08_audit.sql",
  "09_log.sql",
  "10_webhooks.sql",
  "11_archive.sql",
  "12_reconciliations.sql",
  "13_files.sql"
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

/** Those this gateway knows; the number of each is its place, from 1 on. */
export const Migrations = Context.Reference<ReadonlyArray<Migration>>(
  "gateway/postgres/Migrations",
  { defaultValue: () => shippedMigrations }
)
