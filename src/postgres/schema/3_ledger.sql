-- Pools, holds, transfers and usage. Amounts are nano-units.
-- References between rows that one commit writes together are audited instead of checked row by row:
-- the checks were the larger part of a batch's time.

-- The hot row of an organisation: kept on one page with room to update in place.
CREATE TABLE pools (
  organization_id text PRIMARY KEY REFERENCES organizations (id),
  balance bigint NOT NULL DEFAULT 0,
  held bigint NOT NULL DEFAULT 0 CHECK (held >= 0),
  -- Set while the organisation's books are broken: no new hold is taken, closes go on.
  stopped_at timestamptz,
  stopped_reason text
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
-- Balances change without touching it, so the updates of a pool stay on its page.
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

CREATE TABLE holds (
  organization_id text NOT NULL,
  id text NOT NULL,
  member_id text NOT NULL,
  month date NOT NULL,
  amount bigint NOT NULL CHECK (amount > 0),
  quote jsonb NOT NULL,
  -- Channel, protocol and upstream model: what an operator needs if nobody else knows.
  job jsonb NOT NULL,
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'captured', 'released')),
  captured bigint NOT NULL DEFAULT 0 CHECK (captured >= 0),
  overage bigint GENERATED ALWAYS AS (greatest(captured - amount, 0)) STORED,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  closed_at timestamptz,
  closed_by text,
  CHECK ((state = 'open') = (closed_at IS NULL)),
  CHECK ((state = 'captured') = (captured > 0))
) WITH (fillfactor = 70);
CREATE INDEX holds_due ON holds (expires_at) WHERE state = 'open';
CREATE INDEX holds_by_created ON holds (organization_id, created_at, id);
CREATE INDEX holds_by_closed ON holds (organization_id, closed_at, id) WHERE state <> 'open';
-- The last of the indexes: until a table is analysed its indexes look equally good, and of equals the
-- youngest is taken.
ALTER TABLE holds ADD PRIMARY KEY (organization_id, id);

-- One row is one debit and one credit, so the books balance by construction.
CREATE TABLE transfers (
  organization_id text NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  kind text NOT NULL CHECK (kind IN ('deposit', 'capture')),
  debit text NOT NULL,
  credit text NOT NULL,
  amount bigint NOT NULL CHECK (amount > 0),
  hold_id text,
  reference text,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id),
  CHECK (debit <> credit),
  CHECK ((kind = 'capture') = (hold_id IS NOT NULL)),
  CHECK ((kind = 'deposit') = (reference IS NOT NULL))
);
CREATE UNIQUE INDEX transfers_one_capture ON transfers (organization_id, hold_id)
  WHERE kind = 'capture';
CREATE UNIQUE INDEX transfers_one_deposit ON transfers (organization_id, reference)
  WHERE kind = 'deposit';
CREATE INDEX transfers_by_created ON transfers (organization_id, created_at, id);

CREATE TABLE usage_records (
  organization_id text NOT NULL,
  id text NOT NULL,
  member_id text NOT NULL,
  key_id text NOT NULL,
  hold_id text NOT NULL,
  task_id text,
  model text NOT NULL,
  modality text NOT NULL,
  input bigint NOT NULL CHECK (input >= 0),
  output bigint NOT NULL CHECK (output >= 0),
  unit text NOT NULL,
  unit_price bigint NOT NULL CHECK (unit_price > 0),
  charge bigint NOT NULL CHECK (charge > 0),
  basis text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Where input is charged apart, by this price; `unit_price` is of output then.
  input_unit_price bigint CHECK (input_unit_price > 0),
  PRIMARY KEY (organization_id, id)
);
CREATE UNIQUE INDEX usage_one_per_hold ON usage_records (organization_id, hold_id);
CREATE INDEX usage_by_member ON usage_records (organization_id, member_id, created_at, id);
CREATE INDEX usage_by_created ON usage_records (organization_id, created_at, id);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'rows of % are never changed: add a correcting row', TG_TABLE_NAME;
END $$;
CREATE TRIGGER transfers_append_only BEFORE UPDATE OR DELETE ON transfers
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER usage_append_only BEFORE UPDATE OR DELETE ON usage_records
  FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- A repeat of a request: written in the commit of the hold, before any vendor is called.
CREATE TABLE idempotency_keys (
  organization_id text NOT NULL,
  key text NOT NULL,
  -- Of the path and the body.
  fingerprint text NOT NULL,
  hold_id text NOT NULL,
  -- What the first request was answered, once it was: JSON in its own order of fields.
  answer text,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, key)
);
CREATE INDEX idempotency_keys_by_hold ON idempotency_keys (organization_id, hold_id);
CREATE INDEX idempotency_keys_due ON idempotency_keys (expires_at);

-- Adds money once per reference. Answers applied, repeated (same reference and amount), mismatch
-- (another amount) or too_large.
CREATE FUNCTION deposit(p_organization text, p_amount bigint, p_reference text)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_balance bigint;
  v_known bigint;
BEGIN
  SELECT p.balance INTO STRICT v_balance FROM pools p
   WHERE p.organization_id = p_organization FOR UPDATE;
  SELECT t.amount INTO v_known FROM transfers t
   WHERE t.organization_id = p_organization AND t.kind = 'deposit'
     AND t.reference = p_reference;
  IF FOUND THEN
    RETURN CASE WHEN v_known = p_amount THEN 'repeated' ELSE 'mismatch' END;
  END IF;
  IF v_balance > 4000000000000000000 - p_amount THEN RETURN 'too_large'; END IF;
  INSERT INTO transfers (organization_id, kind, debit, credit, amount, reference)
  VALUES (p_organization, 'deposit', 'external', 'pool', p_amount, p_reference);
  UPDATE pools SET balance = balance + p_amount WHERE organization_id = p_organization;
  RETURN 'applied';
END $$;
