-- The logs of vendor calls and of administrative writes, the rows that gateways write to test the
-- database, and the rules of migrations for older gateways.

-- Vendor calls, except the call that made an image or a text, which is stored with its order
-- (`orders.call`). There is no foreign key: a lost or late row here must never block a movement of
-- money. Each day (UTC) is a partition, so that retention drops tables instead of deleting rows.
CREATE TABLE upstream_calls (
  organization_id text NOT NULL,
  -- Id of a task, or of an image or text request.
  job_id text NOT NULL,
  started_at timestamptz NOT NULL,
  id text NOT NULL,
  channel_id text NOT NULL,
  purpose text NOT NULL CHECK (purpose IN ('submit', 'poll', 'cancel', 'image', 'text')),
  method text NOT NULL,
  url text NOT NULL,
  status int,
  failure text,
  -- Consecutive polls with the same outcome share one row: `duration_ms` and `answer` are those of
  -- the newest poll.
  duration_ms int NOT NULL,
  request jsonb,
  answer jsonb,
  -- The number of repeats of the first call, and the time of the newest call.
  repeats int NOT NULL DEFAULT 0,
  last_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, job_id, started_at, id)
) PARTITION BY RANGE (started_at);
CREATE INDEX upstream_calls_by_started ON upstream_calls (started_at);
-- The default partition, for calls of days that have no partition: the clock of a gateway was
-- wrong, or no gateway ran for a week.
CREATE TABLE upstream_calls_other PARTITION OF upstream_calls DEFAULT WITH (fillfactor = 80);

-- Drops the partitions of days whose calls are all older than `p_kept`, and creates the partitions
-- from today to `p_ahead` days ahead. Calls that were stored before the partition of their day
-- existed move into it. Changes nothing while another gateway runs this function. Partitions are
-- dropped before others are created, since a drop after a creation could deadlock with an insert.
-- The insert has locked the parent table, for which the drop waits; and the insert waits for the
-- default partition, which this function locks to create the partition of a day.
CREATE FUNCTION turn_call_days(p_kept interval, p_ahead int) RETURNS void LANGUAGE plpgsql
SET timezone = 'UTC'
AS $$
DECLARE
  day date; name text;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7263002) THEN RETURN; END IF;
  FOR name IN
    SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'upstream_calls'::regclass AND c.relname ~ '_[0-9]{8}$'
       AND to_date(right(c.relname, 8), 'YYYYMMDD') + 1 <= now() - p_kept
  LOOP
    EXECUTE format('DROP TABLE %I', name);
  END LOOP;
  FOR day IN SELECT current_date + n FROM generate_series(0, p_ahead) AS n LOOP
    name := 'upstream_calls_' || to_char(day, 'YYYYMMDD');
    CONTINUE WHEN to_regclass(name) IS NOT NULL;
    EXECUTE format('CREATE TABLE %I (LIKE upstream_calls INCLUDING ALL) WITH (fillfactor = 80)', name);
    LOCK TABLE upstream_calls_other IN ACCESS EXCLUSIVE MODE;
    EXECUTE format('WITH late AS (DELETE FROM upstream_calls_other
                                   WHERE started_at >= %L AND started_at < %L RETURNING *)
                    INSERT INTO %I SELECT * FROM late', day, day + 1, name);
    EXECUTE format('ALTER TABLE upstream_calls ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                   name, day, day + 1);
  END LOOP;
END $$;
SELECT turn_call_days('1 day', 7);

CREATE TABLE admin_audit (
  -- A prefix and a UUIDv7, so that ids are ordered by time.
  id text COLLATE "C" PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  action text NOT NULL,
  subject_id text,
  -- The fields of the request, without secrets; null where the body could not be read.
  fields jsonb,
  request_id text NOT NULL,
  status int NOT NULL,
  -- Null where the writer used GATEWAY_ADMIN_TOKEN instead of an operator's own token.
  operator_id text,
  operator_name text NOT NULL
);
CREATE INDEX admin_audit_by_operator ON admin_audit (operator_id, id);
CREATE INDEX admin_audit_by_action ON admin_audit (action, id);
CREATE INDEX admin_audit_by_subject ON admin_audit (subject_id, id);

CREATE TABLE gateway_writes (
  -- Each gateway chooses a slot at random; several gateways may share a slot.
  slot integer PRIMARY KEY,
  written_at timestamptz NOT NULL
) WITH (fillfactor = 20);

-- The number of changes of each topic, by which gateways know when to read again what they cache.
CREATE TABLE change_counts (
  topic text PRIMARY KEY,
  changes bigint NOT NULL
);

-- Whether gateways that do not know a migration may keep serving.
CREATE TABLE migration_rules (
  migration_id integer PRIMARY KEY,
  older_gateways text NOT NULL CHECK (older_gateways IN ('serve', 'stop'))
);
