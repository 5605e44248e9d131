-- What the operator reads: calls to vendors and administrative writes; and where gateways prove that
-- the database can be written.

-- No foreign key: a lost or late row here must never stand in the way of money.
CREATE TABLE upstream_calls (
  organization_id text NOT NULL,
  -- Id of a task, or of an image or text request.
  job_id text NOT NULL,
  started_at timestamptz NOT NULL,
  id text NOT NULL,
  purpose text NOT NULL CHECK (purpose IN ('submit', 'poll', 'image', 'text')),
  method text NOT NULL,
  url text NOT NULL,
  status int,
  failure text,
  -- What consecutive polls must agree on to be kept as one.
  outcome text NOT NULL,
  -- Of the newest call, like the answer.
  duration_ms int NOT NULL,
  request jsonb,
  answer jsonb,
  -- How often the same end came again, and when it did last.
  repeats int NOT NULL DEFAULT 0,
  last_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, job_id, started_at, id)
) WITH (fillfactor = 80);
CREATE INDEX upstream_calls_by_started ON upstream_calls (started_at);

-- Writes the calls of jobs that are polled, each job's in the order of their starts, one by one: a
-- poll is merged into the poll before it when both ended alike. Items: [{organization_id, job_id, id,
-- purpose, method, url, status, failure, outcome, started_at, duration_ms, request, answer, repeats,
-- last_at}].
CREATE FUNCTION log_calls(p_items jsonb) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
-- So that the last call of a job is looked for among its own calls alone.
SET enable_incremental_sort = off
AS $$
DECLARE
  v_call upstream_calls;
  v_purpose text; v_outcome text; v_started_at timestamptz; v_id text;
BEGIN
  FOR v_call IN SELECT c.* FROM jsonb_populate_recordset(NULL::upstream_calls, p_items) AS c
  LOOP
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
      INSERT INTO upstream_calls SELECT v_call.* ON CONFLICT DO NOTHING;
    END IF;
  END LOOP;
END $$;

CREATE TABLE admin_audit (
  id text PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  action text NOT NULL,
  subject_id text,
  -- What was asked for, without secrets.
  fields jsonb,
  request_id text NOT NULL,
  status int NOT NULL
);

CREATE TABLE gateway_writes (
  -- A gateway takes one by chance; several may share it.
  slot integer PRIMARY KEY,
  written_at timestamptz NOT NULL
) WITH (fillfactor = 20);
