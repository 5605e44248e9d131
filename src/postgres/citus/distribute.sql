-- Distributes an applied schema over a Citus cluster: run once, by `psql` on the coordinator, while
-- no gateway runs. Each table comes after the tables that it refers to. Tables that are not named
-- stay on the coordinator.

-- The triggers are safe here: each fires per row, and writes only rows of that row's organisation.
SET citus.enable_unsafe_triggers = on;

-- Reference tables, which every node has a copy of: they are read on every node and seldom written.
SELECT create_reference_table('price_lists');
SELECT create_reference_table('price_list_versions');
SELECT create_reference_table('organizations');
SELECT create_reference_table('members');
SELECT create_reference_table('api_keys');
SELECT create_reference_table('webhook_endpoints');

-- All rows of an organisation are stored on the same node (co-located).
SELECT create_distributed_table('pools', 'organization_id', colocate_with => 'none');
SELECT create_distributed_table('member_months', 'organization_id', colocate_with => 'pools');
SELECT create_distributed_table('orders', 'organization_id', colocate_with => 'pools');
SELECT create_distributed_table('order_tags', 'organization_id', colocate_with => 'pools');
SELECT create_distributed_table('lingering_orders', 'organization_id', colocate_with => 'pools');
SELECT create_distributed_table('transfers', 'organization_id', colocate_with => 'pools');
SELECT create_distributed_table('sealed_months', 'organization_id', colocate_with => 'pools');
SELECT create_distributed_table('idempotency_keys', 'organization_id', colocate_with => 'pools');
SELECT create_distributed_table('tasks', 'organization_id', colocate_with => 'pools');
SELECT create_distributed_table('orphans', 'organization_id', colocate_with => 'pools');
SELECT create_distributed_table('usage_sums', 'organization_id', colocate_with => 'pools');
SELECT create_distributed_table('budgets', 'organization_id', colocate_with => 'pools');
SELECT create_distributed_table('budget_uses', 'organization_id', colocate_with => 'pools');
SELECT create_distributed_table('ledger_audited_pools', 'organization_id', colocate_with => 'pools');
SELECT create_distributed_table('ledger_audited_months', 'organization_id', colocate_with => 'pools');
SELECT create_distributed_table('upstream_calls', 'organization_id', colocate_with => 'pools');
SELECT create_distributed_table('webhook_messages', 'organization_id', colocate_with => 'pools');
SELECT create_distributed_table('webhook_attempts', 'organization_id', colocate_with => 'pools');
SELECT create_distributed_table('archives', 'organization_id', colocate_with => 'pools');
SELECT create_distributed_table('files', 'organization_id', colocate_with => 'pools');
SELECT create_distributed_table('file_chunks', 'organization_id', colocate_with => 'pools');

-- These functions run on the node of their organisation, in one round trip.
SELECT create_distributed_function(
  'transfer_funds(text, text, text, text, bigint, text, text, text, text)', 'p_organization',
  colocate_with => 'pools');
SELECT create_distributed_function(
  'reassign_order(text, text, jsonb, jsonb, jsonb)', 'p_organization', colocate_with => 'pools');
SELECT create_distributed_function(
  'remove_budget(text, text)', 'p_organization', colocate_with => 'pools');
SELECT create_distributed_function(
  'erase_task(text, text, interval)', 'p_organization', colocate_with => 'pools');
SELECT create_distributed_function(
  'add_file(text, text, text, text, text, text, integer, double precision, boolean, interval, interval, bigint, bigint)',
  'p_organization', colocate_with => 'pools');
