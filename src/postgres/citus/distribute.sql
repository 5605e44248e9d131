-- Distributes the schema over the nodes of a Citus cluster. Tables and functions that are
-- distributed already stay as they are, so this runs again after each migration. Each table comes
-- after the tables that it refers to. Rows of a database in use are moved, and writes wait until
-- they are.

-- The triggers are safe: each fires per row, and writes only rows of that row's organisation.
SET LOCAL citus.enable_unsafe_triggers = on;

DO $distribute$
DECLARE
  name text;
  reference text;
  -- Every node has a copy of a reference table: they are read on every node and seldom written.
  -- Gateways cache their rows, so the counts of changes are among them.
  reference_tables CONSTANT text[] := ARRAY[
    'price_lists', 'price_list_versions', 'organizations', 'members', 'api_keys', 'operators',
    'sign_in_members', 'catalog_versions', 'channel_accounts', 'channel_keys', 'webhook_endpoints',
    'channel_pauses', 'change_counts'];
  -- All rows of an organisation are stored on the same node (co-located). A call log of partitions
  -- is distributed with its partitions.
  organization_tables CONSTANT text[] := ARRAY[
    'pools', 'member_months', 'orders', 'order_tags', 'lingering_orders', 'transfers',
    'sealed_months', 'idempotency_keys', 'tasks', 'orphans', 'usage_sums', 'budgets', 'budget_uses',
    'ledger_audited_pools', 'ledger_audited_months', 'upstream_calls', 'webhook_messages',
    'webhook_attempts', 'archives', 'files', 'file_chunks', 'responses'];
  -- Functions that run on the node of their organisation, in one round trip.
  organization_functions CONSTANT text[] := ARRAY[
    'move_funds', 'transfer_funds', 'reassign_order', 'create_budget', 'change_budget',
    'remove_budget', 'set_cap', 'erase_task', 'drop_closed_tasks', 'add_file', 'start_waiting_task'];
  function regprocedure;
BEGIN
  FOREACH name IN ARRAY reference_tables LOOP
    CONTINUE WHEN EXISTS (SELECT FROM citus_tables
                           WHERE table_name = name::regclass AND citus_table_type = 'reference');
    PERFORM create_reference_table(name);
  END LOOP;
  -- A write to a reference table locks it and those that it refers to, in no common order, so that
  -- concurrent writes would end in deadlocks. Their rows are never deleted, and are looked up before
  -- another row refers to them.
  FOR name, reference IN
    SELECT conrelid::regclass::text, conname FROM pg_constraint
     WHERE contype = 'f' AND confdeltype <> 'c'
       AND conrelid = ANY (reference_tables::regclass[])
       AND confrelid = ANY (reference_tables::regclass[])
  LOOP
    EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', name, reference);
  END LOOP;
  FOREACH name IN ARRAY organization_tables LOOP
    CONTINUE WHEN EXISTS (SELECT FROM citus_tables
                           WHERE table_name = name::regclass AND citus_table_type = 'distributed');
    PERFORM create_distributed_table(name, 'organization_id',
      colocate_with => CASE name WHEN 'pools' THEN 'none' ELSE 'pools' END);
  END LOOP;
  -- A vendor's job has one order among all organisations.
  IF NOT EXISTS (SELECT FROM citus_tables WHERE table_name = 'vendor_jobs'::regclass
                                            AND citus_table_type = 'distributed') THEN
    PERFORM create_distributed_table('vendor_jobs', 'upstream_id', colocate_with => 'none');
  END IF;
  -- The other tables stay on the coordinator, and every node knows that they are there.
  FOR name IN
    SELECT c.oid::regclass::text FROM pg_class c
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND NOT c.relispartition
  LOOP
    -- Adding a table adds those that it refers to.
    CONTINUE WHEN EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = name::regclass);
    PERFORM citus_add_local_table_to_metadata(name, cascade_via_foreign_keys => true);
  END LOOP;
  -- Every node has the functions that those of organisations call. None of them takes the row of a
  -- table. In the order of their creation, since each brings the types that the next ones use.
  FOR function IN
    SELECT oid::regprocedure FROM pg_proc
     WHERE pronamespace = 'public'::regnamespace AND proname <> ALL (organization_functions)
       AND prorettype <> 'trigger'::regtype
       AND NOT EXISTS (SELECT FROM pg_type t WHERE t.oid = ANY (proargtypes) AND t.typrelid <> 0)
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = pg_proc.oid AND d.deptype = 'e')
     ORDER BY oid
  LOOP
    PERFORM create_distributed_function(function);
  END LOOP;
  FOR function IN
    SELECT oid::regprocedure FROM pg_proc
     WHERE pronamespace = 'public'::regnamespace AND proname = ANY (organization_functions)
  LOOP
    PERFORM create_distributed_function(function, 'p_organization', colocate_with => 'pools');
  END LOOP;
  -- A generic plan names no shard.
  FOR function IN
    SELECT oid::regprocedure FROM pg_proc
     WHERE pronamespace = 'public'::regnamespace AND 'plan_cache_mode=force_generic_plan' = ANY (proconfig)
  LOOP
    EXECUTE format('ALTER FUNCTION %s RESET plan_cache_mode', function);
  END LOOP;
  -- The cooldowns are on the coordinator and the messages on another node. A trigger that a statement
  -- of a third node fires writes to another node only with this setting.
  ALTER FUNCTION notify_of_rest() SET citus.allow_nested_distributed_execution = on;
END $distribute$;
