/**
 * The only statement that moves money apart from a deposit. It takes the closes and the new holds
 * of one organisation that came together, and is one commit: a hundred of them cost one flush, and
 * the pool, which every spender of the organisation shares, is locked once. Locks are always taken
 * in the order holds, tasks, member months, pool.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const createLedgerBatch = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Databases made before this migration have forms of them that take one item at a time.
  yield* sql`DROP FUNCTION IF EXISTS hold_funds(text, text, jsonb)`
  yield* sql`DROP FUNCTION IF EXISTS close_holds(text, jsonb)`

  /*
   * Closes: [{id, charge, by, usage, task, orphan, answer, forget_key}]. A null charge releases the
   * whole hold; a positive one is charged in full, also above the hold. The first close of a hold
   * wins, later ones change nothing. With a task {from, lease, ...} the close applies only while
   * the task is in that state and, where a lease is given, still belongs to that claim. `answer` is
   * kept for repeats of the request, `forget_key` lets the same key order anew.
   * Outcomes: won, closed (before), stale (task elsewhere by now), unknown.
   *
   * Holds: [{id, member_id, amount, ttl_seconds, quote, job, task, key}], task null for synchronous
   * work, key {key, fingerprint, ttl_seconds} or null. Their ids differ. They see the money that the
   * closes free. The month is the database's, in the deployment's zone.
   * Outcomes: held, known (this id was held before: nothing changed), key_used (the key belongs to
   * another hold), stopped, unknown_member, member_cap_exceeded, insufficient_balance.
   */
  yield* sql`
    CREATE FUNCTION ledger_batch(
      p_organization text, p_time_zone text, p_closes jsonb, p_holds jsonb
    )
    RETURNS TABLE (
      /* One row; each array is in the order of its items. */
      close_outcomes text[], close_states text[], close_captured bigint[], close_overage bigint[],
      hold_outcomes text[], hold_caps bigint[], hold_used bigint[], available bigint,
      cap_ends_at timestamptz
    )
    LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    DECLARE
      v_close_ids text[]; v_fresh int[]; v_fresh_ids text[]; v_released bigint := 0;
      v_captured bigint := 0;
      v_month date := date_trunc('month', now() AT TIME ZONE p_time_zone)::date;
      v_next_month timestamptz :=
        (date_trunc('month', now() AT TIME ZONE p_time_zone) + interval '1 month')
          AT TIME ZONE p_time_zone;
      v_ids text[]; v_members text[]; v_amounts bigint[]; v_keys text[]; v_count int := 0;
      v_member_ids text[]; v_caps bigint[]; v_used bigint[]; v_added bigint[];
      v_places int[]; v_known boolean[]; v_key_holds text[]; v_taken_keys text[];
      v_outcomes text[];
      v_available bigint; v_stopped boolean; v_total bigint := 0;
      v_open boolean := false; i int; k int;
    BEGIN
      SELECT array_agg(e ->> 'id') INTO v_close_ids FROM jsonb_array_elements(p_closes) AS e;
      SELECT array_agg(e ->> 'id' ORDER BY o), array_agg(e ->> 'member_id' ORDER BY o),
             array_agg((e ->> 'amount')::bigint ORDER BY o),
             array_agg(e -> 'key' ->> 'key' ORDER BY o), count(*)
        INTO v_ids, v_members, v_amounts, v_keys, v_count
        FROM jsonb_array_elements(p_holds) WITH ORDINALITY AS j(e, o);

      /* Locks, and which closes apply. */
      IF v_close_ids IS NOT NULL THEN
        PERFORM 1 FROM holds h
          WHERE h.organization_id = p_organization AND h.id = ANY (v_close_ids)
          ORDER BY h.id FOR UPDATE;
        PERFORM 1 FROM tasks t
          WHERE t.organization_id = p_organization AND t.id = ANY (v_close_ids)
          ORDER BY t.id FOR UPDATE;
        SELECT array_agg(x.o), array_agg(x.id) INTO v_fresh, v_fresh_ids FROM (
          SELECT DISTINCT ON (h.id) h.id, j.o::int AS o
            FROM jsonb_array_elements(p_closes) WITH ORDINALITY AS j(e, o)
            JOIN holds h ON h.organization_id = p_organization AND h.id = j.e ->> 'id'
            LEFT JOIN tasks t ON t.organization_id = p_organization AND t.id = h.id
           WHERE h.state = 'open'
             AND (jsonb_typeof(j.e -> 'task') IS DISTINCT FROM 'object'
                  OR (t.state = j.e -> 'task' ->> 'from'
                      AND (j.e -> 'task' ->> 'lease' IS NULL
                           OR t.lease = (j.e -> 'task' ->> 'lease')::bigint)))
           ORDER BY h.id, j.o) x;
      END IF;
      INSERT INTO member_months (organization_id, member_id, month)
        SELECT m.organization_id, m.id, v_month FROM members m
         WHERE m.organization_id = p_organization AND m.id = ANY (v_members)
           AND NOT EXISTS (SELECT 1 FROM member_months mm
                            WHERE mm.organization_id = p_organization AND mm.member_id = m.id
                              AND mm.month = v_month)
         ORDER BY m.id
        ON CONFLICT DO NOTHING;
      PERFORM 1 FROM member_months mm
        JOIN (SELECT h.member_id, h.month FROM holds h
               WHERE h.organization_id = p_organization AND h.id = ANY (v_fresh_ids)
              UNION
              SELECT u, v_month FROM unnest(v_members) AS u) wanted
          ON wanted.member_id = mm.member_id AND wanted.month = mm.month
        WHERE mm.organization_id = p_organization
        ORDER BY mm.member_id, mm.month FOR UPDATE OF mm;

      IF v_fresh IS NOT NULL THEN
        IF EXISTS (SELECT 1 FROM jsonb_array_elements(p_closes) AS e
                    WHERE (e ->> 'charge')::bigint <= 0) THEN
          RAISE EXCEPTION 'a charge is greater than 0';
        END IF;
        UPDATE holds h
           SET state = CASE WHEN e ->> 'charge' IS NULL THEN 'released' ELSE 'captured' END,
               captured = coalesce((e ->> 'charge')::bigint, 0), closed_at = now(),
               closed_by = e ->> 'by'
          FROM jsonb_array_elements(p_closes) WITH ORDINALITY AS j(e, o)
         WHERE h.organization_id = p_organization AND h.id = e ->> 'id' AND o = ANY (v_fresh)
           AND h.state = 'open';
        INSERT INTO transfers (organization_id, kind, debit, credit, amount, hold_id)
          SELECT p_organization, 'capture', 'pool', 'revenue', (e ->> 'charge')::bigint, e ->> 'id'
            FROM jsonb_array_elements(p_closes) WITH ORDINALITY AS j(e, o)
           WHERE o = ANY (v_fresh) AND e ->> 'charge' IS NOT NULL;
        INSERT INTO usage_records (organization_id, id, member_id, key_id, hold_id, task_id, model,
                                   modality, input, output, unit, unit_price, charge, basis)
          SELECT p_organization, u ->> 'id', h.member_id, u ->> 'key_id', h.id, u ->> 'task_id',
                 u ->> 'model', u ->> 'modality', (u ->> 'input')::bigint,
                 (u ->> 'output')::bigint, u ->> 'unit', (u ->> 'unit_price')::bigint,
                 h.captured, u ->> 'basis'
            FROM jsonb_array_elements(p_closes) WITH ORDINALITY AS j(e, o)
            JOIN holds h ON h.organization_id = p_organization AND h.id = e ->> 'id',
                 LATERAL (SELECT e -> 'usage' AS u) x
           WHERE o = ANY (v_fresh) AND e ->> 'charge' IS NOT NULL;
        UPDATE tasks t
           SET state = c ->> 'state', video_url = c ->> 'video_url',
               completion_tokens = (c ->> 'completion_tokens')::bigint,
               error_code = c ->> 'error_code', error_message = c ->> 'error_message',
               next_poll_at = NULL, finished_at = now()
          FROM jsonb_array_elements(p_closes) WITH ORDINALITY AS j(e, o),
               LATERAL (SELECT e -> 'task' AS c) x
         WHERE t.organization_id = p_organization AND t.id = e ->> 'id' AND o = ANY (v_fresh)
           AND jsonb_typeof(c) = 'object';
        INSERT INTO orphans (organization_id, hold_id, job, upstream_id, reason)
          SELECT p_organization, h.id, h.job, e -> 'orphan' ->> 'upstream_id',
                 e -> 'orphan' ->> 'reason'
            FROM jsonb_array_elements(p_closes) WITH ORDINALITY AS j(e, o)
            JOIN holds h ON h.organization_id = p_organization AND h.id = e ->> 'id'
           WHERE o = ANY (v_fresh) AND jsonb_typeof(e -> 'orphan') = 'object';
        UPDATE idempotency_keys q SET answer = e ->> 'answer'
          FROM jsonb_array_elements(p_closes) WITH ORDINALITY AS j(e, o)
         WHERE q.organization_id = p_organization AND q.hold_id = e ->> 'id'
           AND o = ANY (v_fresh) AND e ->> 'answer' IS NOT NULL;
        DELETE FROM idempotency_keys q
         USING jsonb_array_elements(p_closes) WITH ORDINALITY AS j(e, o)
         WHERE q.organization_id = p_organization AND q.hold_id = e ->> 'id'
           AND o = ANY (v_fresh) AND e ->> 'forget_key' = 'true';
        WITH sums AS (
          SELECT h.member_id, h.month, sum(h.amount)::bigint AS amount,
                 sum(h.captured)::bigint AS captured
            FROM holds h
           WHERE h.organization_id = p_organization AND h.id = ANY (v_fresh_ids)
           GROUP BY h.member_id, h.month),
        applied AS (
          UPDATE member_months mm
             SET held = mm.held - s.amount, captured = mm.captured + s.captured
            FROM sums s
           WHERE mm.organization_id = p_organization AND mm.member_id = s.member_id
             AND mm.month = s.month)
        SELECT sum(s.amount)::bigint, sum(s.captured)::bigint INTO v_released, v_captured
          FROM sums s;
      END IF;

      /* Which holds are admitted. The cap is checked before the pool. */
      IF v_count > 0 THEN
        SELECT array_agg(s.member_id), array_agg(s.monthly_cap), array_agg(s.used),
               array_agg(0::bigint)
          INTO v_member_ids, v_caps, v_used, v_added
          FROM (SELECT mm.member_id, m.monthly_cap, mm.held + mm.captured AS used
                  FROM member_months mm
                  JOIN members m
                    ON m.organization_id = mm.organization_id AND m.id = mm.member_id
                 WHERE mm.organization_id = p_organization AND mm.month = v_month
                   AND mm.member_id = ANY (v_members)) s;
        SELECT array_agg(p.k ORDER BY p.o),
               coalesce(bool_or(v_caps[p.k] IS NULL OR v_used[p.k] + p.amount <= v_caps[p.k])
                          FILTER (WHERE p.k IS NOT NULL), false)
          INTO v_places, v_open
          FROM (SELECT array_position(v_member_ids, u.member_id) AS k, u.amount, u.o
                  FROM unnest(v_members, v_amounts) WITH ORDINALITY AS u(member_id, amount, o)) p;
      END IF;

      /* A refusal by the cap alone must not touch the row that everybody waits for. */
      IF v_open OR v_fresh IS NOT NULL THEN
        SELECT p.balance - p.held + v_released - v_captured, p.stopped_at IS NOT NULL
          INTO STRICT v_available, v_stopped
          FROM pools p WHERE p.organization_id = p_organization FOR UPDATE;
      END IF;

      IF v_count > 0 THEN
        /* Read after the pool is locked: by now they are what any other holder has committed. */
        SELECT array_agg((SELECT h.id FROM holds h
                           WHERE h.organization_id = p_organization AND h.id = u.id) IS NOT NULL
                         ORDER BY u.o),
               array_agg((SELECT q.hold_id FROM idempotency_keys q
                           WHERE q.organization_id = p_organization AND q.key = u.key
                             AND q.expires_at > now())
                         ORDER BY u.o)
          INTO v_known, v_key_holds
          FROM unnest(v_ids, v_keys) WITH ORDINALITY AS u(id, key, o);
        v_outcomes := array_fill(NULL::text, ARRAY[v_count]);
        FOR i IN 1 .. v_count LOOP
          k := v_places[i];
          IF v_known[i] THEN
            v_outcomes[i] := 'known';
          ELSIF v_key_holds[i] IS NOT NULL
             OR (v_keys[i] IS NOT NULL AND v_keys[i] = ANY (v_taken_keys)) THEN
            v_outcomes[i] := 'key_used';
          ELSIF k IS NULL THEN
            v_outcomes[i] := 'unknown_member';
          ELSIF v_stopped THEN
            v_outcomes[i] := 'stopped';
          ELSIF v_caps[k] IS NOT NULL AND v_used[k] + v_added[k] + v_amounts[i] > v_caps[k] THEN
            v_outcomes[i] := 'member_cap_exceeded';
          ELSIF v_amounts[i] > v_available THEN
            v_outcomes[i] := 'insufficient_balance';
          ELSE
            v_outcomes[i] := 'held';
            v_available := v_available - v_amounts[i];
            v_added[k] := v_added[k] + v_amounts[i];
            v_total := v_total + v_amounts[i];
            IF v_keys[i] IS NOT NULL THEN v_taken_keys := v_taken_keys || v_keys[i]; END IF;
          END IF;
        END LOOP;
      END IF;

      IF v_total > 0 THEN
        INSERT INTO holds (organization_id, id, member_id, month, amount, quote, job, expires_at)
          SELECT p_organization, e ->> 'id', e ->> 'member_id', v_month,
                 (e ->> 'amount')::bigint, e -> 'quote', e -> 'job',
                 now() + make_interval(secs => (e ->> 'ttl_seconds')::double precision)
            FROM jsonb_array_elements(p_holds) WITH ORDINALITY AS j(e, o)
           WHERE v_outcomes[o] = 'held';
        INSERT INTO tasks (organization_id, id, member_id, key_id, model, channel_id, protocol,
                           listed_protocol, upstream_model, summary, submit_deadline, deadline)
          SELECT p_organization, e ->> 'id', e ->> 'member_id', t ->> 'key_id', t ->> 'model',
                 e -> 'job' ->> 'channel_id', e -> 'job' ->> 'protocol', t ->> 'listed_protocol',
                 e -> 'job' ->> 'upstream_model', t -> 'summary',
                 now() + make_interval(secs => (t ->> 'submit_seconds')::double precision),
                 now() + make_interval(secs => (e ->> 'ttl_seconds')::double precision)
            FROM jsonb_array_elements(p_holds) WITH ORDINALITY AS j(e, o),
                 LATERAL (SELECT e -> 'task' AS t) x
           WHERE v_outcomes[o] = 'held' AND jsonb_typeof(t) = 'object';
        INSERT INTO idempotency_keys (organization_id, key, fingerprint, hold_id, expires_at)
          SELECT p_organization, q ->> 'key', q ->> 'fingerprint', e ->> 'id',
                 now() + make_interval(secs => (q ->> 'ttl_seconds')::double precision)
            FROM jsonb_array_elements(p_holds) WITH ORDINALITY AS j(e, o),
                 LATERAL (SELECT e -> 'key' AS q) x
           WHERE v_outcomes[o] = 'held' AND jsonb_typeof(q) = 'object'
          ON CONFLICT (organization_id, key) DO UPDATE
             SET fingerprint = excluded.fingerprint, hold_id = excluded.hold_id, answer = NULL,
                 created_at = now(), expires_at = excluded.expires_at;
        UPDATE member_months mm SET held = mm.held + u.added
          FROM unnest(v_member_ids, v_added) AS u(member_id, added)
         WHERE mm.organization_id = p_organization AND mm.month = v_month
           AND mm.member_id = u.member_id AND u.added > 0;
      END IF;

      IF v_total > 0 OR v_fresh IS NOT NULL THEN
        UPDATE pools p SET balance = p.balance - v_captured, held = p.held - v_released + v_total
         WHERE p.organization_id = p_organization;
      END IF;

      SELECT array_agg(CASE WHEN j.o = ANY (v_fresh) THEN 'won'
                            WHEN h.id IS NULL THEN 'unknown'
                            WHEN h.state = 'open' THEN 'stale'
                            ELSE 'closed' END ORDER BY j.o),
             array_agg(h.state ORDER BY j.o), array_agg(h.captured ORDER BY j.o),
             array_agg(h.overage ORDER BY j.o)
        INTO close_outcomes, close_states, close_captured, close_overage
        FROM jsonb_array_elements(p_closes) WITH ORDINALITY AS j(e, o)
        LEFT JOIN holds h ON h.organization_id = p_organization AND h.id = j.e ->> 'id';
      SELECT array_agg(v_caps[v_places[u.o]] ORDER BY u.o),
             array_agg(v_used[v_places[u.o]] + v_added[v_places[u.o]] ORDER BY u.o)
        INTO hold_caps, hold_used
        FROM unnest(v_outcomes) WITH ORDINALITY AS u(outcome, o);
      hold_outcomes := v_outcomes;
      available := v_available;
      cap_ends_at := v_next_month;
      RETURN NEXT;
    END $$`
})
