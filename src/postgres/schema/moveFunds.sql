-- The only statement that moves money apart from a deposit: the closes and the new holds that came
-- together, of any organisations, as one commit. It locks, decides and writes: the closes first, since
-- holds see the money and the keys that closes free.
--
-- The lock of a pool is the lock of all its organisation's money: each that writes orders, member
-- months or a client's keys takes it first, organisation by organisation. Tasks are also changed by
-- claims and acceptances, which do not; a close that names one locks it as well, after the pools.
--
-- A session plans each statement once, often before a table was ever analysed, so no statement
-- leaves a choice that could turn out wrong when the table has grown: rows are looked up one by one
-- by their whole key, and what is to change is then changed by where it stands (`ctid`), which cannot
-- move under the lock.
--
-- `p_organizations` are those concerned, each once; a place is one's position among them.
--
-- Closes, by position: place, order, charge, who closed it, the usage detail of the charge, the
-- vendor's call that made it (`orders.call`), the task's new state {from, lease, state, ...}, orphan
-- {upstream_id, reason, answer, usage}, the answer kept for repeats, and whether the key may order again. A
-- null charge releases the whole hold; a positive one is charged in full, also above the hold. The
-- first close of an order wins, later ones change nothing. With a task the close applies only while
-- the task is in the state `from` and, where a lease is given, still belongs to that claim.
-- Outcomes: won, closed (before), stale (task elsewhere by now), unknown.
--
-- Holds, by position: place, id, member, its API key, model, modality, amount, the most the order can
-- come to (null for the amount), seconds to live, quote, the vendor's quote, job, the client's notes, the
-- prompt's digest, the task for asynchronous work, the client's key {key, fingerprint, ttl_seconds}. Their ids differ within an organisation. The month is the database's, in the
-- deployment's zone.
-- Outcomes: held, known (this id was held before: nothing changed), key_used (the key belongs to
-- another order), unknown_member, member_cap_exceeded, budget_exceeded, stopped, insufficient_balance,
-- overexposed.
--
-- A pool covers what is held. Beside orders of unknown size its balance and its credit also have to cover
-- what these can come to above their holds: an order is overexposed whose hold they leave no room for.
--
-- A column that is null for every item may be null as a whole. A call for several organisations
-- waits only briefly for a lock: the others are not to wait for one that is in trouble.
CREATE FUNCTION move_funds(
  p_time_zone text, p_organizations text[],
  p_close_places int[], p_closes text[], p_charges bigint[], p_closers text[],
  p_inputs bigint[], p_outputs bigint[], p_units text[], p_unit_prices bigint[],
  p_input_unit_prices bigint[], p_bases text[], p_costs bigint[], p_calls jsonb[],
  p_task_ends jsonb[],
  p_orphans jsonb[], p_answers text[], p_forgotten boolean[],
  p_hold_places int[], p_holds text[], p_members text[], p_api_keys text[],
  p_models text[], p_modalities text[], p_amounts bigint[], p_exposures bigint[],
  p_seconds double precision[], p_quotes jsonb[], p_cost_quotes jsonb[], p_jobs jsonb[],
  p_metadatas jsonb[], p_prompt_digests text[], p_tasks jsonb[], p_keys jsonb[],
  -- In the order of the items; of a close, what became of its order by any close.
  OUT close_outcomes text[], OUT close_states text[], OUT close_captured bigint[],
  OUT close_overage bigint[],
  -- What the decision was made by: the budget that refused it, with its use, and what the pool had
  -- available: all of it, or where it was overexposed what those under way leave.
  OUT hold_outcomes text[], OUT hold_refusals jsonb[], OUT hold_available bigint[]
)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
  month_start CONSTANT timestamp := date_trunc('month', now() AT TIME ZONE p_time_zone);
  poolless text;
  is_whole boolean;
  request record;
  refusal jsonb; outcome text;
  -- The budgets that the holds fall under, and of each hold the places of its own among them.
  budgets record; own int[]; n int;
  -- What holds come to while they are decided: by place, by budget, and by the first hold with a key.
  available bigint[]; uncovered bigint[]; spent bigint[]; key_taken boolean[];
  -- Of the hold that is decided: what it can come to above its amount, and what is left for that.
  excess bigint; cover bigint;
BEGIN
  IF cardinality(p_organizations) > 1 THEN
    PERFORM set_config('lock_timeout', '250ms', true);
  END IF;

  -- Lock pools, then tasks.
  SELECT min(wanted.id) FILTER (WHERE r.found IS NULL) INTO poolless
    FROM (SELECT u.id FROM unnest(p_organizations) AS u(id) ORDER BY u.id COLLATE "C") wanted
    LEFT JOIN LATERAL (SELECT true AS found FROM pools p
                        WHERE p.organization_id = wanted.id FOR UPDATE) r ON true;
  IF poolless IS NOT NULL THEN RAISE EXCEPTION 'no pool of %', poolless; END IF;
  IF p_task_ends IS NOT NULL THEN
    PERFORM
       FROM (SELECT p_organizations[u.place] AS organization_id, u.id
               FROM unnest(p_close_places, p_closes, p_task_ends) AS u(place, id, task_end)
              WHERE u.task_end IS NOT NULL
              ORDER BY p_organizations[u.place] COLLATE "C", u.id COLLATE "C") wanted
      CROSS JOIN LATERAL (SELECT FROM tasks t
                           WHERE t.organization_id = wanted.organization_id AND t.id = wanted.id
                             FOR UPDATE) r;
  END IF;

  IF p_closes IS NOT NULL THEN
    -- Decide which closes win: of those of one order the first that applies. Write them and their sums.
    WITH asked AS MATERIALIZED (
      SELECT u.*, o.row, o.member_id, o.month, o.counts_in, o.hold, o.excess, o.state,
             o.charge AS charged,
             coalesce(o.state = 'open' AND (u.task_end IS NULL OR (
               SELECT t.state = u.task_end ->> 'from'
                      AND t.lease = coalesce((u.task_end ->> 'lease')::bigint, t.lease)
                 FROM tasks t WHERE t.organization_id = u.organization_id AND t.id = u.id)), false)
               AS applies
        FROM (SELECT p_organizations[x.place] AS organization_id, x.*
                FROM unnest(p_close_places, p_closes, p_charges, p_closers, p_inputs, p_outputs,
                            p_units, p_unit_prices, p_input_unit_prices, p_bases, p_costs, p_calls,
                            p_task_ends)
                       WITH ORDINALITY
                  AS x(place, id, charge, closer, input, output, unit, unit_price,
                       input_unit_price, basis, cost, call, task_end, i)) u
        LEFT JOIN LATERAL (
          SELECT r.ctid AS row, r.member_id, r.month, r.counts_in, r.hold,
                 coalesce(r.exposure - r.hold, 0) AS excess, r.state, r.charge
            FROM orders r
           WHERE r.organization_id = u.organization_id AND r.id = u.id OFFSET 0) o ON true
    ), decided AS MATERIALIZED (
      SELECT *, applies AND i = first_value(i) OVER by_order AS wins,
             CASE WHEN NOT first_value(applies) OVER by_order THEN state
                  WHEN first_value(charge) OVER by_order IS NULL THEN 'released'
                  ELSE 'captured' END AS new_state,
             CASE WHEN NOT first_value(applies) OVER by_order THEN charged
                  ELSE coalesce(first_value(charge) OVER by_order, 0) END AS new_charge
        FROM asked WINDOW by_order AS (PARTITION BY row ORDER BY applies DESC, i)
    ), won AS MATERIALIZED (
      SELECT * FROM decided WHERE wins
    ), closed AS (
      UPDATE orders r
         SET state = w.new_state, charge = w.new_charge, closed_at = now(), closed_by = w.closer,
             input = w.input, output = w.output, unit = w.unit, unit_price = w.unit_price,
             input_unit_price = w.input_unit_price, basis = w.basis, cost = w.cost,
             call = w.call
        FROM won w WHERE r.ctid = w.row RETURNING w.hold
    ), months AS (
      UPDATE member_months r SET held = r.held - s.freed, captured = r.captured + s.charged
        FROM (SELECT (SELECT m.ctid FROM member_months m
                       WHERE m.organization_id = w.organization_id AND m.member_id = w.member_id
                         AND m.month = w.month) AS row,
                     sum(w.hold)::bigint AS freed, sum(w.new_charge)::bigint AS charged
                FROM won w GROUP BY w.organization_id, w.member_id, w.month) s
       WHERE r.ctid = s.row RETURNING s.freed
    ), uses AS (
      UPDATE budget_uses r SET held = r.held - s.freed, captured = r.captured + s.charged
        FROM (SELECT (SELECT b.ctid FROM budget_uses b
                       WHERE b.organization_id = w.organization_id AND b.id = counted.id) AS row,
                     sum(w.hold)::bigint AS freed, sum(w.new_charge)::bigint AS charged
                FROM won w CROSS JOIN LATERAL unnest(w.counts_in) AS counted(id)
               GROUP BY w.organization_id, counted.id) s
       WHERE r.ctid = s.row
    ), funds AS (
      UPDATE pools r SET balance = r.balance - s.charged, held = r.held - s.freed,
                         uncovered = r.uncovered - s.excess
        FROM (SELECT (SELECT p.ctid FROM pools p WHERE p.organization_id = w.organization_id) AS row,
                     sum(w.hold)::bigint AS freed, sum(w.new_charge)::bigint AS charged,
                     sum(w.excess)::bigint AS excess
                FROM won w GROUP BY w.organization_id) s
       WHERE r.ctid = s.row RETURNING s.freed
    )
    SELECT array_agg(CASE WHEN wins THEN 'won' WHEN state IS NULL THEN 'unknown'
                          WHEN new_state = 'open' THEN 'stale' ELSE 'closed' END ORDER BY i),
           array_agg(new_state ORDER BY i), array_agg(new_charge ORDER BY i),
           array_agg(greatest(new_charge - hold, 0) ORDER BY i),
           coalesce(sum(hold) FILTER (WHERE wins), 0) = ALL (ARRAY[
             (SELECT coalesce(sum(hold), 0) FROM closed),
             (SELECT coalesce(sum(freed), 0) FROM months),
             (SELECT coalesce(sum(freed), 0) FROM funds)])
      INTO close_outcomes, close_states, close_captured, close_overage, is_whole
      FROM decided;
    -- Without its month an order is broken for good: it alone must fail, and not what came with it.
    IF NOT is_whole AND EXISTS (
      SELECT FROM unnest(p_close_places, p_closes) AS u(place, id)
        JOIN orders r ON r.organization_id = p_organizations[u.place] AND r.id = u.id
       WHERE NOT EXISTS (SELECT FROM member_months m
                          WHERE m.organization_id = r.organization_id
                            AND m.member_id = r.member_id AND m.month = r.month)) THEN
      RAISE EXCEPTION 'an order has no member month' USING ERRCODE = 'data_corrupted';
    END IF;
    -- A hand that changes rows without the lock of their pool has moved them.
    IF NOT is_whole THEN
      RAISE EXCEPTION 'rows were changed beside the lock of their pool'
        USING ERRCODE = 'serialization_failure';
    END IF;

    -- Write what else goes with them.
    PERFORM sum_up(p_time_zone, array_agg(p_organizations[u.place]), array_agg(u.id), NULL)
       FROM unnest(close_outcomes, p_close_places, p_closes) AS u(outcome, place, id)
      WHERE u.outcome = 'won';
    IF p_task_ends IS NOT NULL THEN
      UPDATE tasks t
         SET state = e.task_end ->> 'state', video_url = e.task_end ->> 'video_url',
             result = e.task_end ->> 'result', files = e.task_end -> 'files',
             completion_tokens = (e.task_end ->> 'completion_tokens')::bigint,
             error_code = e.task_end ->> 'error_code',
             error_message = e.task_end ->> 'error_message', next_poll_at = NULL,
             finished_at = now()
        FROM (SELECT u.task_end, (SELECT q.ctid FROM tasks q
                                   WHERE q.organization_id = p_organizations[u.place]
                                     AND q.id = u.id) AS row
                FROM unnest(close_outcomes, p_close_places, p_closes, p_task_ends)
                  AS u(outcome, place, id, task_end)
               WHERE u.outcome = 'won' AND u.task_end IS NOT NULL) e
       WHERE t.ctid = e.row;
    END IF;
    IF p_orphans IS NOT NULL THEN
      INSERT INTO orphans (organization_id, order_id, job, upstream_id, reason, answer, usage)
        SELECT p_organizations[u.place], u.id,
               (SELECT r.job FROM orders r
                 WHERE r.organization_id = p_organizations[u.place] AND r.id = u.id),
               u.orphan ->> 'upstream_id', u.orphan ->> 'reason', u.orphan -> 'answer',
               u.orphan -> 'usage'
          FROM unnest(close_outcomes, p_close_places, p_closes, p_orphans)
            AS u(outcome, place, id, orphan)
         WHERE u.outcome = 'won' AND u.orphan IS NOT NULL;
    END IF;
    IF p_forgotten IS NOT NULL THEN
      DELETE FROM idempotency_keys q
       USING (SELECT k.row
                FROM unnest(close_outcomes, p_close_places, p_closes, p_forgotten)
                  AS u(outcome, place, id, is_forgotten)
               CROSS JOIN LATERAL (
                 SELECT r.ctid AS row FROM idempotency_keys r
                  WHERE r.organization_id = p_organizations[u.place] AND r.order_id = u.id OFFSET 0) k
               WHERE u.outcome = 'won' AND u.is_forgotten) f
       WHERE q.ctid = f.row;
    END IF;
    IF p_answers IS NOT NULL THEN
      UPDATE idempotency_keys q SET answer = a.answer
        FROM (SELECT u.answer, k.row
                FROM unnest(close_outcomes, p_close_places, p_closes, p_answers)
                  AS u(outcome, place, id, answer)
               CROSS JOIN LATERAL (
                 SELECT r.ctid AS row FROM idempotency_keys r
                  WHERE r.organization_id = p_organizations[u.place] AND r.order_id = u.id OFFSET 0) k
               WHERE u.outcome = 'won' AND u.answer IS NOT NULL) a
       WHERE q.ctid = a.row;
    END IF;
  END IF;

  IF p_holds IS NOT NULL THEN
    SELECT * INTO STRICT budgets FROM budgets_of_holds(
      p_time_zone, (SELECT array_agg(p_organizations[x.place] ORDER BY x.i)
                      FROM unnest(p_hold_places) WITH ORDINALITY AS x(place, i)), p_members, p_api_keys);
    spent := array_fill(0::bigint, ARRAY[coalesce(cardinality(budgets.ids), 0)]);
    -- Decide which holds are taken, each as if those before it had come before.
    FOR request IN
      SELECT u.i, u.place, u.amount, u.exposure, p.free, p.uncovered, p.credit, p.is_stopped, m.is_member,
             (SELECT true FROM orders r
               WHERE r.organization_id = u.organization_id AND r.id = u.id) AS is_known,
             (SELECT q.expires_at > now() FROM idempotency_keys q
               WHERE q.organization_id = u.organization_id AND q.key = u.key) AS is_key_used,
             CASE WHEN u.key IS NOT NULL THEN min(u.i) OVER (PARTITION BY u.place, u.key) END
               AS key_first
        FROM (SELECT p_organizations[x.place] AS organization_id, x.item ->> 'key' AS key, x.*
                FROM unnest(p_hold_places, p_holds, p_members, p_api_keys, p_amounts, p_exposures,
                            p_keys)
                       WITH ORDINALITY
                  AS x(place, id, member_id, key_id, amount, exposure, item, i)) u
        LEFT JOIN LATERAL (
          SELECT true AS is_member FROM members r
           WHERE r.organization_id = u.organization_id AND r.id = u.member_id OFFSET 0) m ON true
       CROSS JOIN LATERAL (
          SELECT r.balance - r.held AS free, r.uncovered, r.credit,
                 r.stopped_at IS NOT NULL AS is_stopped
            FROM pools r
           WHERE r.organization_id = u.organization_id OFFSET 0) p
       ORDER BY u.i
    LOOP
      available[request.place] := coalesce(available[request.place], request.free);
      uncovered[request.place] := coalesce(uncovered[request.place], request.uncovered);
      excess := coalesce(request.exposure - request.amount, 0);
      cover := available[request.place] + request.credit - uncovered[request.place];
      refusal := NULL;
      own := coalesce(budgets.hold_places[request.i]::int[], '{}');
      FOREACH n IN ARRAY own LOOP
        IF request.amount > budgets.rooms[n] - spent[n] THEN
          refusal := refusing_budget(p_time_zone, budgets.organizations[n], budgets.ids[n], spent[n]);
          EXIT;
        END IF;
      END LOOP;
      outcome := CASE
        WHEN request.is_known THEN 'known'
        WHEN request.is_key_used OR key_taken[request.key_first] THEN 'key_used'
        WHEN request.is_member IS NULL THEN 'unknown_member'
        WHEN (refusal -> 'isCap')::boolean THEN 'member_cap_exceeded'
        WHEN refusal IS NOT NULL THEN 'budget_exceeded'
        WHEN request.is_stopped THEN 'stopped'
        WHEN request.amount > available[request.place] THEN 'insufficient_balance'
        WHEN uncovered[request.place] > 0 AND request.amount > cover THEN 'overexposed'
        ELSE 'held' END;
      hold_outcomes := hold_outcomes || outcome;
      hold_refusals := hold_refusals || refusal;
      hold_available := hold_available
        || CASE outcome WHEN 'overexposed' THEN cover ELSE available[request.place] END;
      CONTINUE WHEN outcome <> 'held';
      available[request.place] := available[request.place] - request.amount;
      uncovered[request.place] := uncovered[request.place] + excess;
      FOREACH n IN ARRAY own LOOP spent[n] := spent[n] + request.amount; END LOOP;
      IF request.key_first IS NOT NULL THEN key_taken[request.key_first] := true; END IF;
    END LOOP;
    UPDATE budget_uses r SET has_refused = true
      FROM unnest(hold_outcomes, p_hold_places, hold_refusals) AS u(outcome, place, refusal)
     WHERE u.outcome IN ('member_cap_exceeded', 'budget_exceeded')
       AND r.organization_id = p_organizations[u.place] AND r.id = u.refusal ->> 'use'
       AND NOT r.has_refused;

    -- Write them and their sums.
    WITH held AS MATERIALIZED (
      SELECT p_organizations[u.place] AS organization_id, u.*
        FROM unnest(hold_outcomes, p_hold_places, p_holds, p_members, p_api_keys, p_models,
                    p_modalities, budgets.hold_ids, p_amounts, p_exposures, p_seconds, p_quotes, p_cost_quotes, p_jobs,
                    p_metadatas, p_prompt_digests, p_tasks)
          AS u(outcome, place, id, member_id, key_id, model, modality, counts_in, amount, exposure, seconds,
               quote, cost_quote, job, metadata, prompt_digest, task)
       WHERE u.outcome = 'held'
    ), written AS (
      INSERT INTO orders (organization_id, id, member_id, key_id, model, modality, is_task, month,
                          counts_in, hold, exposure, quote, cost_quote, job, metadata, prompt_digest,
                          expires_at)
        SELECT h.organization_id, h.id, h.member_id, h.key_id, h.model, h.modality,
               h.task IS NOT NULL, month_start::date, h.counts_in::text[], h.amount,
               h.exposure, h.quote, h.cost_quote, h.job,
               h.metadata, h.prompt_digest, now() + make_interval(secs => h.seconds)
          FROM held h
    ), months AS (
      INSERT INTO member_months AS r (organization_id, member_id, month, held)
        SELECT h.organization_id, h.member_id, month_start::date, sum(h.amount)::bigint
          FROM held h GROUP BY h.organization_id, h.member_id
        ON CONFLICT (organization_id, member_id, month) DO UPDATE SET held = r.held + excluded.held
    ), uses AS (
      UPDATE budget_uses r SET held = r.held + s.amount
        FROM (SELECT (SELECT b.ctid FROM budget_uses b
                       WHERE b.organization_id = u.organization_id AND b.id = u.id) AS row, u.amount
                FROM unnest(budgets.organizations, budgets.ids, spent) AS u(organization_id, id, amount)
               WHERE u.amount > 0) s
       WHERE r.ctid = s.row
    )
    UPDATE pools r SET held = r.held + s.amount, uncovered = r.uncovered + s.excess
      FROM (SELECT (SELECT p.ctid FROM pools p WHERE p.organization_id = h.organization_id) AS row,
                   sum(h.amount)::bigint AS amount,
                   sum(coalesce(h.exposure - h.amount, 0))::bigint AS excess
              FROM held h GROUP BY h.organization_id) s
     WHERE r.ctid = s.row;
    IF p_metadatas IS NOT NULL THEN
      INSERT INTO order_tags (organization_id, name, value, order_id)
        SELECT p_organizations[u.place], pair.key, pair.value, u.id
          FROM unnest(hold_outcomes, p_hold_places, p_holds, p_metadatas)
            AS u(outcome, place, id, metadata)
         CROSS JOIN LATERAL jsonb_each_text(u.metadata) AS pair
         WHERE u.outcome = 'held' AND u.metadata IS NOT NULL;
    END IF;
    IF p_tasks IS NOT NULL THEN
      INSERT INTO tasks (organization_id, id, member_id, model, channel_id, protocol,
                         listed_protocol, upstream_model, summary, callback_url, is_archived,
                         dialect, submit_deadline, deadline)
        SELECT p_organizations[u.place], u.id, u.member_id, u.model,
               u.job ->> 'channelId', u.job ->> 'protocol',
               u.task ->> 'listedProtocol', u.job ->> 'upstreamModel', u.task -> 'summary',
               u.task ->> 'callbackUrl', coalesce((u.task ->> 'isArchived')::boolean, false),
               coalesce(u.task ->> 'dialect', 'own'),
               now() + make_interval(secs => (u.task ->> 'submitSeconds')::double precision),
               now() + make_interval(secs => u.seconds)
          FROM unnest(hold_outcomes, p_hold_places, p_holds, p_members, p_models, p_seconds,
                      p_jobs, p_tasks)
            AS u(outcome, place, id, member_id, model, seconds, job, task)
         WHERE u.outcome = 'held' AND u.task IS NOT NULL;
    END IF;
    IF p_keys IS NOT NULL THEN
      INSERT INTO idempotency_keys (organization_id, key, fingerprint, order_id, expires_at)
        SELECT p_organizations[u.place], u.key ->> 'key', u.key ->> 'fingerprint', u.id,
               now() + make_interval(secs => (u.key ->> 'ttl_seconds')::double precision)
          FROM unnest(hold_outcomes, p_hold_places, p_holds, p_keys) AS u(outcome, place, id, key)
         WHERE u.outcome = 'held' AND u.key IS NOT NULL
        ON CONFLICT (organization_id, key) DO UPDATE
           SET fingerprint = excluded.fingerprint, order_id = excluded.order_id, answer = NULL,
               created_at = now(), expires_at = excluded.expires_at;
    END IF;
  END IF;
END $$;
