-- Sessions of people who signed in with the account of their company. Only hashes of the tokens are
-- stored. All times are those of the database, so that gateways need not agree on the time.
CREATE TABLE sessions (
  id text COLLATE "C" PRIMARY KEY,
  hash bytea NOT NULL,
  -- The token before the last rotation. It is valid until the new token has been used, and for a
  -- moment afterwards: requests that were sent in parallel have it, and a lost answer leaves it as
  -- the only one that the browser has.
  previous_hash bytea,
  -- Null until the new token is used.
  previous_until timestamptz,
  rotated_at timestamptz NOT NULL DEFAULT now(),
  csrf_token text NOT NULL,
  -- The hash of the sign-in's `state`, so that one sign-in opens one session.
  sign_in_hash bytea NOT NULL UNIQUE,
  issuer text NOT NULL,
  subject text NOT NULL,
  -- The provider's own session (`sid`), which its logout tokens may name.
  provider_session text,
  name text NOT NULL,
  email text,
  -- What the provider said at the sign-in. The rights are derived from it at each use.
  groups text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  used_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz
);
CREATE INDEX sessions_by_hash ON sessions (hash);
CREATE INDEX sessions_by_previous_hash ON sessions (previous_hash) WHERE previous_hash IS NOT NULL;
CREATE INDEX sessions_by_subject ON sessions (issuer, subject);
CREATE INDEX sessions_by_age ON sessions (created_at);

-- The member as whom a person orders in an organisation, and the key of which nobody has the
-- secret. The account decides, not the e-mail address.
CREATE TABLE sign_in_members (
  organization_id text NOT NULL,
  issuer text NOT NULL,
  subject text NOT NULL,
  member_id text NOT NULL,
  key_id text NOT NULL,
  PRIMARY KEY (organization_id, issuer, subject)
);
