/**
 * The only statements that move money. Each takes one organisation and many items and is one
 * commit. Locks are always taken in the order holds, member months, pool; the pool, which every
 * spender of the organisation shares, is locked last and as briefly as possible.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const createLedgerFunctions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Answers applied, repeated (same reference and amount), mismatch (another amount) or too_large.
  yield* sql`
    CREATE FUNCTION deposit(p_organization text, p_amount bigint, p_reference text)
    RETURNS text LANGUAGE plpgsql AS $$
    DECLARE
      v_balance bigint;
      v_known bigint;
    BEGIN
      SELECT p.balance INTO STRICT v_balance FROM pools p
       WHERE p.organization_id = p_organization FOR UPDATE;
      SELECT t.amount INTO v_known FROM transfers t
       WHERE t.organization_id = p_organization AND t.kind = 'deposit'
         AND t.reference = p_reference;
      IF FOUND THEN
        RETURN CASE WHEN v_known = p_amount THEN 'repeated' ELSE 'mismatch' END;
      END IF;
      IF v_balance > 4000000000000000000 - p_amount THEN RETURN 'too_large'; END IF;
      INSERT INTO transfers (organization_id, kind, debit, credit, amount, reference)
      VALUES (p_organization, 'deposit', 'external', 'pool', p_amount, p_reference);
      UPDATE pools SET balance = balance + p_amount WHERE organization_id = p_organization;
      RETURN 'applied';
    END $$`

  /*
   * Items: [{id, member_id, amount, ttl_seconds, quote, job, task}], task null for synchronous work.
   * Outcomes: held, known (this id was held before: nothing changed), insufficient_balance,
   * member_cap_exceeded, unknown_member. The month is the database's, in the deployment's zone.
   */
  yield* sql`
    CREATE FUNCTION hold_funds(p_organization text, p_time_zone text, p_items jsonb)
    RETURNS TABLE (
      id text, outcome text, available bigint, cap bigint, used bigint, cap_ends_at timestamptz
    )
    LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    DECLARE
      v_month date := date_trunc('month', now() AT TIME ZONE p_time_zone)::date;
      v_next_month timestamptz :=
        (date_trunc('month', now() AT TIME ZONE p_time_zone) + interval '1 month')
          AT TIME ZONE p_time_zone;
      v_ids text[]; v_members text[]; v_amounts bigint[]; v_count int;
      v_member_ids text[]; v_caps bigint[]; v_used bigint[]; v_added bigint[];
      v_known text[]; v_outcomes text[];
      v_available bigint; v_total bigint := 0;
      v_open boolean := false; i int; k int;
    BEGIN
      SELECT array_agg(x.id ORDER BY x.o), array_agg(x.member_id ORDER BY x.o),
             array_agg(x.amount ORDER BY x.o), count(*)
        INTO v_ids, v_members, v_amounts, v_count
        FROM (SELECT e ->> 'id' AS id, e ->> 'member_id' AS member_id,
                     (e ->> 'amount')::bigint AS amount, o
                FROM jsonb_array_elements(p_items) WITH ORDINALITY AS j(e, o)) x;

      INSERT INTO member_months (organization_id, member_id, month)
        SELECT m.organization_id, m.id, v_month FROM members m
         WHERE m.organization_id = p_organization AND m.id = ANY (v_members)
           AND NOT EXISTS (SELECT 1 FROM member_months mm
                            WHERE mm.organization_id = p_organization AND mm.member_id = m.id
                              AND mm.month = v_month)
         ORDER BY m.id
        ON CONFLICT DO NOTHING;

      SELECT array_agg(s.member_id), array_agg(s.monthly_cap), array_agg(s.used),
             array_agg(0::bigint)
        INTO v_member_ids, v_caps, v_used, v_added
        FROM (SELECT mm.member_id, m.monthly_cap, mm.held + mm.captured AS used
                FROM member_months mm
                JOIN members m
                  ON m.organization_id = mm.organization_id AND m.id = mm.member_id
               WHERE mm.organization_id = p_organization AND mm.month = v_month
                 AND mm.member_id = ANY (v_members)
               ORDER BY mm.member_id
                 FOR UPDATE OF mm) s;

      v_outcomes := array_fill(NULL::text, ARRAY[v_count]);
      FOR i IN 1 .. v_count LOOP
        k := array_position(v_member_ids, v_members[i]);
        IF k IS NULL THEN
          v_outcomes[i] := 'unknown_member';
        ELSIF v_caps[k] IS NOT NULL AND v_used[k] + v_amounts[i] > v_caps[k] THEN
          v_outcomes[i] := 'member_cap_exceeded';
        ELSE
          v_open := true;
        END IF;
      END LOOP;

      /* A cap refusal alone must not touch the row that everybody waits for. An id held before
         is recognised even when the member's room is used up by now. */
      SELECT array_agg(h.id) INTO v_known FROM holds h
       WHERE h.organization_id = p_organization AND h.id = ANY (v_ids);
      IF v_open THEN
        SELECT p.balance - p.held INTO STRICT v_available FROM pools p
         WHERE p.organization_id = p_organization FOR UPDATE;
        SELECT array_agg(h.id) INTO v_known FROM holds h
         WHERE h.organization_id = p_organization AND h.id = ANY (v_ids);
      END IF;

      FOR i IN 1 .. v_count LOOP
        k := array_position(v_member_ids, v_members[i]);
        IF v_ids[i] = ANY (v_known) THEN
          v_outcomes[i] := 'known';
        ELSIF v_outcomes[i] IS NOT NULL THEN
          CONTINUE;
        ELSIF v_caps[k] IS NOT NULL AND v_used[k] + v_added[k] + v_amounts[i] > v_caps[k] THEN
          v_outcomes[i] := 'member_cap_exceeded';
        ELSIF v_amounts[i] > v_available THEN
          v_outcomes[i] := 'insufficient_balance';
        ELSE
          v_outcomes[i] := 'held';
          v_known := v_known || v_ids[i];
          v_available := v_available - v_amounts[i];
          v_added[k] := v_added[k] + v_amounts[i];
          v_total := v_total + v_amounts[i];
        END IF;
      END LOOP;

      IF v_total > 0 THEN
        INSERT INTO holds (organization_id, id, member_id, month, amount, quote, job, expires_at)
          SELECT p_organization, e ->> 'id', e ->> 'member_id', v_month,
                 (e ->> 'amount')::bigint, e -> 'quote', e -> 'job',
                 now() + make_interval(secs => (e ->> 'ttl_seconds')::double precision)
            FROM jsonb_array_elements(p_items) WITH ORDINALITY AS j(e, o)
           WHERE v_outcomes[o] = 'held';

        INSERT INTO tasks (organization_id, id, member_id, key_id, model, channel_id, protocol,
                           listed_protocol, upstream_model, summary, submit_deadline, deadline)
          SELECT p_organization, e ->> 'id', e ->> 'member_id', t ->> 'key_id', t ->> 'model',
                 e -> 'job' ->> 'channel_id', e -> 'job' ->> 'protocol', t ->> 'listed_protocol',
                 e -> 'job' ->> 'upstream_model', t -> 'summary',
                 now() + make_interval(secs => (t ->> 'submit_seconds')::double precision),
                 now() + make_interval(secs => (e ->> 'ttl_seconds')::double precision)
            FROM jsonb_array_elements(p_items) WITH ORDINALITY AS j(e, o),
                 LATERAL (SELECT e -> 'task' AS t) x
           WHERE v_outcomes[o] = 'held' AND jsonb_typeof(t) = 'object';

        UPDATE member_months mm SET held = mm.held + u.added
          FROM unnest(v_member_ids, v_added) AS u(member_id, added)
         WHERE mm.organization_id = p_organization AND mm.month = v_month
           AND mm.member_id = u.member_id AND u.added > 0;

        UPDATE pools p SET held = p.held + v_total WHERE p.organization_id = p_organization;
      END IF;

      FOR i IN 1 .. v_count LOOP
        k := array_position(v_member_ids, v_members[i]);
        id := v_ids[i];
        outcome := v_outcomes[i];
        available := v_available;
        cap := v_caps[k];
        used := v_used[k] + v_added[k];
        cap_ends_at := v_next_month;
        RETURN NEXT;
      END LOOP;
    END $$`

  /*
   * Items: [{id, charge, by, usage, task, orphan}]. A null charge releases the whole hold; a
   * positive one is charged in full, also above the hold. The first close of a hold wins; later
   * ones change nothing and get the stored outcome.
   */
  yield* sql`
    CREATE FUNCTION close_holds(p_organization text, p_items jsonb)
    RETURNS TABLE (id text, won boolean, state text, captured bigint, overage bigint)
    LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    DECLARE
      v_ids text[]; v_item jsonb; v_hold holds; v_charge bigint; v_task jsonb; v_usage jsonb;
      v_orphan jsonb; v_released bigint := 0; v_captured bigint := 0;
    BEGIN
      SELECT array_agg(e ->> 'id') INTO v_ids FROM jsonb_array_elements(p_items) AS e;

      PERFORM 1 FROM holds h
        WHERE h.organization_id = p_organization AND h.id = ANY (v_ids)
        ORDER BY h.id FOR UPDATE;
      PERFORM 1 FROM member_months mm
        WHERE mm.organization_id = p_organization
          AND (mm.member_id, mm.month) IN (
            SELECT h.member_id, h.month FROM holds h
             WHERE h.organization_id = p_organization AND h.id = ANY (v_ids)
               AND h.state = 'open')
        ORDER BY mm.member_id, mm.month FOR UPDATE;

      FOR v_item IN SELECT e FROM jsonb_array_elements(p_items) AS e LOOP
        SELECT h.* INTO STRICT v_hold FROM holds h
         WHERE h.organization_id = p_organization AND h.id = v_item ->> 'id';
        won := v_hold.state = 'open';
        IF won THEN
          v_charge := (v_item ->> 'charge')::bigint;
          IF v_charge <= 0 THEN RAISE EXCEPTION 'a charge is greater than 0'; END IF;

          UPDATE holds h
             SET state = CASE WHEN v_charge IS NULL THEN 'released' ELSE 'captured' END,
                 captured = coalesce(v_charge, 0), closed_at = now(), closed_by = v_item ->> 'by'
           WHERE h.organization_id = p_organization AND h.id = v_hold.id
          RETURNING h.* INTO v_hold;
          UPDATE member_months mm
             SET held = mm.held - v_hold.amount, captured = mm.captured + v_hold.captured
           WHERE mm.organization_id = p_organization AND mm.member_id = v_hold.member_id
             AND mm.month = v_hold.month;
          v_released := v_released + v_hold.amount;
          v_captured := v_captured + v_hold.captured;

          IF v_charge IS NOT NULL THEN
            INSERT INTO transfers (organization_id, kind, debit, credit, amount, hold_id)
            VALUES (p_organization, 'capture', 'pool', 'revenue', v_charge, v_hold.id);
            v_usage := v_item -> 'usage';
            INSERT INTO usage_records (organization_id, id, member_id, key_id, hold_id, task_id,
                                       model, modality, input, output, unit, unit_price, charge,
                                       basis)
            VALUES (p_organization, v_usage ->> 'id', v_hold.member_id, v_usage ->> 'key_id',
                    v_hold.id, v_usage ->> 'task_id', v_usage ->> 'model',
                    v_usage ->> 'modality', (v_usage ->> 'input')::bigint,
                    (v_usage ->> 'output')::bigint, v_usage ->> 'unit',
                    (v_usage ->> 'unit_price')::bigint, v_charge, v_usage ->> 'basis');
          END IF;

          v_task := v_item -> 'task';
          IF jsonb_typeof(v_task) = 'object' THEN
            UPDATE tasks t
               SET state = v_task ->> 'state', video_url = v_task ->> 'video_url',
                   completion_tokens = (v_task ->> 'completion_tokens')::bigint,
                   error_code = v_task ->> 'error_code',
                   error_message = v_task ->> 'error_message',
                   next_poll_at = NULL, finished_at = now()
             WHERE t.organization_id = p_organization AND t.id = v_hold.id
               AND t.state = v_task ->> 'from';
            IF NOT FOUND THEN
              RAISE EXCEPTION 'task % is not %', v_hold.id, v_task ->> 'from';
            END IF;
          END IF;

          v_orphan := v_item -> 'orphan';
          IF jsonb_typeof(v_orphan) = 'object' THEN
            INSERT INTO orphans (organization_id, hold_id, job, upstream_id, reason)
            VALUES (p_organization, v_hold.id, v_hold.job, v_orphan ->> 'upstream_id',
                    v_orphan ->> 'reason');
          END IF;
        END IF;
        id := v_hold.id;
        state := v_hold.state;
        captured := v_hold.captured;
        overage := v_hold.overage;
        RETURN NEXT;
      END LOOP;

      IF v_released > 0 THEN
        UPDATE pools p SET balance = p.balance - v_captured, held = p.held - v_released
         WHERE p.organization_id = p_organization;
      END IF;
    END $$`
})
