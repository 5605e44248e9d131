-- The only statement that moves money, apart from transfers. One call writes a batch of closes and
-- new holds, of any organisations, in one commit. `move_funds`, at the end of this file, locks,
-- decides and writes. It handles the closes before the holds, since a hold may use the money and
-- the idempotency key that a close frees.
--
-- The lock of the pool's row protects all money of its organisation: every transaction that writes
-- orders, member months or idempotency keys takes this lock first, one organisation after the
-- other. Tasks are also changed by claims and acceptances, which do not lock the pool; so a close
-- that ends a task locks the task's row as well, after the pools.
--
-- A session plans each statement only once, often before a table was ever analysed. So no statement
-- leaves the planner a choice that could turn out wrong when the table has grown: each row is
-- looked up by its whole key, and then updated by its physical position (`ctid`), which cannot
-- change while the lock is held. The settings of `move_funds` (`SET`) also apply to the functions
-- that it calls.

-- `p_organization` is null on one PostgreSQL, where a call has rows of any organisations. On a Citus
-- cluster a call has rows of one, which every statement compares with each table: only so does the
-- cluster know the node of the statement. For its sake no `INSERT ... SELECT` is within a `WITH`.

-- Input. Every attribute is required unless its comment says that it is optional.

CREATE TYPE order_close AS (
  organization_id text, order_id text, closed_by text,
  -- Null releases the whole hold; a positive charge is captured in full, also where it exceeds the
  -- hold.
  charge bigint,
  -- The usage detail of a charge; the price of input is optional.
  input bigint, output bigint, unit text, unit_price bigint, input_unit_price bigint, basis text,
  -- Optional: what the vendor bills for the charge, and the vendor call behind it (`orders.call`).
  cost bigint, call jsonb,
  -- Optional: {parts, vendor_bill, reported_cost, failure}, the columns of `orders` that most closes
  -- leave null; in one attribute, because each attribute costs time in every call.
  details jsonb,
  -- Optional: the new state of the task, {from, lease, state, ...}. The close then applies only
  -- while the task is in the state `from`. If a lease is given, the task's current claim must also
  -- have that lease number.
  task_end jsonb,
  -- Optional: the orphan {upstream_id, reason, answer, usage} to record for the operators, and the
  -- answer to store for repeats of the request.
  orphan jsonb, answer text,
  -- Optional: whether the idempotency key is freed, so that the client can order again with the
  -- same key.
  frees_key boolean
);

CREATE TYPE order_hold AS (
  -- The ids of one call are distinct within an organisation.
  organization_id text, id text, member_id text, key_id text, model text, modality text,
  -- Optional: the price list that priced the order.
  price_list_id text,
  amount bigint,
  -- Optional: the largest possible charge of the order, where it exceeds the amount.
  exposure bigint,
  ttl_seconds double precision, quote jsonb, job jsonb,
  -- Optional: the quote of the vendor's cost, the client's metadata, and the digest of the prompt.
  cost_quote jsonb, metadata jsonb, prompt_digest text,
  -- Optional: the task, for asynchronous work, and the idempotency key {key, fingerprint,
  -- ttl_seconds}.
  task jsonb, key jsonb
);

-- Output: one decision for each item, in the order of the input.

CREATE TYPE close_decision AS (
  -- won, closed (by an earlier close), stale (the task has left the state or the claim that the
  -- close names) or unknown (there is no such order).
  outcome text,
  -- State, charge and overage of the order after this call, whichever close ended it; null for an
  -- unknown order.
  state text, charged bigint, overage bigint,
  -- Position (`ctid`) and columns of the order: the member, month and budget uses that its hold
  -- counts in, the amount of the hold, and how far the charge may exceed the hold.
  "row" tid, member_id text, month date, counts_in text[], hold bigint, excess bigint
);

CREATE TYPE hold_decision AS (
  -- held, known (a hold with this id exists already: nothing changed), key_used (the idempotency
  -- key belongs to another order), unknown_member, budget_exceeded, stopped,
  -- insufficient_balance or overexposed.
  outcome text,
  -- The budget that refused the hold, and how much of that budget was used.
  refusal jsonb,
  -- The amount that was available for the hold: the free balance of the pool, with its credit if
  -- holds may use it. For `overexposed`, it is the free balance plus the credit, less the amount by
  -- which charges of open orders may exceed their holds.
  available bigint,
  -- The budget uses that the hold counts in.
  counts_in text[]
);

-- The first close of an order that applies wins; later closes of the order change nothing.
CREATE FUNCTION decide_closes(p_organization text, p_closes order_close[]) RETURNS close_decision[]
LANGUAGE plpgsql AS $$
BEGIN
  RETURN (
    WITH matched AS MATERIALIZED (
      SELECT c.ordinality AS i, c.charge, o.*,
             coalesce(o.state = 'open' AND (c.task_end IS NULL OR (
               SELECT t.state = c.task_end ->> 'from'
                      AND t.lease = coalesce((c.task_end ->> 'lease')::bigint, t.lease)
                 FROM tasks t
                WHERE t.organization_id = c.organization_id AND t.id = c.order_id
                  AND (p_organization IS NULL OR t.organization_id = p_organization))), false)
               AS applies
        FROM unnest(p_closes) WITH ORDINALITY AS c
        LEFT JOIN LATERAL (
          SELECT r.ctid AS row, r.member_id, r.month, r.counts_in, r.hold,
                 coalesce(r.exposure - r.hold, 0) AS excess, r.state, r.charge AS charged
            FROM orders r
           WHERE r.organization_id = c.organization_id AND r.id = c.order_id
             AND (p_organization IS NULL OR r.organization_id = p_organization) OFFSET 0) o ON true
    ), decided AS (
      SELECT *, applies AND i = first_value(i) OVER by_order AS wins,
             CASE WHEN NOT first_value(applies) OVER by_order THEN state
                  WHEN first_value(charge) OVER by_order IS NULL THEN 'released'
                  ELSE 'captured' END AS new_state,
             CASE WHEN NOT first_value(applies) OVER by_order THEN charged
                  ELSE coalesce(first_value(charge) OVER by_order, 0) END AS new_charge
        FROM matched WINDOW by_order AS (PARTITION BY row ORDER BY applies DESC, i)
    )
    SELECT array_agg(ROW(
             CASE WHEN wins THEN 'won' WHEN state IS NULL THEN 'unknown'
                  WHEN new_state = 'open' THEN 'stale' ELSE 'closed' END,
             new_state, new_charge, greatest(new_charge - hold, 0),
             row, member_id, month, counts_in, hold, excess)::close_decision ORDER BY i)
      FROM decided);
END $$;

-- Writes the closes that won, the sums, and the tasks, orphans and idempotency keys that the closes
-- change.
CREATE FUNCTION write_closes(
  p_time_zone text, p_organization text, p_closes order_close[],
  p_decisions close_decision[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  -- The orders that are closed, and whether the rows that the updates returned add up to their
  -- holds.
  organization_ids text[]; order_ids text[]; is_complete boolean;
  -- Which optional writes are needed: even a statement that finds no row costs time.
  have_budgets boolean; ends_tasks boolean; has_orphans boolean; frees_keys boolean;
  has_answers boolean;
BEGIN
  WITH won AS MATERIALIZED (
    SELECT * FROM unnest(p_closes, p_decisions) AS c WHERE c.outcome = 'won'
  ), orders_closed AS (
    UPDATE orders r
       SET state = w.state, charge = w.charged, closed_at = now(), closed_by = w.closed_by,
           input = w.input, output = w.output, unit = w.unit, unit_price = w.unit_price,
           input_unit_price = w.input_unit_price, basis = w.basis, cost = w.cost, call = w.call,
           parts = w.details -> 'parts', vendor_bill = w.details -> 'vendor_bill',
           reported_cost = (w.details ->> 'reported_cost')::bigint,
           failure = w.details -> 'failure'
      FROM won w
     WHERE r.ctid = w.row AND r.organization_id = w.organization_id AND r.state = 'open'
       AND (p_organization IS NULL OR r.organization_id = p_organization)
       AND r.hold = w.hold RETURNING w.hold
  ), months_changed AS (
    UPDATE member_months r SET held = r.held - s.freed, captured = r.captured + s.charged
      FROM (SELECT (SELECT m.ctid FROM member_months m
                     WHERE m.organization_id = w.organization_id AND m.member_id = w.member_id
                       AND m.month = w.month
                       AND (p_organization IS NULL OR m.organization_id = p_organization)) AS row,
                   sum(w.hold)::bigint AS freed, sum(w.charged)::bigint AS charged
              FROM won w GROUP BY w.organization_id, w.member_id, w.month) s
     WHERE r.ctid = s.row
       AND (p_organization IS NULL OR r.organization_id = p_organization)
    RETURNING s.freed
  ), pools_changed AS (
    UPDATE pools r SET balance = r.balance - s.charged, held = r.held - s.freed,
                       uncovered = r.uncovered - s.excess
      FROM (SELECT (SELECT p.ctid FROM pools p
                     WHERE p.organization_id = w.organization_id
                       AND (p_organization IS NULL OR p.organization_id = p_organization)) AS row,
                   sum(w.hold)::bigint AS freed, sum(w.charged)::bigint AS charged,
                   sum(w.excess)::bigint AS excess
              FROM won w GROUP BY w.organization_id) s
     WHERE r.ctid = s.row
       AND (p_organization IS NULL OR r.organization_id = p_organization)
    RETURNING s.freed
  )
  SELECT array_agg(w.organization_id), array_agg(w.order_id),
         coalesce(sum(w.hold), 0) = ALL (ARRAY[
           (SELECT coalesce(sum(hold), 0) FROM orders_closed),
           (SELECT coalesce(sum(freed), 0) FROM months_changed),
           (SELECT coalesce(sum(freed), 0) FROM pools_changed)]),
         bool_or(w.counts_in IS NOT NULL), bool_or(w.task_end IS NOT NULL),
         bool_or(w.orphan IS NOT NULL), bool_or(w.frees_key), bool_or(w.answer IS NOT NULL)
    INTO organization_ids, order_ids, is_complete, have_budgets, ends_tasks, has_orphans,
         frees_keys, has_answers
    FROM won w;
  -- An order without its member month is corrupt, which a retry cannot repair. So this error is one
  -- that is not retried: the movements of the batch are then sent one by one, and only the close of
  -- this order fails.
  IF NOT is_complete AND EXISTS (
    SELECT FROM unnest(p_closes, p_decisions) AS c
     WHERE c.state IS NOT NULL
       AND NOT EXISTS (SELECT FROM member_months m
                        WHERE m.organization_id = c.organization_id
                          AND m.member_id = c.member_id AND m.month = c.month
                          AND (p_organization IS NULL OR m.organization_id = p_organization))) THEN
    RAISE EXCEPTION 'an order has no member month' USING ERRCODE = 'data_corrupted';
  END IF;
  -- Another transaction changed rows without the lock of their pool, which changed their `ctid`.
  IF NOT is_complete THEN
    RAISE EXCEPTION 'rows were changed beside the lock of their pool'
      USING ERRCODE = 'serialization_failure';
  END IF;

  IF order_ids IS NOT NULL THEN
    PERFORM sum_up(p_time_zone, p_organization, organization_ids, order_ids, NULL);
  END IF;
  IF have_budgets THEN
    UPDATE budget_uses r SET held = r.held - s.freed, captured = r.captured + s.charged
      FROM (SELECT (SELECT b.ctid FROM budget_uses b
                     WHERE b.organization_id = c.organization_id AND b.id = counted.id
                       AND (p_organization IS NULL OR b.organization_id = p_organization)) AS row,
                   sum(c.hold)::bigint AS freed, sum(c.charged)::bigint AS charged
              FROM unnest(p_closes, p_decisions) AS c
             CROSS JOIN LATERAL unnest(c.counts_in) AS counted(id)
             WHERE c.outcome = 'won'
             GROUP BY c.organization_id, counted.id) s
     WHERE r.ctid = s.row
       AND (p_organization IS NULL OR r.organization_id = p_organization);
  END IF;
  IF ends_tasks THEN
    UPDATE tasks t
       SET state = e.task_end ->> 'state', video_url = e.task_end ->> 'video_url',
           result = e.task_end ->> 'result', files = e.task_end -> 'files',
           stills = e.task_end -> 'stills',
           completion_tokens = (e.task_end ->> 'completion_tokens')::bigint,
           error_code = e.task_end ->> 'error_code',
           error_message = e.task_end ->> 'error_message', next_poll_at = NULL,
           finished_at = now()
      FROM (SELECT c.task_end, (SELECT r.ctid FROM tasks r
                                 WHERE r.organization_id = c.organization_id
                                   AND r.id = c.order_id
                                   AND (p_organization IS NULL OR r.organization_id = p_organization)) AS row
              FROM unnest(p_closes, p_decisions) AS c
             WHERE c.outcome = 'won' AND c.task_end IS NOT NULL) e
     WHERE t.ctid = e.row
       AND (p_organization IS NULL OR t.organization_id = p_organization);
  END IF;
  IF has_orphans THEN
    INSERT INTO orphans (organization_id, order_id, job, upstream_id, reason, answer, usage)
      SELECT c.organization_id, c.order_id,
             (SELECT r.job FROM orders r
               WHERE r.organization_id = c.organization_id AND r.id = c.order_id
                 AND (p_organization IS NULL OR r.organization_id = p_organization)),
             c.orphan ->> 'upstream_id', c.orphan ->> 'reason', c.orphan -> 'answer',
             c.orphan -> 'usage'
        FROM unnest(p_closes, p_decisions) AS c
       WHERE c.outcome = 'won' AND c.orphan IS NOT NULL;
  END IF;
  IF frees_keys THEN
    DELETE FROM idempotency_keys q
     USING (SELECT k.row
              FROM unnest(p_closes, p_decisions) AS c
             CROSS JOIN LATERAL (
               SELECT r.ctid AS row FROM idempotency_keys r
                WHERE r.organization_id = c.organization_id AND r.order_id = c.order_id
                  AND (p_organization IS NULL OR r.organization_id = p_organization) OFFSET 0) k
             WHERE c.outcome = 'won' AND c.frees_key) f
     WHERE q.ctid = f.row
       AND (p_organization IS NULL OR q.organization_id = p_organization);
  END IF;
  IF has_answers THEN
    UPDATE idempotency_keys q SET answer = a.answer
      FROM (SELECT c.answer, k.row
              FROM unnest(p_closes, p_decisions) AS c
             CROSS JOIN LATERAL (
               SELECT r.ctid AS row FROM idempotency_keys r
                WHERE r.organization_id = c.organization_id AND r.order_id = c.order_id
                  AND (p_organization IS NULL OR r.organization_id = p_organization) OFFSET 0) k
             WHERE c.outcome = 'won' AND c.answer IS NOT NULL) a
     WHERE q.ctid = a.row
       AND (p_organization IS NULL OR q.organization_id = p_organization);
  END IF;
END $$;

-- Decides which holds are taken. Each decision includes the holds before it in the batch. The free
-- balance of the pool, with its credit where holds may use it, must cover the hold. While orders
-- are open whose charges may exceed their holds, the balance and the credit must also cover these
-- possible excesses: a hold larger than what then remains is refused as `overexposed`.
-- `p_organizations` are those of the batch; their pools are locked.
CREATE FUNCTION decide_holds(
  p_time_zone text, p_organization text, p_organizations text[], p_holds order_hold[])
RETURNS hold_decision[]
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  decisions hold_decision[];
  request record;
  outcome text; refusal jsonb;
  -- `budgets`: the budgets that apply to any of the holds. `positions`: where in that list the
  -- budgets of the current hold are.
  budgets hold_budgets; positions int[]; n int;
  -- Running totals while the holds are decided: `available` and `uncovered` by pool, `spent` by
  -- budget, and `is_key_taken` by the position of the first hold with the idempotency key.
  available bigint[]; uncovered bigint[]; spent bigint[]; is_key_taken boolean[];
  -- For the current hold: how far its charge may exceed its amount, and the money that may cover
  -- that excess.
  excess bigint; cover bigint;
BEGIN
  -- Most organisations have no budgets. A budget is created under the lock of the pool, so one that
  -- this statement does not see begins after these holds, and counts them.
  IF EXISTS (SELECT FROM budgets r
              WHERE r.organization_id = ANY (p_organizations)
                AND (p_organization IS NULL OR r.organization_id = p_organization)) THEN
    SELECT b.* INTO STRICT budgets
      FROM (SELECT array_agg(h.organization_id) AS organizations, array_agg(h.member_id) AS members,
                   array_agg(h.key_id) AS keys FROM unnest(p_holds) h) u
     CROSS JOIN LATERAL
             budgets_of_holds(p_time_zone, p_organization, u.organizations, u.members, u.keys) b;
    spent := array_fill(0::bigint, ARRAY[coalesce(cardinality(budgets.ids), 0)]);
  END IF;
  FOR request IN
    SELECT h.ordinality AS i, dense_rank() OVER (ORDER BY h.organization_id) AS pool,
           h.amount, h.exposure, p.free, p.uncovered, p.credit, p.is_stopped, m.is_member,
           (SELECT true FROM orders r
             WHERE r.organization_id = h.organization_id AND r.id = h.id
               AND (p_organization IS NULL OR r.organization_id = p_organization)) AS is_known,
           (SELECT r.expires_at > now() FROM idempotency_keys r
             WHERE r.organization_id = h.organization_id AND r.key = h.key ->> 'key'
               AND (p_organization IS NULL OR r.organization_id = p_organization)) AS is_key_used,
           CASE WHEN h.key IS NOT NULL
                THEN min(h.ordinality) OVER (PARTITION BY h.organization_id, h.key ->> 'key') END
             AS first_of_key
      FROM unnest(p_holds) WITH ORDINALITY AS h
      LEFT JOIN LATERAL (
        SELECT true AS is_member FROM members r
         WHERE r.organization_id = h.organization_id AND r.id = h.member_id
           AND (p_organization IS NULL OR r.organization_id = p_organization) OFFSET 0) m ON true
     CROSS JOIN LATERAL (
        SELECT r.balance - r.held + CASE WHEN r.holds_on_credit THEN r.credit ELSE 0 END AS free,
               r.uncovered, CASE WHEN r.holds_on_credit THEN 0 ELSE r.credit END AS credit,
               r.stopped_at IS NOT NULL AS is_stopped
          FROM pools r
         WHERE r.organization_id = h.organization_id
           AND (p_organization IS NULL OR r.organization_id = p_organization) OFFSET 0) p
     ORDER BY h.ordinality
  LOOP
    available[request.pool] := coalesce(available[request.pool], request.free);
    uncovered[request.pool] := coalesce(uncovered[request.pool], request.uncovered);
    excess := coalesce(request.exposure - request.amount, 0);
    cover := available[request.pool] + request.credit - uncovered[request.pool];
    refusal := NULL;
    positions := coalesce(budgets.hold_places[request.i]::int[], '{}');
    FOREACH n IN ARRAY positions LOOP
      IF request.amount > budgets.rooms[n] - spent[n] THEN
        refusal := refusing_budget(p_time_zone, budgets.organizations[n], budgets.ids[n], spent[n]);
        EXIT;
      END IF;
    END LOOP;
    outcome := CASE
      WHEN request.is_known THEN 'known'
      WHEN request.is_key_used OR is_key_taken[request.first_of_key] THEN 'key_used'
      WHEN request.is_member IS NULL THEN 'unknown_member'
      WHEN refusal IS NOT NULL THEN 'budget_exceeded'
      WHEN request.is_stopped THEN 'stopped'
      WHEN request.amount > available[request.pool] THEN 'insufficient_balance'
      WHEN uncovered[request.pool] > 0 AND request.amount > cover THEN 'overexposed'
      ELSE 'held' END;
    decisions := decisions || ROW(
      outcome, refusal,
      CASE outcome WHEN 'overexposed' THEN cover ELSE available[request.pool] END,
      budgets.hold_ids[request.i])::hold_decision;
    CONTINUE WHEN outcome <> 'held';
    available[request.pool] := available[request.pool] - request.amount;
    uncovered[request.pool] := uncovered[request.pool] + excess;
    FOREACH n IN ARRAY positions LOOP spent[n] := spent[n] + request.amount; END LOOP;
    IF request.first_of_key IS NOT NULL THEN is_key_taken[request.first_of_key] := true; END IF;
  END LOOP;
  RETURN decisions;
END $$;

-- Writes the holds that are taken, the sums, and the tags, tasks and idempotency keys of the holds.
-- The month is the current one by the database's clock, in the deployment's time zone.
CREATE FUNCTION write_holds(
  p_time_zone text, p_organization text, p_holds order_hold[], p_decisions hold_decision[])
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  month_start CONSTANT date := date_trunc('month', now() AT TIME ZONE p_time_zone);
  -- Which optional writes are needed.
  have_budgets boolean; has_metadata boolean; has_tasks boolean; has_keys boolean;
BEGIN
  -- The notification of a first refusal reports how much of the budget was used before the holds of
  -- this batch, so the refusal is written before these holds.
  IF EXISTS (SELECT FROM unnest(p_decisions) d WHERE d.refusal IS NOT NULL) THEN
    UPDATE budget_uses r SET has_refused = true
      FROM unnest(p_holds, p_decisions) AS h
     WHERE h.outcome = 'budget_exceeded'
       AND r.organization_id = h.organization_id AND r.id = h.refusal ->> 'use'
       AND (p_organization IS NULL OR r.organization_id = p_organization)
       AND NOT r.has_refused;
  END IF;

  INSERT INTO orders (organization_id, id, member_id, key_id, model, modality, price_list_id,
                      is_task, month, counts_in, hold, exposure, quote, cost_quote, job, metadata,
                      prompt_digest, expires_at)
    SELECT h.organization_id, h.id, h.member_id, h.key_id, h.model, h.modality,
           h.price_list_id, h.task IS NOT NULL, month_start, h.counts_in, h.amount,
           h.exposure, h.quote, h.cost_quote, h.job,
           h.metadata, h.prompt_digest, now() + make_interval(secs => h.ttl_seconds)
      FROM unnest(p_holds, p_decisions) AS h WHERE h.outcome = 'held';
  INSERT INTO member_months AS r (organization_id, member_id, month, held)
    SELECT h.organization_id, h.member_id, month_start, sum(h.amount)::bigint
      FROM unnest(p_holds, p_decisions) AS h WHERE h.outcome = 'held'
     GROUP BY h.organization_id, h.member_id
    ON CONFLICT (organization_id, member_id, month) DO UPDATE SET held = r.held + excluded.held;
  WITH held AS MATERIALIZED (
    SELECT * FROM unnest(p_holds, p_decisions) AS h WHERE h.outcome = 'held'
  ), pools_changed AS (
    UPDATE pools r SET held = r.held + s.amount, uncovered = r.uncovered + s.excess
      FROM (SELECT (SELECT p.ctid FROM pools p
                     WHERE p.organization_id = h.organization_id
                       AND (p_organization IS NULL OR p.organization_id = p_organization)) AS row,
                   sum(h.amount)::bigint AS amount,
                   sum(coalesce(h.exposure - h.amount, 0))::bigint AS excess
              FROM held h GROUP BY h.organization_id) s
     WHERE r.ctid = s.row AND (p_organization IS NULL OR r.organization_id = p_organization)
  )
  SELECT bool_or(counts_in IS NOT NULL), bool_or(metadata IS NOT NULL), bool_or(task IS NOT NULL),
         bool_or(key IS NOT NULL)
    INTO have_budgets, has_metadata, has_tasks, has_keys
    FROM held;
  IF have_budgets THEN
    UPDATE budget_uses r SET held = r.held + s.amount
      FROM (SELECT (SELECT b.ctid FROM budget_uses b
                     WHERE b.organization_id = h.organization_id AND b.id = counted.id
                       AND (p_organization IS NULL OR b.organization_id = p_organization)) AS row,
                   sum(h.amount)::bigint AS amount
              FROM unnest(p_holds, p_decisions) AS h
             CROSS JOIN LATERAL unnest(h.counts_in) AS counted(id)
             WHERE h.outcome = 'held'
             GROUP BY h.organization_id, counted.id) s
     WHERE r.ctid = s.row
       AND (p_organization IS NULL OR r.organization_id = p_organization);
  END IF;
  IF has_metadata THEN
    INSERT INTO order_tags (organization_id, name, value, order_id)
      SELECT h.organization_id, pair.key, pair.value, h.id
        FROM unnest(p_holds, p_decisions) AS h
       CROSS JOIN LATERAL jsonb_each_text(h.metadata) AS pair
       WHERE h.outcome = 'held' AND h.metadata IS NOT NULL;
  END IF;
  IF has_tasks THEN
    INSERT INTO tasks (organization_id, id, member_id, model, channel_id, protocol,
                       listed_protocol, upstream_model, summary, callback_url, is_archived,
                       dialect, state, is_queued, submit_deadline, deadline)
      SELECT h.organization_id, h.id, h.member_id, h.model,
             h.job ->> 'channelId', h.job ->> 'protocol',
             h.task ->> 'listedProtocol', h.job ->> 'upstreamModel', h.task -> 'summary',
             h.task ->> 'callbackUrl', coalesce((h.task ->> 'isArchived')::boolean, false),
             coalesce(h.task ->> 'dialect', 'own'),
             CASE WHEN (h.task ->> 'isWaiting')::boolean THEN 'waiting' ELSE 'submitting' END,
             coalesce((h.task ->> 'isWaiting')::boolean, false),
             now() + make_interval(secs => (h.task ->> 'submitSeconds')::double precision),
             now() + make_interval(secs => h.ttl_seconds)
        FROM unnest(p_holds, p_decisions) AS h
       WHERE h.outcome = 'held' AND h.task IS NOT NULL;
  END IF;
  IF has_keys THEN
    INSERT INTO idempotency_keys (organization_id, key, fingerprint, order_id, expires_at)
      SELECT h.organization_id, h.key ->> 'key', h.key ->> 'fingerprint', h.id,
             now() + make_interval(secs => (h.key ->> 'ttl_seconds')::double precision)
        FROM unnest(p_holds, p_decisions) AS h
       WHERE h.outcome = 'held' AND h.key IS NOT NULL
      ON CONFLICT (organization_id, key) DO UPDATE
         SET fingerprint = excluded.fingerprint, order_id = excluded.order_id, answer = NULL,
             created_at = excluded.created_at, expires_at = excluded.expires_at;
  END IF;
END $$;

-- The output arrays have one element for each close or each hold, in the order of the input.
CREATE FUNCTION move_funds(
  p_time_zone text, p_organization text, p_closes order_close[], p_holds order_hold[],
  OUT close_outcomes text[], OUT close_states text[], OUT close_charges bigint[],
  OUT close_overages bigint[],
  OUT hold_outcomes text[], OUT hold_refusals jsonb[], OUT hold_available bigint[]
)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
DECLARE
  organizations text[]; without_pool text; ends_tasks boolean;
  close_decisions close_decision[];
  hold_decisions hold_decision[];
BEGIN
  -- Lock pools, then tasks.
  SELECT array_agg(DISTINCT m.organization_id COLLATE "C" ORDER BY m.organization_id COLLATE "C"),
         bool_or(m.ends_task)
    INTO organizations, ends_tasks
    FROM (SELECT c.organization_id, c.task_end IS NOT NULL AS ends_task FROM unnest(p_closes) c
          UNION ALL SELECT h.organization_id, false FROM unnest(p_holds) h) m;
  -- A call for several organisations waits only briefly for a lock, so that an organisation whose
  -- lock is held for long does not delay the others.
  IF cardinality(organizations) > 1 THEN
    PERFORM set_config('lock_timeout', '250ms', true);
  END IF;
  SELECT min(o.id) FILTER (WHERE p.is_locked IS NULL) INTO without_pool
    FROM unnest(organizations) AS o(id)
    LEFT JOIN LATERAL (SELECT true AS is_locked FROM pools r
                        WHERE r.organization_id = o.id
                          AND (p_organization IS NULL OR r.organization_id = p_organization)
                          FOR UPDATE) p ON true;
  IF without_pool IS NOT NULL THEN RAISE EXCEPTION 'no pool of %', without_pool; END IF;
  IF ends_tasks THEN
    PERFORM
       FROM (SELECT c.organization_id, c.order_id FROM unnest(p_closes) c
              WHERE c.task_end IS NOT NULL
              ORDER BY c.organization_id COLLATE "C", c.order_id COLLATE "C") e
      CROSS JOIN LATERAL (SELECT FROM tasks r
                           WHERE r.organization_id = e.organization_id AND r.id = e.order_id
                             AND (p_organization IS NULL OR r.organization_id = p_organization)
                             FOR UPDATE) t;
  END IF;

  IF p_closes IS NOT NULL THEN
    close_decisions := decide_closes(p_organization, p_closes);
    PERFORM write_closes(p_time_zone, p_organization, p_closes, close_decisions);
    SELECT array_agg(d.outcome), array_agg(d.state), array_agg(d.charged), array_agg(d.overage)
      INTO close_outcomes, close_states, close_charges, close_overages
      FROM unnest(close_decisions) d;
  END IF;

  IF p_holds IS NOT NULL THEN
    hold_decisions := decide_holds(p_time_zone, p_organization, organizations, p_holds);
    PERFORM write_holds(p_time_zone, p_organization, p_holds, hold_decisions);
    SELECT array_agg(d.outcome), array_agg(d.refusal), array_agg(d.available)
      INTO hold_outcomes, hold_refusals, hold_available
      FROM unnest(hold_decisions) d;
  END IF;
END $$;
