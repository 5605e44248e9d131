-- Pools, orders and transfers. Amounts are nano-units. There are no foreign keys between rows that
-- are written in one commit, since checking foreign keys took the larger part of a batch's time.
-- The audit checks these references instead.

-- The pool is the most frequently updated row of an organisation, so its page keeps free space for
-- updates in place (HOT).
CREATE TABLE pools (
  organization_id text PRIMARY KEY REFERENCES organizations (id),
  balance bigint NOT NULL DEFAULT 0,
  held bigint NOT NULL DEFAULT 0 CHECK (held >= 0),
  -- `uncovered`: how far charges of open orders may exceed their holds. `credit`: how far such
  -- charges may take the pool below zero.
  uncovered bigint NOT NULL DEFAULT 0 CHECK (uncovered >= 0),
  credit bigint NOT NULL DEFAULT 0 CHECK (credit >= 0),
  -- Whether holds may take the pool below zero as well, as far as the credit, and the highest
  -- credit that holds could ever use: a pool may be as far below zero after its credit was lowered.
  holds_on_credit boolean NOT NULL DEFAULT false,
  highest_overdraft bigint NOT NULL DEFAULT 0 CHECK (highest_overdraft >= 0),
  -- Set while the audit finds violations: new orders are refused, while closes of orders continue.
  stopped_at timestamptz,
  stopped_reason text,
  -- The low-balance threshold, and whether the notification of a low balance was sent. The next one
  -- is sent only after the balance was above the threshold again.
  low_balance bigint,
  low_told boolean NOT NULL DEFAULT false
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
-- A change of the balance does not touch this index, so the updates of a pool stay on its page
-- (HOT).
CREATE INDEX pools_stopped ON pools (organization_id) WHERE stopped_at IS NOT NULL;

CREATE TABLE member_months (
  organization_id text NOT NULL,
  member_id text NOT NULL,
  month date NOT NULL CHECK (extract(day FROM month) = 1),
  held bigint NOT NULL DEFAULT 0 CHECK (held >= 0),
  captured bigint NOT NULL DEFAULT 0 CHECK (captured >= 0),
  PRIMARY KEY (organization_id, member_id, month),
  FOREIGN KEY (organization_id, member_id) REFERENCES members (organization_id, id)
) WITH (fillfactor = 50);

-- An order is one row: its hold, its end, its charge, and the values that the charge was computed
-- from. Closing an order is an update in place (HOT): every page has free space, and no index has a
-- column that a close changes, except BRIN indexes, which do not prevent HOT updates. The columns
-- that a close changes are the last ones, so that the write-ahead log of the update need not repeat
-- the columns before them.
CREATE TABLE orders (
  organization_id text NOT NULL,
  -- The prefix of the order's kind and a UUIDv7, minted before any side effect. Ids are compared by
  -- the codes of their characters (collation "C"), here and in every look-up, so that they sort in
  -- order of time.
  id text COLLATE "C" NOT NULL,
  member_id text NOT NULL,
  key_id text NOT NULL,
  model text NOT NULL,
  modality text NOT NULL,
  -- The price list that priced the order; null where the catalog's prices stood.
  price_list_id text,
  -- Whether the order has a task; the task has the same id.
  is_task boolean NOT NULL,
  -- The month in which the hold and the charge count, and the ids of the `budget_uses` in which
  -- they count; `counts_in` is null without a budget.
  month date NOT NULL,
  counts_in text[] COLLATE "C",
  hold bigint NOT NULL CHECK (hold > 0),
  -- The largest possible charge; null where it equals the hold.
  exposure bigint CHECK (exposure > hold),
  -- The values that the hold was computed from.
  quote jsonb NOT NULL,
  -- The vendor job {channelId, protocol, upstreamModel, billUnitPrice?} that the hold pays for.
  -- Operators may need it to ask the vendor about the order. The optional price is what a unit costs
  -- that the vendor reports as billed.
  job jsonb NOT NULL,
  -- The values that the vendor's bill is computed from, in the format of `quote`; null where they
  -- are unknown.
  cost_quote jsonb,
  -- The jobs of earlier channels that refused the order, each with `reason`, `status`, `message` and
  -- `at`.
  refusals jsonb,
  -- The client's metadata, or null.
  metadata jsonb,
  -- The digest of the prompt; the prompt itself is not stored. Null for texts.
  prompt_digest text,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'captured', 'released')),
  charge bigint NOT NULL DEFAULT 0,
  overage bigint GENERATED ALWAYS AS (greatest(charge - hold, 0)) STORED,
  closed_at timestamptz,
  closed_by text,
  -- The usage detail of a charge.
  input bigint CHECK (input >= 0),
  output bigint CHECK (output >= 0),
  unit text,
  unit_price bigint CHECK (unit_price > 0),
  -- The price of input, where input is charged separately; `unit_price` is then the price of
  -- output.
  input_unit_price bigint CHECK (input_unit_price > 0),
  -- The units of `input` and `output` that are charged at prices of their own, and those that are
  -- charged beside them, as an array of {kind, units, unitPriceNano}; null where there are none.
  parts jsonb,
  basis text,
  -- The amount that the vendor bills for the charged units.
  cost bigint CHECK (cost >= 0),
  -- The vendor call that produced the charged result, for results that a single answer delivered
  -- completely.
  call jsonb,
  -- What the vendor itself says that it bills {amount, unit}, and this amount at the price of the
  -- job; null where the vendor says nothing, and where the job has no price.
  vendor_bill jsonb,
  reported_cost bigint CHECK (reported_cost >= 0),
  -- Why a released order has no product {code, reason, status, message, vendorMessage}; null where
  -- the order's task tells.
  failure jsonb,
  CHECK ((state = 'open') = (closed_at IS NULL)),
  -- A captured order has a charge above zero.
  CHECK (CASE WHEN state = 'captured' THEN charge > 0 ELSE charge = 0 END),
  CHECK (cost IS NULL OR state = 'captured'),
  CHECK (vendor_bill IS NULL OR state = 'captured'),
  CHECK (failure IS NULL OR state = 'released'),
  CHECK (reported_cost IS NULL OR vendor_bill IS NOT NULL),
  CHECK (state <> 'captured'
         OR (input, output, unit, unit_price, basis) IS NOT NULL)
) WITH (fillfactor = 35, autovacuum_vacuum_insert_scale_factor = 0,
        autovacuum_vacuum_insert_threshold = 500000);
-- For lists of one member's orders in order of time, which must not read the other orders of the
-- organisation: there may be ten million.
CREATE INDEX orders_by_member ON orders (organization_id, member_id, id);
-- For lists of the orders of all organisations in order of time.
CREATE INDEX orders_by_id ON orders (id);
-- This BRIN index summarises a range of pages as soon as the range is full, after one or two
-- thousand rows, so that few recent rows are not summarised and reads of recent orders stay short.
-- Autovacuum drops summarisation requests when there are too many in a minute; the next vacuum
-- summarises the skipped ranges.
CREATE INDEX orders_recent ON orders USING brin (created_at, closed_at)
  WITH (autosummarize = on, pages_per_range = 256);
-- The primary key is created last: until the table is analysed, the planner considers all indexes
-- equally good and chooses the newest one.
ALTER TABLE orders ADD PRIMARY KEY (organization_id, id);

-- The parts of a charge: their units, and whether these are units of the `input`, of the `output`,
-- or `beside` both.
CREATE FUNCTION charge_parts(p_parts jsonb)
RETURNS TABLE (kind text, side text, units numeric, price numeric)
LANGUAGE sql IMMUTABLE AS $$
  SELECT p.kind,
         CASE p.kind WHEN 'audio_output' THEN 'output' WHEN 'reference' THEN 'beside'
                     ELSE 'input' END,
         p.units, p."unitPriceNano"
    FROM jsonb_to_recordset(p_parts) AS p(kind text, units numeric, "unitPriceNano" numeric)
$$;

-- The units of one kind of part; 0 without such a part.
CREATE FUNCTION units_of_part(p_parts jsonb, p_kind text) RETURNS numeric
LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(sum(p.units), 0) FROM charge_parts(p_parts) p WHERE p.kind = p_kind
$$;

-- How far the price of the parts of a charge is above that of the same units at the base prices,
-- which units beside input and output have not; 0 without parts.
CREATE FUNCTION parts_above_base(p_parts jsonb, p_input_price bigint, p_output_price bigint)
RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(sum(p.units * (p.price - CASE p.side WHEN 'input' THEN p_input_price
                                                       WHEN 'output' THEN p_output_price
                                                       ELSE 0 END)), 0)
    FROM charge_parts(p_parts) p
$$;

-- The metadata of orders as pairs of name and value, for lists of the orders with a tag.
CREATE TABLE order_tags (
  organization_id text NOT NULL,
  name text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  order_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (organization_id, name, value, order_id)
);

-- `before`: every order created earlier is closed, or can be found through its task or through
-- `lingering_orders`. Sweeps advance `before`, so that only one sweep reads each order.
CREATE TABLE orders_settled (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  before timestamptz NOT NULL DEFAULT now()
);
INSERT INTO orders_settled DEFAULT VALUES;

-- Orders without a task that were still open when a sweep advanced `orders_settled` beyond their
-- creation. They are few, since most orders last seconds.
CREATE TABLE lingering_orders (
  organization_id text NOT NULL,
  id text COLLATE "C" NOT NULL,
  PRIMARY KEY (organization_id, id)
);

-- Movements of money without an order. One row is one debit and one credit.
CREATE TABLE transfers (
  organization_id text NOT NULL,
  -- A prefix and a UUIDv7, so that transfers and orders sort together in order of time.
  id text COLLATE "C" NOT NULL,
  kind text NOT NULL CHECK (kind IN ('deposit', 'credit', 'withdrawal', 'correction')),
  debit text NOT NULL,
  credit text NOT NULL,
  amount bigint NOT NULL CHECK (amount > 0),
  reference text NOT NULL,
  -- The reason and the author of every transfer except deposits.
  reason text,
  author text,
  -- The order whose charge a correction refunds, wholly or in part.
  order_id text COLLATE "C",
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id),
  UNIQUE (organization_id, reference),
  CHECK (debit || ' to ' || credit = CASE kind WHEN 'deposit' THEN 'external to pool'
                                               WHEN 'credit' THEN 'adjustments to pool'
                                               WHEN 'withdrawal' THEN 'pool to external'
                                               WHEN 'correction' THEN 'revenue to pool' END),
  CHECK ((kind = 'correction') = (order_id IS NOT NULL)),
  CHECK ((kind <> 'deposit') = ((reason, author) IS NOT NULL))
);
-- An index for the list of deposits, and one for the list of adjustments: with a common index, the
-- list of a rare kind would read through the many rows of the other.
CREATE INDEX transfers_deposits ON transfers (organization_id, id) WHERE kind = 'deposit';
CREATE INDEX transfers_adjustments ON transfers (organization_id, id) WHERE kind <> 'deposit';
CREATE INDEX transfers_by_order ON transfers (organization_id, order_id) WHERE order_id IS NOT NULL;
CREATE INDEX transfers_by_created ON transfers (organization_id, created_at, id);

-- The sealed months, which are over and never change again. The sealed months of an organisation
-- start with its first month and have no gaps.
CREATE TABLE sealed_months (
  organization_id text NOT NULL REFERENCES organizations (id),
  month date NOT NULL CHECK (extract(day FROM month) = 1),
  -- Start and end of the month in the deployment's time zone; `ends` is exclusive.
  begins timestamptz NOT NULL,
  ends timestamptz NOT NULL,
  opening bigint NOT NULL,
  closing bigint NOT NULL,
  -- The number of entries in the month's file, and the file's SHA-256 in hex.
  entries bigint NOT NULL CHECK (entries >= 0),
  sha256 text NOT NULL,
  sealed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, month)
);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'rows of % are never changed: add a correcting row', TG_TABLE_NAME;
END $$;
CREATE TRIGGER transfers_append_only BEFORE UPDATE OR DELETE ON transfers
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER sealed_months_append_only BEFORE UPDATE OR DELETE ON sealed_months
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER orders_stay BEFORE DELETE ON orders
  FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- An order as JSON without the vendors' messages. The generated column is left out as well, because
-- a trigger before the update does not have its new value.
CREATE FUNCTION without_messages(p_order jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT (p_order - 'overage') || jsonb_build_object(
    'failure', CASE WHEN p_order -> 'failure' <> 'null'
                    THEN (p_order -> 'failure') - '{message,vendorMessage}'::text[] END,
    'refusals', (SELECT jsonb_agg(r - 'message')
                   FROM jsonb_array_elements(nullif(p_order -> 'refusals', 'null')) r))
$$;

-- A closed order never changes, except that the vendors' messages are erased with its task: they
-- are no part of the books.
CREATE FUNCTION refuse_order_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF without_messages(to_jsonb(new)) = without_messages(to_jsonb(old)) THEN RETURN new; END IF;
  RAISE EXCEPTION 'rows of % are never changed: add a correcting row', TG_TABLE_NAME;
END $$;
CREATE TRIGGER orders_close_once BEFORE UPDATE ON orders
  FOR EACH ROW WHEN (old.state <> 'open') EXECUTE FUNCTION refuse_order_change();

-- Idempotency keys of requests, written in the transaction of the order, before any vendor is
-- called.
CREATE TABLE idempotency_keys (
  organization_id text NOT NULL,
  key text NOT NULL,
  -- The request fingerprint: a hash of the path and the body.
  fingerprint text NOT NULL,
  order_id text COLLATE "C" NOT NULL,
  -- The answer to the first request; null until that request is answered. Stored as text, to keep
  -- the order of the answer's fields.
  answer text,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, key)
);
CREATE INDEX idempotency_keys_by_order ON idempotency_keys (organization_id, order_id);
CREATE INDEX idempotency_keys_due ON idempotency_keys (expires_at);

-- Moves money once per reference. `outcome` is `applied`, `repeated` (the reference exists with the
-- same content), `mismatch` (the reference exists with other content), `too_large`,
-- `unknown_order`, `beyond_charge` or `insufficient_balance`. `free` is the amount that was
-- available: for a withdrawal, in the pool; for a correction, of the order's charge.
CREATE FUNCTION transfer_funds(
  p_time_zone text, p_organization text, p_id text, p_kind text, p_amount bigint, p_reference text, p_reason text,
  p_author text, p_order text, OUT outcome text, OUT transfer_id text, OUT free bigint
) LANGUAGE plpgsql AS $$
DECLARE
  v_pool record;
  v_known record;
  v_in CONSTANT boolean := p_kind <> 'withdrawal';
  v_debit CONSTANT text := CASE p_kind WHEN 'deposit' THEN 'external'
                                       WHEN 'credit' THEN 'adjustments'
                                       WHEN 'correction' THEN 'revenue' ELSE 'pool' END;
BEGIN
  SELECT p.balance, p.held INTO STRICT v_pool FROM pools p
   WHERE p.organization_id = p_organization FOR UPDATE;
  SELECT t.* INTO v_known FROM transfers t
   WHERE t.organization_id = p_organization AND t.reference = p_reference;
  IF FOUND THEN
    transfer_id := v_known.id;
    outcome := CASE WHEN (v_known.kind, v_known.amount, v_known.reason, v_known.order_id)
                           IS NOT DISTINCT FROM (p_kind, p_amount, p_reason, p_order)
                    THEN 'repeated' ELSE 'mismatch' END;
    RETURN;
  END IF;
  IF p_order IS NOT NULL THEN
    SELECT o.charge - coalesce((SELECT sum(t.amount) FROM transfers t
                                 WHERE t.organization_id = p_organization AND t.order_id = p_order), 0)
      INTO free FROM orders o
     WHERE o.organization_id = p_organization AND o.id = p_order AND o.state = 'captured';
    IF NOT FOUND THEN outcome := 'unknown_order'; RETURN; END IF;
    IF p_amount > free THEN outcome := 'beyond_charge'; RETURN; END IF;
  END IF;
  IF NOT v_in THEN
    free := v_pool.balance - v_pool.held;
    IF p_amount > free THEN outcome := 'insufficient_balance'; RETURN; END IF;
  ELSIF v_pool.balance > 4000000000000000000 - p_amount THEN
    outcome := 'too_large';
    RETURN;
  END IF;
  INSERT INTO transfers (organization_id, id, kind, debit, credit, amount, reference, reason, author,
                         order_id)
  VALUES (p_organization, p_id, p_kind,
          v_debit, CASE WHEN v_in THEN 'pool' ELSE 'external' END,
          p_amount, p_reference, p_reason, p_author, p_order);
  UPDATE pools SET balance = balance + CASE WHEN v_in THEN p_amount ELSE -p_amount END
   WHERE organization_id = p_organization;
  IF p_order IS NOT NULL THEN
    PERFORM sum_up(p_time_zone, p_organization, ARRAY[p_organization], ARRAY[p_order], ARRAY[p_amount]);
  END IF;
  outcome := 'applied';
  transfer_id := p_id;
END $$;
