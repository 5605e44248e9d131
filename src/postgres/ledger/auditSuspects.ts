/**
 * Which organisations an audit must look at, told from what happened since the last one. Each rule is
 * one of the view `ledger_audit`, for what is recent or open; the view alone decides what is broken,
 * so a rule that is too suspicious costs time and stops nobody.
 */
import type { PgClient } from "@effect/sql-pg"

/** As PostgreSQL writes a time: milliseconds would be too coarse. */
export type Through = string

/**
 * One range of an index for each organisation: with the fence the planner cannot read the table
 * instead, whose size has nothing to do with how much happened.
 */
const recently = (sql: PgClient.PgClient, table: "transfers" | "usage_records", from: Through) =>
  sql`SELECT r.* FROM pools p CROSS JOIN LATERAL (
        SELECT * FROM ${sql.literal(table)} t
         WHERE t.organization_id = p.organization_id AND t.created_at >= ${from}::timestamptz
        OFFSET 0) r`

const closed = (sql: PgClient.PgClient, from: Through) =>
  sql`SELECT r.* FROM pools p CROSS JOIN LATERAL (
        SELECT * FROM holds h
         WHERE h.organization_id = p.organization_id AND h.state <> 'open'
           AND h.closed_at >= ${from}::timestamptz
        OFFSET 0) r`

/** Every organisation there is a row of, by one step in the index for each. */
const organizationsIn = (sql: PgClient.PgClient, table: string) =>
  sql`(WITH RECURSIVE step AS (
        (SELECT organization_id FROM ${sql.literal(table)} ORDER BY organization_id LIMIT 1)
        UNION ALL
        SELECT (SELECT t.organization_id FROM ${sql.literal(table)} t
                 WHERE t.organization_id > step.organization_id
                 ORDER BY t.organization_id LIMIT 1)
          FROM step WHERE step.organization_id IS NOT NULL)
       SELECT organization_id FROM step WHERE organization_id IS NOT NULL)`

/** Months that end earlier than this are not written any more; they wait for their turn. */
const OLDEST_MONTH = "40 days"

export const suspectsSince = (sql: PgClient.PgClient, from: Through, keySeconds: number) => sql`
  WITH moved AS MATERIALIZED (${recently(sql, "transfers", from)}),
  used AS MATERIALIZED (${recently(sql, "usage_records", from)}),
  closed AS MATERIALIZED (${closed(sql, from)}),
  open AS MATERIALIZED (SELECT * FROM holds WHERE state = 'open'),
  touched AS MATERIALIZED (SELECT * FROM closed UNION ALL SELECT * FROM open),
  ongoing AS MATERIALIZED (
    SELECT * FROM tasks WHERE state = 'submitting'
    UNION ALL SELECT * FROM tasks WHERE state = 'processing'),
  books AS (
    SELECT p.organization_id, p.balance, p.held,
           coalesce(a.moved, 0) + coalesce(m.moved, 0) AS moved,
           coalesce(o.held, 0) AS held_open,
           coalesce(a.overage, 0) + coalesce(c.overage, 0) AS overage
      FROM pools p
      LEFT JOIN ledger_audited_pools a ON a.organization_id = p.organization_id
      LEFT JOIN (SELECT organization_id, sum(CASE WHEN credit = 'pool' THEN amount
                                                  WHEN debit = 'pool' THEN -amount END) AS moved
                   FROM moved GROUP BY organization_id) m
             ON m.organization_id = p.organization_id
      LEFT JOIN (SELECT organization_id, sum(amount) AS held
                   FROM open GROUP BY organization_id) o
             ON o.organization_id = p.organization_id
      LEFT JOIN (SELECT organization_id, sum(overage) AS overage
                   FROM closed GROUP BY organization_id) c
             ON c.organization_id = p.organization_id),
  months AS (
    SELECT mm.organization_id, mm.held, mm.captured, coalesce(o.held, 0) AS held_open,
           coalesce(a.captured, 0) + coalesce(c.captured, 0) AS sum_captured
      FROM member_months mm
      LEFT JOIN ledger_audited_months a USING (organization_id, member_id, month)
      LEFT JOIN (SELECT organization_id, member_id, month, sum(captured) AS captured
                   FROM closed GROUP BY 1, 2, 3) c USING (organization_id, member_id, month)
      LEFT JOIN (SELECT organization_id, member_id, month, sum(amount) AS held
                   FROM open GROUP BY 1, 2, 3) o USING (organization_id, member_id, month)
     WHERE mm.month >= (date_trunc('month', now()) - ${OLDEST_MONTH}::interval)::date
        OR mm.held <> 0)
  SELECT organization_id FROM books
   WHERE balance <> moved OR held <> held_open OR held < 0
      OR (balance - held < 0 AND balance - held + overage < 0)
  UNION
  SELECT organization_id FROM months WHERE held <> held_open OR captured <> sum_captured
  UNION
  SELECT h.organization_id FROM touched h
    LEFT JOIN transfers t ON t.organization_id = h.organization_id AND t.hold_id = h.id
                         AND t.kind = 'capture'
    LEFT JOIN usage_records u ON u.organization_id = h.organization_id AND u.hold_id = h.id
    LEFT JOIN member_months mm ON mm.organization_id = h.organization_id
                              AND mm.member_id = h.member_id AND mm.month = h.month
    LEFT JOIN tasks k ON k.organization_id = h.organization_id AND k.id = h.id
   WHERE (h.state = 'captured') <> (t.id IS NOT NULL) OR t.amount <> h.captured
      OR (h.state = 'captured') <> (u.id IS NOT NULL) OR u.charge <> h.captured
      OR mm.month IS NULL
      OR (h.quote ? 'holdNano' AND (h.quote ->> 'holdNano')::bigint <> h.amount)
      OR (h.state = 'open' AND k.state IN ('succeeded', 'failed', 'rejected'))
      OR (h.state <> 'open' AND k.state IN ('submitting', 'processing'))
      OR (h.state <> 'open' AND (h.state = 'captured') <> (k.state = 'succeeded'))
  UNION
  SELECT k.organization_id FROM ongoing k
    LEFT JOIN holds h ON h.organization_id = k.organization_id AND h.id = k.id
   WHERE h.id IS NULL OR h.state <> 'open'
  UNION
  SELECT m.organization_id FROM moved m
    LEFT JOIN holds h ON h.organization_id = m.organization_id AND h.id = m.hold_id
   WHERE m.kind = 'capture' AND h.id IS NULL
  UNION
  SELECT u.organization_id FROM used u
    LEFT JOIN holds h ON h.organization_id = u.organization_id AND h.id = u.hold_id
   WHERE h.id IS NULL
      OR (u.input = 0 AND u.charge <> u.output * u.unit_price)
      OR (u.input_unit_price IS NOT NULL
          AND u.charge <> u.input * u.input_unit_price + u.output * u.unit_price)
  UNION
  SELECT q.organization_id FROM idempotency_keys q
    LEFT JOIN holds h ON h.organization_id = q.organization_id AND h.id = q.hold_id
   WHERE q.expires_at >= ${from}::timestamptz + make_interval(secs => ${keySeconds})
     AND h.id IS NULL
  UNION
  SELECT s.organization_id
    FROM (SELECT * FROM ${organizationsIn(sql, "holds")} a
          UNION SELECT * FROM ${organizationsIn(sql, "transfers")} b
          UNION SELECT * FROM ${organizationsIn(sql, "usage_records")} c
          UNION SELECT * FROM ${organizationsIn(sql, "tasks")} d
          UNION SELECT * FROM ${organizationsIn(sql, "idempotency_keys")} e) s
   WHERE NOT EXISTS (SELECT 1 FROM pools p WHERE p.organization_id = s.organization_id)
  UNION
  SELECT organization_id FROM pools WHERE stopped_at IS NOT NULL`
