/** What the operator reads: calls to vendors, orphans that were seen to, and administrative writes. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const createUpstreamCalls = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // No foreign key: a lost or late row here must never stand in the way of money.
  yield* sql`
    CREATE TABLE upstream_calls (
      organization_id text NOT NULL,
      /* Task id or image request id. */
      job_id text NOT NULL,
      started_at timestamptz NOT NULL,
      id text NOT NULL,
      purpose text NOT NULL CHECK (purpose IN ('submit', 'poll', 'image')),
      method text NOT NULL,
      url text NOT NULL,
      status int,
      failure text,
      /* What consecutive polls must agree on to be kept as one. */
      outcome text NOT NULL,
      /* Of the newest call, like the answer. */
      duration_ms int NOT NULL,
      request jsonb,
      answer jsonb,
      /* How often the same end came again, and when it did last. */
      repeats int NOT NULL DEFAULT 0,
      last_at timestamptz NOT NULL,
      PRIMARY KEY (organization_id, job_id, started_at, id)
    ) WITH (fillfactor = 80)`
  yield* sql`CREATE INDEX upstream_calls_by_started ON upstream_calls (started_at)`

  /*
   * Items: [{organization_id, job_id, id, purpose, method, url, status, failure, outcome,
   * started_at, duration_ms, request, answer}], each job's in the order of their starts.
   */
  yield* sql`
    CREATE FUNCTION log_calls(p_items jsonb) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
      v_item jsonb; v_call upstream_calls; v_last upstream_calls;
    BEGIN
      FOR v_item IN SELECT e FROM jsonb_array_elements(p_items) AS e LOOP
        v_call := jsonb_populate_record(NULL::upstream_calls, v_item);
        SELECT c.* INTO v_last FROM upstream_calls c
         WHERE c.organization_id = v_call.organization_id AND c.job_id = v_call.job_id
         ORDER BY c.started_at DESC, c.id DESC LIMIT 1;
        IF v_call.purpose = 'poll' AND v_last.purpose = 'poll'
           AND v_last.outcome = v_call.outcome THEN
          UPDATE upstream_calls c
             SET repeats = c.repeats + 1, last_at = greatest(c.last_at, v_call.started_at),
                 duration_ms = v_call.duration_ms, answer = v_call.answer
           WHERE c.organization_id = v_last.organization_id AND c.job_id = v_last.job_id
             AND c.started_at = v_last.started_at AND c.id = v_last.id;
        ELSE
          INSERT INTO upstream_calls (organization_id, job_id, started_at, id, purpose, method,
                                      url, status, failure, outcome, duration_ms, request,
                                      answer, last_at)
          VALUES (v_call.organization_id, v_call.job_id, v_call.started_at, v_call.id,
                  v_call.purpose, v_call.method, v_call.url, v_call.status, v_call.failure,
                  v_call.outcome, v_call.duration_ms, v_call.request, v_call.answer,
                  v_call.started_at)
          ON CONFLICT DO NOTHING;
        END IF;
      END LOOP;
    END $$`

  yield* sql`ALTER TABLE orphans ADD COLUMN resolved_at timestamptz, ADD COLUMN note text`
  yield* sql`CREATE INDEX orphans_by_created ON orphans (created_at, hold_id)`

  yield* sql`
    CREATE TABLE admin_audit (
      id text PRIMARY KEY,
      at timestamptz NOT NULL DEFAULT now(),
      action text NOT NULL,
      subject_id text,
      /* What was asked for, without secrets. */
      fields jsonb,
      request_id text NOT NULL,
      status int NOT NULL
    )`
})
