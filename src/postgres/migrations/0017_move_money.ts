/**
 * The only statement that moves money apart from a deposit, in the form of typed columns. It takes
 * the closes and the new holds of one organisation that came together, and is one commit. Locks are
 * always taken in the order holds, tasks, member months, pool. `ledger_batch` does the same for
 * gateways of an earlier version that still run, and takes its locks in the same order.
 *
 * A session plans each statement once, often before a table was ever analysed, so no statement
 * leaves a choice that could turn out wrong when the table has grown: rows are looked up one by one
 * by their whole key, and what is locked is then changed by where it stands (`ctid`), which cannot
 * move under its lock.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const createMoveMoney = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  /*
   * Until a table is analysed its indexes look equally good, and that of the journal would be read
   * through everything the organisation ever held. Of equals the youngest is taken, so in a new
   * database the key is made anew. One that has rows was analysed or soon will be.
   */
  yield* sql`
    DO $$
    BEGIN
      IF NOT EXISTS (SELECT 1 FROM holds) THEN
        ALTER TABLE orphans DROP CONSTRAINT orphans_organization_id_hold_id_fkey;
        ALTER TABLE holds DROP CONSTRAINT holds_pkey, ADD PRIMARY KEY (organization_id, id);
        ALTER TABLE orphans ADD FOREIGN KEY (organization_id, hold_id)
          REFERENCES holds (organization_id, id);
      END IF;
    END $$`

  /*
   * Closes, by position: hold, charge, who closed it, the usage record of the charge, the task's
   * new state {from, lease, state, ...}, orphan {upstream_id, reason}, the answer kept for repeats,
   * and whether the key may order anew. A null charge releases the whole hold; a positive one is
   * charged in full, also above the hold. The first close of a hold wins, later ones change nothing.
   * With a task the close applies only while the task is in the state `from` and, where a lease is
   * given, still belongs to that claim.
   * Outcomes: won, closed (before), stale (task elsewhere by now), unknown.
   *
   * Holds, by position: id, member, amount, seconds to live, quote, job, the task for asynchronous
   * work, the client's key {key, fingerprint, ttl_seconds}. Their ids differ, and p_spenders are their
   * members, each once. They see the money that the closes free. The month is the database's, in
   * the deployment's zone.
   * Outcomes: held, known (this id was held before: nothing changed), key_used (the key belongs to
   * another hold), stopped, unknown_member, member_cap_exceeded, insufficient_balance.
   *
   * A column that is null for every item may be null as a whole.
   */
  yield* sql`
    CREATE FUNCTION move_money(
      p_organization text, p_time_zone text,
      p_closes text[], p_charges bigint[], p_closers text[], p_usage_keys text[],
      p_usage_tasks text[], p_models text[], p_modalities text[], p_inputs bigint[],
      p_outputs bigint[], p_units text[], p_unit_prices bigint[], p_input_unit_prices bigint[],
      p_bases text[], p_task_ends jsonb[], p_orphans jsonb[], p_answers text[],
      p_forgotten boolean[],
      p_holds text[], p_members text[], p_amounts bigint[], p_seconds double precision[],
      p_quotes jsonb[], p_jobs jsonb[], p_tasks jsonb[], p_keys jsonb[], p_spenders text[],
      /* Each array is in the order of its items; caps and what is used of them tell of refusals. */
      OUT close_outcomes text[], OUT close_states text[], OUT close_captured bigint[],
      OUT close_overage bigint[], OUT hold_outcomes text[], OUT hold_caps bigint[],
      OUT hold_used bigint[], OUT available bigint, OUT cap_ends_at timestamptz
    )
    LANGUAGE plpgsql
    SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off
    AS $$
    #variable_conflict use_column
    DECLARE
      v_month_start CONSTANT timestamp := date_trunc('month', now() AT TIME ZONE p_time_zone);
      v_month CONSTANT date := v_month_start::date;
      v_closes CONSTANT int := coalesce(cardinality(p_closes), 0);
      v_holds CONSTANT int := coalesce(cardinality(p_holds), 0);
      /* The holds to close, as they are locked. */
      h_ids text[]; h_rows tid[]; h_members text[]; h_months date[]; h_amounts bigint[];
      h_states text[]; h_captured bigint[]; h_overage bigint[];
      /* Where the hold of each close stands among them. */
      h_places int[];
      t_ids text[]; t_rows tid[]; t_states text[]; t_leases bigint[];
      /* The member months concerned, each called by its member and month, and what is added. */
      m_names text[]; m_rows tid[]; m_members text[]; m_used bigint[]; m_caps bigint[];
      m_held bigint[]; m_captured bigint[];
      v_won int[]; v_charged int[]; v_taken int[]; v_places int[]; v_known text[]; v_keys text[];
      v_freed bigint := 0; v_captured bigint := 0; v_taken_amount bigint := 0;
      v_open boolean := false; v_stopped boolean; v_key text; v_outcome text;
      i int; k int; m int;
    BEGIN
      IF v_closes > 0 THEN
        SELECT array_agg(h.id), array_agg(h.ctid), array_agg(h.member_id), array_agg(h.month),
               array_agg(h.amount), array_agg(h.state), array_agg(h.captured), array_agg(h.overage)
          INTO h_ids, h_rows, h_members, h_months, h_amounts, h_states, h_captured, h_overage
          FROM (SELECT u.id FROM unnest(p_closes) AS u(id) ORDER BY u.id) wanted
         CROSS JOIN LATERAL (
           SELECT h.ctid, h.* FROM holds h
            WHERE h.organization_id = p_organization AND h.id = wanted.id FOR UPDATE) h;
        IF p_task_ends IS NOT NULL THEN
          SELECT array_agg(t.id), array_agg(t.ctid), array_agg(t.state), array_agg(t.lease)
            INTO t_ids, t_rows, t_states, t_leases
            FROM (SELECT u.id FROM unnest(p_closes) AS u(id) ORDER BY u.id) wanted
           CROSS JOIN LATERAL (
             SELECT t.ctid, t.* FROM tasks t
              WHERE t.organization_id = p_organization AND t.id = wanted.id FOR UPDATE) t;
        END IF;
      END IF;

      /* Months that are missing are made before any is locked, so that the order of locks holds. */
      IF v_holds > 0 AND cardinality(p_spenders) > (
           SELECT count(*) FROM member_months mm
            WHERE mm.organization_id = p_organization AND mm.member_id = ANY (p_spenders)
              AND mm.month = v_month) THEN
        INSERT INTO member_months (organization_id, member_id, month)
          SELECT m.organization_id, m.id, v_month FROM members m
           WHERE m.organization_id = p_organization AND m.id = ANY (p_spenders)
           ORDER BY m.id
          ON CONFLICT DO NOTHING;
      END IF;
      SELECT array_agg(mm.member_id || ' ' || mm.month), array_agg(mm.ctid),
             array_agg(mm.member_id), array_agg(mm.held + mm.captured), array_agg(0::bigint),
             array_agg(0::bigint)
        INTO m_names, m_rows, m_members, m_used, m_held, m_captured
        FROM (SELECT mm.ctid, mm.* FROM member_months mm
               WHERE mm.organization_id = p_organization
                 AND mm.member_id = ANY (h_members || p_spenders)
                 AND mm.month = ANY (h_months || v_month)
               ORDER BY mm.member_id, mm.month FOR UPDATE) mm;

      /* Which closes apply. */
      FOR i IN 1 .. v_closes LOOP
        k := array_position(h_ids, p_closes[i]);
        h_places[i] := k;
        CONTINUE WHEN k IS NULL OR h_states[k] <> 'open';
        IF p_task_ends[i] IS NOT NULL THEN
          m := array_position(t_ids, p_closes[i]);
          CONTINUE WHEN t_states[m] IS DISTINCT FROM p_task_ends[i] ->> 'from'
                     OR t_leases[m] <> (p_task_ends[i] ->> 'lease')::bigint;
        END IF;
        v_won := v_won || i;
        v_freed := v_freed + h_amounts[k];
        m := array_position(m_names, h_members[k] || ' ' || h_months[k]);
        m_held[m] := m_held[m] - h_amounts[k];
        m_used[m] := m_used[m] - h_amounts[k];
        h_states[k] := 'released';
        IF p_charges[i] IS NOT NULL THEN
          v_charged := v_charged || i;
          v_captured := v_captured + p_charges[i];
          m_captured[m] := m_captured[m] + p_charges[i];
          m_used[m] := m_used[m] + p_charges[i];
          h_states[k] := 'captured';
          h_captured[k] := p_charges[i];
          h_overage[k] := greatest(p_charges[i] - h_amounts[k], 0);
        END IF;
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
            SELECT p_organization, 'capture', 'pool', 'revenue', p_charges[i], p_closes[i]
              FROM unnest(v_charged) AS i;
          INSERT INTO usage_records (organization_id, id, member_id, key_id, hold_id, task_id, model,
                                     modality, input, output, unit, unit_price, input_unit_price,
                                     charge, basis)
            SELECT p_organization, 'us_' || p_closes[i], h_members[h_places[i]], p_usage_keys[i],
                   p_closes[i], p_usage_tasks[i], p_models[i], p_modalities[i], p_inputs[i],
                   p_outputs[i], p_units[i], p_unit_prices[i], p_input_unit_prices[i],
                   p_charges[i], p_bases[i]
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
           WHERE t.ctid = t_rows[array_position(t_ids, p_closes[i])]
             AND p_task_ends[i] IS NOT NULL;
        END IF;
        IF p_orphans IS NOT NULL THEN
          INSERT INTO orphans (organization_id, hold_id, job, upstream_id, reason)
            SELECT p_organization, p_closes[i],
                   (SELECT h.job FROM holds h
                     WHERE h.organization_id = p_organization AND h.id = p_closes[i]),
                   p_orphans[i] ->> 'upstream_id', p_orphans[i] ->> 'reason'
              FROM unnest(v_won) AS i WHERE p_orphans[i] IS NOT NULL;
        END IF;
        IF p_answers IS NOT NULL OR p_forgotten IS NOT NULL THEN
          FOREACH i IN ARRAY v_won LOOP
            IF p_answers[i] IS NOT NULL THEN
              UPDATE idempotency_keys q SET answer = p_answers[i]
               WHERE q.organization_id = p_organization AND q.hold_id = p_closes[i];
            END IF;
            IF p_forgotten[i] THEN
              DELETE FROM idempotency_keys q
               WHERE q.organization_id = p_organization AND q.hold_id = p_closes[i];
            END IF;
          END LOOP;
        END IF;
      END IF;

      /* Which holds are admitted. The cap is checked before the pool. */
      IF v_holds > 0 THEN
        m_caps := ARRAY(SELECT (SELECT m.monthly_cap FROM members m
                                 WHERE m.organization_id = p_organization AND m.id = u.id)
                          FROM unnest(m_members) AS u(id));
        FOR i IN 1 .. v_holds LOOP
          m := array_position(m_names, p_members[i] || ' ' || v_month);
          v_places[i] := m;
          v_open := v_open
            OR (m IS NOT NULL AND (m_caps[m] IS NULL OR m_used[m] + p_amounts[i] <= m_caps[m]));
        END LOOP;
      END IF;

      /* A refusal by the cap alone must not touch the row that everybody waits for. */
      IF v_open THEN
        SELECT p.balance - p.held + v_freed - v_captured, p.stopped_at IS NOT NULL
          INTO STRICT available, v_stopped
          FROM pools p WHERE p.organization_id = p_organization FOR UPDATE;
      END IF;

      IF v_holds > 0 THEN
        /* Read after the pool is locked: by now they are what any other holder has committed. */
        SELECT array_agg(u.id) INTO v_known FROM unnest(p_holds) AS u(id)
         WHERE (SELECT true FROM holds h
                 WHERE h.organization_id = p_organization AND h.id = u.id);
        IF p_keys IS NOT NULL THEN
          SELECT array_agg(u.item ->> 'key') INTO v_keys FROM unnest(p_keys) AS u(item)
           WHERE (SELECT q.expires_at > now() FROM idempotency_keys q
                   WHERE q.organization_id = p_organization AND q.key = u.item ->> 'key');
        END IF;
        FOR i IN 1 .. v_holds LOOP
          m := v_places[i];
          v_key := p_keys[i] ->> 'key';
          IF p_holds[i] = ANY (v_known) THEN
            v_outcome := 'known';
          ELSIF v_key = ANY (v_keys) THEN
            v_outcome := 'key_used';
          ELSIF m IS NULL THEN
            v_outcome := 'unknown_member';
          ELSIF v_stopped THEN
            v_outcome := 'stopped';
          ELSIF m_used[m] + p_amounts[i] > m_caps[m] THEN
            v_outcome := 'member_cap_exceeded';
          ELSIF p_amounts[i] > available THEN
            v_outcome := 'insufficient_balance';
          ELSE
            v_outcome := 'held';
            available := available - p_amounts[i];
            m_used[m] := m_used[m] + p_amounts[i];
            m_held[m] := m_held[m] + p_amounts[i];
            v_taken := v_taken || i;
            v_taken_amount := v_taken_amount + p_amounts[i];
            IF v_key IS NOT NULL THEN v_keys := v_keys || v_key; END IF;
          END IF;
          hold_outcomes[i] := v_outcome;
        END LOOP;
      END IF;

      IF v_taken IS NOT NULL THEN
        INSERT INTO holds (organization_id, id, member_id, month, amount, quote, job, expires_at)
          SELECT p_organization, p_holds[i], p_members[i], v_month, p_amounts[i], p_quotes[i],
                 p_jobs[i], now() + make_interval(secs => p_seconds[i])
            FROM unnest(v_taken) AS i;
        IF p_tasks IS NOT NULL THEN
          INSERT INTO tasks (organization_id, id, member_id, key_id, model, channel_id, protocol,
                             listed_protocol, upstream_model, summary, submit_deadline, deadline)
            SELECT p_organization, p_holds[i], p_members[i], t ->> 'key_id', t ->> 'model',
                   p_jobs[i] ->> 'channel_id', p_jobs[i] ->> 'protocol', t ->> 'listed_protocol',
                   p_jobs[i] ->> 'upstream_model', t -> 'summary',
                   now() + make_interval(secs => (t ->> 'submit_seconds')::double precision),
                   now() + make_interval(secs => p_seconds[i])
              FROM unnest(v_taken) AS i, LATERAL (SELECT p_tasks[i] AS t) x
             WHERE t IS NOT NULL;
        END IF;
        IF p_keys IS NOT NULL THEN
          INSERT INTO idempotency_keys (organization_id, key, fingerprint, hold_id, expires_at)
            SELECT p_organization, q ->> 'key', q ->> 'fingerprint', p_holds[i],
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
           SET balance = p.balance - v_captured, held = p.held - v_freed + v_taken_amount
         WHERE p.organization_id = p_organization;
        IF NOT FOUND THEN RAISE EXCEPTION 'no pool of %', p_organization; END IF;
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
          hold_caps[i] := m_caps[v_places[i]];
          hold_used[i] := m_used[v_places[i]];
        END LOOP;
      END IF;
      cap_ends_at := (v_month_start + interval '1 month') AT TIME ZONE p_time_zone;
    END $$`
})
