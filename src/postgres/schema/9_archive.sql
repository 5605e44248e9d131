-- The archive: which results are copied into it. A row is written in the commit of a task's success,
-- so that none is forgotten when a gateway is killed.
CREATE TABLE archives (
  organization_id text NOT NULL,
  task_id text COLLATE "C" NOT NULL,
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'kept', 'failed')),
  next_try_at timestamptz DEFAULT now(),
  tries integer NOT NULL DEFAULT 0,
  -- Counts the claims; what is written back names the claim it belongs to.
  lease bigint NOT NULL DEFAULT 0,
  -- Of each file in its order {bytes, sha256, contentType}.
  files jsonb,
  -- Why the last try failed.
  reason text,
  created_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz,
  PRIMARY KEY (organization_id, task_id),
  CHECK ((state = 'waiting') = (next_try_at IS NOT NULL)),
  CHECK ((state = 'waiting') = (ended_at IS NULL)),
  CHECK ((state = 'kept') = (files IS NOT NULL))
);
CREATE INDEX archives_due ON archives (next_try_at) WHERE state = 'waiting';

CREATE FUNCTION archive_result() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO archives (organization_id, task_id) VALUES (new.organization_id, new.id);
  RETURN NULL;
END $$;
CREATE TRIGGER tasks_archived AFTER UPDATE ON tasks FOR EACH ROW
  WHEN (new.is_archived AND old.state <> 'succeeded' AND new.state = 'succeeded')
  EXECUTE FUNCTION archive_result();
