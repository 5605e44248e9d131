/** The catalog's versions, and the channel accounts with their sealed keys. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const createCatalog = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Every version stays: which price was in force when is a question finance asks.
  yield* sql`
    CREATE TABLE catalog_versions (
      version bigint PRIMARY KEY,
      document jsonb NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    )`

  // Rows outlive their channel in the catalog, so that tasks already running can still be asked.
  yield* sql`
    CREATE TABLE channel_accounts (
      channel_id text PRIMARY KEY,
      base_url text NOT NULL,
      app_id text,
      key_id text,
      sealed_api_key bytea,
      updated_at timestamptz NOT NULL DEFAULT now(),
      CHECK ((key_id IS NULL) = (sealed_api_key IS NULL))
    )`
})
