/** Polling shared by many gateways: due tasks by channel, and channels nobody may ask for a while. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const createPolling = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Each channel's due tasks in their order: a claim takes from the front of every channel.
  yield* sql`
    CREATE INDEX tasks_due_by_channel ON tasks (channel_id, next_poll_at)
      WHERE state = 'processing'`
  yield* sql`DROP INDEX tasks_due`

  // Every question moves its task in that index twice, and the front must stay quick to reach.
  yield* sql`
    ALTER TABLE tasks
      SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000)`

  // The vendor said when to ask again; it counts for every gateway.
  yield* sql`
    CREATE TABLE channel_pauses (
      channel_id text PRIMARY KEY,
      until timestamptz NOT NULL
    )`
})
