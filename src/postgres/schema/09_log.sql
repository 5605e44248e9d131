-- What the operator reads: calls to vendors and administrative writes; and where gateways prove that
-- the database can be written, and what migrations mean for older ones.

-- The call that made an image or a text stands on its order (`orders.call`) and not here.
-- No foreign key: a lost or late row here must never stand in the way of money.
CREATE TABLE upstream_calls (
  organization_id text NOT NULL,
  -- Id of a task, or of an image or text request.
  job_id text NOT NULL,
  started_at timestamptz NOT NULL,
  id text NOT NULL,
  channel_id text NOT NULL,
  purpose text NOT NULL CHECK (purpose IN ('submit', 'poll', 'image', 'text')),
  method text NOT NULL,
  url text NOT NULL,
  status int,
  failure text,
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

CREATE TABLE admin_audit (
  -- A prefix and a UUIDv7: in order of time.
  id text COLLATE "C" PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  action text NOT NULL,
  subject_id text,
  -- What was asked for, without secrets.
  fields jsonb,
  request_id text NOT NULL,
  status int NOT NULL,
  -- Null where the token of the configuration was used.
  operator_id text,
  operator_name text NOT NULL
);
CREATE INDEX admin_audit_by_operator ON admin_audit (operator_id, id);
CREATE INDEX admin_audit_by_action ON admin_audit (action, id);
CREATE INDEX admin_audit_by_subject ON admin_audit (subject_id, id);

CREATE TABLE gateway_writes (
  -- A gateway takes one by chance; several may share it.
  slot integer PRIMARY KEY,
  written_at timestamptz NOT NULL
) WITH (fillfactor = 20);

-- What each migration means for gateways that do not know it: whether they serve on beside it.
CREATE TABLE migration_rules (
  migration_id integer PRIMARY KEY,
  older_gateways text NOT NULL CHECK (older_gateways IN ('serve', 'stop'))
);
