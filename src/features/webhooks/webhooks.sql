-- Webhooks: endpoints with their events, and messages to the endpoints. Triggers write messages in
-- the transaction of the event, so that no message is lost and no message is about an event that
-- was rolled back.

-- Endpoints of organisations, and of the operators, whose `organization_id` is the word
-- `operators`.
CREATE TABLE webhook_endpoints (
  organization_id text NOT NULL,
  -- Unique over all organisations. The endpoint `callback_...` of an organisation serves callbacks
  -- and has no address: each order names its callback address.
  id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  url text NOT NULL,
  event_types text[] NOT NULL,
  -- Sealed for use with this endpoint's id only. The old secret also signs messages until it
  -- expires.
  secret bytea NOT NULL,
  secret_key_id text NOT NULL,
  secret_hint text NOT NULL,
  old_secret bytea,
  old_secret_key_id text,
  old_secret_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- The time of the first failure after the last success.
  failing_since timestamptz,
  disabled_at timestamptz,
  disabled_reason text,
  PRIMARY KEY (organization_id, id),
  CHECK (num_nulls(old_secret, old_secret_key_id, old_secret_until) IN (0, 3)),
  CHECK ((disabled_at IS NULL) = (disabled_reason IS NULL))
);
CREATE UNIQUE INDEX webhook_endpoints_by_id ON webhook_endpoints (id);

-- A message to one endpoint; all attempts to deliver it have the same id.
CREATE TABLE webhook_messages (
  -- The organisation of the event.
  organization_id text NOT NULL,
  id text COLLATE "C" NOT NULL,
  endpoint_id text COLLATE "C" NOT NULL,
  -- The unit of the limit on concurrent attempts: the endpoint, or the host of a callback.
  receiver text COLLATE "C" NOT NULL,
  -- The address of a callback, from the order.
  callback_url text,
  type text NOT NULL,
  happened_at timestamptz NOT NULL DEFAULT now(),
  -- The task, which is read when the message is sent; for other events `data` is the content.
  task_id text,
  data jsonb,
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
  next_attempt_at timestamptz DEFAULT now(),
  -- Attempts since the message was last redelivered; they determine the next delay.
  tries integer NOT NULL DEFAULT 0,
  -- The number of the claim; the write that ends an attempt must name it.
  lease bigint NOT NULL DEFAULT 0,
  ended_at timestamptz,
  PRIMARY KEY (organization_id, id),
  CHECK (num_nonnulls(task_id, data) = 1),
  CHECK ((state = 'pending') = (next_attempt_at IS NOT NULL)),
  CHECK ((state = 'pending') = (ended_at IS NULL))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
-- The messages of each receiver by due time: a claim takes the first messages of every receiver.
CREATE INDEX webhook_messages_due ON webhook_messages (receiver, next_attempt_at)
  WHERE state = 'pending';
CREATE INDEX webhook_messages_by_endpoint ON webhook_messages (endpoint_id, id);
CREATE INDEX webhook_messages_by_task ON webhook_messages (task_id) WHERE task_id IS NOT NULL;
CREATE INDEX webhook_messages_ended ON webhook_messages (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE webhook_attempts (
  organization_id text NOT NULL,
  message_id text COLLATE "C" NOT NULL,
  at timestamptz NOT NULL,
  -- Null where there was no response; then `error` is set.
  status integer,
  duration_ms integer NOT NULL,
  -- The beginning of the response.
  answer text,
  error text,
  -- The claim of the message that the attempt belongs to.
  lease bigint NOT NULL,
  PRIMARY KEY (organization_id, message_id, at, lease),
  FOREIGN KEY (organization_id, message_id) REFERENCES webhook_messages (organization_id, id)
    ON DELETE CASCADE
);

-- The id begins with its time, so that messages sort in order of time.
CREATE FUNCTION message_id() RETURNS text LANGUAGE sql VOLATILE AS $$
  SELECT 'msg_' || lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0')
         || substr(replace(gen_random_uuid()::text, '-', ''), 13)
$$;

-- Formats nano-units as a decimal of currency units.
CREATE FUNCTION decimal_of(p_nano bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT trim_scale(p_nano * 0.000000001)::text
$$;

-- Adds a message for each endpoint of `p_owner` that subscribes to events of the type `p_type`.
-- `p_organization` is the organisation of the event.
CREATE FUNCTION notify_endpoints(
  p_owner text, p_organization text, p_type text, p_task text, p_data jsonb)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO webhook_messages (organization_id, id, endpoint_id, receiver, type, task_id, data)
  SELECT p_organization, message_id(), e.id, e.id, p_type, p_task, p_data
    FROM webhook_endpoints e
   WHERE e.organization_id = p_owner AND e.disabled_at IS NULL AND p_type = ANY (e.event_types);
END $$;

CREATE FUNCTION notify_of_task() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  callbacks CONSTANT text := 'callback_' || new.organization_id;
  type CONSTANT text := CASE WHEN new.id LIKE 'vt\_%' THEN 'video'
                             WHEN new.id LIKE 'im\_%' THEN 'image' ELSE 'speech' END
                        || CASE new.state WHEN 'succeeded' THEN '.completed' ELSE '.failed' END;
BEGIN
  PERFORM notify_endpoints(new.organization_id, new.organization_id, type, new.id, NULL);
  IF new.callback_url IS NOT NULL THEN
    INSERT INTO webhook_messages
      (organization_id, id, endpoint_id, receiver, callback_url, type, task_id)
    VALUES (new.organization_id, message_id(), callbacks,
            callbacks || '/' || lower(substring(new.callback_url FROM '^[a-z]+://([^/?#]+)')),
            new.callback_url, type, new.id);
  END IF;
  RETURN NULL;
END $$;
-- A rejected video task sends no message: its order was refused with an error, so the client knows
-- of no task.
CREATE TRIGGER tasks_notification AFTER UPDATE ON tasks FOR EACH ROW
  WHEN (old.finished_at IS NULL AND new.finished_at IS NOT NULL
        AND (new.state <> 'rejected' OR new.id NOT LIKE 'vt\_%'))
  EXECUTE FUNCTION notify_of_task();

CREATE FUNCTION notify_of_balance() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  new.low_told := new.balance < new.low_balance;
  IF new.low_told THEN
    PERFORM notify_endpoints(new.organization_id, new.organization_id, 'balance.low', NULL,
      jsonb_build_object('balance', decimal_of(new.balance),
                         'threshold', decimal_of(new.low_balance)));
  END IF;
  RETURN new;
END $$;
CREATE TRIGGER pools_notification BEFORE UPDATE OF balance, low_balance ON pools FOR EACH ROW
  WHEN (new.low_balance IS NOT NULL AND (new.balance < new.low_balance) <> new.low_told)
  EXECUTE FUNCTION notify_of_balance();

-- Sends a notification of each threshold of a budget once in a period: when the used amount reaches
-- the threshold, and of all thresholds up to 100 when the budget refuses an order for the first
-- time. The first refusal by a member's cap also sends a `cap.reached` message.
CREATE FUNCTION notify_of_budget() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  refuses CONSTANT boolean := new.has_refused AND NOT old.has_refused;
  used CONSTANT bigint := new.held + new.captured;
  budget record;
  percent integer;
BEGIN
  SELECT * INTO STRICT budget FROM budgets b
   WHERE b.organization_id = new.organization_id AND b.id = new.budget_id;
  FOR percent IN
    SELECT t FROM unnest(budget.thresholds) AS t
     WHERE t > old.notified_threshold
       AND (used >= budget.amount::numeric * t / 100 OR new.has_refused AND t <= 100) ORDER BY t
  LOOP
    new.notified_threshold := percent;
    PERFORM notify_endpoints(new.organization_id, new.organization_id, 'budget.threshold', NULL,
      jsonb_build_object('budget_id', budget.id, 'scope', budget.scope,
                         'subject_id', budget.subject_id, 'period', budget.period,
                         'threshold', percent, 'amount', decimal_of(budget.amount),
                         'used', decimal_of(used)));
  END LOOP;
  new.next_threshold_amount :=
    next_threshold_amount(budget.amount, budget.thresholds, new.notified_threshold);
  IF refuses AND budget.is_cap THEN
    PERFORM notify_endpoints(new.organization_id, new.organization_id, 'cap.reached', NULL,
      jsonb_build_object('member_id', m.id, 'member_name', m.name,
                         'month', to_char(new.start, 'YYYY-MM'),
                         'cap', decimal_of(budget.amount), 'used', decimal_of(used)))
       FROM members m
      WHERE m.organization_id = new.organization_id AND m.id = budget.subject_id;
  END IF;
  RETURN new;
END $$;
CREATE TRIGGER budget_uses_notification BEFORE UPDATE ON budget_uses FOR EACH ROW
  WHEN (new.held + new.captured >= new.next_threshold_amount
        OR new.has_refused AND NOT old.has_refused)
  EXECUTE FUNCTION notify_of_budget();

CREATE FUNCTION notify_of_orphan() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM notify_endpoints('operators', new.organization_id, 'orphan.created', NULL,
    jsonb_build_object('id', new.order_id, 'organization_id', new.organization_id,
                       'channel', new.job -> 'channelId', 'protocol', new.job -> 'protocol',
                       'upstream_model', new.job -> 'upstreamModel',
                       'upstream_id', new.upstream_id, 'reason', new.reason));
  RETURN NULL;
END $$;
CREATE TRIGGER orphans_notification AFTER INSERT ON orphans FOR EACH ROW EXECUTE FUNCTION notify_of_orphan();

CREATE FUNCTION notify_of_books() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM notify_endpoints('operators', new.organization_id, 'ledger.violation', NULL,
    jsonb_build_object('organization_id', new.organization_id, 'reason', new.stopped_reason));
  RETURN NULL;
END $$;
CREATE TRIGGER pools_stopped_notification AFTER UPDATE OF stopped_at ON pools FOR EACH ROW
  WHEN (old.stopped_at IS NULL AND new.stopped_at IS NOT NULL) EXECUTE FUNCTION notify_of_books();

-- Whether operators are notified of the cooldown. They are not notified of a cooldown of a key, nor
-- of one organisation's cooldown while other organisations are still served.
CREATE FUNCTION is_notified(
  p_key_name text, p_until timestamptz, p_organization text, p_is_alone boolean)
RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT p_key_name = '' AND p_until IS NOT NULL AND (p_organization = '' OR p_is_alone)
$$;

CREATE FUNCTION notify_of_rest() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  was CONSTANT boolean := coalesce(TG_OP = 'UPDATE' AND
    is_notified(old.key_name, old.until, old.organization_id, old.is_alone), false);
BEGIN
  -- A channel or model may have several such cooldowns, of different organisations. Messages are
  -- sent only when the first one begins and the last one ends.
  IF was = is_notified(new.key_name, new.until, new.organization_id, new.is_alone) OR EXISTS (
    SELECT FROM rests r
     WHERE r.channel_id = new.channel_id AND r.model = new.model
       AND (r.key_name, r.organization_id) <> (new.key_name, new.organization_id)
       AND is_notified(r.key_name, r.until, r.organization_id, r.is_alone))
  THEN
    RETURN NULL;
  END IF;
  PERFORM notify_endpoints('operators', 'operators',
    CASE WHEN was THEN 'channel.up' ELSE 'channel.down' END, NULL,
    jsonb_build_object('id', new.channel_id, 'model', nullif(new.model, ''),
                       'reason', new.reason, 'status', new.status));
  RETURN NULL;
END $$;
CREATE TRIGGER rests_notification AFTER INSERT OR UPDATE ON rests FOR EACH ROW
  EXECUTE FUNCTION notify_of_rest();

-- Stores an attempt at a message and its outcome: `delivered`, `again` (after `p_after` seconds),
-- `failed` (for good) or `gone`. An endpoint is disabled when it is gone, or has failed for
-- `p_patience`. Changes nothing if the message has been claimed again since.
--
-- An endpoint that may change is locked first, so that concurrent attempts at its messages cannot
-- deadlock. A success changes it only where it was failing.
CREATE FUNCTION end_attempt(
  p_organization text, p_id text, p_lease bigint, p_outcome text, p_after double precision,
  p_status int, p_millis int, p_answer text, p_error text, p_patience interval)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  ended CONSTANT timestamptz := now();
  next_attempt CONSTANT timestamptz := now() + make_interval(secs => p_after);
  message webhook_messages;
  endpoint webhook_endpoints;
  why text;
BEGIN
  SELECT e.* INTO endpoint FROM webhook_messages m JOIN webhook_endpoints e ON e.id = m.endpoint_id
   WHERE m.organization_id = p_organization AND m.id = p_id;
  IF p_outcome <> 'delivered' OR endpoint.failing_since IS NOT NULL THEN
    SELECT * INTO endpoint FROM webhook_endpoints WHERE id = endpoint.id FOR UPDATE;
  END IF;
  UPDATE webhook_messages m
     SET tries = m.tries + 1,
         state = CASE WHEN p_outcome = 'again' THEN 'pending'
                      WHEN p_outcome = 'delivered' THEN 'delivered' ELSE 'failed' END,
         next_attempt_at = CASE WHEN p_outcome = 'again' THEN next_attempt END,
         ended_at = CASE WHEN p_outcome <> 'again' THEN ended END
   WHERE m.organization_id = p_organization AND m.id = p_id AND m.lease = p_lease
     AND m.state = 'pending'
  RETURNING * INTO message;
  IF NOT FOUND THEN RETURN; END IF;
  INSERT INTO webhook_attempts
    (organization_id, message_id, at, status, duration_ms, answer, error, lease)
  VALUES (p_organization, p_id, ended - make_interval(secs => p_millis / 1000.0), p_status, p_millis,
          p_answer, p_error, p_lease);
  -- An endpoint of callbacks is never disabled: each callback has its own receiver, and the failure
  -- of one receiver says nothing about the others.
  IF message.callback_url IS NOT NULL OR endpoint.disabled_at IS NOT NULL THEN RETURN; END IF;

  IF p_outcome = 'delivered' THEN
    UPDATE webhook_endpoints SET failing_since = NULL
     WHERE id = endpoint.id AND failing_since IS NOT NULL;
    RETURN;
  END IF;
  why := CASE WHEN p_outcome = 'gone' THEN 'it answered 410 Gone'
              WHEN endpoint.failing_since <= now() - p_patience THEN 'it failed for too long' END;
  UPDATE webhook_endpoints
     SET failing_since = coalesce(failing_since, ended), disabled_reason = why,
         disabled_at = CASE WHEN why IS NOT NULL THEN ended END
   WHERE id = endpoint.id AND (failing_since IS NULL OR why IS NOT NULL);
  IF why IS NULL THEN RETURN; END IF;
  UPDATE webhook_messages SET state = 'failed', next_attempt_at = NULL, ended_at = now()
   WHERE endpoint_id = endpoint.id AND state = 'pending';
  -- The owner is notified through all its other endpoints, whether or not they subscribe to this
  -- event.
  INSERT INTO webhook_messages (organization_id, id, endpoint_id, receiver, type, data)
    SELECT e.organization_id, message_id(), e.id, e.id, 'webhook_endpoint.disabled',
           jsonb_build_object('id', endpoint.id, 'name', endpoint.name, 'url', endpoint.url,
                              'reason', why)
      FROM webhook_endpoints e
     WHERE e.organization_id = endpoint.organization_id AND e.disabled_at IS NULL AND e.url <> '';
END $$;
