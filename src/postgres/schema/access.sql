-- Organisations, their members, the members' API keys, and the operators of the gateway. A table
-- with the column `organization_id` has it first in each of its keys, so that the table can be
-- distributed by this column.

CREATE TABLE organizations (
  id text PRIMARY KEY,
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Set while the organisation is disabled: API keys of its members are then refused. Members have
  -- the same column.
  disabled_at timestamptz,
  -- Whether orders ask for the vendor's mark "made by AI" when the client does not set one. Null
  -- means the gateway's default, which is a setting.
  watermark boolean,
  -- The price list that stands over the catalog's prices; null for the catalog's prices alone.
  price_list_id text COLLATE "C" REFERENCES price_lists (id)
);
CREATE INDEX organizations_by_price_list ON organizations (price_list_id)
  WHERE price_list_id IS NOT NULL;
-- Indexes for searches by the start of a name, case-insensitively, and for the few disabled
-- organisations.
CREATE INDEX organizations_by_name ON organizations ((lower(name) COLLATE "C"));
CREATE INDEX organizations_disabled ON organizations (id) WHERE disabled_at IS NOT NULL;

CREATE TABLE members (
  organization_id text NOT NULL REFERENCES organizations (id),
  id text NOT NULL,
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  disabled_at timestamptz,
  PRIMARY KEY (organization_id, id)
);
CREATE INDEX members_by_id ON members (id);
CREATE INDEX members_by_name ON members ((lower(name) COLLATE "C"));
CREATE INDEX members_disabled ON members (id) WHERE disabled_at IS NOT NULL;

-- Only a hash of each key is stored, so a dump of this table grants no access.
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
  -- Null means the gateway's default limit, which is a setting.
  requests_per_minute integer CHECK (requests_per_minute > 0),
  PRIMARY KEY (organization_id, id),
  FOREIGN KEY (organization_id, member_id) REFERENCES members (organization_id, id)
);
CREATE INDEX api_keys_by_hash ON api_keys (hash);
CREATE INDEX api_keys_by_id ON api_keys (id);
CREATE INDEX api_keys_by_member ON api_keys (member_id, id);
CREATE INDEX api_keys_by_name ON api_keys ((lower(name) COLLATE "C"));
-- One index for valid keys and one for revoked keys: with a common index, a list of the few keys of
-- one kind would read through the many keys of the other.
CREATE INDEX api_keys_valid ON api_keys (id) WHERE revoked_at IS NULL;
CREATE INDEX api_keys_revoked ON api_keys (id) WHERE revoked_at IS NOT NULL;

-- Only a hash of each token is stored.
CREATE TABLE operators (
  id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  role text NOT NULL CHECK (role IN ('owner', 'operator', 'finance', 'viewer')),
  hash bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz
);
CREATE INDEX operators_by_hash ON operators (hash);
