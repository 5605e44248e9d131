-- The state of audits, which gateways share: one gateway audits, and all gateways read the result.

CREATE TABLE ledger_audit_state (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  begun_at timestamptz,
  ended_at timestamptz,
  -- The end of the last audit that completed, and the number of violations that it found.
  audited_at timestamptz,
  violations integer NOT NULL DEFAULT 0 CHECK (violations >= 0)
);
INSERT INTO ledger_audit_state DEFAULT VALUES;

-- Sums of the audited past, so that the next audit reads only later rows. Transfers are never
-- changed, and an order is closed only once: rows from before `through` do not change.
CREATE TABLE ledger_audited (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  -- Transfers made and orders closed before this time are included in the sums below.
  through timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO ledger_audited DEFAULT VALUES;

CREATE TABLE ledger_audited_pools (
  organization_id text PRIMARY KEY,
  -- Transfers into the pool less transfers out of it.
  moved numeric NOT NULL DEFAULT 0,
  overage numeric NOT NULL DEFAULT 0,
  -- `verified_at`: when a full audit of the organisation last completed. `tried_at`: when a full
  -- audit was last started. Null means never.
  verified_at timestamptz,
  tried_at timestamptz
);

CREATE TABLE ledger_audited_months (
  organization_id text NOT NULL,
  member_id text NOT NULL,
  month date NOT NULL,
  captured numeric NOT NULL,
  PRIMARY KEY (organization_id, member_id, month)
);

-- Checks every invariant of the books; each rule is written only once. With `p_from` = '-infinity'
-- all rows are read; with a later time, the rows that changed since then, the open orders, and the
-- sums of the past. A null `p_organization` means all organisations. `p_key_life` is the TTL of an
-- idempotency key.
CREATE FUNCTION audit_ledger(p_from timestamptz, p_key_life interval, p_organization text)
RETURNS TABLE (invariant text, organization_id text, detail text, subject text)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_custom_plan
AS $$
#variable_conflict use_column
DECLARE
  settled CONSTANT timestamptz := (SELECT before FROM orders_settled);
  -- The open orders from before `p_from`.
  open_organizations text[]; open_ids text[];
BEGIN
IF p_from > '-infinity' THEN
  SELECT array_agg(o.organization_id), array_agg(o.id) INTO open_organizations, open_ids
    FROM open_orders(p_organization) o WHERE o.created_at < p_from;
END IF;
RETURN QUERY WITH
moved AS (
  SELECT * FROM transfers
   WHERE created_at >= p_from AND (p_organization IS NULL OR organization_id = p_organization)),
touched AS (
  SELECT o.organization_id, o.id, o.member_id, o.month, o.counts_in, o.hold, o.exposure, o.state, o.charge, o.overage,
         o.key_id, o.model, o.created_at, o.closed_at, o.input, o.output, o.unit_price,
         o.input_unit_price, o.parts, o.reported_cost,
         -- The vendor's bill at the price of its unit, in whole nano-units.
         CASE WHEN o.vendor_bill IS NOT NULL
              THEN ceil((o.vendor_bill ->> 'amount')::numeric
                        * (o.job ->> 'billUnitPrice')::numeric * 1000000000) END AS billed,
         o.quote ->> 'holdNano' AS quoted, o.quote ->> 'exposureNano' AS quoted_exposure,
         o.quote -> 'surcharge' AS surcharge
    FROM (SELECT * FROM orders r
           WHERE (r.created_at >= p_from OR r.closed_at >= p_from)
             AND (p_organization IS NULL OR r.organization_id = p_organization)
          UNION ALL
          SELECT r.* FROM unnest(open_organizations, open_ids) AS k(organization_id, id)
           CROSS JOIN LATERAL (
             SELECT * FROM orders x
              WHERE x.organization_id = k.organization_id AND x.id = k.id
                AND (p_organization IS NULL OR x.organization_id = p_organization) OFFSET 0) r) o),
ends AS (
  SELECT * FROM touched WHERE closed_at >= p_from),
ongoing AS (
  SELECT * FROM tasks
   WHERE p_from = '-infinity' AND (p_organization IS NULL OR organization_id = p_organization)
  UNION ALL
  SELECT * FROM tasks
   WHERE p_from > '-infinity' AND state = 'submitting'
     AND (p_organization IS NULL OR organization_id = p_organization)
  UNION ALL
  SELECT * FROM tasks
   WHERE p_from > '-infinity' AND state = 'waiting'
     AND (p_organization IS NULL OR organization_id = p_organization)
  UNION ALL
  SELECT * FROM tasks
   WHERE p_from > '-infinity' AND state = 'processing'
     AND (p_organization IS NULL OR organization_id = p_organization)),
books AS (
  SELECT p.organization_id, p.balance, p.held, p.uncovered, p.highest_overdraft,
         coalesce(a.moved, 0) + coalesce(t.deposited, 0) - coalesce(e.charged, 0) AS moved,
         coalesce(a.overage, 0) + coalesce(e.overage, 0) AS overage, coalesce(o.held, 0) AS open, coalesce(o.excess, 0) AS open_excess
    FROM pools p
    LEFT JOIN (SELECT * FROM ledger_audited_pools r
                WHERE p_from > '-infinity'
                  AND (p_organization IS NULL OR r.organization_id = p_organization)) a
           ON a.organization_id = p.organization_id
    LEFT JOIN (SELECT organization_id, sum(CASE WHEN credit = 'pool' THEN amount
                                                WHEN debit = 'pool' THEN -amount END) AS deposited
                 FROM moved GROUP BY 1) t ON t.organization_id = p.organization_id
    LEFT JOIN (SELECT organization_id, sum(charge) AS charged,
                      sum(overage) AS overage
                 FROM ends GROUP BY 1) e ON e.organization_id = p.organization_id
    LEFT JOIN (SELECT organization_id, sum(hold) AS held, sum(exposure - hold) AS excess
                 FROM touched WHERE state = 'open' GROUP BY 1) o
           ON o.organization_id = p.organization_id
   WHERE p_organization IS NULL OR p.organization_id = p_organization),
months AS (
  SELECT mm.*, coalesce(a.captured, 0) + coalesce(e.charged, 0) AS charged,
         coalesce(o.held, 0) AS open
    FROM member_months mm
    LEFT JOIN (SELECT * FROM ledger_audited_months r
                WHERE p_from > '-infinity'
                  AND (p_organization IS NULL OR r.organization_id = p_organization)) a
           ON (a.organization_id, a.member_id, a.month) = (mm.organization_id, mm.member_id, mm.month)
    LEFT JOIN (SELECT organization_id, member_id, month, sum(charge) AS charged
                 FROM ends GROUP BY 1, 2, 3) e
           ON (e.organization_id, e.member_id, e.month) = (mm.organization_id, mm.member_id, mm.month)
    LEFT JOIN (SELECT organization_id, member_id, month, sum(hold) AS held
                 FROM touched WHERE state = 'open' GROUP BY 1, 2, 3) o
           ON (o.organization_id, o.member_id, o.month) = (mm.organization_id, mm.member_id, mm.month)
   WHERE (p_organization IS NULL OR mm.organization_id = p_organization)
     -- Months that ended long ago have no holds and do not change, so they are checked only when
     -- all rows are read.
     AND (p_from = '-infinity' OR mm.held <> 0
          OR mm.month >= (date_trunc('month', now()) - interval '40 days')::date))
SELECT 'I1', organization_id, 'pool balance is not the fold of its transfers', organization_id
  FROM books WHERE balance <> moved
UNION ALL
-- This invariant is checked only when all rows are read: the entries of a sealed month may be from
-- before `p_from`.
SELECT 'I1', s.organization_id, 'sealed month is not what its entries come to',
       to_char(s.month, 'YYYY-MM')
  FROM sealed_months s
  LEFT JOIN (SELECT organization_id, month, sum(charge) AS charged FROM ends GROUP BY 1, 2) e
         ON e.organization_id = s.organization_id AND e.month = s.month
  LEFT JOIN (SELECT m.organization_id, m.month,
                    sum(CASE WHEN t.credit = 'pool' THEN t.amount ELSE -t.amount END) AS moved
               FROM sealed_months m
               JOIN moved t ON t.organization_id = m.organization_id
                           AND t.created_at >= m.begins AND t.created_at < m.ends
              WHERE p_organization IS NULL OR m.organization_id = p_organization
              GROUP BY 1, 2) t
         ON t.organization_id = s.organization_id AND t.month = s.month
 WHERE p_from = '-infinity' AND (p_organization IS NULL OR s.organization_id = p_organization)
   AND s.closing - s.opening <> coalesce(t.moved, 0) - coalesce(e.charged, 0)
UNION ALL
SELECT 'I1', o.id, 'organisation without a pool', o.id
  FROM organizations o
 WHERE (p_organization IS NULL OR o.id = p_organization)
   AND NOT EXISTS (SELECT 1 FROM pools p
                    WHERE p.organization_id = o.id
                      AND (p_organization IS NULL OR p.organization_id = p_organization))
UNION ALL
SELECT 'I1', organization_id, 'transfer of an organisation without a pool', id::text
  FROM moved WHERE organization_id NOT IN (SELECT organization_id FROM books)
UNION ALL
SELECT 'I2', organization_id, 'held is not the sum of open holds', organization_id
  FROM books WHERE held <> open OR held < 0
UNION ALL
SELECT 'I2', organization_id, 'uncovered is not what open orders can come to above their holds',
       organization_id
  FROM books WHERE uncovered <> open_excess
UNION ALL
SELECT 'I2', organization_id, 'order of an organisation without a pool', id
  FROM touched WHERE organization_id NOT IN (SELECT organization_id FROM books)
UNION ALL
SELECT 'I2', organization_id, 'open order that no sweep can find', id
  FROM touched o
 WHERE state = 'open' AND created_at < settled
   AND NOT EXISTS (SELECT 1 FROM tasks t
                    WHERE t.organization_id = o.organization_id AND t.id = o.id
                      AND (p_organization IS NULL OR t.organization_id = p_organization))
   AND NOT EXISTS (SELECT 1 FROM lingering_orders l
                    WHERE l.organization_id = o.organization_id AND l.id = o.id
                      AND (p_organization IS NULL OR l.organization_id = p_organization))
UNION ALL
SELECT 'I3', organization_id, 'member month is not the sum of its orders', member_id || ' ' || month
  FROM months WHERE held <> open OR captured <> charged
UNION ALL
SELECT 'I3', o.organization_id, 'order without its member month', o.id
  FROM touched o
 WHERE NOT EXISTS (SELECT FROM member_months mm
                    WHERE (mm.organization_id, mm.member_id, mm.month)
                          = (o.organization_id, o.member_id, o.month)
                      AND (p_organization IS NULL OR mm.organization_id = p_organization))
UNION ALL
SELECT 'I3', b.organization_id, 'use of a budget is not the sum of its orders', b.id
  FROM budget_uses b
  LEFT JOIN (SELECT organization_id, counted.id,
                    sum(CASE state WHEN 'open' THEN hold ELSE 0 END) AS held, sum(charge) AS charged
               FROM touched CROSS JOIN LATERAL unnest(counts_in) AS counted(id) GROUP BY 1, 2) o
         ON o.organization_id = b.organization_id AND o.id = b.id
 WHERE (p_organization IS NULL OR b.organization_id = p_organization)
   AND (b.held <> coalesce(o.held, 0)
        -- The charges from before `p_from` are known only when all rows are read.
        OR p_from = '-infinity' AND b.captured <> b.captured_before + coalesce(o.charged, 0))
UNION ALL
-- This invariant is checked only when all rows are read, since a sum may include orders from before
-- and after `p_from`.
SELECT 'I3', organization_id, 'usage is not summed up as its orders are', member_id || ' ' || model
  FROM (
    SELECT organization_id, step, member_id, key_id, model, count, failed, charge, returned,
           tokens + seconds + images + clips + characters + searches AS units
      FROM usage_sums
     WHERE p_from = '-infinity' AND tag_name = ''
       AND (p_organization IS NULL OR organization_id = p_organization)
    UNION ALL
    SELECT e.organization_id, step.name, e.member_id, e.key_id, e.model, -e.count, -e.failed,
           -e.charge, 0, -e.units
      FROM (SELECT organization_id, member_id, key_id, model,
                   count(*) FILTER (WHERE state = 'captured') AS count,
                   count(*) FILTER (WHERE state = 'released') AS failed, sum(charge) AS charge,
                   sum(CASE state WHEN 'captured' THEN input + output ELSE 0 END) AS units
              FROM ends WHERE p_from = '-infinity' GROUP BY 1, 2, 3, 4) e
     CROSS JOIN (VALUES ('hour'), ('day'), ('month')) AS step(name)
    UNION ALL
    SELECT t.organization_id, step.name, o.member_id, o.key_id, o.model, 0, 0, 0, -t.amount, 0
      FROM moved t JOIN orders o ON o.organization_id = t.organization_id AND o.id = t.order_id
     CROSS JOIN (VALUES ('hour'), ('day'), ('month')) AS step(name)
     WHERE p_from = '-infinity'
       AND (p_organization IS NULL OR o.organization_id = p_organization)) u
 GROUP BY organization_id, step, member_id, key_id, model
HAVING (sum(count), sum(failed), sum(charge), sum(returned), sum(units)) <> (0, 0, 0, 0, 0)
UNION ALL
SELECT 'I4', organization_id, 'hold is not the amount of its quote', id
  FROM touched WHERE quoted <> hold::text
UNION ALL
SELECT 'I4', organization_id, 'exposure is not that of its quote', id
  FROM touched WHERE quoted_exposure IS DISTINCT FROM exposure::text
UNION ALL
SELECT 'I4', organization_id, 'charge is not units times price', id
  FROM touched
 WHERE (input_unit_price IS NOT NULL OR input = 0)
   AND charge <> input::numeric * coalesce(input_unit_price, 0) + output::numeric * unit_price
                 + CASE WHEN parts IS NULL THEN 0
                        ELSE parts_above_base(parts, input_unit_price, unit_price) END
UNION ALL
-- A bill whose price is above the largest amount has no reported cost.
SELECT 'I4', organization_id, 'reported cost is not the vendor''s bill at its unit price', id
  FROM touched
 WHERE reported_cost IS DISTINCT FROM CASE WHEN billed <= 1000000000000000000 THEN billed END
UNION ALL
SELECT 'I4', organization_id, 'parts of a charge are more than its units', id
  FROM touched t
 WHERE parts IS NOT NULL
   AND EXISTS (SELECT FROM charge_parts(t.parts) p
                GROUP BY p.side
               HAVING min(p.units) < 0
                   OR (p.side <> 'beside'
                       AND (t.input_unit_price IS NULL
                            OR sum(p.units) > CASE p.side WHEN 'input' THEN t.input
                                                          ELSE t.output END)))
UNION ALL
SELECT 'I4', organization_id, 'surcharge is not that of its quote', id
  FROM touched
 WHERE state = 'captured' AND (parts IS NOT NULL OR surcharge IS NOT NULL)
   AND (SELECT (coalesce(sum(p.units), 0), coalesce(sum(p.units * p.price), 0))
          FROM charge_parts(parts) p WHERE p.side = 'beside')
       IS DISTINCT FROM
       (SELECT (q.units, q.units * coalesce((surcharge ->> 'nanoPerReference')::numeric, 0))
          FROM (SELECT greatest(coalesce((surcharge ->> 'references')::numeric
                                         - (surcharge ->> 'beyond')::numeric, 0), 0) AS units) q)
UNION ALL
SELECT 'I4', c.organization_id, 'corrections are not of a charge, or above it', c.order_id
  FROM (SELECT DISTINCT organization_id, order_id FROM moved WHERE order_id IS NOT NULL) c
 WHERE (SELECT sum(t.amount) FROM transfers t
         WHERE t.organization_id = c.organization_id AND t.order_id = c.order_id
           AND (p_organization IS NULL OR t.organization_id = p_organization))
     > coalesce((SELECT o.charge FROM orders o
                  WHERE o.organization_id = c.organization_id AND o.id = c.order_id
                    AND (p_organization IS NULL OR o.organization_id = p_organization)), 0)
UNION ALL
SELECT 'I5', organization_id, 'pool is below zero by more than its overage', organization_id
  FROM books WHERE balance - held < 0 AND balance - held + overage + highest_overdraft < 0
UNION ALL
SELECT 'I7', t.organization_id,
       CASE WHEN o.id IS NULL THEN 'task without its order'
            ELSE 'task and order disagree on the outcome' END, t.id
  FROM (SELECT t.organization_id, t.id, t.state FROM touched JOIN tasks t USING (organization_id, id)
         WHERE p_organization IS NULL OR t.organization_id = p_organization
        UNION SELECT organization_id, id, state FROM ongoing) t
  LEFT JOIN orders o ON o.organization_id = t.organization_id AND o.id = t.id
                    AND (p_organization IS NULL OR o.organization_id = p_organization)
 WHERE o.id IS NULL
    OR t.state <> ALL (CASE o.state WHEN 'open' THEN ARRAY['waiting', 'submitting', 'processing']
                                    WHEN 'captured' THEN
                                      CASE o.basis WHEN 'unread_answer' THEN ARRAY['failed']
                                                   ELSE ARRAY['succeeded'] END
                                    ELSE ARRAY['failed', 'rejected'] END)
UNION ALL
SELECT 'I9', q.organization_id, 'idempotency key without its order', q.order_id
  FROM idempotency_keys q
  LEFT JOIN orders o ON o.organization_id = q.organization_id AND o.id = q.order_id
                    AND (p_organization IS NULL OR o.organization_id = p_organization)
 WHERE o.id IS NULL AND q.expires_at >= p_from + p_key_life
   AND (p_organization IS NULL OR q.organization_id = p_organization);
END $$;

CREATE VIEW ledger_audit AS SELECT * FROM audit_ledger('-infinity', '0', NULL);
