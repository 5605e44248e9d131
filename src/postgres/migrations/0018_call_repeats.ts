/** A logged call may stand for further ones with the same end. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const createCallRepeats = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  /*
   * Items: [{organization_id, job_id, id, purpose, method, url, status, failure, outcome,
   * started_at, duration_ms, request, answer, repeats, last_at}], each job's in the order of their
   * starts. One without `repeats` and `last_at` stands for itself alone.
   */
  yield* sql`
    CREATE OR REPLACE FUNCTION log_calls(p_items jsonb) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
      v_item jsonb; v_call upstream_calls; v_last upstream_calls;
    BEGIN
      FOR v_item IN SELECT e FROM jsonb_array_elements(p_items) AS e LOOP
        v_call := jsonb_populate_record(NULL::upstream_calls, v_item);
        v_call.repeats := coalesce(v_call.repeats, 0);
        v_call.last_at := coalesce(v_call.last_at, v_call.started_at);
        SELECT c.* INTO v_last FROM upstream_calls c
         WHERE c.organization_id = v_call.organization_id AND c.job_id = v_call.job_id
         ORDER BY c.started_at DESC, c.id DESC LIMIT 1;
        IF v_call.purpose = 'poll' AND v_last.purpose = 'poll'
           AND v_last.outcome = v_call.outcome THEN
          UPDATE upstream_calls c
             SET repeats = c.repeats + 1 + v_call.repeats,
                 last_at = greatest(c.last_at, v_call.last_at),
                 duration_ms = v_call.duration_ms, answer = v_call.answer
           WHERE c.organization_id = v_last.organization_id AND c.job_id = v_last.job_id
             AND c.started_at = v_last.started_at AND c.id = v_last.id;
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
