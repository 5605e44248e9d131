/**
 * Texts are charged by two prices: usage records carry the one of input tokens beside `unit_price`,
 * which then is the one of output tokens. It is null where only output is charged.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Where the ledger's one function writes usage records, and what is written there from here on. */
const changes = [
  ["unit, unit_price, charge, basis)", "unit, unit_price, input_unit_price, charge, basis)"],
  [
    "(u ->> 'unit_price')::bigint,",
    "(u ->> 'unit_price')::bigint, (u ->> 'input_unit_price')::bigint,"
  ]
] as const

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

export const createTexts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`ALTER TABLE usage_records ADD COLUMN input_unit_price bigint CHECK (input_unit_price > 0)`

  // The rest of the function stays as it is, whichever migration wrote it last.
  for (const [before, after] of changes) {
    yield* sql`
      DO $change$
      DECLARE
        v_old text := pg_get_functiondef('ledger_batch(text, text, jsonb, jsonb)'::regprocedure);
        v_before text := ${sql.literal(quoted(before))};
      BEGIN
        IF length(replace(v_old, v_before, '')) <> length(v_old) - length(v_before) THEN
          RAISE EXCEPTION 'ledger_batch does not hold exactly one %', v_before;
        END IF;
        EXECUTE replace(v_old, v_before, ${sql.literal(quoted(after))});
      END $change$`
  }

  yield* sql`
    CREATE VIEW ledger_audit_texts AS
    SELECT 'I4' AS invariant, u.organization_id, 'charge is not tokens times their prices' AS detail,
           u.id AS subject
      FROM usage_records u
     WHERE u.input_unit_price IS NOT NULL
       AND u.charge <> u.input * u.input_unit_price + u.output * u.unit_price`
  yield* sql`
    CREATE OR REPLACE VIEW ledger_audit AS
    SELECT * FROM ledger_audit_sums UNION ALL SELECT * FROM ledger_audit_links
    UNION ALL SELECT * FROM ledger_audit_texts`

  yield* sql`ALTER TABLE upstream_calls DROP CONSTRAINT upstream_calls_purpose_check`
  yield* sql`
    ALTER TABLE upstream_calls ADD CONSTRAINT upstream_calls_purpose_check
      CHECK (purpose IN ('submit', 'poll', 'image', 'text'))`
})
