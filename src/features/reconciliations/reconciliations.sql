-- Reconciliations: vendors' usage lists compared with our charged orders. Amounts and units are
-- billionths.

CREATE TABLE reconciliations (
  -- A prefix and a UUIDv7.
  id text COLLATE "C" PRIMARY KEY,
  channel_id text NOT NULL,
  -- The period; `to_at` is exclusive.
  from_at timestamptz NOT NULL,
  to_at timestamptz NOT NULL,
  -- Which columns the list has.
  has_amount boolean NOT NULL,
  has_units boolean NOT NULL,
  author text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- The time at which the newest lines arrived. If this is long ago and the reconciliation is still
  -- incomplete, it was abandoned.
  touched_at timestamptz NOT NULL DEFAULT now(),
  -- Null until all lines are stored and compared; until then the reconciliation is not visible.
  completed_at timestamptz,
  lines int NOT NULL DEFAULT 0,
  -- The totals by kind.
  totals jsonb,
  CHECK (has_amount OR has_units),
  CHECK ((completed_at IS NULL) = (totals IS NULL))
);
CREATE INDEX reconciliations_by_channel ON reconciliations (channel_id, id);

-- The lines of a list, stored until the list is complete and compared.
CREATE TABLE reconciliation_lines (
  reconciliation_id text COLLATE "C" NOT NULL REFERENCES reconciliations (id) ON DELETE CASCADE,
  line int NOT NULL,
  vendor_id text NOT NULL,
  amount bigint,
  units bigint,
  PRIMARY KEY (reconciliation_id, line)
);

-- Entries are numbered from 1, ordered by kind, so that the entries of one kind are a range of
-- numbers.
CREATE TABLE reconciliation_entries (
  reconciliation_id text COLLATE "C" NOT NULL REFERENCES reconciliations (id) ON DELETE CASCADE,
  number int NOT NULL,
  kind text NOT NULL
    CHECK (kind IN ('different', 'missing_there', 'missing_here', 'orphan', 'matched')),
  reason text,
  vendor_id text,
  line int,
  lines int NOT NULL,
  order_id text COLLATE "C",
  organization_id text,
  orders int NOT NULL,
  -- Numeric, since sums of many lines may exceed a bigint.
  amount_here numeric,
  amount_there numeric,
  units_here numeric,
  units_there numeric,
  reported numeric,
  closed_at timestamptz,
  PRIMARY KEY (reconciliation_id, number)
);

-- Compares the lines of a list with the charged orders of its channel, stores the result and
-- deletes the lines. Orders of tasks are found by the vendor's id, whenever the orders were closed.
-- In addition, all orders of the channel are compared that were closed in the period, or at most
-- `p_tolerance` before or after it.
CREATE FUNCTION complete_reconciliation(p_id text, p_tolerance interval) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
  r reconciliations;
BEGIN
  SELECT * INTO STRICT r FROM reconciliations WHERE id = p_id AND completed_at IS NULL FOR UPDATE;

  WITH listed AS MATERIALIZED (
    SELECT l.vendor_id, min(l.line) AS line, count(*)::int AS lines,
           sum(l.amount) AS amount, sum(l.units) AS units
      FROM reconciliation_lines l WHERE l.reconciliation_id = p_id GROUP BY l.vendor_id
  ), tasked AS MATERIALIZED (
    -- Orders of tasks with a listed id, on any channel and in any state.
    SELECT l.vendor_id, o.organization_id, o.id, o.state, o.cost, o.input + o.output AS units,
           o.reported_cost, o.closed_at, t.channel_id = r.channel_id AS is_here
      FROM listed l
      JOIN tasks t ON t.upstream_id = l.vendor_id
      JOIN orders o ON o.organization_id = t.organization_id AND o.id = t.id
  ), charged AS (
    SELECT t.vendor_id, t.organization_id, t.id, t.cost, t.units, t.reported_cost, t.closed_at
      FROM tasked t WHERE t.is_here AND t.state = 'captured'
    UNION
    SELECT coalesce(t.upstream_id, o.call ->> 'requestId'), o.organization_id, o.id,
           o.cost, o.input + o.output, o.reported_cost, o.closed_at
      FROM orders o
      LEFT JOIN tasks t ON t.organization_id = o.organization_id AND t.id = o.id
     WHERE o.closed_at >= r.from_at - p_tolerance AND o.closed_at < r.to_at + p_tolerance
       AND o.state = 'captured' AND o.job ->> 'channelId' = r.channel_id
  ), ours AS MATERIALIZED (
    SELECT c.vendor_id, count(*)::int AS orders, min(c.id) AS id,
           (array_agg(c.organization_id ORDER BY c.id))[1] AS organization_id,
           CASE WHEN bool_and(c.cost IS NOT NULL) THEN sum(c.cost) END AS cost,
           CASE WHEN bool_and(c.reported_cost IS NOT NULL) THEN sum(c.reported_cost) END AS reported,
           sum(c.units) * 1000000000 AS units, min(c.closed_at) AS closed_at,
           bool_or(c.closed_at >= r.from_at AND c.closed_at < r.to_at) AS in_period
      FROM charged c
     GROUP BY c.vendor_id, CASE WHEN c.vendor_id IS NULL THEN c.id END
  ), orphaned AS MATERIALIZED (
    SELECT DISTINCT ON (j.vendor_id) j.*
      FROM (SELECT unnest(ARRAY[o.upstream_id, o.answer ->> 'requestId']) AS vendor_id,
                   o.organization_id, o.order_id, o.reason
              FROM orphans o WHERE o.job ->> 'channelId' = r.channel_id) j
      JOIN listed l ON l.vendor_id = j.vendor_id
     ORDER BY j.vendor_id, j.order_id
  ), elsewhere AS MATERIALIZED (
    -- Orders of tasks that match a listed id but are not charged on this channel.
    SELECT DISTINCT ON (t.vendor_id) t.vendor_id, t.organization_id, t.id, t.closed_at,
           CASE WHEN NOT t.is_here THEN 'other_channel' ELSE t.state END AS reason
      FROM tasked t WHERE NOT (t.is_here AND t.state = 'captured')
     ORDER BY t.vendor_id, t.is_here DESC, t.id
  ), compared AS (
    SELECT CASE WHEN l.vendor_id IS NULL THEN 'missing_there'
                WHEN o.orders IS NULL THEN
                  CASE WHEN n.order_id IS NOT NULL THEN 'orphan' ELSE 'missing_here' END
                WHEN (NOT r.has_amount OR o.cost IS NOT DISTINCT FROM l.amount)
                     AND (NOT r.has_units OR o.units = l.units) THEN 'matched'
                ELSE 'different' END AS kind,
           CASE WHEN o.orders IS NULL THEN coalesce(n.reason, e.reason, 'unknown')
                WHEN o.vendor_id IS NULL THEN 'no_id'
                WHEN r.has_amount AND o.cost IS NULL THEN 'no_cost' END AS reason,
           coalesce(l.vendor_id, o.vendor_id) AS vendor_id, l.line, coalesce(l.lines, 0) AS lines,
           coalesce(o.id, n.order_id, e.id) AS order_id,
           coalesce(o.organization_id, n.organization_id, e.organization_id) AS organization_id,
           coalesce(o.orders, 0) AS orders,
           o.cost AS amount_here, l.amount AS amount_there,
           o.units AS units_here, l.units AS units_there, o.reported,
           coalesce(o.closed_at, e.closed_at) AS closed_at
      FROM listed l
      FULL JOIN ours o ON o.vendor_id = l.vendor_id
      LEFT JOIN orphaned n ON n.vendor_id = l.vendor_id AND o.orders IS NULL
      LEFT JOIN elsewhere e ON e.vendor_id = l.vendor_id AND o.orders IS NULL AND n.order_id IS NULL
     WHERE l.vendor_id IS NOT NULL OR o.in_period
  )
  INSERT INTO reconciliation_entries (
    reconciliation_id, number, kind, reason, vendor_id, line, lines, order_id, organization_id,
    orders, amount_here, amount_there, units_here, units_there, reported, closed_at)
  SELECT p_id,
         row_number() OVER (
           ORDER BY array_position(
             ARRAY['different', 'missing_there', 'missing_here', 'orphan', 'matched'], c.kind),
           c.line, c.order_id),
         c.kind, c.reason, c.vendor_id, c.line, c.lines, c.order_id, c.organization_id,
         c.orders, c.amount_here, c.amount_there, c.units_here, c.units_there, c.reported,
         c.closed_at
    FROM compared c;

  UPDATE reconciliations
     SET completed_at = now(),
         lines = (SELECT count(*) FROM reconciliation_lines WHERE reconciliation_id = p_id),
         totals = (
           SELECT jsonb_agg(jsonb_build_object(
                    'kind', k.kind, 'count', coalesce(t.count, 0),
                    'amountHereNano', coalesce(t.amount_here, 0)::text,
                    'amountThereNano', coalesce(t.amount_there, 0)::text,
                    'unitsHereNano', coalesce(t.units_here, 0)::text,
                    'unitsThereNano', coalesce(t.units_there, 0)::text,
                    'reportedNano', coalesce(t.reported, 0)::text)
                  ORDER BY k.place)
             FROM unnest(ARRAY['different', 'missing_there', 'missing_here', 'orphan', 'matched'])
                    WITH ORDINALITY k (kind, place)
             LEFT JOIN (
               SELECT e.kind, count(*) AS count,
                      sum(e.amount_here) AS amount_here, sum(e.amount_there) AS amount_there,
                      sum(e.units_here) AS units_here, sum(e.units_there) AS units_there,
                      sum(e.reported) AS reported
                 FROM reconciliation_entries e
                WHERE e.reconciliation_id = p_id GROUP BY e.kind) t ON t.kind = k.kind)
   WHERE id = p_id;
  DELETE FROM reconciliation_lines WHERE reconciliation_id = p_id;
END $$;
