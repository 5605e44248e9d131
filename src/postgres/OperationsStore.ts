/** The database as its operator looks at it. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { OperationsStore } from "../services/OperationsStore.ts"
import { latestMigration } from "./migrations/index.ts"
import { bounded, oneTry, rowOf, rowsOf } from "./rows.ts"

const MigrationRow = Schema.Struct({ latest: Schema.NullOr(Schema.Int) })

const AuditRow = Schema.Struct({
  audited_at: Schema.NullOr(Schema.Date),
  age_seconds: Schema.NullOr(Schema.Number),
  violations: Schema.Int,
  stopped: Schema.Int
})

const TotalsRow = Schema.Struct({
  submitting: Schema.Int,
  processing: Schema.Int,
  open_holds: Schema.Int,
  pool: Schema.BigIntFromString,
  held: Schema.BigIntFromString
})

/** An audit nobody ended within this time died with its gateway. */
const LONGEST_AUDIT = "10 minutes"

export const layerOperationsStore = Layer.effect(
  OperationsStore,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const audit = rowOf(AuditRow)(
      oneTry(sql`
      SELECT audited_at, violations,
             extract(epoch FROM now() - audited_at)::double precision AS age_seconds,
             (SELECT count(*)::int FROM pools WHERE stopped_at IS NOT NULL) AS stopped
        FROM ledger_audit_state`)
    ).pipe(
      Effect.map((row) => ({
        auditedAt: row.audited_at,
        ageSeconds: row.age_seconds,
        violations: row.violations,
        stopped: row.stopped
      }))
    )

    const report = Effect.gen(function* () {
      const { latest } = yield* rowOf(MigrationRow)(
        oneTry(sql`SELECT max(migration_id) AS latest FROM effect_sql_migrations`)
      )
      // A newer gateway may have added some; this one needs only its own.
      const migrated = latest !== null && latest >= latestMigration
      return { migrated, audit: migrated ? yield* audit : null }
    })

    // Each count reads a partial index of what is open, and pools has one row an organisation.
    const totals = rowOf(TotalsRow)(
      oneTry(sql`
      SELECT (SELECT count(*)::int FROM tasks WHERE state = 'submitting') AS submitting,
             (SELECT count(*)::int FROM tasks WHERE state = 'processing') AS processing,
             (SELECT count(*)::int FROM holds WHERE state = 'open') AS open_holds,
             coalesce(sum(balance), 0)::text AS pool, coalesce(sum(held), 0)::text AS held
        FROM pools`)
    ).pipe(
      Effect.map((row) => ({
        submittingTasks: row.submitting,
        processingTasks: row.processing,
        openHolds: row.open_holds,
        poolNano: row.pool,
        heldNano: row.held
      }))
    )

    const takeAudit: OperationsStore["Service"]["takeAudit"] = Effect.fn(
      "OperationsStore.takeAudit"
    )(function* (everySeconds) {
      const taken = yield* rowsOf(Schema.Struct({ only_row: Schema.Boolean }))(
        oneTry(sql`
        UPDATE ledger_audit_state SET begun_at = now(), ended_at = NULL
         WHERE begun_at IS NULL
            OR (begun_at <= now() - make_interval(secs => ${everySeconds})
                AND (ended_at IS NOT NULL OR begun_at <= now() - ${LONGEST_AUDIT}::interval))
        RETURNING only_row`)
      )
      return taken.length > 0
    })

    const endAudit: OperationsStore["Service"]["endAudit"] = Effect.fn("OperationsStore.endAudit")(
      function* (violations) {
        yield* bounded(
          violations === null
            ? sql`UPDATE ledger_audit_state SET ended_at = now()`
            : sql`UPDATE ledger_audit_state
                     SET ended_at = now(), audited_at = now(), violations = ${violations}`
        )
      }
    )

    return OperationsStore.of({ report, totals, takeAudit, endAudit })
  })
)
