-- Budgets limit what an organisation, a member or a key may spend in a day, a month or in total. A
-- hold must fit into every budget that applies to it, which is checked in the transaction of the
-- hold. Until the hold is closed, it counts in each of these budgets.

CREATE TABLE budgets (
  organization_id text NOT NULL REFERENCES organizations (id),
  id text COLLATE "C" NOT NULL,
  scope text NOT NULL CHECK (scope IN ('organization', 'member', 'key')),
  -- The id of the organisation, the member or the key; ids of different kinds never collide.
  subject_id text NOT NULL,
  period text NOT NULL CHECK (period IN ('day', 'month', 'total')),
  -- Nano-units.
  amount bigint NOT NULL CHECK (amount >= 0),
  -- Percentages of the amount; a notification of each is sent once in a period.
  thresholds integer[] NOT NULL,
  -- Whether this is the member's monthly cap, which is set together with the member.
  is_cap boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id),
  CHECK (NOT is_cap OR (scope, period) = ('member', 'month'))
);
CREATE INDEX budgets_by_subject ON budgets (organization_id, subject_id);
CREATE UNIQUE INDEX budgets_caps ON budgets (organization_id, subject_id) WHERE is_cap;

-- The used part of a budget in each period: the open holds that count in it, and the charges.
CREATE TABLE budget_uses (
  organization_id text NOT NULL,
  -- The id of the budget, `@`, and the first day of the period.
  id text COLLATE "C" NOT NULL,
  budget_id text COLLATE "C" NOT NULL,
  start date NOT NULL,
  held bigint NOT NULL DEFAULT 0 CHECK (held >= 0),
  captured bigint NOT NULL DEFAULT 0,
  -- The part of `captured` that was charged before the budget was created.
  captured_before bigint NOT NULL DEFAULT 0,
  -- `has_refused`: whether the budget has refused an order in the period. `notified_threshold`: the
  -- highest threshold for which a notification was sent. `next_threshold_amount`: the used amount at
  -- which the next notification is sent.
  has_refused boolean NOT NULL DEFAULT false,
  notified_threshold integer NOT NULL DEFAULT 0,
  next_threshold_amount bigint,
  PRIMARY KEY (organization_id, id)
) WITH (fillfactor = 50);
CREATE INDEX budget_uses_by_budget ON budget_uses (organization_id, budget_id, start);

-- The first day of the current period; -infinity for the period `total`.
CREATE FUNCTION period_start(p_period text, p_time_zone text) RETURNS date LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN p_period = 'total' THEN date '-infinity'
              ELSE date_trunc(p_period, now() AT TIME ZONE p_time_zone)::date END
$$;

-- The start of the next period; null for the period `total`.
CREATE FUNCTION period_end(p_period text, p_time_zone text) RETURNS timestamptz LANGUAGE sql STABLE
AS $$
  SELECT CASE WHEN p_period <> 'total'
              THEN (period_start(p_period, p_time_zone) + ('1 ' || p_period)::interval)
                   AT TIME ZONE p_time_zone END
$$;

CREATE FUNCTION use_id(p_budget text, p_start date) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT p_budget || '@' || p_start
$$;

-- The smallest used amount that reaches a threshold above `p_notified`; null where there is no such
-- threshold.
CREATE FUNCTION next_threshold_amount(p_amount bigint, p_thresholds integer[], p_notified integer)
RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT min(ceil(p_amount::numeric * t / 100))::bigint FROM unnest(p_thresholds) AS t
   WHERE t > p_notified
$$;

-- Creates the rows of the current periods of the budgets that apply to these holds. The caller has
-- locked the pools of the holds.
CREATE FUNCTION begin_periods(
  p_time_zone text, p_organization text, p_organizations text[], p_members text[],
  p_api_keys text[])
RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
BEGIN
  INSERT INTO budget_uses (organization_id, id, budget_id, start, next_threshold_amount)
    SELECT DISTINCT b.organization_id, use_id(b.id, n.start), b.id, n.start,
           next_threshold_amount(b.amount, b.thresholds, 0)
      FROM unnest(p_organizations, p_members, p_api_keys) AS u(organization_id, member_id, key_id)
     CROSS JOIN LATERAL (
       SELECT * FROM budgets r
        WHERE r.organization_id = u.organization_id
          AND r.subject_id IN (u.organization_id, u.member_id, u.key_id)
          AND (p_organization IS NULL OR r.organization_id = p_organization) OFFSET 0) b
     CROSS JOIN LATERAL (SELECT period_start(b.period, p_time_zone) AS start) n
     WHERE NOT EXISTS (SELECT FROM budget_uses s
                        WHERE s.organization_id = b.organization_id AND s.id = use_id(b.id, n.start)
                          AND (p_organization IS NULL OR s.organization_id = p_organization));
END $$;

-- The budgets that apply to the holds of a batch.
CREATE TYPE hold_budgets AS (
  -- Each budget once, with the amount that is available in the current period (`rooms`).
  organizations text[], ids text[], rooms bigint[],
  -- These arrays have one element for each hold: in `hold_places` the positions of its budgets in
  -- the arrays above, in `hold_ids` the ids of their `budget_uses` rows. Each element is an array
  -- cast to text, because the lengths differ; null for a hold without budgets.
  hold_places text[], hold_ids text[]
);

-- Missing rows of current periods are created. The narrowest budgets come first: a key's before its
-- member's, a day's before a month's. The caller has locked the pools.
CREATE FUNCTION budgets_of_holds(
  p_time_zone text, p_organization text, p_organizations text[], p_members text[],
  p_api_keys text[])
RETURNS hold_budgets LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
DECLARE
  budgets hold_budgets;
  have_begun boolean;
BEGIN
  LOOP
    -- Holds of one key have the same budgets.
    WITH subjects AS MATERIALIZED (
      SELECT u.organization_id, u.member_id, u.key_id, array_agg(u.i) AS holds
        FROM unnest(p_organizations, p_members, p_api_keys)
               WITH ORDINALITY AS u(organization_id, member_id, key_id, i)
       GROUP BY u.organization_id, u.member_id, u.key_id
    ), counting AS MATERIALIZED (
      SELECT u.holds, b.organization_id, n.id, s.room,
             dense_rank() OVER (
               ORDER BY array_position(ARRAY['key', 'member', 'organization'], b.scope),
                        array_position(ARRAY['day', 'month', 'total'], b.period), b.amount,
                        b.organization_id, b.id) AS place
        FROM subjects u
        LEFT JOIN LATERAL (
         SELECT * FROM budgets r
          WHERE r.organization_id = u.organization_id
            AND r.subject_id IN (u.organization_id, u.member_id, u.key_id)
            AND (p_organization IS NULL OR r.organization_id = p_organization) OFFSET 0) b ON true
       CROSS JOIN LATERAL (SELECT use_id(b.id, period_start(b.period, p_time_zone)) AS id) n
        LEFT JOIN LATERAL (
          SELECT b.amount - r.held - r.captured AS room FROM budget_uses r
           WHERE r.organization_id = b.organization_id AND r.id = n.id
             AND (p_organization IS NULL OR r.organization_id = p_organization) OFFSET 0) s ON true
    ), by_subject AS (
      SELECT holds, (array_agg(place ORDER BY place) FILTER (WHERE id IS NOT NULL))::text AS places,
             (array_agg(id ORDER BY place) FILTER (WHERE id IS NOT NULL))::text AS ids
        FROM counting GROUP BY holds
    ), by_hold AS (
      SELECT array_agg(u.places ORDER BY h.i) AS places, array_agg(u.ids ORDER BY h.i) AS ids
        FROM by_subject u CROSS JOIN LATERAL unnest(u.holds) AS h(i)
    )
    SELECT array_agg(c.organization_id ORDER BY c.place), array_agg(c.id ORDER BY c.place),
           array_agg(c.room ORDER BY c.place), (SELECT places FROM by_hold),
           (SELECT ids FROM by_hold), coalesce(bool_and(c.room IS NOT NULL), true)
      INTO budgets.organizations, budgets.ids, budgets.rooms, budgets.hold_places,
           budgets.hold_ids, have_begun
      FROM (SELECT DISTINCT k.place, k.organization_id, k.id, k.room FROM counting k
             WHERE k.id IS NOT NULL) c;
    EXIT WHEN have_begun;
    PERFORM begin_periods(p_time_zone, p_organization, p_organizations, p_members, p_api_keys);
  END LOOP;
  RETURN budgets;
END $$;

-- The budget that refuses a hold, in the form that the refusal shows to the client.
CREATE FUNCTION refusing_budget(
  p_time_zone text, p_organization text, p_use text, p_used bigint) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (
    SELECT jsonb_build_object(
             'use', s.id, 'id', b.id, 'scope', b.scope, 'period', b.period, 'isCap', b.is_cap,
             'amountNano', b.amount::text, 'usedNano', (s.held + s.captured + p_used)::text,
             'resetsAt', period_end(b.period, p_time_zone))
      FROM budget_uses s JOIN budgets b USING (organization_id)
     WHERE s.organization_id = p_organization AND s.id = p_use AND b.id = s.budget_id);
END $$;

-- Creates the row of a new budget's current period, with the open holds and the charges of that
-- period so far. From then on, these open orders count in the budget.
CREATE FUNCTION begin_budget(p_time_zone text, p_organization text, p_budget text)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  budget record;
  begun timestamptz;
  whole record;
  open_ids text[];
  open_holds bigint;
BEGIN
  SELECT b.*, n.start, use_id(b.id, n.start) AS use INTO STRICT budget
    FROM budgets b CROSS JOIN LATERAL (SELECT period_start(b.period, p_time_zone) AS start) n
   WHERE b.organization_id = p_organization AND b.id = p_budget;
  begun := budget.start AT TIME ZONE p_time_zone;
  SELECT coalesce(sum(s.charge), 0)::bigint AS captured INTO STRICT whole FROM usage_sums s
   WHERE s.organization_id = p_organization AND s.tag_name = ''
     AND s.step = CASE budget.period WHEN 'day' THEN 'day' ELSE 'month' END AND s.start >= begun
     AND budget.subject_id IN (s.organization_id, s.member_id, s.key_id);
  open_ids := ARRAY(
    SELECT o.id FROM open_orders(p_organization) o
     WHERE o.created_at >= begun AND budget.subject_id IN (o.organization_id, o.member_id, o.key_id));
  WITH counted AS (
    UPDATE orders r SET counts_in = r.counts_in || budget.use
     WHERE r.organization_id = p_organization AND r.id = ANY (open_ids)
    RETURNING r.hold
  )
  SELECT coalesce(sum(hold), 0)::bigint INTO open_holds FROM counted;
  INSERT INTO budget_uses (organization_id, id, budget_id, start, held, captured, captured_before,
                           next_threshold_amount)
  VALUES (p_organization, budget.use, p_budget, budget.start, open_holds, whole.captured,
          whole.captured, next_threshold_amount(budget.amount, budget.thresholds, 0));
  -- This update fires the trigger, which sends a notification of each threshold that is reached
  -- already.
  UPDATE budget_uses SET held = held WHERE organization_id = p_organization AND id = budget.use;
END $$;

-- Changes the amount and the thresholds where they are not null. Sends a notification of each
-- threshold that is reached and that was not notified of in the period.
CREATE FUNCTION change_budget(
  p_time_zone text, p_organization text, p_budget text, p_amount bigint, p_thresholds integer[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  budget budgets;
  period_began date;
BEGIN
  PERFORM FROM pools WHERE organization_id = p_organization FOR UPDATE;
  UPDATE budgets SET amount = coalesce(p_amount, amount),
                     thresholds = coalesce(p_thresholds, thresholds)
   WHERE organization_id = p_organization AND id = p_budget
  RETURNING * INTO budget;
  period_began := period_start(budget.period, p_time_zone);
  UPDATE budget_uses
     SET next_threshold_amount =
           next_threshold_amount(budget.amount, budget.thresholds, notified_threshold)
   WHERE organization_id = p_organization AND budget_id = p_budget AND start = period_began;
END $$;

-- Deletes the budget and its uses; open orders that count in the budget are not affected.
CREATE FUNCTION remove_budget(p_organization text, p_budget text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM pools WHERE organization_id = p_organization FOR UPDATE;
  DELETE FROM budgets WHERE organization_id = p_organization AND id = p_budget;
  DELETE FROM budget_uses WHERE organization_id = p_organization AND budget_id = p_budget;
END $$;

-- Creates a budget; a repeat with the same id changes nothing.
CREATE FUNCTION create_budget(
  p_time_zone text, p_organization text, p_budget text, p_scope text, p_subject text, p_period text,
  p_amount bigint, p_thresholds integer[], p_is_cap boolean)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM pools WHERE organization_id = p_organization FOR UPDATE;
  INSERT INTO budgets (organization_id, id, scope, subject_id, period, amount, thresholds, is_cap)
  VALUES (p_organization, p_budget, p_scope, p_subject, p_period, p_amount, p_thresholds, p_is_cap)
  ON CONFLICT (organization_id, id) DO NOTHING;
  IF FOUND THEN PERFORM begin_budget(p_time_zone, p_organization, p_budget); END IF;
END $$;

-- Sets a member's monthly cap, which is a budget with the period `month`; null removes it.
CREATE FUNCTION set_cap(
  p_time_zone text, p_organization text, p_member text, p_amount bigint, p_id text,
  p_thresholds integer[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  cap record;
BEGIN
  PERFORM FROM pools WHERE organization_id = p_organization FOR UPDATE;
  SELECT * INTO cap FROM budgets
   WHERE organization_id = p_organization AND subject_id = p_member AND is_cap;
  IF p_amount IS NULL THEN
    PERFORM remove_budget(p_organization, cap.id) WHERE cap.id IS NOT NULL;
  ELSIF cap.id IS NULL THEN
    PERFORM create_budget(p_time_zone, p_organization, p_id, 'member', p_member, 'month', p_amount,
                          p_thresholds, true);
  ELSE
    PERFORM change_budget(p_time_zone, p_organization, cap.id, p_amount, NULL);
  END IF;
END $$;
