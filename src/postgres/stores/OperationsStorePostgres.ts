/** The state of the database for operators: readiness, totals and the audit's schedule. */
import { Effect, Layer, Random, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AuditState, OperationsStore, Totals } from "../../services/Operations.ts"
import { rowOf, runOnce, withStatementTimeout } from "../client/rows.ts"
import { schemaState } from "../schema/applySchema.ts"
import { Migrations } from "../schema/migrations.ts"

/** Sums of amounts have the type numeric in SQL and are read as text. */
const TotalsRow = Schema.Struct({
  ...Totals.fields,
  poolNano: Schema.BigIntFromString,
  heldNano: Schema.BigIntFromString
})

/** An audit that has not ended within this time is considered lost with its gateway. */
const MAX_AUDIT_TIME = "10 minutes"
/**
 * The time between the expiry of a hold and its report as late, in which a sweep can release the
 * hold.
 */
const LATE = "60 seconds"
const MAX_COUNT = 10_000
/**
 * The number of rows for the test of writability: each gateway chooses one at random, so that few
 * share a row.
 */
const SLOTS = 64

export const layerOperationsStore = Layer.effect(
  OperationsStore,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const audit = rowOf(AuditState)(
      withStatementTimeout(sql`
      SELECT audited_at AS "auditedAt", violations,
             extract(epoch FROM now() - audited_at)::double precision AS "ageSeconds",
             (SELECT count(*)::int FROM pools WHERE stopped_at IS NOT NULL) AS stopped
        FROM ledger_audit_state`)
    )

    const slot = yield* Random.nextIntBetween(0, SLOTS)
    const writable = sql`
      INSERT INTO gateway_writes (slot, written_at) VALUES (${slot}, now())
      ON CONFLICT (slot) DO UPDATE SET written_at = excluded.written_at`.pipe(
      withStatementTimeout,
      Effect.as(true),
      Effect.catch((error) =>
        Effect.as(Effect.logDebug("database: test write failed", error), false)
      )
    )

    const migrations = yield* Migrations
    const readSchemaState = schemaState.pipe(
      Effect.provideService(SqlClient.SqlClient, sql),
      Effect.provideService(Migrations, migrations),
      runOnce
    )

    const report = Effect.gen(function* () {
      const schema = yield* readSchemaState
      return schema === "ready"
        ? { schema, audit: yield* audit, writable: yield* writable }
        : { schema, audit: null, writable: true }
    })

    /** Counts a backlog up to `MAX_COUNT`, so that the query stays cheap. */
    const countUpToMax = (from: string) =>
      sql.literal(`(SELECT count(*)::int FROM (SELECT 1 FROM ${from} LIMIT ${MAX_COUNT}) counted)`)

    // Each count reads only open rows, and `pools` has one row per organisation. A cluster does not
    // call `open_orders` within a statement on its tables, other than in a CTE that is materialized.
    const totals = rowOf(TotalsRow)(
      withStatementTimeout(sql`
      WITH open AS MATERIALIZED (SELECT expires_at FROM open_orders(NULL))
      SELECT (SELECT count(*)::int FROM tasks WHERE state = 'submitting') AS "submittingTasks",
             (SELECT count(*)::int FROM tasks WHERE state = 'processing') AS "processingTasks",
             (SELECT count(*)::int FROM open) AS "openHolds",
             ${countUpToMax("orphans WHERE NOT is_resolved")} AS "openOrphans",
             ${countUpToMax("webhook_messages WHERE state = 'pending'")} AS "waitingWebhooks",
             ${countUpToMax("archives WHERE state = 'waiting'")} AS "waitingArchives",
             late.holds AS "lateHolds", late.seconds AS "oldestLateSeconds",
             funds."poolNano", funds."heldNano"
        FROM (SELECT count(*)::int AS holds,
                     coalesce(extract(epoch FROM now() - min(since)), 0)::float8 AS seconds
                FROM (SELECT expires_at AS since FROM open
                       WHERE expires_at <= now() - ${LATE}::interval
                      UNION ALL
                      SELECT submit_deadline FROM tasks
                       WHERE state = 'submitting' AND submit_deadline <= now() - ${LATE}::interval
                         AND deadline > now() - ${LATE}::interval) due) late
       CROSS JOIN (SELECT coalesce(sum(balance), 0)::text AS "poolNano",
                          coalesce(sum(held), 0)::text AS "heldNano" FROM pools) funds`)
    )

    return OperationsStore.of({
      report,
      totals,
      takeAudit: Effect.fn("OperationsStore.takeAudit")(function* (everySeconds) {
        const rows = yield* runOnce(sql`
        UPDATE ledger_audit_state SET begun_at = now(), ended_at = NULL
         WHERE begun_at IS NULL
            OR (begun_at <= now() - make_interval(secs => ${everySeconds})
                AND (ended_at IS NOT NULL OR begun_at <= now() - ${MAX_AUDIT_TIME}::interval))
        RETURNING only_row`)
        return rows.length > 0
      }),
      endAudit: Effect.fn("OperationsStore.endAudit")(function* (violations) {
        yield* runOnce(
          violations === null
            ? sql`UPDATE ledger_audit_state SET ended_at = now()`
            : sql`UPDATE ledger_audit_state
                     SET ended_at = now(), audited_at = now(), violations = ${violations}`
        )
      })
    })
  })
)
