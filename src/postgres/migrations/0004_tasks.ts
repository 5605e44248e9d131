/** Video tasks, and the submits whose outcome nobody knows. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const createTasks = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    CREATE TABLE tasks (
      organization_id text NOT NULL REFERENCES organizations (id),
      id text NOT NULL,
      member_id text NOT NULL,
      key_id text NOT NULL,
      model text NOT NULL,
      channel_id text NOT NULL,
      protocol text NOT NULL,
      /* The protocol the catalog listed the model under: it tells a relay's family. */
      listed_protocol text NOT NULL,
      upstream_model text NOT NULL,
      /* What was ordered, without prompt or media. */
      summary jsonb NOT NULL,
      state text NOT NULL DEFAULT 'submitting'
        CHECK (state IN ('submitting', 'processing', 'succeeded', 'failed', 'rejected')),
      upstream_id text,
      video_url text,
      completion_tokens bigint CHECK (completion_tokens > 0),
      error_code text,
      error_message text,
      created_at timestamptz NOT NULL DEFAULT now(),
      submit_deadline timestamptz NOT NULL,
      deadline timestamptz NOT NULL,
      next_poll_at timestamptz,
      asked_at timestamptz,
      /* Counts the claims; a write back names the claim it belongs to. */
      lease bigint NOT NULL DEFAULT 0,
      unknown_since timestamptz,
      finished_at timestamptz,
      PRIMARY KEY (organization_id, id),
      FOREIGN KEY (organization_id, id) REFERENCES holds (organization_id, id),
      CHECK ((state = 'processing') = (next_poll_at IS NOT NULL)),
      CHECK (state NOT IN ('processing', 'succeeded') OR upstream_id IS NOT NULL),
      CHECK ((state = 'succeeded') = (video_url IS NOT NULL)),
      CHECK ((state IN ('failed', 'rejected')) = (error_code IS NOT NULL)),
      CHECK ((state IN ('submitting', 'processing')) = (finished_at IS NULL))
    ) WITH (fillfactor = 70)`
  yield* sql`CREATE INDEX tasks_due ON tasks (next_poll_at) WHERE state = 'processing'`
  yield* sql`CREATE INDEX tasks_submitting ON tasks (submit_deadline) WHERE state = 'submitting'`
  yield* sql`CREATE INDEX tasks_by_id ON tasks (id)`

  // The vendor may have made and billed these; nothing is sent again, an operator looks into it.
  yield* sql`
    CREATE TABLE orphans (
      organization_id text NOT NULL,
      hold_id text NOT NULL,
      /* Channel, protocol and upstream model of the job. */
      job jsonb NOT NULL,
      upstream_id text,
      reason text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (organization_id, hold_id),
      FOREIGN KEY (organization_id, hold_id) REFERENCES holds (organization_id, id)
    )`
})
