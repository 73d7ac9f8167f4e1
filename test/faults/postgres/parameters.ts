/** Settings of PostgreSQL in Patroni's configuration, and those of them that count from a start on. */
import type { Json } from './store.ts';

/** Of those that the operator and the scenarios set. */
export const fromStart: ReadonlySet<string> = new Set([
  'max_connections',
  'max_worker_processes',
  'max_wal_senders',
  'max_replication_slots',
  'max_prepared_transactions',
  'max_locks_per_transaction',
  'shared_buffers',
  'wal_level',
  'wal_log_hints',
  'hot_standby',
  'huge_pages',
  'track_commit_timestamp',
]);

/** What a server starts with where the configuration does not name them: Patroni's own values (`CMDLINE_OPTIONS`), otherwise PostgreSQL's. */
export const atStart: Readonly<Record<string, string>> = {
  max_connections: '100',
  max_worker_processes: '8',
  max_wal_senders: '10',
  max_replication_slots: '10',
  max_prepared_transactions: '0',
  max_locks_per_transaction: '64',
  shared_buffers: '128MB',
  wal_level: 'replica',
  wal_log_hints: 'on',
  hot_standby: 'on',
  huge_pages: 'try',
  track_commit_timestamp: 'off',
};

export function parametersIn(config: Json | undefined): Readonly<Record<string, string>> {
  const { parameters = {} } = (config?.postgresql ?? {}) as { readonly parameters?: Readonly<Record<string, unknown>> };
  return Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, String(value)]));
}

/** What a server goes by. */
export function inForce(
  { parameters, files }: { readonly parameters: Settings; readonly files: Settings },
  name: string,
): string | undefined {
  return (fromStart.has(name) ? parameters : files)[name];
}

type Settings = Readonly<Record<string, string>>;

/** Name to both values, of settings that count from a start on: what PostgreSQL and Patroni call pending. */
export function pendingIn(
  inForce: Settings,
  wanted: Settings,
): Readonly<Record<string, { readonly old_value: string; readonly new_value: string }>> {
  return Object.fromEntries(
    [...fromStart].flatMap((name) => {
      const [before = '', after = ''] = [inForce[name] ?? atStart[name], wanted[name] ?? atStart[name]];
      return before === after ? [] : [[name, { old_value: before, new_value: after }]];
    }),
  );
}

/** As `PATCH /config` does it: null takes a field away. */
export function patched(config: Json, patch: Json): Json {
  const result: Record<string, unknown> = { ...config };
  for (const [field, value] of Object.entries(patch)) {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (value === null) delete result[field];
    else result[field] = isObject ? patched((result[field] ?? {}) as Json, value as Json) : value;
  }
  return result;
}
