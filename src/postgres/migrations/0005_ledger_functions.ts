/** Deposits: the money that comes in. What it is spent on is in the ledger's batches. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const createLedgerFunctions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Answers applied, repeated (same reference and amount), mismatch (another amount) or too_large.
  yield* sql`
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
    END $$`
})
