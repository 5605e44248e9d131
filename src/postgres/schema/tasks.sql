-- Tasks: videos, which are polled, and images and speech made after the client got its answer. Orphans:
-- orders whose outcome at the vendor is unknown.

CREATE TABLE tasks (
  organization_id text NOT NULL,
  -- The id of the task's order.
  id text COLLATE "C" NOT NULL,
  member_id text NOT NULL,
  model text NOT NULL,
  channel_id text NOT NULL,
  protocol text NOT NULL,
  -- The protocol that the catalog lists the model under. If it is a relay's protocol, the model
  -- family depends on it.
  listed_protocol text NOT NULL,
  upstream_model text NOT NULL,
  -- A summary of the order, without prompt and media.
  summary jsonb NOT NULL,
  -- The task's callback address, in addition to the webhook endpoints of the organisation.
  callback_url text,
  -- Whether results are copied into the archive.
  is_archived boolean NOT NULL DEFAULT false,
  -- The API through which the task was ordered: our own, or OpenAI's videos.
  dialect text NOT NULL DEFAULT 'own' CHECK (dialect IN ('own', 'openai')),
  state text NOT NULL DEFAULT 'submitting'
    CHECK (state IN ('waiting', 'submitting', 'processing', 'succeeded', 'failed', 'rejected')),
  -- Whether the task was ordered while its channel was full, so that its client has its id already.
  is_queued boolean NOT NULL DEFAULT false,
  upstream_id text,
  -- The version of the channel's account, and the name of its key, with which the task was created.
  account_version integer,
  key_name text,
  video_url text,
  -- The pictures beside a video: {lastFrameUrl, coverUrl}; null where there is none.
  stills jsonb,
  -- The answer to the client of an image task, as JSON; empty for speech.
  result text,
  -- The files of a task that are in the archive already, in the format of `archives.files`.
  files jsonb,
  completion_tokens bigint CHECK (completion_tokens > 0),
  error_code text,
  error_message text,
  created_at timestamptz NOT NULL DEFAULT now(),
  submit_deadline timestamptz NOT NULL,
  deadline timestamptz NOT NULL,
  accepted_at timestamptz,
  next_poll_at timestamptz,
  asked_at timestamptz,
  -- The number of claims so far. A write names the claim that it belongs to (fencing token). Of
  -- images, the number of calls to the vendor that have begun.
  lease bigint NOT NULL DEFAULT 0,
  unknown_since timestamptz,
  -- When a gateway last sent the vendor a request to cancel the task.
  cancel_sent_at timestamptz,
  finished_at timestamptz,
  -- When the owner deleted the task: its results and texts are then erased, while its order and its
  -- charge remain.
  erased_at timestamptz,
  PRIMARY KEY (organization_id, id),
  CHECK ((state = 'processing') = (next_poll_at IS NOT NULL)),
  CHECK (state <> 'processing' AND video_url IS NULL
         OR (upstream_id, account_version, key_name) IS NOT NULL),
  CHECK ((state = 'succeeded') = (num_nonnulls(video_url, result) = 1)),
  CHECK ((state IN ('failed', 'rejected')) = (error_code IS NOT NULL)),
  CHECK ((state IN ('waiting', 'submitting', 'processing')) = (finished_at IS NULL)),
  CHECK (erased_at IS NULL OR finished_at IS NOT NULL)
  -- Every poll updates its task twice in the index of due tasks; frequent vacuums keep reads of the
  -- start of that index fast.
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
-- The tasks of each channel by due time: a claim takes the first tasks of every channel.
CREATE INDEX tasks_due_by_channel ON tasks (channel_id, next_poll_at) WHERE state = 'processing';
CREATE INDEX tasks_submitting ON tasks (submit_deadline) WHERE state = 'submitting';
CREATE INDEX tasks_waiting ON tasks (submit_deadline) WHERE state = 'waiting';
CREATE INDEX tasks_by_id ON tasks (id);
-- For lists of a member's own tasks: ids of one kind share a prefix, which is followed by the time.
CREATE INDEX tasks_by_member ON tasks (organization_id, member_id, id);
-- For look-ups by the vendor's id.
CREATE INDEX tasks_by_upstream ON tasks (upstream_id, id) WHERE upstream_id IS NOT NULL;

-- Vendor jobs, each with the one order that it is charged to. Unique over all organisations, since
-- a vendor may answer orders of two organisations with the same job; never deleted, since a vendor
-- may repeat an id much later.
CREATE TABLE vendor_jobs (
  channel_id text COLLATE "C" NOT NULL,
  -- The origin of the base address, since another vendor behind the same channel issues its own
  -- ids.
  origin text COLLATE "C" NOT NULL,
  upstream_id text COLLATE "C" NOT NULL,
  order_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (channel_id, origin, upstream_id)
);

-- Stores vendors' acceptances of tasks. The arrays have one element for each acceptance, sorted in the
-- order in which the ledger locks tasks. The outcomes are `accepted`, `given_up` (the task has ended
-- or has another job), `duplicate` (another order has the job) and null (there is no such task).
CREATE FUNCTION accept_tasks(
  p_organization text, p_organizations text[], p_ids text[], p_upstream_ids text[],
  p_origins text[], p_account_versions int[], p_key_names text[], p_seconds double precision[])
RETURNS text[] LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
DECLARE
  channel_ids text[]; are_fresh boolean[]; are_repeated boolean[];
  are_taken boolean[] := array_fill(false, ARRAY[cardinality(p_ids)]);
  next_polls CONSTANT timestamptz[] := ARRAY(
    SELECT now() + make_interval(secs => s.seconds)
      FROM unnest(p_seconds) WITH ORDINALITY AS s(seconds, place) ORDER BY s.place);
  job record;
BEGIN
  -- The rows are locked, so their latest committed state is read. That state shows whether an
  -- acceptance is a repeat, whose first answer was lost, or came too late.
  SELECT array_agg(t.channel_id ORDER BY i.place),
         array_agg(t.state = 'submitting' ORDER BY i.place),
         array_agg(coalesce(t.upstream_id = i.upstream_id, false) ORDER BY i.place)
    INTO channel_ids, are_fresh, are_repeated
    FROM unnest(p_organizations, p_ids, p_upstream_ids)
           WITH ORDINALITY AS i(organization_id, id, upstream_id, place)
    LEFT JOIN LATERAL (
      SELECT r.channel_id, r.state, r.upstream_id FROM tasks r
       WHERE r.organization_id = i.organization_id AND r.id = i.id
         AND (p_organization IS NULL OR r.organization_id = p_organization) FOR UPDATE) t ON true;
  -- Every gateway inserts in the same order, so that two of them cannot deadlock.
  FOR job IN
    SELECT * FROM unnest(channel_ids, p_origins, p_upstream_ids, p_ids, are_fresh)
                    WITH ORDINALITY AS j(channel_id, origin, upstream_id, order_id, is_fresh, place)
     WHERE j.is_fresh
     ORDER BY j.channel_id COLLATE "C", j.origin COLLATE "C", j.upstream_id COLLATE "C", j.place
  LOOP
    INSERT INTO vendor_jobs (channel_id, origin, upstream_id, order_id)
    VALUES (job.channel_id, job.origin, job.upstream_id, job.order_id) ON CONFLICT DO NOTHING;
    are_taken[job.place] := FOUND;
  END LOOP;
  UPDATE tasks t
     SET state = 'processing', upstream_id = a.upstream_id, account_version = a.account_version,
         key_name = a.key_name, asked_at = now(), accepted_at = now(),
         next_poll_at = a.next_poll_at
    FROM unnest(p_organizations, p_ids, p_upstream_ids, p_account_versions, p_key_names, next_polls,
                are_taken)
           AS a(organization_id, id, upstream_id, account_version, key_name, next_poll_at, is_taken)
   WHERE t.organization_id = a.organization_id AND t.id = a.id AND a.is_taken
     AND (p_organization IS NULL OR t.organization_id = p_organization);
  RETURN (
    SELECT array_agg(CASE WHEN o.is_taken THEN 'accepted' WHEN o.is_fresh THEN 'duplicate'
                          WHEN o.is_repeated THEN 'accepted' WHEN NOT o.is_fresh THEN 'given_up' END
                     ORDER BY o.place)
      FROM unnest(are_fresh, are_repeated, are_taken)
             WITH ORDINALITY AS o(is_fresh, is_repeated, is_taken, place));
END $$;

-- Pauses of polling that vendors asked for (Retry-After); they apply to every gateway.
CREATE TABLE channel_pauses (
  channel_id text PRIMARY KEY,
  until timestamptz NOT NULL
);

-- Orders that the vendor may have executed and billed. They are never sent again; an operator
-- resolves them.
CREATE TABLE orphans (
  organization_id text NOT NULL,
  order_id text COLLATE "C" NOT NULL,
  -- Channel, protocol and upstream model of the job.
  job jsonb NOT NULL,
  upstream_id text,
  reason text NOT NULL,
  -- The unusable answer {status, bytes, sha256, requestId}; null where there was none.
  answer jsonb,
  -- The vendor-reported usage {input, output}, where the charge is not based on it; null for
  -- orphans with another reason.
  usage jsonb,
  created_at timestamptz NOT NULL DEFAULT now(),
  resolved_at timestamptz,
  is_resolved boolean GENERATED ALWAYS AS (resolved_at IS NOT NULL) STORED,
  note text,
  PRIMARY KEY (organization_id, order_id),
  FOREIGN KEY (organization_id, order_id) REFERENCES orders (organization_id, id)
);
CREATE INDEX orphans_by_order ON orphans (order_id);
-- Few orphans are open while many may be resolved, so the index of each list starts with
-- `is_resolved`.
CREATE INDEX orphans_by_created ON orphans (is_resolved, created_at, order_id);
CREATE INDEX orphans_by_organization ON orphans (is_resolved, organization_id, created_at, order_id);
CREATE INDEX orphans_by_channel ON orphans (is_resolved, (job ->> 'channelId'), created_at, order_id);
CREATE INDEX orphans_by_reason ON orphans (is_resolved, reason, created_at, order_id);

-- Returns the open orders of an organisation, or all where it is null, through the indexes of recent
-- orders, lingering orders and unfinished tasks, even where a table was never analysed.
CREATE FUNCTION open_orders(p_organization text) RETURNS SETOF orders LANGUAGE plpgsql STABLE
SET enable_seqscan = off
AS $$
DECLARE
  settled CONSTANT timestamptz := (SELECT before FROM orders_settled);
BEGIN
  RETURN QUERY
    SELECT o.* FROM orders o
     WHERE o.created_at >= settled AND o.state = 'open'
       AND (p_organization IS NULL OR o.organization_id = p_organization);
  RETURN QUERY
    SELECT o.*
      FROM (SELECT l.organization_id, l.id FROM lingering_orders l
             WHERE p_organization IS NULL OR l.organization_id = p_organization
            UNION SELECT t.organization_id, t.id FROM tasks t
             WHERE t.state = 'waiting'
               AND (p_organization IS NULL OR t.organization_id = p_organization)
            UNION SELECT t.organization_id, t.id FROM tasks t
             WHERE t.state = 'submitting'
               AND (p_organization IS NULL OR t.organization_id = p_organization)
            UNION SELECT t.organization_id, t.id FROM tasks t
             WHERE t.state = 'processing'
               AND (p_organization IS NULL OR t.organization_id = p_organization)) k
     CROSS JOIN LATERAL (
       SELECT * FROM orders r
        WHERE r.organization_id = k.organization_id AND r.id = k.id
          AND (p_organization IS NULL OR r.organization_id = p_organization) OFFSET 0) o
     WHERE o.created_at < settled AND o.state = 'open';
END $$;

-- Advances the time in `orders_settled` towards `p_age` ago, by at most `p_step`. Adds the open
-- orders without a task that were created in this step to `lingering_orders`. Returns the number of
-- seconds that the time is then still behind. If the database's clock was set back, the time goes
-- back too; orders in a step that is repeated are in `lingering_orders` already.
CREATE FUNCTION settle_orders(p_age interval, p_step interval) RETURNS double precision
LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
DECLARE
  was timestamptz;
  becomes timestamptz;
BEGIN
  -- A separate statement, so that the next one sees the rows that were committed while this one
  -- waited.
  SELECT before INTO STRICT was FROM orders_settled FOR UPDATE;
  becomes := least(now() - p_age, was + p_step);
  INSERT INTO lingering_orders (organization_id, id)
    SELECT o.organization_id, o.id FROM orders o
     WHERE o.created_at >= was AND o.created_at < becomes AND o.state = 'open'
       AND NOT EXISTS (SELECT 1 FROM tasks t
                        WHERE t.organization_id = o.organization_id AND t.id = o.id)
    ON CONFLICT DO NOTHING;
  UPDATE orders_settled SET before = becomes;
  RETURN extract(epoch FROM now() - p_age - becomes);
END $$;

-- Returns the open orders without a task that were created more than `p_shortest` ago, including
-- all open lingering orders. Closed orders are deleted from `lingering_orders`.
CREATE FUNCTION left_orders(p_shortest interval)
RETURNS TABLE (organization_id text, id text, expires_at timestamptz) LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY WITH lingering AS MATERIALIZED (
    SELECT l.organization_id, l.id, o.expires_at, o.state
      FROM lingering_orders l
     CROSS JOIN LATERAL (SELECT r.expires_at, r.state FROM orders r
                          WHERE r.organization_id = l.organization_id AND r.id = l.id OFFSET 0) o
  ), ended AS (
    DELETE FROM lingering_orders l USING lingering e
     WHERE l.organization_id = e.organization_id AND l.id = e.id AND e.state <> 'open'
  )
  SELECT l.organization_id, l.id, l.expires_at FROM lingering l WHERE l.state = 'open'
  UNION
  SELECT o.organization_id, o.id, o.expires_at FROM orders o
   WHERE o.created_at >= (SELECT before FROM orders_settled)
     AND o.created_at <= now() - p_shortest AND o.state = 'open'
     AND NOT EXISTS (SELECT 1 FROM tasks t
                      WHERE t.organization_id = o.organization_id AND t.id = o.id);
END $$;

-- Moves an open order, and its task, to another channel after the previous channel produced
-- nothing; the task is then one whose vendor was not called. Returns whether the order is open; a
-- repeat changes nothing. Runs under the lock of the pool, as every change of an order does.
CREATE FUNCTION reassign_order(
  p_organization text, p_id text, p_job jsonb, p_cost_quote jsonb, p_refusal jsonb)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM pools p WHERE p.organization_id = p_organization FOR UPDATE;
  UPDATE orders o
     SET job = p_job, cost_quote = p_cost_quote,
         refusals = coalesce(o.refusals, '[]') || (o.job || p_refusal || jsonb_build_object('at', now()))
   WHERE o.organization_id = p_organization AND o.id = p_id AND o.state = 'open'
     AND o.job <> p_job;
  UPDATE tasks t
     SET channel_id = p_job ->> 'channelId', protocol = p_job ->> 'protocol',
         upstream_model = p_job ->> 'upstreamModel', lease = 0
   WHERE t.organization_id = p_organization AND t.id = p_id AND t.state = 'submitting';
  RETURN EXISTS (SELECT FROM orders o
                  WHERE o.organization_id = p_organization AND o.id = p_id AND o.state = 'open');
END $$;

-- Begins the submit of a task that has waited for a place at its channel. Its deadlines count from
-- now on. Returns whether the task was waiting. Runs under the lock of the pool, as every change of
-- an order does.
CREATE FUNCTION start_waiting_task(
  p_organization text, p_id text, p_submit_seconds double precision, p_task_seconds double precision)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM pools p WHERE p.organization_id = p_organization FOR UPDATE;
  UPDATE tasks t
     SET state = 'submitting', submit_deadline = now() + make_interval(secs => p_submit_seconds),
         deadline = now() + make_interval(secs => p_task_seconds)
   WHERE t.organization_id = p_organization AND t.id = p_id AND t.state = 'waiting';
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  UPDATE orders o SET expires_at = now() + make_interval(secs => p_task_seconds)
   WHERE o.organization_id = p_organization AND o.id = p_id AND o.state = 'open';
  RETURN true;
END $$;
