/**
 * Keeps with each task the protocol its model was listed under, which decides how a relay is asked
 * for it: the catalog may say something else by then. Tasks from before were called as listed.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const addListedProtocol = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`ALTER TABLE tasks ADD COLUMN listed_protocol text`
  yield* sql`UPDATE tasks SET listed_protocol = protocol`
  yield* sql`ALTER TABLE tasks ALTER COLUMN listed_protocol SET NOT NULL`

  // As before, but for the new column, which a gateway of the last version does not fill.
  yield* sql`
    CREATE OR REPLACE FUNCTION hold_funds(p_organization text, p_time_zone text, p_items jsonb)
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
        INSERT INTO holds (organization_id, id, member_id, month, amount, quote, expires_at)
          SELECT p_organization, e ->> 'id', e ->> 'member_id', v_month,
                 (e ->> 'amount')::bigint, e -> 'quote',
                 now() + make_interval(secs => (e ->> 'ttl_seconds')::double precision)
            FROM jsonb_array_elements(p_items) WITH ORDINALITY AS j(e, o)
           WHERE v_outcomes[o] = 'held';

        INSERT INTO tasks (organization_id, id, member_id, key_id, model, channel_id, protocol,
                           listed_protocol, upstream_model, summary, submit_deadline, deadline)
          SELECT p_organization, e ->> 'id', e ->> 'member_id', t ->> 'key_id', t ->> 'model',
                 t ->> 'channel_id', t ->> 'protocol',
                 coalesce(t ->> 'listed_protocol', t ->> 'protocol'),
                 t ->> 'upstream_model', t -> 'summary',
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
})
