-- Price lists, which stand over the catalog's prices for the organisations on them. Lists and
-- catalogs are checked against each other, so writes of both take the lock of `catalog_versions`.

CREATE TABLE price_lists (
  -- A prefix and a UUIDv7, so that lists sort in order of their creation.
  id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  -- Whether orders of its organisations ask for the vendor's mark "made by AI" by default. Null
  -- leaves it to the gateway.
  watermark boolean,
  -- The highest number over all lists after a change: gateways read the lists again when there is a
  -- higher one than they know.
  revision bigint NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Set when the list was removed. Its row stays, since orders name the list that priced them.
  removed_at timestamptz
);
CREATE UNIQUE INDEX price_lists_by_name ON price_lists (name) WHERE removed_at IS NULL;

-- All versions are kept, like those of the catalog. Of the versions whose day has come, the highest
-- one is in force.
CREATE TABLE price_list_versions (
  list_id text COLLATE "C" NOT NULL REFERENCES price_lists (id),
  version integer NOT NULL CHECK (version > 0),
  -- The day of the deployment's time zone from which the version holds; null holds at once.
  holds_from date,
  -- {"factor"} or {"prices"}, in the form of the API.
  terms jsonb NOT NULL CHECK ((terms ? 'factor') <> (terms ? 'prices')),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Null where the version was not written by an operator.
  author text,
  PRIMARY KEY (list_id, version)
);
