/** A logged call may stand for further ones with the same end. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const createCallRepeats = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  /*
   * Items: [{organization_id, job_id, id, purpose, method, url, status, failure, outcome,
   * started_at, duration_ms, request, answer, repeats, last_at}], each job's in the order of their
   * starts. One without `repeats` and `last_at` stands for itself alone. Only jobs that were polled
   * are gone through call by call, because a poll is merged into the call before it.
   */
  yield* sql`
    CREATE OR REPLACE FUNCTION log_calls(p_items jsonb) RETURNS void
    LANGUAGE plpgsql
    SET plan_cache_mode = force_generic_plan
    /* So that the last call of a job is looked for among its own calls alone. */
    SET enable_incremental_sort = off
    AS $$
    DECLARE
      v_call upstream_calls; v_purpose text; v_outcome text; v_started_at timestamptz; v_id text;
      v_polled text[];
    BEGIN
      SELECT array_agg(DISTINCT e ->> 'organization_id' || ' ' || (e ->> 'job_id')) INTO v_polled
        FROM jsonb_array_elements(p_items) AS e WHERE e ->> 'purpose' = 'poll';
      INSERT INTO upstream_calls (organization_id, job_id, started_at, id, purpose, method, url,
                                  status, failure, outcome, duration_ms, request, answer, repeats,
                                  last_at)
        SELECT c.organization_id, c.job_id, c.started_at, c.id, c.purpose, c.method, c.url,
               c.status, c.failure, c.outcome, c.duration_ms, c.request, c.answer,
               coalesce(c.repeats, 0), coalesce(c.last_at, c.started_at)
          FROM jsonb_populate_recordset(NULL::upstream_calls, p_items) AS c
         WHERE v_polled IS NULL OR c.organization_id || ' ' || c.job_id <> ALL (v_polled)
        ON CONFLICT DO NOTHING;
      IF v_polled IS NULL THEN RETURN; END IF;
      FOR v_call IN
        SELECT c.* FROM jsonb_populate_recordset(NULL::upstream_calls, p_items) AS c
         WHERE c.organization_id || ' ' || c.job_id = ANY (v_polled)
      LOOP
        v_call.repeats := coalesce(v_call.repeats, 0);
        v_call.last_at := coalesce(v_call.last_at, v_call.started_at);
        SELECT c.purpose, c.outcome, c.started_at, c.id
          INTO v_purpose, v_outcome, v_started_at, v_id
          FROM upstream_calls c
         WHERE c.organization_id = v_call.organization_id AND c.job_id = v_call.job_id
         ORDER BY c.started_at DESC, c.id DESC LIMIT 1;
        IF v_call.purpose = 'poll' AND v_purpose = 'poll' AND v_outcome = v_call.outcome THEN
          UPDATE upstream_calls c
             SET repeats = c.repeats + 1 + v_call.repeats,
                 last_at = greatest(c.last_at, v_call.last_at),
                 duration_ms = v_call.duration_ms, answer = v_call.answer
           WHERE c.organization_id = v_call.organization_id AND c.job_id = v_call.job_id
             AND c.started_at = v_started_at AND c.id = v_id;
        ELSE
          INSERT INTO upstream_calls (organization_id, job_id, started_at, id, purpose, method,
                                      url, status, failure, outcome, duration_ms, request,
                                      answer, repeats, last_at)
          VALUES (v_call.organization_id, v_call.job_id, v_call.started_at, v_call.id,
                  v_call.purpose, v_call.method, v_call.url, v_call.status, v_call.failure,
                  v_call.outcome, v_call.duration_ms, v_call.request, v_call.answer,
                  v_call.repeats, v_call.last_at)
          ON CONFLICT DO NOTHING;
        END IF;
      END LOOP;
    END $$`
})
