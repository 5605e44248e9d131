-- The only statement that moves money apart from a deposit: the closes and the new holds that came
-- together, of any organisations, as one commit. It locks, decides and writes: the closes first, since
-- holds see the money and the keys that closes free, and the pools, which every spender of an
-- organisation shares, at the latest. Locks are taken in the order orders, tasks, member months, pools;
-- of one kind, organisation by organisation and within it by id.
--
-- A session plans each statement once, often before a table was ever analysed, so no statement
-- leaves a choice that could turn out wrong when the table has grown: rows are looked up one by one
-- by their whole key, and what is locked is then changed by where it stands (`ctid`), which cannot
-- move under its lock.
--
-- `p_organizations` are those concerned, each once; a place is one's position among them.
--
-- Closes, by position: place, order, charge, who closed it, the usage detail of the charge,
-- the vendor's call that made it (`orders.call`), the task's
-- new state {from, lease, state, ...}, orphan {upstream_id, reason, answer}, the answer kept for
-- repeats, and whether the key may order again. A null charge releases the whole hold; a positive one is
-- charged in full, also above the hold. The first close of an order wins, later ones change nothing.
-- With a task the close applies only while the task is in the state `from` and, where a lease is given,
-- still belongs to that claim.
-- Outcomes: won, closed (before), stale (task elsewhere by now), unknown.
--
-- Holds, by position: place, id, spender, amount, seconds to live, quote, job, the task for
-- asynchronous work, the client's key {key, fingerprint, ttl_seconds}. Their ids differ within an
-- organisation. Spenders are the members of the holds, each once, and a hold names its own by
-- position. The month is the database's, in the deployment's zone.
-- Outcomes: held, known (this id was held before: nothing changed), key_used (the key belongs to
-- another order), stopped, unknown_member, member_cap_exceeded, insufficient_balance.
--
-- A column that is null for every item may be null as a whole. A call for several organisations
-- waits only briefly for a lock: the others are not to wait for one that is in trouble.
CREATE FUNCTION move_funds(
  p_time_zone text, p_organizations text[],
  p_close_places int[], p_closes text[], p_charges bigint[], p_closers text[],
  p_usage_keys text[], p_usage_tasks text[], p_models text[], p_modalities text[],
  p_inputs bigint[], p_outputs bigint[], p_units text[], p_unit_prices bigint[],
  p_input_unit_prices bigint[], p_bases text[], p_calls jsonb[], p_task_ends jsonb[], p_orphans jsonb[],
  p_answers text[], p_forgotten boolean[],
  p_hold_places int[], p_holds text[], p_hold_spenders int[], p_amounts bigint[],
  p_seconds double precision[], p_quotes jsonb[], p_jobs jsonb[], p_tasks jsonb[],
  p_keys jsonb[],
  p_spender_places int[], p_spenders text[],
  -- In the order of the items; caps and what is used of them tell of refusals.
  OUT close_outcomes text[], OUT close_states text[], OUT close_captured bigint[],
  OUT close_overage bigint[], OUT hold_outcomes text[], OUT hold_caps bigint[],
  OUT hold_used bigint[],
  -- By place.
  OUT available bigint[], OUT cap_ends_at timestamptz
)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
  month_start CONSTANT timestamp := date_trunc('month', now() AT TIME ZONE p_time_zone);
  this_month CONSTANT date := month_start::date;
  organizations CONSTANT int := cardinality(p_organizations);
  closes CONSTANT int := coalesce(cardinality(p_closes), 0);
  holds CONSTANT int := coalesce(cardinality(p_holds), 0);
  spenders CONSTANT int := coalesce(cardinality(p_spenders), 0);
  -- By close: its order and its task as they are locked. Several closes may name one order; what
  -- becomes of it stands at the first of them.
  order_names text[]; order_rows tid[]; order_members text[]; order_months date[];
  order_holds bigint[]; order_states text[]; order_charges bigint[];
  task_rows tid[]; task_states text[]; task_leases bigint[];
  -- The member months concerned, and what is added to them.
  month_names text[]; month_rows tid[]; month_used bigint[];
  month_held bigint[]; month_captured bigint[];
  -- By spender: the cap, and where the current month stands.
  caps bigint[]; spender_months int[]; months_made int;
  -- By place: what is freed, charged and newly held, and whether the pool is concerned.
  freed bigint[] := array_fill(0::bigint, ARRAY[organizations]);
  charged bigint[] := freed; taken bigint[] := freed;
  pool_wanted boolean[] := array_fill(false, ARRAY[organizations]);
  pool_rows tid[]; pool_stopped boolean[];
  -- The closes that win and the holds that are taken, by position.
  won int[]; held int[];
  known_holds int[]; used_keys text[]; key_name text;
  i int; first int; m int; o int; s int;
BEGIN
  IF organizations > 1 THEN PERFORM set_config('lock_timeout', '250ms', true); END IF;

  -- Lock orders, then tasks.
  IF closes > 0 THEN
    SELECT array_agg(wanted.organization_id || ' ' || wanted.id ORDER BY wanted.i),
           array_agg(r.ctid ORDER BY wanted.i), array_agg(r.member_id ORDER BY wanted.i),
           array_agg(r.month ORDER BY wanted.i), array_agg(r.hold ORDER BY wanted.i),
           array_agg(r.state ORDER BY wanted.i), array_agg(r.charge ORDER BY wanted.i)
      INTO order_names, order_rows, order_members, order_months, order_holds, order_states,
           order_charges
      FROM (SELECT u.i, p_organizations[u.place] AS organization_id, u.id
              FROM unnest(p_close_places, p_closes) WITH ORDINALITY AS u(place, id, i)
             ORDER BY p_organizations[u.place] COLLATE "C", u.id COLLATE "C") wanted
      LEFT JOIN LATERAL (
        SELECT r.ctid, r.member_id, r.month, r.hold, r.state, r.charge FROM orders r
         WHERE r.organization_id = wanted.organization_id AND r.id = wanted.id FOR UPDATE) r ON true;
    IF p_task_ends IS NOT NULL THEN
      SELECT array_agg(t.ctid ORDER BY wanted.i), array_agg(t.state ORDER BY wanted.i),
             array_agg(t.lease ORDER BY wanted.i)
        INTO task_rows, task_states, task_leases
        FROM (SELECT u.i, p_organizations[u.place] AS organization_id, u.id
                FROM unnest(p_close_places, p_closes) WITH ORDINALITY AS u(place, id, i)
               ORDER BY p_organizations[u.place] COLLATE "C", u.id COLLATE "C") wanted
        LEFT JOIN LATERAL (
          SELECT t.ctid, t.state, t.lease FROM tasks t
           WHERE t.organization_id = wanted.organization_id AND t.id = wanted.id
             FOR UPDATE) t ON true;
    END IF;
  END IF;

  -- Lock member months. Those that are missing are made before, so that the order of locks holds.
  IF holds > 0 THEN
    SELECT array_agg((SELECT r.monthly_cap FROM members r
                       WHERE r.organization_id = p_organizations[u.place] AND r.id = u.id)),
           count((SELECT r.month FROM member_months r
                   WHERE r.organization_id = p_organizations[u.place]
                     AND r.member_id = u.id AND r.month = this_month))
      INTO caps, months_made
      FROM unnest(p_spender_places, p_spenders) AS u(place, id);
    IF months_made < spenders THEN
      INSERT INTO member_months (organization_id, member_id, month)
        SELECT r.organization_id, r.id, this_month FROM members r
         WHERE r.organization_id = ANY (p_organizations) AND r.id = ANY (p_spenders)
         ORDER BY r.organization_id, r.id
        ON CONFLICT DO NOTHING;
    END IF;
  END IF;
  SELECT array_agg(r.organization_id || ' ' || r.member_id || ' ' || r.month), array_agg(r.ctid),
         array_agg(r.held + r.captured), array_agg(0::bigint), array_agg(0::bigint)
    INTO month_names, month_rows, month_used, month_held, month_captured
    FROM (SELECT r.ctid, r.* FROM member_months r
           WHERE r.organization_id = ANY (p_organizations)
             AND r.member_id = ANY (order_members || p_spenders)
             AND r.month = ANY (order_months || this_month)
           ORDER BY r.organization_id, r.member_id, r.month FOR UPDATE) r;

  -- Decide which closes win.
  FOR i IN 1 .. closes LOOP
    o := p_close_places[i];
    first := array_position(order_names, order_names[i]);
    CONTINUE WHEN order_states[first] IS DISTINCT FROM 'open';
    CONTINUE WHEN p_task_ends[i] IS NOT NULL
              AND (task_states[i] IS DISTINCT FROM p_task_ends[i] ->> 'from'
                   OR task_leases[i] <> (p_task_ends[i] ->> 'lease')::bigint);
    won := won || i;
    order_states[first] := CASE WHEN p_charges[i] IS NULL THEN 'released' ELSE 'captured' END;
    order_charges[first] := coalesce(p_charges[i], 0);
    m := array_position(month_names,
                        p_organizations[o] || ' ' || order_members[i] || ' ' || order_months[i]);
    month_held[m] := month_held[m] - order_holds[i];
    month_captured[m] := month_captured[m] + order_charges[first];
    month_used[m] := month_used[m] - order_holds[i] + order_charges[first];
    freed[o] := freed[o] + order_holds[i];
    charged[o] := charged[o] + order_charges[first];
    pool_wanted[o] := true;
  END LOOP;

  -- Write the closes.
  IF won IS NOT NULL THEN
    UPDATE orders r
       SET state = CASE WHEN p_charges[i] IS NULL THEN 'released' ELSE 'captured' END,
           charge = coalesce(p_charges[i], 0), closed_at = now(), closed_by = p_closers[i],
           key_id = p_usage_keys[i], task_id = p_usage_tasks[i], model = p_models[i],
           modality = p_modalities[i], input = p_inputs[i], output = p_outputs[i],
           unit = p_units[i], unit_price = p_unit_prices[i],
           input_unit_price = p_input_unit_prices[i], basis = p_bases[i], call = p_calls[i]
      FROM unnest(won) AS i
     WHERE r.ctid = order_rows[i];
    INSERT INTO order_ends (organization_id, ended_at, order_id, member_id, month, hold, charge)
      SELECT p_organizations[p_close_places[i]], now(), p_closes[i], order_members[i],
             order_months[i], order_holds[i], coalesce(p_charges[i], 0)
        FROM unnest(won) AS i;
    DELETE FROM open_orders r
     USING (SELECT (SELECT q.ctid FROM open_orders q
                     WHERE q.organization_id = p_organizations[p_close_places[i]]
                       AND q.id = p_closes[i]) AS place
              FROM unnest(won) AS i) ended
     WHERE r.ctid = ended.place;
    IF p_task_ends IS NOT NULL THEN
      UPDATE tasks t
         SET state = p_task_ends[i] ->> 'state', video_url = p_task_ends[i] ->> 'video_url',
             completion_tokens = (p_task_ends[i] ->> 'completion_tokens')::bigint,
             error_code = p_task_ends[i] ->> 'error_code',
             error_message = p_task_ends[i] ->> 'error_message', next_poll_at = NULL,
             finished_at = now()
        FROM unnest(won) AS i
       WHERE t.ctid = task_rows[i] AND p_task_ends[i] IS NOT NULL;
    END IF;
    IF p_orphans IS NOT NULL THEN
      INSERT INTO orphans (organization_id, order_id, job, upstream_id, reason, answer)
        SELECT p_organizations[p_close_places[i]], p_closes[i],
               (SELECT r.job FROM orders r
                 WHERE r.organization_id = p_organizations[p_close_places[i]]
                   AND r.id = p_closes[i]),
               p_orphans[i] ->> 'upstream_id', p_orphans[i] ->> 'reason', p_orphans[i] -> 'answer'
          FROM unnest(won) AS i WHERE p_orphans[i] IS NOT NULL;
    END IF;
    IF p_answers IS NOT NULL OR p_forgotten IS NOT NULL THEN
      FOREACH i IN ARRAY won LOOP
        o := p_close_places[i];
        IF p_forgotten[i] THEN
          DELETE FROM idempotency_keys q
           WHERE q.organization_id = p_organizations[o] AND q.order_id = p_closes[i];
        ELSIF p_answers[i] IS NOT NULL THEN
          UPDATE idempotency_keys q SET answer = p_answers[i]
           WHERE q.organization_id = p_organizations[o] AND q.order_id = p_closes[i];
        END IF;
      END LOOP;
    END IF;
  END IF;

  -- Lock pools. The cap is checked before: a refusal by the cap alone must not touch the row that
  -- everybody waits for.
  FOR s IN 1 .. spenders LOOP
    spender_months[s] := array_position(month_names,
      p_organizations[p_spender_places[s]] || ' ' || p_spenders[s] || ' ' || this_month);
  END LOOP;
  FOR i IN 1 .. holds LOOP
    s := p_hold_spenders[i];
    m := spender_months[s];
    IF m IS NOT NULL AND (caps[s] IS NULL OR month_used[m] + p_amounts[i] <= caps[s]) THEN
      pool_wanted[p_hold_places[i]] := true;
    END IF;
  END LOOP;
  IF true = ANY (pool_wanted) THEN
    SELECT array_agg(r.ctid ORDER BY wanted.o), array_agg(r.free ORDER BY wanted.o),
           array_agg(r.stopped ORDER BY wanted.o)
      INTO pool_rows, available, pool_stopped
      FROM (SELECT u.o::int AS o, u.is_wanted
              FROM unnest(p_organizations, pool_wanted) WITH ORDINALITY
                AS u(organization_id, is_wanted, o)
             ORDER BY u.organization_id COLLATE "C") wanted
      LEFT JOIN LATERAL (
        SELECT r.ctid, r.balance - r.held + freed[wanted.o] - charged[wanted.o] AS free,
               r.stopped_at IS NOT NULL AS stopped
          FROM pools r
         WHERE wanted.is_wanted AND r.organization_id = p_organizations[wanted.o]
           FOR UPDATE) r ON true;
    FOR o IN 1 .. organizations LOOP
      IF pool_wanted[o] AND pool_rows[o] IS NULL THEN
        RAISE EXCEPTION 'no pool of %', p_organizations[o];
      END IF;
    END LOOP;
  END IF;

  -- Decide which holds are taken. What is known of their ids and keys is read after the pools are
  -- locked: by now it is what any other holder has committed.
  IF holds > 0 THEN
    SELECT array_agg(u.i::int) INTO known_holds
      FROM unnest(p_hold_places, p_holds) WITH ORDINALITY AS u(place, id, i)
     WHERE (SELECT true FROM orders r
             WHERE r.organization_id = p_organizations[u.place] AND r.id = u.id);
    IF p_keys IS NOT NULL THEN
      SELECT array_agg(p_organizations[u.place] || ' ' || (u.item ->> 'key')) INTO used_keys
        FROM unnest(p_hold_places, p_keys) AS u(place, item)
       WHERE (SELECT q.expires_at > now() FROM idempotency_keys q
               WHERE q.organization_id = p_organizations[u.place] AND q.key = u.item ->> 'key');
    END IF;
    FOR i IN 1 .. holds LOOP
      o := p_hold_places[i];
      s := p_hold_spenders[i];
      m := spender_months[s];
      key_name := p_organizations[o] || ' ' || (p_keys[i] ->> 'key');
      hold_outcomes[i] := CASE
        WHEN i = ANY (known_holds) THEN 'known'
        WHEN key_name = ANY (used_keys) THEN 'key_used'
        WHEN m IS NULL THEN 'unknown_member'
        WHEN pool_stopped[o] THEN 'stopped'
        WHEN month_used[m] + p_amounts[i] > caps[s] THEN 'member_cap_exceeded'
        WHEN p_amounts[i] > available[o] THEN 'insufficient_balance'
        ELSE 'held' END;
      CONTINUE WHEN hold_outcomes[i] <> 'held';
      held := held || i;
      available[o] := available[o] - p_amounts[i];
      taken[o] := taken[o] + p_amounts[i];
      month_used[m] := month_used[m] + p_amounts[i];
      month_held[m] := month_held[m] + p_amounts[i];
      IF key_name IS NOT NULL THEN used_keys := used_keys || key_name; END IF;
    END LOOP;
  END IF;

  -- Write the holds.
  IF held IS NOT NULL THEN
    INSERT INTO orders (organization_id, id, member_id, month, hold, quote, job, expires_at)
      SELECT p_organizations[p_hold_places[i]], p_holds[i], p_spenders[p_hold_spenders[i]],
             this_month, p_amounts[i], p_quotes[i], p_jobs[i],
             now() + make_interval(secs => p_seconds[i])
        FROM unnest(held) AS i;
    INSERT INTO open_orders (organization_id, id, expires_at)
      SELECT p_organizations[p_hold_places[i]], p_holds[i],
             now() + make_interval(secs => p_seconds[i])
        FROM unnest(held) AS i;
    IF p_tasks IS NOT NULL THEN
      INSERT INTO tasks (organization_id, id, member_id, key_id, model, channel_id, protocol,
                         listed_protocol, upstream_model, summary, submit_deadline, deadline)
        SELECT p_organizations[p_hold_places[i]], p_holds[i], p_spenders[p_hold_spenders[i]],
               t ->> 'keyId', t ->> 'model', p_jobs[i] ->> 'channelId',
               p_jobs[i] ->> 'protocol', t ->> 'listedProtocol',
               p_jobs[i] ->> 'upstreamModel', t -> 'summary',
               now() + make_interval(secs => (t ->> 'submitSeconds')::double precision),
               now() + make_interval(secs => p_seconds[i])
          FROM unnest(held) AS i, LATERAL (SELECT p_tasks[i] AS t) x
         WHERE t IS NOT NULL;
    END IF;
    IF p_keys IS NOT NULL THEN
      INSERT INTO idempotency_keys (organization_id, key, fingerprint, order_id, expires_at)
        SELECT p_organizations[p_hold_places[i]], q ->> 'key', q ->> 'fingerprint', p_holds[i],
               now() + make_interval(secs => (q ->> 'ttl_seconds')::double precision)
          FROM unnest(held) AS i, LATERAL (SELECT p_keys[i] AS q) x
         WHERE q IS NOT NULL
        ON CONFLICT (organization_id, key) DO UPDATE
           SET fingerprint = excluded.fingerprint, order_id = excluded.order_id, answer = NULL,
               created_at = now(), expires_at = excluded.expires_at;
    END IF;
  END IF;

  -- Write the sums of both.
  IF held IS NOT NULL OR won IS NOT NULL THEN
    UPDATE member_months r
       SET held = r.held + month_held[i], captured = r.captured + month_captured[i]
      FROM generate_subscripts(month_rows, 1) AS i
     WHERE r.ctid = month_rows[i] AND (month_held[i] <> 0 OR month_captured[i] <> 0);
    UPDATE pools r
       SET balance = r.balance - charged[i], held = r.held - freed[i] + taken[i]
      FROM generate_subscripts(pool_rows, 1) AS i
     WHERE r.ctid = pool_rows[i] AND (freed[i] <> 0 OR taken[i] <> 0);
  END IF;

  -- Say what became of each.
  FOR i IN 1 .. closes LOOP
    first := array_position(order_names, order_names[i]);
    close_states[i] := order_states[first];
    close_captured[i] := order_charges[first];
    close_overage[i] := greatest(order_charges[first] - order_holds[first], 0);
    close_outcomes[i] := CASE WHEN i = ANY (won) THEN 'won'
                              WHEN close_states[i] IS NULL THEN 'unknown'
                              WHEN close_states[i] = 'open' THEN 'stale'
                              ELSE 'closed' END;
  END LOOP;
  IF 'member_cap_exceeded' = ANY (hold_outcomes) THEN
    FOR i IN 1 .. holds LOOP
      hold_caps[i] := caps[p_hold_spenders[i]];
      hold_used[i] := month_used[spender_months[p_hold_spenders[i]]];
    END LOOP;
  END IF;
  cap_ends_at := (month_start + interval '1 month') AT TIME ZONE p_time_zone;
END $$;
