/**
 * Lateness is no longer among the broken invariants: an order past its deadline with an open hold is
 * one that somebody has yet to give back, and says nothing against the sums. It is counted apart.
 * And a row for each gateway to write in, which tells whether the database can be written at all.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const createLateness = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    CREATE OR REPLACE VIEW ledger_audit_sums AS
    SELECT 'I1' AS invariant, p.organization_id,
           'pool balance is not the fold of its transfers' AS detail, p.organization_id AS subject
      FROM pools p
      LEFT JOIN transfers t ON t.organization_id = p.organization_id
     GROUP BY p.organization_id, p.balance
    HAVING p.balance <> coalesce(sum(CASE WHEN t.credit = 'pool' THEN t.amount
                                          WHEN t.debit = 'pool' THEN -t.amount END), 0)
    UNION ALL
    SELECT 'I2', p.organization_id, 'held is not the sum of open holds', p.organization_id
      FROM pools p
      LEFT JOIN holds h ON h.organization_id = p.organization_id AND h.state = 'open'
     GROUP BY p.organization_id, p.held
    HAVING p.held <> coalesce(sum(h.amount), 0) OR p.held < 0
    UNION ALL
    SELECT 'I3', mm.organization_id, 'member month is not the sum of its holds',
           mm.member_id || ' ' || mm.month
      FROM member_months mm
      LEFT JOIN holds h ON h.organization_id = mm.organization_id
                       AND h.member_id = mm.member_id AND h.month = mm.month
     GROUP BY mm.organization_id, mm.member_id, mm.month, mm.held, mm.captured
    HAVING mm.held <> coalesce(sum(h.amount) FILTER (WHERE h.state = 'open'), 0)
        OR mm.captured <> coalesce(sum(h.captured), 0)
    UNION ALL
    SELECT 'I3', h.organization_id, 'hold without its member month', h.id
      FROM holds h
     WHERE NOT EXISTS (SELECT 1 FROM member_months mm
                        WHERE mm.organization_id = h.organization_id
                          AND mm.member_id = h.member_id AND mm.month = h.month)
    UNION ALL
    SELECT 'I4', h.organization_id, 'captured hold without exactly one capture of its amount', h.id
      FROM holds h
      LEFT JOIN transfers t ON t.organization_id = h.organization_id AND t.hold_id = h.id
     WHERE (h.state = 'captured') <> (t.id IS NOT NULL)
        OR (t.id IS NOT NULL AND t.amount <> h.captured)
    UNION ALL
    SELECT 'I4', h.organization_id, 'captured hold without its usage record', h.id
      FROM holds h
      LEFT JOIN usage_records u ON u.organization_id = h.organization_id AND u.hold_id = h.id
     WHERE (h.state = 'captured') <> (u.id IS NOT NULL)
        OR (u.id IS NOT NULL AND u.charge <> h.captured)
    UNION ALL
    SELECT 'I5', p.organization_id, 'pool is below zero by more than its overage',
           p.organization_id
      FROM pools p
     WHERE p.balance - p.held < 0
       AND p.balance - p.held + coalesce((SELECT sum(h.overage) FROM holds h
                                           WHERE h.organization_id = p.organization_id), 0) < 0
    UNION ALL
    SELECT 'I7', t.organization_id, 'finished task with an open hold', t.id
      FROM tasks t JOIN holds h ON h.organization_id = t.organization_id AND h.id = t.id
     WHERE t.state IN ('succeeded', 'failed', 'rejected') AND h.state = 'open'
    UNION ALL
    SELECT 'I7', t.organization_id, 'task and hold disagree on the outcome', t.id
      FROM tasks t JOIN holds h ON h.organization_id = t.organization_id AND h.id = t.id
     WHERE h.state <> 'open'
       AND (t.state IN ('submitting', 'processing')
            OR (h.state = 'captured') <> (t.state = 'succeeded'))
    UNION ALL
    SELECT 'I4', h.organization_id, 'hold is not the amount of its quote', h.id
      FROM holds h
     WHERE h.quote ? 'holdNano' AND (h.quote ->> 'holdNano')::bigint <> h.amount
    UNION ALL
    SELECT 'I4', u.organization_id, 'charge is not units times price', u.id
      FROM usage_records u
     WHERE u.input = 0 AND u.charge <> u.output * u.unit_price`

  yield* sql`
    CREATE TABLE gateway_writes (
      /* A gateway takes one by chance; several may share it. */
      slot integer PRIMARY KEY,
      written_at timestamptz NOT NULL
    ) WITH (fillfactor = 20)`
})
