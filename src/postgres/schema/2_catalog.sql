-- The catalog's versions, and the channel accounts with their sealed keys.

-- Every version stays: which price was in force when is a question finance asks.
CREATE TABLE catalog_versions (
  version bigint PRIMARY KEY,
  document jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- A row outlives its channel in the catalog, so that tasks already running can still be asked about.
CREATE TABLE channel_accounts (
  channel_id text PRIMARY KEY,
  base_url text NOT NULL,
  app_id text,
  key_id text,
  sealed_api_key bytea,
  updated_at timestamptz NOT NULL DEFAULT now(),
  CHECK ((key_id IS NULL) = (sealed_api_key IS NULL))
);
