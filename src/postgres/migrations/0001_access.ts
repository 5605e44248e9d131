/** Organisations, their members, and the members' API keys. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const createAccess = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    CREATE TABLE organizations (
      id text PRIMARY KEY,
      name text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    )`

  yield* sql`
    CREATE TABLE members (
      organization_id text NOT NULL REFERENCES organizations (id),
      id text NOT NULL,
      name text NOT NULL,
      monthly_cap bigint CHECK (monthly_cap >= 0),
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (organization_id, id)
    )`
  yield* sql`CREATE INDEX members_by_id ON members (id)`

  // Only a keyed hash is stored: a dump of this table opens nothing.
  yield* sql`
    CREATE TABLE api_keys (
      organization_id text NOT NULL,
      id text NOT NULL,
      member_id text NOT NULL,
      name text NOT NULL,
      hash bytea NOT NULL,
      scopes text[] NOT NULL,
      models text[],
      expires_at timestamptz,
      revoked_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (organization_id, id),
      FOREIGN KEY (organization_id, member_id) REFERENCES members (organization_id, id)
    )`
  yield* sql`CREATE INDEX api_keys_by_hash ON api_keys (hash)`
  yield* sql`CREATE INDEX api_keys_by_id ON api_keys (id)`
})
