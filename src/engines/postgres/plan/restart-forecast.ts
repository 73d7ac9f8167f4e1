/** Which settings PostgreSQL reads only when it starts, for people who read a plan. While it runs, PostgreSQL itself says so. */
import type { Cluster } from '../../../api/cluster.ts';
import type { Children } from '../../../resources/children.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { postgresNames } from '../names.ts';
import { sharedConfig } from '../resources/patroni-config.ts';

/** Of PostgreSQL 15 to 18, without those that `spec.parameters` refuses: `context` is `postmaster` in `pg_settings`. */
export const readAtStart: ReadonlySet<string> = new Set([
  ...['autovacuum_freeze_max_age', 'autovacuum_max_workers', 'autovacuum_multixact_freeze_max_age'],
  ...['autovacuum_worker_slots', 'commit_timestamp_buffers', 'event_source', 'huge_page_size', 'huge_pages'],
  ...['io_max_combine_limit', 'io_max_concurrency', 'max_active_replication_origins', 'max_connections'],
  ...['max_files_per_process', 'max_locks_per_transaction', 'max_logical_replication_workers'],
  ...['max_notify_queue_pages', 'max_pred_locks_per_transaction', 'max_prepared_transactions'],
  ...['max_replication_slots', 'max_wal_senders', 'max_worker_processes', 'min_dynamic_shared_memory'],
  ...['multixact_member_buffers', 'multixact_offset_buffers', 'notify_buffers', 'old_snapshot_threshold'],
  ...['reserved_connections', 'serializable_buffers', 'shared_buffers', 'shared_memory_type'],
  ...['shared_preload_libraries', 'subtransaction_buffers'],
  ...['trace_connection_negotiation', 'track_activity_query_size', 'track_commit_timestamp'],
  ...['transaction_buffers', 'wal_buffers'],
  ...['wal_decode_buffer_size', 'wal_level', 'wal_log_hints'],
]);

/** In words; undefined where no changed setting takes a restart, or nobody knows what is in force. */
export function restartForecast(cluster: Cluster<PostgresSpec>, children: Children): string | undefined {
  const { config } = postgresNames(cluster.metadata.name).state;
  const found = parametersIn(children.get('ConfigMap', config)?.metadata.annotations?.config);
  if (found === undefined || cluster.spec.instances === 0) return undefined;
  const wanted = parametersIn(JSON.stringify(sharedConfig(cluster))) ?? {};
  const changed = [...new Set([...Object.keys(found), ...Object.keys(wanted)])]
    .filter((name) => readAtStart.has(name) && String(found[name]) !== String(wanted[name]))
    .filter((name) => name !== 'autovacuum_max_workers' || Number(cluster.spec.version) < 18)
    .sort();
  if (changed.length === 0) return undefined;
  return cluster.spec.instances === 1
    ? `PostgreSQL restarts for ${changed.join(', ')}`
    : `each member restarts for ${changed.join(', ')}, one at a time, and the primary hands over or restarts first`;
}

/** Patroni's annotation may hold anything. */
function parametersIn(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  try {
    const config = JSON.parse(text ?? '') as { readonly postgresql?: { readonly parameters?: unknown } } | null;
    const parameters = config?.postgresql?.parameters;
    return typeof parameters === 'object' && parameters !== null ? { ...parameters } : undefined;
  } catch {
    return undefined;
  }
}
