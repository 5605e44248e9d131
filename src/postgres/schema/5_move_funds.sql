-- The only statement that moves money apart from a deposit: the closes and the new holds that came
-- together, of any organisations, as one commit. It takes its locks in the order holds, tasks, member
-- months, pools; of one kind, organisation by organisation and within it by id.
--
-- A session plans each statement once, often before a table was ever analysed, so no statement
-- leaves a choice that could turn out wrong when the table has grown: rows are looked up one by one
-- by their whole key, and what is locked is then changed by where it stands (`ctid`), which cannot
-- move under its lock.
--
-- `p_organizations` are those concerned, each once; a place is one's position among them.
--
-- Closes, by position: place, hold, charge, who closed it, the usage record of the charge, the
-- task's new state {from, lease, state, ...}, orphan {upstream_id, reason}, the answer kept for
-- repeats, and whether the key may order anew. A null charge releases the whole hold; a positive
-- one is charged in full, also above the hold. The first close of a hold wins, later ones change
-- nothing. With a task the close applies only while the task is in the state `from` and, where a
-- lease is given, still belongs to that claim.
-- Outcomes: won, closed (before), stale (task elsewhere by now), unknown.
--
-- Holds, by position: place, id, spender, amount, seconds to live, quote, job, the task for
-- asynchronous work, the client's key {key, fingerprint, ttl_seconds}. Their ids differ within an
-- organisation. Spenders are the members of the holds, each once, and a hold names its own by
-- position. Holds see the money that the closes free. The month is the database's, in the
-- deployment's zone.
-- Outcomes: held, known (this id was held before: nothing changed), key_used (the key belongs to
-- another hold), stopped, unknown_member, member_cap_exceeded, insufficient_balance.
--
-- A column that is null for every item may be null as a whole. A call for several organisations
-- waits only briefly for a lock: the others are not to wait for one that is in trouble.
CREATE FUNCTION move_funds(
  p_time_zone text, p_organizations text[],
  p_close_places int[], p_closes text[], p_charges bigint[], p_closers text[],
  p_usage_keys text[], p_usage_tasks text[], p_models text[], p_modalities text[],
  p_inputs bigint[], p_outputs bigint[], p_units text[], p_unit_prices bigint[],
  p_input_unit_prices bigint[], p_bases text[], p_task_ends jsonb[], p_orphans jsonb[],
  p_answers text[], p_forgotten boolean[],
  p_hold_places int[], p_holds text[], p_hold_spenders int[], p_amounts bigint[],
  p_seconds double precision[], p_quotes jsonb[], p_jobs jsonb[], p_tasks jsonb[],
  p_keys jsonb[],
  p_spender_places int[], p_spenders text[],
  /* In the order of the items; caps and what is used of them tell of refusals. */
  OUT close_outcomes text[], OUT close_states text[], OUT close_captured bigint[],
  OUT close_overage bigint[], OUT hold_outcomes text[], OUT hold_caps bigint[],
  OUT hold_used bigint[],
  /* By place. */
  OUT available bigint[], OUT cap_ends_at timestamptz
)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
  v_month_start CONSTANT timestamp := date_trunc('month', now() AT TIME ZONE p_time_zone);
  v_month CONSTANT date := v_month_start::date;
  v_organizations CONSTANT int := cardinality(p_organizations);
  v_closes CONSTANT int := coalesce(cardinality(p_closes), 0);
  v_holds CONSTANT int := coalesce(cardinality(p_holds), 0);
  v_spenders CONSTANT int := coalesce(cardinality(p_spenders), 0);
  /* The holds to close, as they are locked. */
  h_names text[]; h_rows tid[]; h_organizations text[]; h_members text[]; h_months date[];
  h_amounts bigint[]; h_states text[]; h_captured bigint[]; h_overage bigint[];
  /* Where the hold of each close stands among them. */
  h_places int[];
  t_names text[]; t_rows tid[]; t_states text[]; t_leases bigint[];
  /* The member months concerned, and what is added to them. */
  m_names text[]; m_rows tid[]; m_used bigint[]; m_held bigint[]; m_captured bigint[];
  /* The spenders' caps, and where their months stand. */
  s_caps bigint[]; s_months int[]; s_made bigint;
  /* By place: what is added and taken, and whether its pool is locked before it is changed. */
  o_freed bigint[] := array_fill(0::bigint, ARRAY[v_organizations]);
  o_captured bigint[] := o_freed; o_taken bigint[] := o_freed;
  o_locked boolean[] := array_fill(false, ARRAY[v_organizations]);
  o_stopped boolean[];
  l_places int[]; l_rows tid[]; l_free bigint[]; l_stopped boolean[];
  v_won int[]; v_charged int[]; v_taken int[]; v_known int[]; v_keys text[];
  v_key text; v_outcome text;
  i int; k int; m int; o int; s int;
BEGIN
  IF v_organizations > 1 THEN PERFORM set_config('lock_timeout', '250ms', true); END IF;

  IF v_closes > 0 THEN
    SELECT array_agg(h.organization_id || ' ' || h.id), array_agg(h.ctid),
           array_agg(h.organization_id), array_agg(h.member_id), array_agg(h.month),
           array_agg(h.amount), array_agg(h.state), array_agg(h.captured),
           array_agg(h.overage)
      INTO h_names, h_rows, h_organizations, h_members, h_months, h_amounts, h_states,
           h_captured, h_overage
      FROM (SELECT p_organizations[u.place] AS organization_id, u.id
              FROM unnest(p_close_places, p_closes) AS u(place, id)
             ORDER BY p_organizations[u.place] COLLATE "C", u.id COLLATE "C") wanted
     CROSS JOIN LATERAL (
       SELECT h.ctid, h.* FROM holds h
        WHERE h.organization_id = wanted.organization_id AND h.id = wanted.id FOR UPDATE) h;
    IF p_task_ends IS NOT NULL THEN
      SELECT array_agg(t.organization_id || ' ' || t.id), array_agg(t.ctid),
             array_agg(t.state), array_agg(t.lease)
        INTO t_names, t_rows, t_states, t_leases
        FROM (SELECT p_organizations[u.place] AS organization_id, u.id
                FROM unnest(p_close_places, p_closes) AS u(place, id)
               ORDER BY p_organizations[u.place] COLLATE "C", u.id COLLATE "C") wanted
       CROSS JOIN LATERAL (
         SELECT t.ctid, t.* FROM tasks t
          WHERE t.organization_id = wanted.organization_id AND t.id = wanted.id
            FOR UPDATE) t;
    END IF;
  END IF;

  IF v_holds > 0 THEN
    SELECT array_agg((SELECT m.monthly_cap FROM members m
                       WHERE m.organization_id = p_organizations[u.place] AND m.id = u.id)),
           count((SELECT mm.month FROM member_months mm
                   WHERE mm.organization_id = p_organizations[u.place]
                     AND mm.member_id = u.id AND mm.month = v_month))
      INTO s_caps, s_made
      FROM unnest(p_spender_places, p_spenders) AS u(place, id);
    /* Months that are missing are made before any is locked, so that the order of locks holds. */
    IF s_made < v_spenders THEN
      INSERT INTO member_months (organization_id, member_id, month)
        SELECT m.organization_id, m.id, v_month
          FROM members m
         WHERE m.organization_id = ANY (p_organizations) AND m.id = ANY (p_spenders)
         ORDER BY m.organization_id, m.id
        ON CONFLICT DO NOTHING;
    END IF;
  END IF;
  SELECT array_agg(mm.organization_id || ' ' || mm.member_id || ' ' || mm.month),
         array_agg(mm.ctid), array_agg(mm.held + mm.captured), array_agg(0::bigint),
         array_agg(0::bigint)
    INTO m_names, m_rows, m_used, m_held, m_captured
    FROM (SELECT mm.ctid, mm.* FROM member_months mm
           WHERE mm.organization_id = ANY (p_organizations)
             AND mm.member_id = ANY (h_members || p_spenders)
             AND mm.month = ANY (h_months || v_month)
           ORDER BY mm.organization_id, mm.member_id, mm.month FOR UPDATE) mm;

  /* Which closes apply. */
  FOR i IN 1 .. v_closes LOOP
    o := p_close_places[i];
    k := array_position(h_names, p_organizations[o] || ' ' || p_closes[i]);
    h_places[i] := k;
    CONTINUE WHEN k IS NULL OR h_states[k] <> 'open';
    IF p_task_ends[i] IS NOT NULL THEN
      m := array_position(t_names, h_names[k]);
      CONTINUE WHEN t_states[m] IS DISTINCT FROM p_task_ends[i] ->> 'from'
                 OR t_leases[m] <> (p_task_ends[i] ->> 'lease')::bigint;
    END IF;
    v_won := v_won || i;
    o_freed[o] := o_freed[o] + h_amounts[k];
    m := array_position(
      m_names, h_organizations[k] || ' ' || h_members[k] || ' ' || h_months[k]);
    m_held[m] := m_held[m] - h_amounts[k];
    m_used[m] := m_used[m] - h_amounts[k];
    h_states[k] := 'released';
    IF p_charges[i] IS NOT NULL THEN
      v_charged := v_charged || i;
      o_captured[o] := o_captured[o] + p_charges[i];
      m_captured[m] := m_captured[m] + p_charges[i];
      m_used[m] := m_used[m] + p_charges[i];
      h_states[k] := 'captured';
      h_captured[k] := p_charges[i];
      h_overage[k] := greatest(p_charges[i] - h_amounts[k], 0);
    END IF;
    o_locked[o] := true;
  END LOOP;

  IF v_won IS NOT NULL THEN
    IF 0 >= ANY (p_charges) THEN RAISE EXCEPTION 'a charge is greater than 0'; END IF;
    UPDATE holds h
       SET state = CASE WHEN p_charges[i] IS NULL THEN 'released' ELSE 'captured' END,
           captured = coalesce(p_charges[i], 0), closed_at = now(), closed_by = p_closers[i]
      FROM unnest(v_won) AS i
     WHERE h.ctid = h_rows[h_places[i]];
    IF v_charged IS NOT NULL THEN
      INSERT INTO transfers (organization_id, kind, debit, credit, amount, hold_id)
        SELECT p_organizations[p_close_places[i]], 'capture', 'pool', 'revenue', p_charges[i],
               p_closes[i]
          FROM unnest(v_charged) AS i;
      INSERT INTO usage_records (organization_id, id, member_id, key_id, hold_id, task_id, model,
                                 modality, input, output, unit, unit_price, input_unit_price,
                                 charge, basis)
        SELECT p_organizations[p_close_places[i]], 'us_' || p_closes[i],
               h_members[h_places[i]], p_usage_keys[i], p_closes[i], p_usage_tasks[i],
               p_models[i], p_modalities[i], p_inputs[i], p_outputs[i], p_units[i],
               p_unit_prices[i], p_input_unit_prices[i], p_charges[i], p_bases[i]
          FROM unnest(v_charged) AS i;
    END IF;
    IF p_task_ends IS NOT NULL THEN
      UPDATE tasks t
         SET state = p_task_ends[i] ->> 'state', video_url = p_task_ends[i] ->> 'video_url',
             completion_tokens = (p_task_ends[i] ->> 'completion_tokens')::bigint,
             error_code = p_task_ends[i] ->> 'error_code',
             error_message = p_task_ends[i] ->> 'error_message', next_poll_at = NULL,
             finished_at = now()
        FROM unnest(v_won) AS i
       WHERE t.ctid = t_rows[array_position(t_names, h_names[h_places[i]])]
         AND p_task_ends[i] IS NOT NULL;
    END IF;
    IF p_orphans IS NOT NULL THEN
      INSERT INTO orphans (organization_id, hold_id, job, upstream_id, reason, answer)
        SELECT h_organizations[h_places[i]], p_closes[i],
               (SELECT h.job FROM holds h
                 WHERE h.organization_id = h_organizations[h_places[i]] AND h.id = p_closes[i]),
               p_orphans[i] ->> 'upstream_id', p_orphans[i] ->> 'reason', p_orphans[i] -> 'answer'
          FROM unnest(v_won) AS i WHERE p_orphans[i] IS NOT NULL;
    END IF;
    IF p_answers IS NOT NULL OR p_forgotten IS NOT NULL THEN
      FOREACH i IN ARRAY v_won LOOP
        IF p_answers[i] IS NOT NULL THEN
          UPDATE idempotency_keys q SET answer = p_answers[i]
           WHERE q.organization_id = h_organizations[h_places[i]]
             AND q.hold_id = p_closes[i];
        END IF;
        IF p_forgotten[i] THEN
          DELETE FROM idempotency_keys q
           WHERE q.organization_id = h_organizations[h_places[i]]
             AND q.hold_id = p_closes[i];
        END IF;
      END LOOP;
    END IF;
  END IF;

  /* Pools are locked together, in their order. The cap is checked before the pool: a refusal by
     the cap alone must not touch the row that everybody waits for. */
  FOR s IN 1 .. v_spenders LOOP
    s_months[s] := array_position(m_names,
      p_organizations[p_spender_places[s]] || ' ' || p_spenders[s] || ' ' || v_month);
  END LOOP;
  FOR i IN 1 .. v_holds LOOP
    s := p_hold_spenders[i];
    m := s_months[s];
    IF m IS NOT NULL AND (s_caps[s] IS NULL OR m_used[m] + p_amounts[i] <= s_caps[s]) THEN
      o_locked[p_hold_places[i]] := true;
    END IF;
  END LOOP;
  available := array_fill(NULL::bigint, ARRAY[v_organizations]);
  IF true = ANY (o_locked) THEN
    SELECT array_agg(wanted.o), array_agg(p.ctid), array_agg(p.free), array_agg(p.stopped)
      INTO l_places, l_rows, l_free, l_stopped
      FROM (SELECT u.o::int AS o FROM unnest(o_locked, p_organizations) WITH ORDINALITY
              AS u(is_locked, organization_id, o)
             WHERE u.is_locked ORDER BY u.organization_id COLLATE "C") wanted
     CROSS JOIN LATERAL (
       SELECT p.ctid, p.balance - p.held AS free, p.stopped_at IS NOT NULL AS stopped
         FROM pools p
        WHERE p.organization_id = p_organizations[wanted.o] FOR UPDATE) p;
    FOR i IN 1 .. coalesce(cardinality(l_places), 0) LOOP
      o := l_places[i];
      available[o] := l_free[i] + o_freed[o] - o_captured[o];
      o_stopped[o] := l_stopped[i];
    END LOOP;
    FOR o IN 1 .. v_organizations LOOP
      IF o_locked[o] AND available[o] IS NULL THEN
        RAISE EXCEPTION 'no pool of %', p_organizations[o];
      END IF;
    END LOOP;
  END IF;

  IF v_holds > 0 THEN
    /* Read after the pools are locked: by now they are what any other holder has committed. */
    SELECT array_agg(u.i::int) INTO v_known
      FROM unnest(p_hold_places, p_holds) WITH ORDINALITY AS u(place, id, i)
     WHERE (SELECT true FROM holds h
             WHERE h.organization_id = p_organizations[u.place] AND h.id = u.id);
    IF p_keys IS NOT NULL THEN
      SELECT array_agg(p_organizations[u.place] || ' ' || (u.item ->> 'key')) INTO v_keys
        FROM unnest(p_hold_places, p_keys) AS u(place, item)
       WHERE (SELECT q.expires_at > now() FROM idempotency_keys q
               WHERE q.organization_id = p_organizations[u.place]
                 AND q.key = u.item ->> 'key');
    END IF;
    FOR i IN 1 .. v_holds LOOP
      o := p_hold_places[i];
      s := p_hold_spenders[i];
      m := s_months[s];
      v_key := p_organizations[o] || ' ' || (p_keys[i] ->> 'key');
      IF i = ANY (v_known) THEN
        v_outcome := 'known';
      ELSIF v_key = ANY (v_keys) THEN
        v_outcome := 'key_used';
      ELSIF m IS NULL THEN
        v_outcome := 'unknown_member';
      ELSIF o_stopped[o] THEN
        v_outcome := 'stopped';
      ELSIF m_used[m] + p_amounts[i] > s_caps[s] THEN
        v_outcome := 'member_cap_exceeded';
      ELSIF p_amounts[i] > available[o] THEN
        v_outcome := 'insufficient_balance';
      ELSE
        v_outcome := 'held';
        available[o] := available[o] - p_amounts[i];
        m_used[m] := m_used[m] + p_amounts[i];
        m_held[m] := m_held[m] + p_amounts[i];
        o_taken[o] := o_taken[o] + p_amounts[i];
        v_taken := v_taken || i;
        IF v_key IS NOT NULL THEN v_keys := v_keys || v_key; END IF;
      END IF;
      hold_outcomes[i] := v_outcome;
    END LOOP;
  END IF;

  IF v_taken IS NOT NULL THEN
    INSERT INTO holds (organization_id, id, member_id, month, amount, quote, job, expires_at)
      SELECT p_organizations[p_hold_places[i]], p_holds[i], p_spenders[p_hold_spenders[i]],
             v_month, p_amounts[i], p_quotes[i], p_jobs[i],
             now() + make_interval(secs => p_seconds[i])
        FROM unnest(v_taken) AS i;
    IF p_tasks IS NOT NULL THEN
      INSERT INTO tasks (organization_id, id, member_id, key_id, model, channel_id, protocol,
                         listed_protocol, upstream_model, summary, submit_deadline, deadline)
        SELECT p_organizations[p_hold_places[i]], p_holds[i], p_spenders[p_hold_spenders[i]],
               t ->> 'key_id', t ->> 'model', p_jobs[i] ->> 'channel_id',
               p_jobs[i] ->> 'protocol', t ->> 'listed_protocol',
               p_jobs[i] ->> 'upstream_model', t -> 'summary',
               now() + make_interval(secs => (t ->> 'submit_seconds')::double precision),
               now() + make_interval(secs => p_seconds[i])
          FROM unnest(v_taken) AS i, LATERAL (SELECT p_tasks[i] AS t) x
         WHERE t IS NOT NULL;
    END IF;
    IF p_keys IS NOT NULL THEN
      INSERT INTO idempotency_keys (organization_id, key, fingerprint, hold_id, expires_at)
        SELECT p_organizations[p_hold_places[i]], q ->> 'key', q ->> 'fingerprint', p_holds[i],
               now() + make_interval(secs => (q ->> 'ttl_seconds')::double precision)
          FROM unnest(v_taken) AS i, LATERAL (SELECT p_keys[i] AS q) x
         WHERE q IS NOT NULL
        ON CONFLICT (organization_id, key) DO UPDATE
           SET fingerprint = excluded.fingerprint, hold_id = excluded.hold_id, answer = NULL,
               created_at = now(), expires_at = excluded.expires_at;
    END IF;
  END IF;

  IF v_taken IS NOT NULL OR v_won IS NOT NULL THEN
    UPDATE member_months mm SET held = mm.held + m_held[m], captured = mm.captured + m_captured[m]
      FROM generate_subscripts(m_rows, 1) AS m
     WHERE mm.ctid = m_rows[m] AND (m_held[m] <> 0 OR m_captured[m] <> 0);
    UPDATE pools p
       SET balance = p.balance - o_captured[l_places[i]],
           held = p.held - o_freed[l_places[i]] + o_taken[l_places[i]]
      FROM generate_subscripts(l_rows, 1) AS i
     WHERE p.ctid = l_rows[i] AND (o_freed[l_places[i]] <> 0 OR o_taken[l_places[i]] <> 0);
  END IF;

  FOR i IN 1 .. v_closes LOOP
    k := h_places[i];
    close_outcomes[i] := CASE WHEN i = ANY (v_won) THEN 'won'
                              WHEN k IS NULL THEN 'unknown'
                              WHEN h_states[k] = 'open' THEN 'stale'
                              ELSE 'closed' END;
    close_states[i] := h_states[k];
    close_captured[i] := h_captured[k];
    close_overage[i] := h_overage[k];
  END LOOP;
  IF 'member_cap_exceeded' = ANY (hold_outcomes) THEN
    FOR i IN 1 .. v_holds LOOP
      hold_caps[i] := s_caps[p_hold_spenders[i]];
      hold_used[i] := m_used[s_months[p_hold_spenders[i]]];
    END LOOP;
  END IF;
  cap_ends_at := (v_month_start + interval '1 month') AT TIME ZONE p_time_zone;
END $$;
