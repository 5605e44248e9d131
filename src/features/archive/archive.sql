-- Copies of results in the archive. A row is written in the transaction of a task's success, so
-- that no row is lost when a gateway is killed.
CREATE TABLE archives (
  organization_id text NOT NULL,
  task_id text COLLATE "C" NOT NULL,
  -- A result that is being removed is not served; its row is deleted after its last file.
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'kept', 'failed', 'removing')),
  -- The time of the next attempt to copy or to remove the result.
  next_try_at timestamptz DEFAULT now(),
  tries integer NOT NULL DEFAULT 0,
  -- The number of the claim; a write must name it, so that a write of an old claim cannot overwrite
  -- a newer one.
  lease bigint NOT NULL DEFAULT 0,
  -- The files in order, each {bytes, sha256, contentType}.
  files jsonb,
  -- The reason why the last try failed.
  reason text,
  created_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz,
  PRIMARY KEY (organization_id, task_id),
  CHECK ((state IN ('waiting', 'removing')) = (next_try_at IS NOT NULL)),
  CHECK ((state = 'waiting') = (ended_at IS NULL)),
  CHECK ((state = 'kept') = (files IS NOT NULL))
);
CREATE INDEX archives_due ON archives (next_try_at) WHERE state = 'waiting';
CREATE INDEX archives_removed ON archives (next_try_at) WHERE state = 'removing';
CREATE INDEX archives_kept ON archives (ended_at) WHERE state = 'kept';

CREATE FUNCTION archive_result() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF new.state <> 'succeeded' THEN
    INSERT INTO archives (organization_id, task_id, state, next_try_at, ended_at)
    VALUES (new.organization_id, new.id, 'removing', now() + interval '10 minutes', now());
  ELSIF new.files IS NULL THEN
    INSERT INTO archives (organization_id, task_id) VALUES (new.organization_id, new.id);
  ELSE
    INSERT INTO archives (organization_id, task_id, state, next_try_at, ended_at, files)
    VALUES (new.organization_id, new.id, 'kept', NULL, now(), new.files);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER tasks_archived AFTER UPDATE ON tasks FOR EACH ROW
  WHEN (new.is_archived AND old.state <> 'succeeded' AND new.state = 'succeeded')
  EXECUTE FUNCTION archive_result();
-- A failed task of images or speech may have files in the archive: those of a gateway that was killed, or of a
-- gateway that missed the deadline and is still uploading.
CREATE TRIGGER tasks_not_archived AFTER UPDATE ON tasks FOR EACH ROW
  WHEN (new.is_archived AND old.state = 'submitting' AND new.state IN ('rejected', 'failed')
        AND new.id NOT LIKE 'vt!_%' ESCAPE '!')
  EXECUTE FUNCTION archive_result();

-- Erases an ended task: its addresses, its result, the vendor's error message, the log of its
-- calls, its stored answer, and its files in the archive. The task's order remains without the
-- vendor's messages, and so do the books. Returns whether there is such a task; a repeat changes
-- nothing. A copy may still be running until its claim has expired, so the files are removed after
-- that.
CREATE FUNCTION erase_task(p_organization text, p_id text, p_lease interval) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  erased CONSTANT timestamptz := now();
  after_lease CONSTANT timestamptz := now() + p_lease;
BEGIN
  PERFORM FROM pools p WHERE p.organization_id = p_organization FOR UPDATE;
  UPDATE tasks t
     SET erased_at = erased,
         video_url = CASE WHEN t.video_url IS NOT NULL THEN '' END,
         stills = NULL,
         result = CASE WHEN t.result IS NOT NULL THEN '{}' END,
         error_message = CASE WHEN t.error_message IS NOT NULL THEN '' END
   WHERE t.organization_id = p_organization AND t.id = p_id
     AND t.finished_at IS NOT NULL AND t.erased_at IS NULL;
  IF NOT FOUND THEN
    RETURN EXISTS (SELECT FROM tasks t WHERE t.organization_id = p_organization AND t.id = p_id
                                         AND t.erased_at IS NOT NULL);
  END IF;
  UPDATE orders o
     SET failure = o.failure || '{"message": null, "vendorMessage": null}',
         refusals = (SELECT jsonb_agg(r - 'message') FROM jsonb_array_elements(o.refusals) r)
   WHERE o.organization_id = p_organization AND o.id = p_id
     AND (o.failure IS NOT NULL OR o.refusals IS NOT NULL);
  DELETE FROM upstream_calls c WHERE c.organization_id = p_organization AND c.job_id = p_id;
  UPDATE idempotency_keys k SET answer = NULL
   WHERE k.organization_id = p_organization AND k.order_id = p_id;
  UPDATE archives a
     SET state = 'removing', files = NULL, ended_at = erased,
         next_try_at = CASE WHEN a.state = 'waiting' THEN after_lease ELSE erased END
   WHERE a.organization_id = p_organization AND a.task_id = p_id AND a.state <> 'removing';
  RETURN true;
END $$;

-- Deletes tasks of an organisation's sealed months, the oldest first and at most `p_most`, and
-- returns the number of deleted tasks, which nobody can read afterwards. The orders of the tasks
-- remain, since the books are computed from the orders. A task with a file in the archive stays
-- until the file is removed, and a task with an open orphan until the orphan is resolved.
CREATE FUNCTION drop_closed_tasks(p_organization text, p_most int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  closed text[];
BEGIN
  SELECT array_agg(c.id) INTO closed FROM (
    SELECT t.id FROM tasks t
     WHERE t.organization_id = p_organization AND t.finished_at IS NOT NULL
       AND EXISTS (SELECT FROM orders o
                    WHERE o.organization_id = p_organization AND o.id = t.id AND o.state <> 'open'
                      AND o.month <= (SELECT max(s.month) FROM sealed_months s
                                       WHERE s.organization_id = p_organization))
       AND NOT EXISTS (SELECT FROM archives a
                        WHERE a.organization_id = p_organization AND a.task_id = t.id)
       AND NOT EXISTS (SELECT FROM orphans n
                        WHERE n.organization_id = p_organization AND n.order_id = t.id
                          AND NOT n.is_resolved)
     ORDER BY t.id LIMIT p_most) c;
  DELETE FROM tasks t WHERE t.organization_id = p_organization AND t.id = ANY (closed);
  RETURN coalesce(cardinality(closed), 0);
END $$;
