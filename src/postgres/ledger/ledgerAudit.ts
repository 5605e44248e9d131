/** The audits of the books: all of them, those of some organisations, and which ones are due. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import type { Ledger } from "../../services/Ledger.ts"
import { longTry, rowOf, rowsOf } from "../client/rows.ts"
import { suspectsSince, type Through } from "./auditSuspects.ts"

const ViolationRow = Schema.Struct({
  invariant: Schema.String,
  organization_id: Schema.String,
  subject: Schema.String,
  detail: Schema.String
})
const OrganizationRow = Schema.Struct({ organization_id: Schema.String })
const ThroughRow = Schema.Struct({ through: Schema.String })

/** Later than a transaction of a gateway can end after its beginning, which is its rows' time. */
const HORIZON = "2 minutes"
/** Every row there is is read again within this time. */
const PASS_SECONDS = 24 * 3600

interface AuditOptions {
  /** How long an idempotency key is kept. */
  readonly keySeconds: number
}

export const makeAudit = (
  sql: PgClient.PgClient,
  { keySeconds }: AuditOptions
): Pick<Ledger["Service"], "verify" | "verifyOf" | "suspects"> => {
  /** With more time than a statement of a request has. */
  const atLength = <A, E>(effect: Effect.Effect<A, E>) =>
    sql`SELECT set_config('statement_timeout', '10min', true),
               set_config('lock_timeout', '1min', true)`.pipe(
      Effect.andThen(effect),
      sql.withTransaction,
      longTry,
      Effect.orDie
    )

  const violations = (organizationId: string | null) =>
    rowsOf(ViolationRow)(
      // The first of every organisation come first, so that one cannot hide the others.
      sql`
      SELECT invariant, organization_id, subject, detail
        FROM (SELECT *, row_number() OVER (PARTITION BY organization_id
                                           ORDER BY invariant, detail, subject) AS nth
                FROM ledger_audit
               WHERE ${organizationId === null ? sql`true` : sql`organization_id = ${organizationId}`}
             ) broken
       ORDER BY nth, organization_id LIMIT 1000`
    ).pipe(
      Effect.map((rows) =>
        rows.map((row) => ({
          invariant: row.invariant,
          organizationId: row.organization_id,
          subject: row.subject,
          detail: row.detail
        }))
      )
    )

  /** Whoever has it is the only one who reads or writes the sums. */
  const lockedThrough = rowOf(ThroughRow)(
    sql`SELECT through::text AS through FROM ledger_audited FOR UPDATE`
  )

  /** Sums the organisation's past up anew. */
  const carry = Effect.fnUntraced(function* (organizationId: string) {
    const { through } = yield* lockedThrough
    yield* sql`
      INSERT INTO ledger_audited_pools (organization_id, moved, overage, verified_at)
      SELECT ${organizationId},
             coalesce((SELECT sum(CASE WHEN credit = 'pool' THEN amount
                                       WHEN debit = 'pool' THEN -amount END)
                         FROM transfers WHERE organization_id = ${organizationId}
                                          AND created_at < ${through}::timestamptz), 0),
             coalesce((SELECT sum(overage) FROM holds
                        WHERE organization_id = ${organizationId} AND state <> 'open'
                          AND closed_at < ${through}::timestamptz), 0), now()
      ON CONFLICT (organization_id) DO UPDATE
        SET moved = excluded.moved, overage = excluded.overage,
            verified_at = excluded.verified_at`
    yield* sql`DELETE FROM ledger_audited_months WHERE organization_id = ${organizationId}`
    yield* sql`
      INSERT INTO ledger_audited_months (organization_id, member_id, month, captured)
      SELECT organization_id, member_id, month, sum(captured) FROM holds
       WHERE organization_id = ${organizationId} AND state <> 'open'
         AND closed_at < ${through}::timestamptz
       GROUP BY organization_id, member_id, month`
  })

  /** Adds what has become past since `from` to the sums. */
  const advance = Effect.fnUntraced(function* (from: Through) {
    const { through } = yield* rowOf(ThroughRow)(sql`
      UPDATE ledger_audited SET through = greatest(through, now() - ${HORIZON}::interval)
      RETURNING through::text AS through`)
    yield* sql`
      INSERT INTO ledger_audited_pools AS a (organization_id, moved, overage)
      SELECT p.organization_id, coalesce(t.moved, 0), coalesce(h.overage, 0)
        FROM pools p
       CROSS JOIN LATERAL (
             SELECT sum(CASE WHEN credit = 'pool' THEN amount
                             WHEN debit = 'pool' THEN -amount END) AS moved
               FROM transfers WHERE organization_id = p.organization_id
                AND created_at >= ${from}::timestamptz AND created_at < ${through}::timestamptz) t
       CROSS JOIN LATERAL (
             SELECT sum(overage) AS overage FROM holds
              WHERE organization_id = p.organization_id AND state <> 'open'
                AND closed_at >= ${from}::timestamptz AND closed_at < ${through}::timestamptz) h
       WHERE t.moved <> 0 OR h.overage <> 0
      ON CONFLICT (organization_id) DO UPDATE
        SET moved = a.moved + excluded.moved, overage = a.overage + excluded.overage`
    yield* sql`
      INSERT INTO ledger_audited_months AS a (organization_id, member_id, month, captured)
      SELECT p.organization_id, h.member_id, h.month, h.captured
        FROM pools p
       CROSS JOIN LATERAL (
             SELECT member_id, month, sum(captured) AS captured FROM holds
              WHERE organization_id = p.organization_id AND state <> 'open'
                AND closed_at >= ${from}::timestamptz AND closed_at < ${through}::timestamptz
              GROUP BY member_id, month) h
      ON CONFLICT (organization_id, member_id, month) DO UPDATE
        SET captured = a.captured + excluded.captured`
  })

  /** Those nobody has looked at for the longest time, as many as it takes to see all in their time. */
  const nextInTurn = (everySeconds: number) =>
    rowsOf(OrganizationRow)(sql`
      SELECT p.organization_id FROM pools p
        LEFT JOIN ledger_audited_pools a ON a.organization_id = p.organization_id
       WHERE a.verified_at IS NULL
          OR a.verified_at <= now() - make_interval(secs => ${PASS_SECONDS / 2})
       ORDER BY a.verified_at NULLS FIRST
       LIMIT (SELECT ceil(2 * count(*) * ${everySeconds}::float8 / ${PASS_SECONDS}) FROM pools)`)

  return {
    verify: atLength(violations(null)),
    verifyOf: (organizationIds) =>
      Effect.map(
        Effect.forEach(organizationIds, (id) => atLength(Effect.tap(violations(id), carry(id)))),
        (found) => found.flat()
      ),
    suspects: Effect.fn("Ledger.suspects")((everySeconds) =>
      atLength(
        Effect.gen(function* () {
          const { through } = yield* lockedThrough
          const suspicious = yield* rowsOf(OrganizationRow)(suspectsSince(sql, through, keySeconds))
          const next = yield* nextInTurn(everySeconds)
          yield* advance(through)
          return [...new Set([...suspicious, ...next].map((row) => row.organization_id))]
        })
      )
    )
  }
}
