/**
 * The redis.conf directives that a user may set: an allow-list, each with its type and bounds.
 *
 * Left out on purpose is whatever names a file, a script, an address or a credential, whatever decides persistence,
 * replication or roles (the engine's own business), and whatever can keep a server from starting. Names, types and
 * bounds are those of Redis 7.0; `since` marks what came later. Sizes are written with a binary unit (kb, mb, gb), so
 * that there is one reading of each.
 */
import type { StructuralSchema } from '../../../api/schema.ts';

export interface Directive {
  readonly schema: StructuralSchema;
  /** `dynamic`: set on the running server. `restart`: pods are rolled. */
  readonly apply: 'dynamic' | 'restart';
  /** The first version that knows it, where that is later than 7.0. */
  readonly since?: string;
}

const flag = (description: string) => ({ apply: 'dynamic', schema: { type: 'boolean', description } }) as const;

const count = (description: string, minimum: number, maximum: number) =>
  ({ apply: 'dynamic', schema: { type: 'integer', description, minimum, maximum } }) as const;

const choice = <const Values extends readonly string[]>(description: string, values: Values) =>
  ({ apply: 'dynamic', schema: { type: 'string', description, enum: values } }) as const;

const size = (description: string) =>
  ({
    apply: 'dynamic',
    schema: { type: 'string', description, pattern: '^[1-9][0-9]{0,7}(kb|mb|gb)$', maxLength: 10 },
  }) as const;

/** The server does not start with less than 1mb of these. */
const largeSize = (description: string) =>
  ({
    apply: 'dynamic',
    schema: { type: 'string', description, pattern: '^[1-9][0-9]{0,7}(mb|gb)$', maxLength: 10 },
  }) as const;

const day = 86_400;
const int32 = 2_147_483_647;

export const redisDirectives = {
  maxmemory: size('Memory for data. Derived from the memory limit when absent; must be below the limit.'),
  'maxmemory-clients': largeSize(
    'Memory for the buffers of all clients; the largest is closed beyond it. An eighth of the memory limit when absent.',
  ),
  'maxmemory-policy': choice('What to evict when maxmemory is reached.', [
    'noeviction',
    'allkeys-lru',
    'allkeys-lfu',
    'allkeys-random',
    'volatile-lru',
    'volatile-lfu',
    'volatile-random',
    'volatile-ttl',
  ]),
  'maxmemory-samples': count('Keys sampled for each eviction.', 1, 64),
  'maxmemory-eviction-tenacity': count('Effort of eviction: 0 is least latency, 100 ignores latency.', 0, 100),
  'active-expire-effort': count('Effort of the expiry cycle.', 1, 10),
  'lfu-log-factor': count('Saturation of the LFU counter.', 0, 1000),
  'lfu-decay-time': count('Minutes after which the LFU counter is halved.', 0, 10_000),

  maxclients: count('Client connections accepted at once.', 128, 65_000),
  timeout: count('Seconds after which an idle client is closed; 0 never.', 0, 30 * day),
  'tcp-keepalive': count('Seconds between TCP keepalives; 0 sends none.', 0, day),
  'client-query-buffer-limit': largeSize('Most that a client may send as one command.'),
  'proto-max-bulk-len': largeSize('Longest single string a client may send.'),
  'tracking-table-max-keys': count('Keys tracked for client-side caching; 0 is no limit.', 0, int32),
  'notify-keyspace-events': {
    apply: 'dynamic',
    schema: {
      type: 'string',
      description: 'Keyspace events to publish, as the letters of redis.conf; empty publishes none.',
      pattern: '^[AKEg$lshzxetdmn]*$',
      maxLength: 16,
    },
  },

  appendfsync: choice('When the append-only file is flushed to disk.', ['always', 'everysec']),
  'no-appendfsync-on-rewrite': flag('Skip flushes while a rewrite runs: less latency, up to 30 s less durable.'),
  'auto-aof-rewrite-percentage': count('Growth in percent that starts a rewrite; 0 never.', 0, 10_000),
  'auto-aof-rewrite-min-size': size('Size below which no rewrite is started.'),
  rdbcompression: flag('Compress strings in snapshots.'),

  'repl-backlog-size': size('Buffer from which a replica resumes after a short absence.'),
  'repl-backlog-ttl': count('Seconds without replicas after which the buffer is freed; 0 never.', 0, 30 * day),
  'repl-timeout': count('Seconds of silence after which a replication link counts as lost.', 15, 3600),
  'min-replicas-to-write': count(
    'Replicas that must be in sync for writes to be accepted. 1 from three data nodes on when absent.',
    0,
    8,
  ),
  'min-replicas-max-lag': count('Seconds of lag up to which a replica counts as in sync.', 1, 3600),
  'replica-lazy-flush': flag('Free the old data set of a replica in the background.'),

  'lazyfree-lazy-eviction': flag('Free evicted values in the background.'),
  'lazyfree-lazy-expire': flag('Free expired values in the background.'),
  'lazyfree-lazy-server-del': flag('Free overwritten values in the background.'),
  'lazyfree-lazy-user-del': flag('Let DEL behave like UNLINK.'),
  'lazyfree-lazy-user-flush': flag('Let FLUSHALL and FLUSHDB run in the background by default.'),

  'slowlog-log-slower-than': count('Microseconds from which a command is logged; -1 logs none.', -1, int32),
  'slowlog-max-len': count('Entries kept in the slow log.', 0, 1_000_000),
  'latency-monitor-threshold': count('Milliseconds from which latency events are kept; 0 keeps none.', 0, int32),
  'latency-tracking': flag('Keep latency percentiles for each command.'),
  'acllog-max-len': count('Entries kept in the ACL log.', 0, 100_000),
  'busy-reply-threshold': count('Milliseconds after which a running script makes others get BUSY.', 100, 600_000),
  loglevel: choice('How much the server logs.', ['verbose', 'notice', 'warning']),

  hz: count('Background cycles a second.', 1, 500),
  'dynamic-hz': flag('Raise hz with the number of clients.'),
  activerehashing: flag('Rehash tables in the background.'),
  'hash-max-listpack-entries': count('Entries up to which a hash is stored compactly.', 0, 65_536),
  'hash-max-listpack-value': count('Bytes of a value up to which a hash is stored compactly.', 0, 65_536),
  'zset-max-listpack-entries': count('Entries up to which a sorted set is stored compactly.', 0, 65_536),
  'zset-max-listpack-value': count('Bytes of a value up to which a sorted set is stored compactly.', 0, 65_536),
  'set-max-intset-entries': count('Entries up to which a set of integers is stored compactly.', 0, 65_536),
  'set-max-listpack-entries': {
    ...count('Entries up to which a set is stored compactly.', 0, 65_536),
    since: '7.2',
  },
  'set-max-listpack-value': {
    ...count('Bytes of a value up to which a set is stored compactly.', 0, 65_536),
    since: '7.2',
  },
  'list-max-listpack-size': count('Entries of a list node, or -1 to -5 for 4 kb to 64 kb.', -5, 65_535),
  'list-compress-depth': count('List nodes left uncompressed at either end; 0 compresses none.', 0, 65_535),
  'stream-node-max-bytes': count('Bytes of a stream node; 0 is no limit.', 0, 1_048_576),
  'stream-node-max-entries': count('Entries of a stream node; 0 is no limit.', 0, 1_048_576),
  'hll-sparse-max-bytes': count('Bytes up to which a HyperLogLog is stored sparsely.', 0, 16_000),

  databases: {
    ...count('Number of databases. It can only grow: data in a database that is gone could not be loaded.', 1, 1024),
    apply: 'restart',
  },
  'io-threads': {
    ...count('Threads that read from and write to clients.', 1, 16),
    apply: 'restart',
  },
} as const satisfies Readonly<Record<string, Directive>>;

export type RedisDirective = keyof typeof redisDirectives;

/** The directives as properties of a schema, each with the type it has in the table. */
export const directiveProperties = Object.fromEntries(
  Object.entries(redisDirectives).map(([name, directive]) => [name, directive.schema]),
) as unknown as { readonly [D in RedisDirective]: (typeof redisDirectives)[D]['schema'] };
