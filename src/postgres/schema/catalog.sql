-- The catalog's versions, the channel accounts with their sealed keys, and how channels are doing.

-- Every version stays: which price was in force when is a question finance asks.
CREATE TABLE catalog_versions (
  version bigint PRIMARY KEY,
  document jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Null where no operator made it.
  author text
);

-- The accounts of a channel: the one that orders are made with, and those before it that tasks still run
-- at. A row outlives its channel in the catalog, so that these can be asked about.
CREATE TABLE channel_accounts (
  channel_id text NOT NULL,
  version integer NOT NULL DEFAULT 1,
  base_url text NOT NULL,
  app_id text,
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- When another one took its place.
  superseded_at timestamptz,
  PRIMARY KEY (channel_id, version)
);
CREATE UNIQUE INDEX channel_accounts_current ON channel_accounts (channel_id)
  WHERE superseded_at IS NULL;

-- The keys of an account that have a value, sealed under the master key of the id, with the channel and
-- the origin of the base address as what they belong to.
CREATE TABLE channel_keys (
  channel_id text NOT NULL,
  version integer NOT NULL DEFAULT 1,
  name text COLLATE "C" NOT NULL,
  key_id text NOT NULL,
  sealed_api_key bytea NOT NULL,
  -- Orders are made with it; tasks that were made with it are asked for in any case.
  enabled boolean NOT NULL,
  PRIMARY KEY (channel_id, version, name),
  FOREIGN KEY (channel_id, version) REFERENCES channel_accounts ON DELETE CASCADE
);

-- Channels, models of channels and keys that are left alone, because their vendor failed or refused them.
CREATE TABLE rests (
  channel_id text NOT NULL,
  -- Empty for the channel itself; of an account that made way with its version, such as `default@3`.
  key_name text COLLATE "C" NOT NULL,
  -- Empty for all models.
  model text COLLATE "C" NOT NULL,
  -- Whose orders are refused; empty for everybody's.
  organization_id text COLLATE "C" NOT NULL,
  -- Nobody but this organisation orders there.
  is_alone boolean NOT NULL,
  -- Until it may be tried again; null once it is well.
  until timestamptz,
  seconds double precision NOT NULL,
  -- Somebody tries it until then, for this organisation.
  tried_until timestamptz,
  tried_by text,
  -- Of the last trial, which failed: only one of another organisation makes the rest longer.
  failed_by text,
  since timestamptz NOT NULL,
  ended_at timestamptz,
  reason text NOT NULL,
  status integer,
  PRIMARY KEY (channel_id, key_name, model, organization_id)
);

-- How the calls of organisations ended in ten seconds: what a rest is decided by. Kept for two minutes.
CREATE TABLE call_ends (
  channel_id text NOT NULL,
  model text COLLATE "C" NOT NULL,
  organization_id text COLLATE "C" NOT NULL,
  slot timestamptz NOT NULL,
  made bigint NOT NULL,
  -- By the vendor's fault.
  failed bigint NOT NULL,
  PRIMARY KEY (channel_id, slot, model, organization_id)
);
CREATE INDEX call_ends_by_slot ON call_ends (slot);

-- How often something was at a channel in ten seconds: how calls ended, how long they took, and what
-- vendors counted where something else was expected. Kept for an hour.
CREATE TABLE channel_counts (
  channel_id text NOT NULL,
  slot timestamptz NOT NULL,
  name text COLLATE "C" NOT NULL,
  count double precision NOT NULL,
  PRIMARY KEY (channel_id, slot, name)
);
CREATE INDEX channel_counts_by_slot ON channel_counts (slot);

-- The last failure of each channel.
CREATE TABLE channel_failures (
  channel_id text PRIMARY KEY,
  at timestamptz NOT NULL,
  reason text NOT NULL,
  status integer,
  message text NOT NULL
);
