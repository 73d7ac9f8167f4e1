/** Settings of PostgreSQL: what the operator decides, what follows from the size of a member, and what the user has set. */
import type { Cluster } from '../../../api/cluster.ts';
import { unitsOf } from '../../../api/quantity.ts';
import type { PostgresSpec } from '../kind/schema.ts';

const mebibyte = 1024 ** 2;

/** Share of the memory limit: the advice of PostgreSQL's documentation for `shared_buffers`. */
const sharedBuffersShare = 0.25;
/** Share that PostgreSQL and the kernel have for cached data together: only the planner of queries uses it. */
const cacheShare = 0.6;
/** Share of the volume it is on that WAL may take for a standby or an archive that is away; beyond it the slot is lost, and writes go on. */
const slotShare = 0.2;

export type Parameters = Readonly<Record<string, string>>;

/** Those of PostgreSQL itself: a setting of an extension that is not loaded yet has no entry of its own. */
export function parameterNames({ parameters }: PostgresSpec): readonly string[] {
  return Object.keys(parameters).filter((name) => !name.includes('.'));
}

/** Share that WAL takes between two checkpoints. PostgreSQL's default is for a volume of 10Gi, and fills a smaller one. */
const walShare = 0.1;
/** The same of a volume that has nothing else. */
const ownWalShare = 0.25;
/** More is a longer recovery after a crash. */
const mostWal = 4096;

/** Size of the volume that WAL is on, in mebibytes. */
function walVolume({ storage, walStorage }: PostgresSpec): number {
  return unitsOf((walStorage ?? storage).size) / mebibyte;
}

/** What a user may set to another value. */
function defaults({ spec }: Cluster<PostgresSpec>): Parameters {
  const memory = unitsOf(spec.resources.limits.memory) / mebibyte;
  const share = spec.walStorage === undefined ? walShare : ownWalShare;
  return {
    shared_buffers: `${Math.floor(memory * sharedBuffersShare)}MB`,
    effective_cache_size: `${Math.floor(memory * cacheShare)}MB`,
    max_connections: '100',
    max_wal_size: `${Math.max(64, Math.min(mostWal, Math.floor(walVolume(spec) * share)))}MB`,
    timezone: 'UTC',
    log_timezone: 'UTC',
    // A client or peer whose machine is gone is given up in this time.
    tcp_keepalives_idle: '10',
    tcp_keepalives_interval: '5',
    tcp_keepalives_count: '3',
    tcp_user_timeout: '20s',
    wal_sender_timeout: '10s',
    wal_receiver_timeout: '10s',
    wal_receiver_status_interval: '2s',
    huge_pages: 'off',
  };
}

/** What no user sets. */
function fixed({ spec }: Cluster<PostgresSpec>): Parameters {
  return {
    jit: 'off',
    wal_level: 'replica',
    wal_log_hints: 'on',
    hot_standby: 'on',
    max_wal_senders: '20',
    max_replication_slots: '20',
    wal_keep_size: '64MB',
    max_slot_wal_keep_size: `${Math.max(64, Math.floor(walVolume(spec) * slotShare))}MB`,
    track_commit_timestamp: 'off',
  };
}

export function parametersOf(cluster: Cluster<PostgresSpec>): Parameters {
  return { ...defaults(cluster), ...cluster.spec.parameters, ...fixed(cluster) };
}
