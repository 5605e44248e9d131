/** An orphan keeps what is known of the vendor's answer that could not be used. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const createOrphanAnswers = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  /** {status, bytes, sha256, requestId}; null where no answer came. */
  yield* sql`ALTER TABLE orphans ADD COLUMN answer jsonb`

  // The rest of the function stays as it is.
  yield* sql`
    DO $change$
    DECLARE
      v_old text := (SELECT pg_get_functiondef(oid) FROM pg_proc WHERE proname = 'move_funds');
      v_new text := replace(
        replace(v_old, 'orphans (organization_id, hold_id, job, upstream_id, reason)',
                       'orphans (organization_id, hold_id, job, upstream_id, reason, answer)'),
        'p_orphans[i] ->> ''reason''', 'p_orphans[i] ->> ''reason'', p_orphans[i] -> ''answer''');
    BEGIN
      IF length(v_new) - length(v_old) <> length(', answer, p_orphans[i] -> ''answer''') THEN
        RAISE EXCEPTION 'move_funds does not write orphans as expected';
      END IF;
      EXECUTE v_new;
    END $change$`
})
