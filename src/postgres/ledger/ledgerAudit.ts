/** The audits of the books: all of them, those of some organisations, and which ones are due. */
import type { PgClient } from "@effect/sql-pg"
import { Duration, Effect, Schema } from "effect"
import { type Ledger, Violation } from "../../services/Ledger.ts"
import { rowOf, rowsOf, within } from "../client/rows.ts"

const OrganizationRow = Schema.Struct({ organization_id: Schema.String })
/** As PostgreSQL writes a time: milliseconds would be too coarse. */
const ThroughRow = Schema.Struct({ through: Schema.String })

/** Later than a transaction of a gateway can end after its beginning, which is its rows' time. */
export const HORIZON = "2 minutes"
/** Every row there is is read again within this time. */
const PASS_SECONDS = 24 * 3600

/** A minute more than the server lets its statements run and wait. */
const AUDIT = Duration.minutes(12)

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
      within(AUDIT),
      Effect.orDie
    )

  /** What the one set of rules finds in what has happened since, and in what is open. */
  const audit = (from: string, organizationId: string | null) =>
    sql`audit_ledger(${from}::timestamptz, make_interval(secs => ${keySeconds}),
                     ${organizationId}::text)`

  const violations = (organizationId: string | null) =>
    rowsOf(Violation)(
      // The first of every organisation come first, so that one cannot hide the others.
      sql`
      SELECT invariant, organization_id AS "organizationId", subject, detail
        FROM (SELECT *, row_number() OVER (PARTITION BY organization_id
                                           ORDER BY invariant, detail, subject) AS nth
                FROM ${audit("-infinity", organizationId)}) broken
       ORDER BY nth, organization_id LIMIT 1000`
    )

  /** The gateway that has it is the only one that reads or writes the sums. */
  const lockedThrough = rowOf(ThroughRow)(
    sql`SELECT through::text AS through FROM ledger_audited FOR UPDATE`
  )

  /** Adds what happened in that time to the sums, of one organisation or of all. */
  const addUp = Effect.fnUntraced(function* (
    organizationId: string | null,
    from: string,
    through: string
  ) {
    const concerned = organizationId === null ? sql`true` : sql`organization_id = ${organizationId}`
    const inTime = (column: string) =>
      sql`${sql.literal(column)} >= ${from}::timestamptz
          AND ${sql.literal(column)} < ${through}::timestamptz AND ${concerned}`
    yield* sql`
      INSERT INTO ledger_audited_pools AS a (organization_id, moved, overage)
      SELECT organization_id, sum(moved), sum(overage)
        FROM (SELECT organization_id, CASE WHEN credit = 'pool' THEN amount
                                           WHEN debit = 'pool' THEN -amount END AS moved,
                     0 AS overage
                FROM transfers WHERE ${inTime("created_at")}
              UNION ALL
              SELECT organization_id, -charge, overage
                FROM orders WHERE ${inTime("closed_at")}) happened
       GROUP BY organization_id
      ON CONFLICT (organization_id) DO UPDATE
        SET moved = a.moved + excluded.moved, overage = a.overage + excluded.overage`
    yield* sql`
      INSERT INTO ledger_audited_months AS a (organization_id, member_id, month, captured)
      SELECT organization_id, member_id, month, sum(charge)
        FROM orders WHERE ${inTime("closed_at")}
       GROUP BY organization_id, member_id, month
      ON CONFLICT (organization_id, member_id, month) DO UPDATE
        SET captured = a.captured + excluded.captured`
  })

  /** Lists what sweeps cannot find, as where a commit was seen only after they had passed its time. */
  const listUnlisted = (organizationId: string) => sql`
      INSERT INTO lingering_orders (organization_id, id)
      SELECT o.organization_id, o.id FROM orders o
       WHERE o.organization_id = ${organizationId} AND o.state = 'open'
         AND o.created_at < (SELECT before FROM orders_settled)
         AND NOT EXISTS (SELECT 1 FROM tasks t
                          WHERE t.organization_id = o.organization_id AND t.id = o.id)
      ON CONFLICT DO NOTHING`

  /** Sums the organisation's past up again, now that all of it was read. */
  const carry = Effect.fnUntraced(function* (organizationId: string) {
    yield* listUnlisted(organizationId)
    const { through } = yield* lockedThrough
    yield* sql`DELETE FROM ledger_audited_months WHERE organization_id = ${organizationId}`
    yield* sql`
      INSERT INTO ledger_audited_pools (organization_id, verified_at)
      VALUES (${organizationId}, now())
      ON CONFLICT (organization_id) DO UPDATE
        SET moved = 0, overage = 0, verified_at = excluded.verified_at`
    yield* addUp(organizationId, "-infinity", through)
  })

  /** Adds what has become past since `from` to the sums. */
  const advance = Effect.fnUntraced(function* (from: string) {
    const { through } = yield* rowOf(ThroughRow)(sql`
      UPDATE ledger_audited SET through = greatest(through, now() - ${HORIZON}::interval)
      RETURNING through::text AS through`)
    yield* addUp(null, from, through)
  })

  const suspicious = (from: string) =>
    rowsOf(OrganizationRow)(sql`
      SELECT organization_id FROM ${audit(from, null)}
      UNION SELECT organization_id FROM pools WHERE stopped_at IS NOT NULL`)

  /** Those that were looked at longest ago, as many as it takes to see all in their time. */
  const nextInTurn = (everySeconds: number) =>
    rowsOf(OrganizationRow)(sql`
      SELECT p.organization_id FROM pools p
        LEFT JOIN ledger_audited_pools a ON a.organization_id = p.organization_id
       WHERE a.verified_at IS NULL
          OR a.verified_at <= now() - make_interval(secs => ${PASS_SECONDS / 2})
       ORDER BY a.tried_at NULLS FIRST
       LIMIT (SELECT ceil(2 * count(*) * ${everySeconds}::float8 / ${PASS_SECONDS}) FROM pools)`)

  /** Those of one organisation; none where they cannot be read, which is no reason to skip others. */
  const verifyOne = (id: string) =>
    atLength(sql`
      INSERT INTO ledger_audited_pools (organization_id, tried_at) VALUES (${id}, now())
      ON CONFLICT (organization_id) DO UPDATE SET tried_at = excluded.tried_at`).pipe(
      Effect.andThen(atLength(Effect.tap(violations(id), carry(id)))),
      Effect.catchDefect((defect) =>
        Effect.as(Effect.logError(`the books of ${id} could not be read`, defect), [])
      )
    )

  return {
    verify: atLength(violations(null)),
    verifyOf: (organizationIds) =>
      Effect.map(Effect.forEach(organizationIds, verifyOne), (found) => found.flat()),
    suspects: Effect.fn("Ledger.suspects")((everySeconds) =>
      atLength(
        Effect.gen(function* () {
          const { through } = yield* lockedThrough
          const found = yield* suspicious(through)
          const next = yield* nextInTurn(everySeconds)
          yield* advance(through)
          return [...new Set([...found, ...next].map((row) => row.organization_id))]
        })
      )
    )
  }
}
