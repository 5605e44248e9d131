-- Responses of the Responses API that are kept for some time.
CREATE TABLE responses (
  organization_id text NOT NULL,
  id text COLLATE "C" NOT NULL,
  -- The order whose charge pays for the response, which is not found before.
  order_id text COLLATE "C" NOT NULL,
  -- The response that this one continues. It may be deleted before this one.
  previous_id text COLLATE "C",
  -- The ids of the items in the input and the output.
  item_ids text[] NOT NULL,
  -- The response and its input, encrypted with the master key `key_id`.
  key_id text NOT NULL,
  content bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, id)
);
CREATE INDEX responses_due ON responses (expires_at);
CREATE INDEX responses_by_item ON responses USING gin (item_ids);
-- Encrypted bytes cannot be compressed.
ALTER TABLE responses ALTER COLUMN content SET STORAGE EXTERNAL;
