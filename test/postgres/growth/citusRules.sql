-- What Citus demands of tables before it distributes them, from its documentation, checked on a
-- PostgreSQL without it. Each function answers as its namesake, or fails with what is wrong.

CREATE TABLE placed (
  name regclass PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('reference', 'distributed', 'local')),
  distribution_column text
);
CREATE VIEW citus_tables AS SELECT name AS table_name, kind AS citus_table_type FROM placed;
CREATE VIEW pg_dist_partition AS SELECT name AS logicalrelid FROM placed;

-- Foreign keys: a reference table may refer to reference tables alone; a distributed one to these, and
-- to distributed ones of its group by the column that both are distributed by.
CREATE FUNCTION check_references(p_table regclass, p_kind text, p_column text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  key record;
BEGIN
  FOR key IN
    SELECT c.conname, c.confrelid::regclass AS target, p.kind, p.distribution_column,
           EXISTS (SELECT FROM unnest(c.conkey, c.confkey) AS pair(here, there)
                     JOIN pg_attribute h ON h.attrelid = c.conrelid AND h.attnum = pair.here
                     JOIN pg_attribute t ON t.attrelid = c.confrelid AND t.attnum = pair.there
                    WHERE h.attname = p_column AND t.attname = p.distribution_column) AS is_local
      FROM pg_constraint c LEFT JOIN placed p ON p.name = c.confrelid
     WHERE c.contype = 'f' AND c.conrelid = p_table
  LOOP
    IF key.kind IS NULL THEN
      RAISE EXCEPTION '%: % refers to %, which is not placed yet', p_table, key.conname, key.target;
    ELSIF key.kind = 'distributed' AND (p_kind = 'reference' OR NOT key.is_local) THEN
      RAISE EXCEPTION '%: % leads to another node', p_table, key.conname;
    END IF;
  END LOOP;
END $$;

CREATE FUNCTION create_reference_table(p_table regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM check_references(p_table, 'reference', NULL);
  IF EXISTS (SELECT FROM pg_trigger WHERE tgrelid = p_table AND NOT tgisinternal) THEN
    RAISE EXCEPTION '%: a reference table has no triggers', p_table;
  END IF;
  INSERT INTO placed VALUES (p_table, 'reference', NULL);
END $$;

CREATE FUNCTION create_distributed_table(p_table regclass, p_column text, colocate_with text)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_number smallint;
  v_type text;
  v_key text;
BEGIN
  SELECT attnum, format_type(atttypid, NULL) INTO STRICT v_number, v_type FROM pg_attribute
   WHERE attrelid = p_table AND attname = p_column AND attnotnull;
  IF colocate_with <> 'none' AND NOT EXISTS (
       SELECT FROM placed p JOIN pg_attribute a ON a.attrelid = p.name
                                               AND a.attname = p.distribution_column
        WHERE p.name = colocate_with::regclass AND format_type(a.atttypid, NULL) = v_type) THEN
    RAISE EXCEPTION '%: not beside the others', p_table;
  END IF;
  FOR v_key IN
    SELECT indexrelid::regclass::text FROM pg_index
     WHERE indrelid = p_table AND (indisunique OR indisexclusion)
       AND v_number <> ALL (indkey[0:indnkeyatts - 1])
  LOOP
    RAISE EXCEPTION '%: unique % does not name %', p_table, v_key, p_column;
  END LOOP;
  -- A shard is moved while it is written by the key that its changes are found by.
  IF NOT EXISTS (SELECT FROM pg_index WHERE indrelid = p_table AND indisprimary) THEN
    RAISE EXCEPTION '%: no primary key', p_table;
  END IF;
  PERFORM check_references(p_table, 'distributed', p_column);
  FOR v_key IN
    SELECT tgname FROM pg_trigger
     WHERE tgrelid = p_table AND NOT tgisinternal
       AND (tgtype & 1 = 0 OR current_setting('citus.enable_unsafe_triggers', true) IS DISTINCT FROM 'on')
  LOOP
    RAISE EXCEPTION '%: trigger % is not of a row, or is not allowed', p_table, v_key;
  END LOOP;
  FOR v_key IN
    SELECT attname FROM pg_attribute
     WHERE attrelid = p_table AND attnum > 0
       AND (attidentity <> ''
            OR pg_get_serial_sequence(p_table::text, attname) IS NOT NULL)
  LOOP
    RAISE EXCEPTION '%: % is counted by a sequence of one node', p_table, v_key;
  END LOOP;
  INSERT INTO placed VALUES (p_table, 'distributed', p_column);
END $$;

-- A table that stays on the coordinator, and is known to all nodes.
CREATE FUNCTION citus_add_local_table_to_metadata(p_table regclass, cascade_via_foreign_keys boolean)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO placed VALUES (p_table, 'local', NULL);
END $$;

CREATE FUNCTION create_distributed_function(p_function regprocedure) RETURNS void
LANGUAGE sql AS $$ $$;

-- The organisation is one argument by its name.
CREATE FUNCTION create_distributed_function(p_function regprocedure, p_argument text, colocate_with text)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (
    SELECT FROM pg_proc f
      JOIN LATERAL unnest(f.proargnames, f.proargtypes::oid[]) AS a(name, type) ON true
     WHERE f.oid = p_function AND a.name = p_argument AND a.type = 'text'::regtype)
     OR NOT EXISTS (SELECT FROM placed WHERE name = colocate_with::regclass) THEN
    RAISE EXCEPTION '%: no argument to place it by', p_function;
  END IF;
END $$;
