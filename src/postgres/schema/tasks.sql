-- Tasks: videos, which are polled, and images generated after the client got its answer. Orphans: orders
-- whose outcome at the vendor is unknown.

CREATE TABLE tasks (
  organization_id text NOT NULL,
  -- The id of its order.
  id text COLLATE "C" NOT NULL,
  member_id text NOT NULL,
  model text NOT NULL,
  channel_id text NOT NULL,
  protocol text NOT NULL,
  -- The protocol that the catalog lists the model under, by which a relay's family is known.
  listed_protocol text NOT NULL,
  upstream_model text NOT NULL,
  -- A summary of the order, without prompt and media.
  summary jsonb NOT NULL,
  -- The address of its callback, in addition to the webhook endpoints of its organisation.
  callback_url text,
  -- Whether results are copied into the archive.
  is_archived boolean NOT NULL DEFAULT false,
  -- The API that it was ordered through: ours, or OpenAI's videos.
  dialect text NOT NULL DEFAULT 'own' CHECK (dialect IN ('own', 'openai')),
  state text NOT NULL DEFAULT 'submitting'
    CHECK (state IN ('submitting', 'processing', 'succeeded', 'failed', 'rejected')),
  upstream_id text,
  -- The version of the channel's account, and its key, with which the task was created.
  account_version integer,
  key_name text,
  video_url text,
  -- For images the answer to the client, as JSON.
  result text,
  -- For images that are in the archive already, in the form of `archives.files`.
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
  -- Counts the claims; a write back names the claim it belongs to.
  lease bigint NOT NULL DEFAULT 0,
  unknown_since timestamptz,
  finished_at timestamptz,
  -- When its owner deleted it: its results and texts are erased, its order and charge stay.
  erased_at timestamptz,
  PRIMARY KEY (organization_id, id),
  CHECK ((state = 'processing') = (next_poll_at IS NOT NULL)),
  CHECK (state <> 'processing' AND video_url IS NULL
         OR (upstream_id, account_version, key_name) IS NOT NULL),
  CHECK ((state = 'succeeded') = (num_nonnulls(video_url, result) = 1)),
  CHECK ((state IN ('failed', 'rejected')) = (error_code IS NOT NULL)),
  CHECK ((state IN ('submitting', 'processing')) = (finished_at IS NULL)),
  CHECK (erased_at IS NULL OR finished_at IS NOT NULL)
  -- Every poll updates its task in the index of due tasks twice, so frequent vacuums keep the start of
  -- that index fast.
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
-- Each channel's tasks in the order in which they are due: a claim takes the first ones of every channel.
CREATE INDEX tasks_due_by_channel ON tasks (channel_id, next_poll_at) WHERE state = 'processing';
CREATE INDEX tasks_submitting ON tasks (submit_deadline) WHERE state = 'submitting';
CREATE INDEX tasks_by_id ON tasks (id);
-- Lists of a member's own tasks: ids of one kind have one prefix, then their time.
CREATE INDEX tasks_by_member ON tasks (organization_id, member_id, id);
-- Look-ups by the vendor's id.
CREATE INDEX tasks_by_upstream ON tasks (upstream_id, id) WHERE upstream_id IS NOT NULL;

-- The jobs of vendors, each with the one order that it is charged to. Unique over all organisations, since
-- a vendor may answer two of them with one job; never deleted, since a vendor may repeat an id much later.
CREATE TABLE vendor_jobs (
  channel_id text COLLATE "C" NOT NULL,
  -- The origin of the base address, since another vendor behind the channel has its own ids.
  origin text COLLATE "C" NOT NULL,
  upstream_id text COLLATE "C" NOT NULL,
  order_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (channel_id, origin, upstream_id)
);

-- Pauses of polling that vendors asked for (Retry-After); they apply to every gateway.
CREATE TABLE channel_pauses (
  channel_id text PRIMARY KEY,
  until timestamptz NOT NULL
);

-- Orders that the vendor may have executed and billed. They are never sent again; an operator resolves them.
CREATE TABLE orphans (
  organization_id text NOT NULL,
  order_id text COLLATE "C" NOT NULL,
  -- Channel, protocol and upstream model of the job.
  job jsonb NOT NULL,
  upstream_id text,
  reason text NOT NULL,
  -- The unusable answer {status, bytes, sha256, requestId}; null where there was none.
  answer jsonb,
  -- What the vendor counted and was not charged so {input, output}; null where that is not why.
  usage jsonb,
  created_at timestamptz NOT NULL DEFAULT now(),
  resolved_at timestamptz,
  is_resolved boolean GENERATED ALWAYS AS (resolved_at IS NOT NULL) STORED,
  note text,
  PRIMARY KEY (organization_id, order_id),
  FOREIGN KEY (organization_id, order_id) REFERENCES orders (organization_id, id)
);
CREATE INDEX orphans_by_order ON orphans (order_id);
-- Few are open while many may be resolved, so each list has its index.
CREATE INDEX orphans_by_created ON orphans (is_resolved, created_at, order_id);
CREATE INDEX orphans_by_organization ON orphans (is_resolved, organization_id, created_at, order_id);
CREATE INDEX orphans_by_channel ON orphans (is_resolved, (job ->> 'channelId'), created_at, order_id);
CREATE INDEX orphans_by_reason ON orphans (is_resolved, reason, created_at, order_id);

-- The orders that are open. Read through the indexes of what is recent, lingers or has a task that
-- runs, also where a table was never analysed.
CREATE FUNCTION open_orders() RETURNS SETOF orders LANGUAGE sql STABLE
SET enable_seqscan = off
AS $$
  SELECT o.* FROM orders o
   WHERE o.created_at >= (SELECT before FROM orders_settled) AND o.state = 'open'
  UNION ALL
  SELECT o.*
    FROM (SELECT organization_id, id FROM lingering_orders
          UNION SELECT organization_id, id FROM tasks WHERE state = 'submitting'
          UNION SELECT organization_id, id FROM tasks WHERE state = 'processing') k
   CROSS JOIN LATERAL (SELECT * FROM orders
                        WHERE organization_id = k.organization_id AND id = k.id OFFSET 0) o
   WHERE o.created_at < (SELECT before FROM orders_settled) AND o.state = 'open'
$$;

-- Moves the time in `orders_settled` towards `p_age` ago, by a step of `p_step` at most, and lists what
-- it passes that is open and has no task. Answers by how many seconds it is then behind. Where the
-- database's clock went back the time goes back with it, and what it passes again is listed already.
CREATE FUNCTION settle_orders(p_age interval, p_step interval) RETURNS double precision
LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
DECLARE
  was timestamptz;
  becomes timestamptz;
BEGIN
  -- By itself, so that the next statement sees what was committed while it waited.
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

-- Orders without a task that are open for longer than `p_shortest`; those that linger are all.
CREATE FUNCTION left_orders(p_shortest interval)
RETURNS TABLE (organization_id text, id text, expires_at timestamptz) LANGUAGE sql
SET enable_seqscan = off
AS $$
  WITH lingering AS MATERIALIZED (
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
                      WHERE t.organization_id = o.organization_id AND t.id = o.id)
$$;

-- Gives an open order, and its task, to another channel after the one it was at made nothing. Answers
-- whether it is open; a repeat changes nothing. Under the lock of the pool, as every change of an order.
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
         upstream_model = p_job ->> 'upstreamModel'
   WHERE t.organization_id = p_organization AND t.id = p_id AND t.state = 'submitting';
  RETURN EXISTS (SELECT FROM orders o
                  WHERE o.organization_id = p_organization AND o.id = p_id AND o.state = 'open');
END $$;
