-- Channels with a maximum number of tasks: the places of tasks that may be at the vendor, and the
-- orders that wait for a place. Places and turns are of all organisations, so these tables and their
-- functions do not belong to one of them.

-- A place is taken before the hold, and freed after the task has ended.
CREATE TABLE channel_places (
  channel_id text COLLATE "C" NOT NULL,
  organization_id text NOT NULL,
  order_id text COLLATE "C" NOT NULL,
  taken_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (channel_id, order_id)
);
CREATE INDEX channel_places_by_order ON channel_places (order_id);

-- The ids of an organisation's orders sort by time, which is their order in the queue.
CREATE TABLE waiting_orders (
  channel_id text COLLATE "C" NOT NULL,
  organization_id text NOT NULL,
  order_id text COLLATE "C" NOT NULL,
  -- The order for the vendor, with its prompt, encrypted with the master key `key_id`.
  key_id text NOT NULL,
  request bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  -- Set after the hold is written. Until then the order keeps no other from its turn.
  has_hold boolean NOT NULL DEFAULT false,
  -- The end of the claim of the gateway that submits the order, or of a pause that the vendor asked
  -- for.
  next_try_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (channel_id, order_id)
);
CREATE INDEX waiting_orders_by_order ON waiting_orders (order_id);
CREATE INDEX waiting_orders_by_expiry ON waiting_orders (expires_at);
CREATE INDEX waiting_orders_without_hold ON waiting_orders (created_at) WHERE NOT has_hold;

-- The orders that take turns.
CREATE VIEW queued_orders AS SELECT * FROM waiting_orders WHERE has_hold;

-- When an organisation last got a place from the queue, so that organisations take turns.
CREATE TABLE channel_turns (
  channel_id text COLLATE "C" NOT NULL,
  organization_id text NOT NULL,
  served_at timestamptz NOT NULL,
  PRIMARY KEY (channel_id, organization_id)
);

-- The lock under which places of a channel are counted and taken.
CREATE TABLE channel_queues (
  channel_id text COLLATE "C" PRIMARY KEY
);

-- Takes a place for an order that does not wait. Returns false where the channel is full, or other
-- orders wait for it already; a repeat returns true.
CREATE FUNCTION take_place(p_channel text, p_owner text, p_order text, p_max int)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO channel_queues (channel_id) VALUES (p_channel) ON CONFLICT DO NOTHING;
  PERFORM FROM channel_queues q WHERE q.channel_id = p_channel FOR UPDATE;
  IF EXISTS (SELECT FROM channel_places p
              WHERE p.channel_id = p_channel AND p.order_id = p_order) THEN
    RETURN true;
  END IF;
  IF EXISTS (SELECT FROM queued_orders w WHERE w.channel_id = p_channel)
     OR (SELECT count(*) FROM channel_places p WHERE p.channel_id = p_channel) >= p_max THEN
    RETURN false;
  END IF;
  INSERT INTO channel_places (channel_id, organization_id, order_id)
  VALUES (p_channel, p_owner, p_order);
  RETURN true;
END $$;

-- Claims the next order of a channel's queue, and takes a place for it. The first order of each
-- organisation is a candidate; the organisation with the fewest places comes first, and of several
-- the one whose last turn is the longest ago. An order whose gateway died keeps its place, and is
-- claimed again when the claim has ended.
CREATE FUNCTION claim_waiting_order(p_channel text, p_max int, p_lease double precision)
RETURNS TABLE (organization_id text, order_id text, key_id text, request bytea)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  next record;
BEGIN
  INSERT INTO channel_queues (channel_id) VALUES (p_channel) ON CONFLICT DO NOTHING;
  PERFORM FROM channel_queues q WHERE q.channel_id = p_channel FOR UPDATE;
  SELECT w.organization_id, w.order_id, w.key_id, w.request, w.has_place INTO next
    FROM (SELECT r.*, EXISTS (SELECT FROM channel_places p
                               WHERE p.channel_id = r.channel_id AND p.order_id = r.order_id)
                        AS has_place
            FROM queued_orders r WHERE r.channel_id = p_channel) w
    LEFT JOIN (SELECT p.organization_id, count(*) AS places FROM channel_places p
                WHERE p.channel_id = p_channel GROUP BY 1) u
           ON u.organization_id = w.organization_id
    LEFT JOIN channel_turns t
           ON t.channel_id = w.channel_id AND t.organization_id = w.organization_id
   WHERE w.next_try_at <= now()
     AND (w.has_place OR NOT EXISTS (
           SELECT FROM queued_orders e
            WHERE e.channel_id = w.channel_id AND e.organization_id = w.organization_id
              AND e.order_id < w.order_id
              AND NOT EXISTS (SELECT FROM channel_places p
                               WHERE p.channel_id = e.channel_id AND p.order_id = e.order_id)))
   ORDER BY w.has_place DESC, coalesce(u.places, 0), t.served_at NULLS FIRST, w.order_id
   LIMIT 1;
  IF NOT FOUND THEN RETURN; END IF;
  IF NOT next.has_place THEN
    IF (SELECT count(*) FROM channel_places p WHERE p.channel_id = p_channel) >= p_max THEN
      RETURN;
    END IF;
    INSERT INTO channel_places (channel_id, organization_id, order_id)
    VALUES (p_channel, next.organization_id, next.order_id);
    INSERT INTO channel_turns AS t (channel_id, organization_id, served_at)
    VALUES (p_channel, next.organization_id, now())
    ON CONFLICT ON CONSTRAINT channel_turns_pkey DO UPDATE SET served_at = excluded.served_at;
  END IF;
  UPDATE waiting_orders r SET next_try_at = now() + make_interval(secs => p_lease)
   WHERE r.channel_id = p_channel AND r.order_id = next.order_id;
  RETURN QUERY
    SELECT next.organization_id, next.order_id, next.key_id, next.request;
END $$;
