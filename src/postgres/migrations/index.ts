/** Migrations in their order; they run before anything else touches the database. */
import { Effect, Layer } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { createAccess } from "./0001_access.ts"
import { createCatalog } from "./0002_catalog.ts"
import { createLedger } from "./0003_ledger.ts"
import { createTasks } from "./0004_tasks.ts"
import { createLedgerFunctions } from "./0005_ledger_functions.ts"
import { createLedgerAudit } from "./0006_ledger_audit.ts"
import { createOperations } from "./0007_operations.ts"
import { createLedgerBatch } from "./0008_ledger_batch.ts"
import { createUpstreamCalls } from "./0009_upstream_calls.ts"
import { createAuditState } from "./0010_audit.ts"
import { createPolling } from "./0011_polling.ts"
import { createAuditLinks } from "./0012_audit_links.ts"
import { createTexts } from "./0013_texts.ts"
import { createKeyRates } from "./0015_key_rates.ts"
import { createVaultKeys } from "./0016_vault_keys.ts"
import { createMoveMoney } from "./0017_move_money.ts"
import { createCallRepeats } from "./0018_call_repeats.ts"
import { createAuditCarried } from "./0019_audit_carried.ts"
import { createMoveFunds } from "./0020_move_funds.ts"
import { dropVaultKeys } from "./0021_drop_vault_keys.ts"
import { createOrphanAnswers } from "./0022_orphan_answers.ts"
import { createLateness } from "./0023_lateness.ts"

/**
 * A database runs what is above the highest number it has run, so a new one goes to the end. There is
 * no 0014 and there must never be: databases at 15 would skip it.
 */
const migrations = {
  "0001_access": createAccess,
  "0002_catalog": createCatalog,
  "0003_ledger": createLedger,
  "0004_tasks": createTasks,
  "0005_ledger_functions": createLedgerFunctions,
  "0006_ledger_audit": createLedgerAudit,
  "0007_operations": createOperations,
  "0008_ledger_batch": createLedgerBatch,
  "0009_upstream_calls": createUpstreamCalls,
  "0010_audit": createAuditState,
  "0011_polling": createPolling,
  "0012_audit_links": createAuditLinks,
  "0013_texts": createTexts,
  "0015_key_rates": createKeyRates,
  "0016_vault_keys": createVaultKeys,
  "0017_move_money": createMoveMoney,
  "0018_call_repeats": createCallRepeats,
  "0019_audit_carried": createAuditCarried,
  "0020_move_funds": createMoveFunds,
  "0021_drop_vault_keys": dropVaultKeys,
  "0022_orphan_answers": createOrphanAnswers,
  "0023_lateness": createLateness
}

/** In the order in which they are listed. */
export const migrationNames: ReadonlyArray<string> = Object.keys(migrations)

/** Number of the last one, as the database records it. */
export const latestMigration = Math.max(...migrationNames.map((name) => Number.parseInt(name, 10)))

/** Any number, the same on every gateway. */
const MIGRATION_LOCK = 7_263_001

/**
 * Brings the database up to the latest migration. Gateways that start together wait for the first
 * of them; the limits of requests do not count here, since a large table takes its time.
 */
export const runMigrations = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`SET LOCAL statement_timeout = 0`
      yield* sql`SET LOCAL lock_timeout = '10min'`
      yield* sql`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`
      return yield* Migrator.make({})({ loader: Migrator.fromRecord(migrations) })
    })
  )
})

export const layerMigrations = Layer.effectDiscard(runMigrations)
