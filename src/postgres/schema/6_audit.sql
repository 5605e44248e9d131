-- The audits of the books, which gateways share: one makes them, all know.

CREATE TABLE ledger_audit_state (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  begun_at timestamptz,
  ended_at timestamptz,
  -- Of the last audit that came to a result.
  audited_at timestamptz,
  violations integer NOT NULL DEFAULT 0 CHECK (violations >= 0)
);
INSERT INTO ledger_audit_state DEFAULT VALUES;

-- What audits have summed up of the past, so that the next one reads what came after. Movements are
-- only ever added, and a hold is closed once: what lies before `through` does not change.
CREATE TABLE ledger_audited (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  -- Movements made and holds closed before it are in the sums below.
  through timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO ledger_audited DEFAULT VALUES;

CREATE TABLE ledger_audited_pools (
  organization_id text PRIMARY KEY,
  -- Into the pool less out of it.
  moved numeric NOT NULL DEFAULT 0,
  overage numeric NOT NULL DEFAULT 0,
  -- When every row of the organisation was last read; null is never.
  verified_at timestamptz
);

CREATE TABLE ledger_audited_months (
  organization_id text NOT NULL,
  member_id text NOT NULL,
  month date NOT NULL,
  captured numeric NOT NULL,
  PRIMARY KEY (organization_id, member_id, month)
);

-- Every invariant of the books: no row means healthy.
CREATE VIEW ledger_audit AS
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
 WHERE u.input = 0 AND u.charge <> u.output * u.unit_price
UNION ALL
SELECT 'I2', h.organization_id, 'hold of an organisation without a pool',
       h.id AS subject
  FROM holds h
 WHERE NOT EXISTS (SELECT 1 FROM pools p WHERE p.organization_id = h.organization_id)
UNION ALL
SELECT 'I1', t.organization_id, 'transfer of an organisation without a pool', t.id::text
  FROM transfers t
 WHERE NOT EXISTS (SELECT 1 FROM pools p WHERE p.organization_id = t.organization_id)
UNION ALL
SELECT 'I4', t.organization_id, 'capture without its hold', t.hold_id
  FROM transfers t
 WHERE t.kind = 'capture'
   AND NOT EXISTS (SELECT 1 FROM holds h
                    WHERE h.organization_id = t.organization_id AND h.id = t.hold_id)
UNION ALL
SELECT 'I4', u.organization_id, 'usage record without its hold', u.id
  FROM usage_records u
 WHERE NOT EXISTS (SELECT 1 FROM holds h
                    WHERE h.organization_id = u.organization_id AND h.id = u.hold_id)
UNION ALL
SELECT 'I7', t.organization_id, 'task without its hold', t.id
  FROM tasks t
 WHERE NOT EXISTS (SELECT 1 FROM holds h
                    WHERE h.organization_id = t.organization_id AND h.id = t.id)
UNION ALL
SELECT 'I9', q.organization_id, 'idempotency key without its hold', q.hold_id
  FROM idempotency_keys q
 WHERE NOT EXISTS (SELECT 1 FROM holds h
                    WHERE h.organization_id = q.organization_id AND h.id = q.hold_id)
UNION ALL
SELECT 'I4' AS invariant, u.organization_id, 'charge is not tokens times their prices' AS detail,
       u.id AS subject
  FROM usage_records u
 WHERE u.input_unit_price IS NOT NULL
   AND u.charge <> u.input * u.input_unit_price + u.output * u.unit_price;
