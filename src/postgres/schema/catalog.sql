-- The catalog's versions, the channel accounts with their sealed keys, and the records of channels.

-- All versions are kept, since finance needs to know which price was in force at a time.
CREATE TABLE catalog_versions (
  version bigint PRIMARY KEY,
  document jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Null where the version was not written by an operator.
  author text
);

-- The accounts of a channel: the current one for new orders, and earlier ones for tasks that still
-- run. A row outlives its channel in the catalog, so that these tasks can be polled.
CREATE TABLE channel_accounts (
  channel_id text NOT NULL,
  version integer NOT NULL DEFAULT 1,
  base_url text NOT NULL,
  app_id text,
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- The time at which a newer version replaced the account; null for the current account.
  superseded_at timestamptz,
  PRIMARY KEY (channel_id, version)
);
CREATE UNIQUE INDEX channel_accounts_current ON channel_accounts (channel_id)
  WHERE superseded_at IS NULL;

-- The API keys of an account; a key without a value has no row. Each value is sealed under the
-- master key with the id `key_id`, for use with this channel and this origin of the base address
-- only.
CREATE TABLE channel_keys (
  channel_id text NOT NULL,
  version integer NOT NULL DEFAULT 1,
  name text COLLATE "C" NOT NULL,
  key_id text NOT NULL,
  sealed_api_key bytea NOT NULL,
  -- Whether new orders may use the key; tasks that run with the key are polled in any case.
  enabled boolean NOT NULL,
  PRIMARY KEY (channel_id, version, name),
  FOREIGN KEY (channel_id, version) REFERENCES channel_accounts ON DELETE CASCADE
);

-- Cooldowns of channels, of models of channels, and of keys, after the vendor failed or refused
-- calls.
CREATE TABLE rests (
  channel_id text NOT NULL,
  -- Empty if the cooldown is not about a key. The key of a superseded account has the account's
  -- version appended, such as `default@3`.
  key_name text COLLATE "C" NOT NULL,
  -- Empty for all models.
  model text COLLATE "C" NOT NULL,
  -- The organisation whose orders are refused; empty if the orders of all organisations are
  -- refused.
  organization_id text COLLATE "C" NOT NULL,
  -- Whether this organisation is the only one that orders from the channel or model.
  is_alone boolean NOT NULL,
  -- The end of the cooldown; null once a trial call has succeeded.
  until timestamptz,
  seconds double precision NOT NULL,
  -- The end of the current trial call, and the organisation that makes the call.
  tried_until timestamptz,
  tried_by text,
  -- The organisation of the last failed trial call: only a failure of another organisation extends
  -- the cooldown.
  failed_by text,
  since timestamptz NOT NULL,
  ended_at timestamptz,
  reason text NOT NULL,
  status integer,
  PRIMARY KEY (channel_id, key_name, model, organization_id)
);

-- The number of ended calls by organisation in slots of ten seconds, from which cooldowns are
-- decided. Kept for two minutes.
CREATE TABLE call_ends (
  channel_id text NOT NULL,
  model text COLLATE "C" NOT NULL,
  organization_id text COLLATE "C" NOT NULL,
  slot timestamptz NOT NULL,
  made bigint NOT NULL,
  -- Calls that failed through the fault of the vendor.
  failed bigint NOT NULL,
  PRIMARY KEY (channel_id, slot, model, organization_id)
);
CREATE INDEX call_ends_by_slot ON call_ends (slot);

-- Counters of channels in slots of ten seconds: ended calls, their latencies (as histograms), and
-- the charges for vendor-reported usage with the estimates (holds) of their orders. Kept for an
-- hour.
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
