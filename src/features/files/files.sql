-- Files that clients upload and refer to in orders. Their bytes are in the archive's bucket or,
-- where there is no bucket, in chunks in the database.
CREATE TABLE files (
  organization_id text NOT NULL,
  id text COLLATE "C" NOT NULL,
  -- The member who uploaded the file.
  member_id text NOT NULL,
  filename text NOT NULL,
  purpose text NOT NULL,
  content_type text NOT NULL,
  bytes integer NOT NULL,
  -- The duration of a video, where its container states it.
  seconds double precision,
  -- The hex digest; null until the upload is complete.
  sha256 text,
  is_in_bucket boolean NOT NULL,
  -- The row is written before the first byte and deleted after the last one, so that a killed
  -- gateway leaves no bytes without a row.
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'kept', 'removing')),
  -- The time at which the file is due for removal: for an incomplete upload its deadline, for a
  -- complete file its expiry. A claim for removal sets the time of the next attempt.
  due_at timestamptz NOT NULL,
  -- The number of the claim for its removal.
  lease bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, id),
  CHECK (state <> 'kept' OR sha256 IS NOT NULL)
);
CREATE INDEX files_due ON files (due_at);

CREATE TABLE file_chunks (
  organization_id text NOT NULL,
  file_id text COLLATE "C" NOT NULL,
  n integer NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (organization_id, file_id, n),
  FOREIGN KEY (organization_id, file_id) REFERENCES files (organization_id, id) ON DELETE CASCADE
);
-- Chunks are not compressed, since media are compressed already.
ALTER TABLE file_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- Adds the row of a file before its bytes are written, within the quota of the organisation. All
-- rows of the organisation count, also those of files that are being removed, since their bytes may
-- still exist. Returns the limit that would be exceeded, `files` or `bytes`; null where the row is
-- added. Calls for one organisation run one after the other, so that they cannot exceed the quota
-- together.
CREATE FUNCTION add_file(
  p_organization text, p_id text, p_member text, p_filename text, p_purpose text,
  p_content_type text, p_bytes integer, p_seconds double precision, p_is_in_bucket boolean,
  p_life interval, p_upload interval, p_max_files bigint, p_max_bytes bigint)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  taken record;
BEGIN
  PERFORM FROM pools p WHERE p.organization_id = p_organization FOR UPDATE;
  SELECT count(*) AS files, coalesce(sum(f.bytes), 0) AS bytes INTO STRICT taken
    FROM files f WHERE f.organization_id = p_organization AND f.id <> p_id;
  IF taken.files + 1 > p_max_files THEN RETURN 'files'; END IF;
  IF taken.bytes + p_bytes > p_max_bytes THEN RETURN 'bytes'; END IF;
  INSERT INTO files (organization_id, id, member_id, filename, purpose, content_type, bytes, seconds,
                     is_in_bucket, due_at, expires_at)
  VALUES (p_organization, p_id, p_member, p_filename, p_purpose, p_content_type, p_bytes, p_seconds,
          p_is_in_bucket, now() + p_upload, now() + p_life)
  ON CONFLICT (organization_id, id) DO NOTHING;
  RETURN NULL;
END $$;
