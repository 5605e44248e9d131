/**
 * Pools, holds, transfers and usage. Amounts are bigint nano-units. `organization_id` comes first
 * in every key, so that the tables can be distributed by it.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const createLedger = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The hot row of an organisation: kept on one page with room to update in place.
  yield* sql`
    CREATE TABLE pools (
      organization_id text PRIMARY KEY REFERENCES organizations (id),
      balance bigint NOT NULL DEFAULT 0,
      held bigint NOT NULL DEFAULT 0 CHECK (held >= 0)
    ) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500)`

  yield* sql`
    CREATE TABLE member_months (
      organization_id text NOT NULL,
      member_id text NOT NULL,
      month date NOT NULL CHECK (extract(day FROM month) = 1),
      held bigint NOT NULL DEFAULT 0 CHECK (held >= 0),
      captured bigint NOT NULL DEFAULT 0 CHECK (captured >= 0),
      PRIMARY KEY (organization_id, member_id, month),
      FOREIGN KEY (organization_id, member_id) REFERENCES members (organization_id, id)
    ) WITH (fillfactor = 50)`

  yield* sql`
    CREATE TABLE holds (
      organization_id text NOT NULL REFERENCES organizations (id),
      id text NOT NULL,
      member_id text NOT NULL,
      month date NOT NULL,
      amount bigint NOT NULL CHECK (amount > 0),
      quote jsonb NOT NULL,
      /* Channel, protocol and upstream model: what an operator needs if nobody else knows. */
      job jsonb NOT NULL,
      state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'captured', 'released')),
      captured bigint NOT NULL DEFAULT 0 CHECK (captured >= 0),
      overage bigint GENERATED ALWAYS AS (greatest(captured - amount, 0)) STORED,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      closed_at timestamptz,
      closed_by text,
      PRIMARY KEY (organization_id, id),
      CHECK ((state = 'open') = (closed_at IS NULL)),
      CHECK ((state = 'captured') = (captured > 0))
    ) WITH (fillfactor = 70)`
  yield* sql`CREATE INDEX holds_due ON holds (expires_at) WHERE state = 'open'`
  yield* sql`CREATE INDEX holds_by_created ON holds (organization_id, created_at, id)`
  yield* sql`
    CREATE INDEX holds_by_closed ON holds (organization_id, closed_at, id) WHERE state <> 'open'`

  // One row is one debit and one credit, so the books balance by construction.
  yield* sql`
    CREATE TABLE transfers (
      organization_id text NOT NULL REFERENCES organizations (id),
      id bigint GENERATED ALWAYS AS IDENTITY,
      kind text NOT NULL CHECK (kind IN ('deposit', 'capture')),
      debit text NOT NULL,
      credit text NOT NULL,
      amount bigint NOT NULL CHECK (amount > 0),
      hold_id text,
      reference text,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (organization_id, id),
      FOREIGN KEY (organization_id, hold_id) REFERENCES holds (organization_id, id),
      CHECK (debit <> credit),
      CHECK ((kind = 'capture') = (hold_id IS NOT NULL)),
      CHECK ((kind = 'deposit') = (reference IS NOT NULL))
    )`
  yield* sql`
    CREATE UNIQUE INDEX transfers_one_capture ON transfers (organization_id, hold_id)
      WHERE kind = 'capture'`
  yield* sql`
    CREATE UNIQUE INDEX transfers_one_deposit ON transfers (organization_id, reference)
      WHERE kind = 'deposit'`
  yield* sql`CREATE INDEX transfers_by_created ON transfers (organization_id, created_at, id)`

  yield* sql`
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
      PRIMARY KEY (organization_id, id),
      FOREIGN KEY (organization_id, hold_id) REFERENCES holds (organization_id, id)
    )`
  yield* sql`CREATE UNIQUE INDEX usage_one_per_hold ON usage_records (organization_id, hold_id)`
  yield* sql`CREATE INDEX usage_by_member ON usage_records (organization_id, member_id, created_at, id)`
  yield* sql`CREATE INDEX usage_by_created ON usage_records (organization_id, created_at, id)`

  yield* sql`
    CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'rows of % are never changed: add a correcting row', TG_TABLE_NAME;
    END $$`
  yield* sql`
    CREATE TRIGGER transfers_append_only BEFORE UPDATE OR DELETE ON transfers
      FOR EACH ROW EXECUTE FUNCTION refuse_change()`
  yield* sql`
    CREATE TRIGGER usage_append_only BEFORE UPDATE OR DELETE ON usage_records
      FOR EACH ROW EXECUTE FUNCTION refuse_change()`
})
