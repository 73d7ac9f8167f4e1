/**
 * How a backup is recovered, in the Job of a restore: by a server of the member's image that nobody else reaches, before there is a
 * member. What is said here counts over what the server of the backup had.
 *
 * Patroni has a way of its own, a custom bootstrap with `recovery_conf`. A pod that is killed during that one goes on without the
 * target, or waits for ever for an `initialize` key that nobody fills (read in Patroni 4.0.7).
 */
import type { Cluster } from '../../../api/cluster.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { paths } from '../names.ts';
import { texts } from './shell/texts.ts';

/** For the server's socket, and for files of its configuration. */
export const temporaryDirectory = '/tmp';

type Settings = Readonly<Record<string, string>>;

/** The container of a helper has 256 MiB. */
const server: Settings = {
  shared_buffers: '64MB',
  max_connections: '10',
  // Independent of how large /dev/shm of a container is.
  dynamic_shared_memory_type: 'mmap',
  // Without it, settings of the old server that must not be lower do not count.
  hot_standby: 'off',
  autovacuum: 'off',
  archive_mode: 'off',
  max_wal_senders: '0',
  max_replication_slots: '10',
  // A copy of a subscriber would take changes from the publisher that the subscriber then never gets.
  max_logical_replication_workers: '0',
  wal_level: 'replica',
  wal_log_hints: 'on',
  ssl: 'off',
  jit: 'off',
  logging_collector: 'off',
  log_timezone: 'UTC',
  shared_preload_libraries: '',
};

/** What of the user's settings recovery needs: there must be room for transactions that were prepared. */
function ofUser({ parameters }: PostgresSpec): Settings {
  const { max_prepared_transactions } = parameters;
  return max_prepared_transactions === undefined ? {} : { max_prepared_transactions };
}

/** Where recovery ends: without a point, at the end of the log that was fetched, or else of that in the backup. */
function target({ bootstrap }: PostgresSpec): Settings {
  const { time, ...others } = bootstrap?.restore?.until ?? {};
  // On its command line, a server knows no abbreviations of time zones yet, and `Z` is one.
  const until = { ...others, ...(time === undefined ? {} : { time: time.replace(/Z$/, '+00') }) };
  return {
    // A segment that is not there is looked for in the backup itself, and then it is the end of the log. One that is there and cannot be copied
    // is not: by an exit code above 125, the server ends.
    restore_command: `test -f ${paths.restoredLog}/%f || exit 1; cp ${paths.restoredLog}/%f %p || exit 255`,
    recovery_target_timeline: 'latest',
    recovery_target_action: 'promote',
    ...Object.fromEntries(Object.entries(until).map(([kind, value]) => [`recovery_target_${kind}`, value])),
  };
}

export function recoverCommand({ spec }: Cluster<PostgresSpec>): readonly string[] {
  const settings = { ...server, ...ofUser(spec), ...target(spec) };
  return [
    ...['python3', '-IS', '-c', texts['recover.py'], paths.restored, paths.data],
    `/usr/lib/postgresql/${spec.version}/bin`,
    temporaryDirectory,
    ...Object.entries(settings).map(([name, value]) => `${name}=${value}`),
  ];
}
