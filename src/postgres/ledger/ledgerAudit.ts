/**
 * Audits of the books: incremental audits of all organisations, full audits of single ones, and
 * their schedule.
 */
import type { PgClient } from "@effect/sql-pg"
import { Duration, Effect, Schema } from "effect"
import { type Ledger, Violation } from "../../services/Ledger.ts"
import { rowOf, rowsOf, withTimeout } from "../client/rows.ts"

const OrganizationRow = Schema.Struct({ organization_id: Schema.String })
const CountRow = Schema.Struct({ pools: Schema.Int })
/** The time is read as PostgreSQL's text, since milliseconds would be too coarse. */
const ThroughRow = Schema.Struct({ through: Schema.String })

/**
 * The age at which rows are final. Rows have the time at which their transaction started, and no
 * transaction of a gateway runs for this long.
 */
export const HORIZON = "2 minutes"
/** The period in which every row of every organisation is audited again. */
const PASS_SECONDS = 24 * 3600

/**
 * The time-out of an audit's transaction: one minute more than its `statement_timeout` and its
 * `lock_timeout` together, so that PostgreSQL's error comes first.
 */
const AUDIT_TIMEOUT = Duration.minutes(12)

interface AuditOptions {
  /** How long an idempotency key is kept. */
  readonly keySeconds: number
  /**
   * Whether the rows of organisations are spread over several nodes. Each organisation is then
   * audited by a statement of its own, on its node.
   */
  readonly isDistributed: boolean
}

/** The maximum number of violations that an audit returns. */
const MAX_VIOLATIONS = 1000

/**
 * The first violation of each organisation comes first, so that one organisation cannot hide the
 * others.
 */
const mergeViolations = (
  lists: ReadonlyArray<ReadonlyArray<Violation>>
): ReadonlyArray<Violation> =>
  lists
    .flatMap((list) => list.map((violation, nth) => ({ violation, nth })))
    .toSorted((one, other) => one.nth - other.nth)
    .slice(0, MAX_VIOLATIONS)
    .map(({ violation }) => violation)

export const makeAudit = (
  sql: PgClient.PgClient,
  { keySeconds, isDistributed }: AuditOptions
): Pick<Ledger["Service"], "verify" | "verifyOf" | "suspects"> => {
  /** Runs in a transaction with longer time-outs than those of requests. */
  const withLongTimeouts = <A, E>(effect: Effect.Effect<A, E>) =>
    sql`SELECT set_config('statement_timeout', '10min', true),
               set_config('lock_timeout', '1min', true)`.pipe(
      Effect.andThen(effect),
      sql.withTransaction,
      withTimeout(AUDIT_TIMEOUT),
      Effect.orDie
    )

  /** Audits the changes since `from`, and the open orders. */
  const audit = (from: string, organizationId: string | null) =>
    sql`audit_ledger(${from}::timestamptz, make_interval(secs => ${keySeconds}),
                     ${organizationId}::text)`

  const violations = (organizationId: string | null) =>
    rowsOf(Violation)(
      sql`
      SELECT invariant, organization_id AS "organizationId", subject, detail
        FROM (SELECT *, row_number() OVER (PARTITION BY organization_id
                                           ORDER BY invariant, detail, subject) AS nth
                FROM ${audit("-infinity", organizationId)}) broken
       ORDER BY nth, organization_id LIMIT ${MAX_VIOLATIONS}`
    )

  /** Locks the sums, so that only one gateway reads or writes them. */
  const lockedThrough = rowOf(ThroughRow)(
    sql`SELECT through::text AS through FROM ledger_audited FOR UPDATE`
  )

  /** Adds the changes in the period to the sums, of one organisation or of all. */
  const addUp = Effect.fnUntraced(function* (
    organizationId: string | null,
    from: string,
    through: string
  ) {
    const isConcerned =
      organizationId === null ? sql`true` : sql`organization_id = ${organizationId}`
    const isInPeriod = (column: string) =>
      sql`${sql.literal(column)} >= ${from}::timestamptz
          AND ${sql.literal(column)} < ${through}::timestamptz AND ${isConcerned}`
    yield* sql`
      INSERT INTO ledger_audited_pools AS a (organization_id, moved, overage)
      SELECT organization_id, sum(moved), sum(overage)
        FROM (SELECT organization_id, CASE WHEN credit = 'pool' THEN amount
                                           WHEN debit = 'pool' THEN -amount END AS moved,
                     0 AS overage
                FROM transfers WHERE ${isInPeriod("created_at")}
              UNION ALL
              SELECT organization_id, -charge, overage
                FROM orders WHERE ${isInPeriod("closed_at")}) happened
       GROUP BY organization_id
      ON CONFLICT (organization_id) DO UPDATE
        SET moved = a.moved + excluded.moved, overage = a.overage + excluded.overage`
    yield* sql`
      INSERT INTO ledger_audited_months AS a (organization_id, member_id, month, captured)
      SELECT organization_id, member_id, month, sum(charge)
        FROM orders WHERE ${isInPeriod("closed_at")}
       GROUP BY organization_id, member_id, month
      ON CONFLICT (organization_id, member_id, month) DO UPDATE
        SET captured = a.captured + excluded.captured`
  })

  /**
   * Adds the open orders that sweeps miss to `lingering_orders`, such as an order whose commit
   * became visible after a sweep had passed its time.
   */
  const listUnlisted = (organizationId: string) => sql`
      INSERT INTO lingering_orders (organization_id, id)
      SELECT o.organization_id, o.id FROM orders o
       WHERE o.organization_id = ${organizationId} AND o.state = 'open'
         AND o.created_at < (SELECT before FROM orders_settled)
         AND NOT EXISTS (SELECT 1 FROM tasks t
                          WHERE t.organization_id = o.organization_id AND t.id = o.id)
      ON CONFLICT DO NOTHING`

  /** Computes the sums of the organisation's past again, after all its rows were audited. */
  const rebuildSums = Effect.fnUntraced(function* (organizationId: string) {
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

  /**
   * Advances the boundary of the audited past, and adds the changes from `from` to the new boundary
   * to the sums.
   */
  const advance = Effect.fnUntraced(function* (from: string) {
    yield* sql`
      UPDATE ledger_audited SET through = greatest(through, now() - ${HORIZON}::interval)`
    const { through } = yield* lockedThrough
    yield* addUp(null, from, through)
  })

  const stoppedOrganizations = sql`SELECT organization_id FROM pools WHERE stopped_at IS NOT NULL`

  /** The organisations with rows that changed since `from`, or with open orders. */
  const changedOrganizations = (from: string) =>
    rowsOf(OrganizationRow)(sql`
      SELECT organization_id FROM transfers WHERE created_at >= ${from}::timestamptz
      UNION SELECT organization_id FROM orders
             WHERE created_at >= ${from}::timestamptz OR closed_at >= ${from}::timestamptz
      UNION SELECT organization_id FROM pools WHERE held <> 0`)

  const isSuspicious = (from: string, organizationId: string) =>
    Effect.map(sql`SELECT 1 FROM ${audit(from, organizationId)} LIMIT 1`, (rows) => rows.length > 0)

  const suspiciousOrganizations = Effect.fnUntraced(function* (from: string) {
    if (!isDistributed) {
      return yield* rowsOf(OrganizationRow)(sql`
        SELECT organization_id FROM ${audit(from, null)} UNION ${stoppedOrganizations}`)
    }
    const changed = yield* changedOrganizations(from)
    const suspicious = yield* Effect.filter(changed, ({ organization_id }) =>
      isSuspicious(from, organization_id)
    )
    return [...suspicious, ...(yield* rowsOf(OrganizationRow)(stoppedOrganizations))]
  })

  /** All organisations that have rows in the books. */
  const allOrganizations = rowsOf(OrganizationRow)(sql`
    SELECT id AS organization_id FROM organizations
    UNION SELECT organization_id FROM pools
    UNION SELECT organization_id FROM transfers
    UNION SELECT organization_id FROM orders`)

  /**
   * The organisations audited longest ago, as many as needed to audit all of them within
   * `PASS_SECONDS`.
   */
  const nextOrganizations = Effect.fnUntraced(function* (everySeconds: number) {
    const { pools } = yield* rowOf(CountRow)(sql`SELECT count(*)::int AS pools FROM pools`)
    return yield* rowsOf(OrganizationRow)(sql`
      SELECT p.organization_id FROM pools p
        LEFT JOIN ledger_audited_pools a ON a.organization_id = p.organization_id
       WHERE a.verified_at IS NULL
          OR a.verified_at <= now() - make_interval(secs => ${PASS_SECONDS / 2})
       ORDER BY a.tried_at NULLS FIRST
       LIMIT ${Math.ceil((2 * pools * everySeconds) / PASS_SECONDS)}`)
  })

  /**
   * The violations of one organisation. Returns none if its rows cannot be read, so that others are
   * still audited.
   */
  const verifyOne = (id: string) =>
    withLongTimeouts(sql`
      INSERT INTO ledger_audited_pools (organization_id, tried_at) VALUES (${id}, now())
      ON CONFLICT (organization_id) DO UPDATE SET tried_at = excluded.tried_at`).pipe(
      Effect.andThen(withLongTimeouts(Effect.tap(violations(id), rebuildSums(id)))),
      Effect.catchDefect((defect) =>
        Effect.as(
          Effect.logError("ledger audit: reading an organisation failed", defect).pipe(
            Effect.annotateLogs({ organization_id: id })
          ),
          []
        )
      )
    )

  return {
    verify: isDistributed
      ? Effect.map(
          Effect.flatMap(withLongTimeouts(allOrganizations), (organizations) =>
            Effect.forEach(organizations, ({ organization_id }) =>
              withLongTimeouts(violations(organization_id))
            )
          ),
          mergeViolations
        )
      : withLongTimeouts(violations(null)),
    verifyOf: (organizationIds) =>
      Effect.map(Effect.forEach(organizationIds, verifyOne), (lists) => lists.flat()),
    suspects: Effect.fn("Ledger.suspects")((everySeconds) =>
      withLongTimeouts(
        Effect.gen(function* () {
          const { through } = yield* lockedThrough
          const suspicious = yield* suspiciousOrganizations(through)
          const next = yield* nextOrganizations(everySeconds)
          yield* advance(through)
          return [...new Set([...suspicious, ...next].map((row) => row.organization_id))]
        })
      )
    )
  }
}
