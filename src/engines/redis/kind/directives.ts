/**
 * The redis.conf directives that a user may set: an allow-list, each with its type and bounds.
 *
 * Left out on purpose is whatever names a file, a script, an address or a credential, whatever decides persistence,
 * replication or roles (the engine's own business), and whatever can keep a server from starting. Names, types and
 * bounds are those of Redis 7.0; `in` marks what other versions, or Valkey, know otherwise. Sizes are written with a binary
 * unit (kb, mb, gb), so that there is one reading of each.
 */
import type { StructuralSchema } from '../../../api/schema.ts';
import { atLeast, type Server, type ServerEngine } from './server.ts';

/** Versions of one engine that know a directive. */
export type Range = 'none' | { readonly since?: string; readonly before?: string };

export interface Directive {
  readonly schema: StructuralSchema;
  /** `dynamic`: set on the running server. `restart`: pods are rolled. */
  readonly apply: 'dynamic' | 'restart';
  /** Where not all versions of an engine know it. */
  readonly in?: Readonly<Partial<Record<ServerEngine, Range>>>;
  /** Of this mode alone: servers of other modes are not told of it. */
  readonly mode?: 'Cluster';
}

/** Whether this server knows the directive, and has a use for it. */
export function isKnown(directive: Directive, { engine, version, mode }: Server & { readonly mode?: string }): boolean {
  if (directive.mode !== undefined && directive.mode !== mode) return false;
  const range = directive.in?.[engine];
  if (range === undefined) return true;
  if (range === 'none') return false;
  const { since, before } = range;
  return (since === undefined || atLeast(version, since)) && (before === undefined || !atLeast(version, before));
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

/** Redis has only the slow log of these. */
const commandLog = { in: { Redis: 'none', Valkey: { since: '8.1' } } } as const;

const day = 86_400;
const int32 = 2_147_483_647;

export const redisDirectives = {
  maxmemory: size('Memory for data, below the memory limit. 60 % of the memory limit when absent.'),
  'maxmemory-clients': largeSize(
    'Memory for the buffers of all clients. If they need more, Redis closes the client with the largest buffers. An eighth of the memory limit when absent.',
  ),
  'maxmemory-policy': choice('Which keys Redis evicts when maxmemory is reached.', [
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
  'maxmemory-eviction-tenacity': count('Effort of eviction: 0 for the lowest latency, 100 to ignore latency.', 0, 100),
  'active-expire-effort': count('Effort of the expiry cycle.', 1, 10),
  'lfu-log-factor': count('Saturation of the LFU counter.', 0, 1000),
  'lfu-decay-time': count('Minutes after which the LFU counter is halved.', 0, 10_000),

  maxclients: count('Maximum number of concurrent client connections.', 128, 65_000),
  timeout: count('Seconds after which an idle connection is closed; 0 for never.', 0, 30 * day),
  'tcp-keepalive': count('Seconds between TCP keepalives; 0 for none.', 0, day),
  'client-query-buffer-limit': largeSize('Maximum size of a command from a client.'),
  'proto-max-bulk-len': largeSize('Maximum size of a string in a command.'),
  'tracking-table-max-keys': count('Maximum number of keys tracked for client-side caching; 0 for no limit.', 0, int32),
  'notify-keyspace-events': {
    apply: 'dynamic',
    schema: {
      type: 'string',
      description: 'Keyspace events to publish, with the letters of redis.conf. When empty, Redis publishes none.',
      pattern: '^[AKEg$lshzxetdmn]*$',
      maxLength: 16,
    },
  },

  appendfsync: choice('When the append-only file is flushed to disk.', ['always', 'everysec']),
  'no-appendfsync-on-rewrite': flag(
    'Skip flushes during a rewrite: less latency, but up to 30 s of writes can be lost.',
  ),
  'auto-aof-rewrite-percentage': count(
    'Growth of the append-only file in percent after which a rewrite starts; 0 for never.',
    0,
    10_000,
  ),
  'auto-aof-rewrite-min-size': size('Minimum size of the append-only file for a rewrite.'),
  rdbcompression: flag('Compress strings in snapshots.'),

  'repl-backlog-size': size(
    'Size of the replication backlog, from which a replica resumes after a short disconnection.',
  ),
  'repl-backlog-ttl': count(
    'Seconds without replicas after which the replication backlog is freed; 0 for never.',
    0,
    30 * day,
  ),
  'repl-timeout': count('Seconds without data after which a replication link is closed.', 15, 3600),
  'min-replicas-to-write': count(
    'Number of replicas that must be in sync for the primary to accept writes. When absent, 1 with three or more Redis nodes, otherwise 0.',
    0,
    8,
  ),
  'min-replicas-max-lag': count('Maximum lag in seconds of a replica that is in sync.', 1, 3600),
  'replica-lazy-flush': flag('Free the old dataset of a replica in the background.'),

  'lazyfree-lazy-eviction': flag('Free evicted values in the background.'),
  'lazyfree-lazy-expire': flag('Free expired values in the background.'),
  'lazyfree-lazy-server-del': flag('Free overwritten values in the background.'),
  'lazyfree-lazy-user-del': flag('Let DEL behave like UNLINK.'),
  'lazyfree-lazy-user-flush': flag('Let FLUSHALL and FLUSHDB run in the background by default.'),

  'slowlog-log-slower-than': count(
    'Minimum duration in microseconds of a command in the slow log; -1 for no log.',
    -1,
    int32,
  ),
  'slowlog-max-len': count('Maximum number of entries in the slow log.', 0, 1_000_000),
  'commandlog-request-larger-than': {
    ...count('Minimum bytes of a command in the log of large requests; -1 for no log.', -1, int32),
    ...commandLog,
  },
  'commandlog-large-request-max-len': {
    ...count('Maximum number of entries in the log of large requests.', 0, 1_000_000),
    ...commandLog,
  },
  'commandlog-reply-larger-than': {
    ...count('Minimum bytes of a reply in the log of large replies; -1 for no log.', -1, int32),
    ...commandLog,
  },
  'commandlog-large-reply-max-len': {
    ...count('Maximum number of entries in the log of large replies.', 0, 1_000_000),
    ...commandLog,
  },
  'latency-monitor-threshold': count(
    'Minimum duration in milliseconds of a recorded latency event; 0 for none.',
    0,
    int32,
  ),
  'latency-tracking': flag('Record latency percentiles for each command.'),
  'acllog-max-len': count('Maximum number of entries in the ACL log.', 0, 100_000),
  'busy-reply-threshold': count(
    'Milliseconds after which other clients get the error BUSY while a script runs.',
    100,
    600_000,
  ),
  'cluster-node-timeout': {
    ...count(
      'Milliseconds without an answer after which a node of a Redis Cluster counts as down. A failover takes about two seconds more.',
      1000,
      60_000,
    ),
    mode: 'Cluster',
  },
  'cluster-require-full-coverage': {
    ...flag('Refuse all commands while any hash slot has no primary. When false, the other slots stay usable.'),
    mode: 'Cluster',
  },
  'cluster-preferred-endpoint-type': {
    ...choice('What clients of a Redis Cluster are redirected to: the address of the pod, or its DNS name.', [
      'ip',
      'hostname',
    ]),
    mode: 'Cluster',
  },
  loglevel: choice('Log level of the server.', ['verbose', 'notice', 'warning']),

  hz: count('Background cycles per second.', 1, 500),
  // Valkey has done so always since then, takes the line in a file, and refuses it in CONFIG SET.
  'dynamic-hz': { ...flag('Increase hz with the number of clients.'), in: { Valkey: { before: '8.1' } } },
  activerehashing: flag('Rehash tables in the background.'),
  'hash-max-listpack-entries': count('Maximum number of entries of a hash in compact form.', 0, 65_536),
  'hash-max-listpack-value': count('Maximum bytes of a value of a hash in compact form.', 0, 65_536),
  'zset-max-listpack-entries': count('Maximum number of entries of a sorted set in compact form.', 0, 65_536),
  'zset-max-listpack-value': count('Maximum bytes of a value of a sorted set in compact form.', 0, 65_536),
  'set-max-intset-entries': count('Maximum number of entries of a set of integers in compact form.', 0, 65_536),
  'set-max-listpack-entries': {
    ...count('Maximum number of entries of a set in compact form.', 0, 65_536),
    in: { Redis: { since: '7.2' } },
  },
  'set-max-listpack-value': {
    ...count('Maximum bytes of a value of a set in compact form.', 0, 65_536),
    in: { Redis: { since: '7.2' } },
  },
  'list-max-listpack-size': count(
    'Maximum number of entries of a list node, or -1 to -5 for 4 kb to 64 kb.',
    -5,
    65_535,
  ),
  'list-compress-depth': count(
    'Number of list nodes at each end that are not compressed; 0 for no compression.',
    0,
    65_535,
  ),
  'stream-node-max-bytes': count('Maximum bytes of a stream node; 0 for no limit.', 0, 1_048_576),
  'stream-node-max-entries': count('Maximum number of entries of a stream node; 0 for no limit.', 0, 1_048_576),
  'hll-sparse-max-bytes': count('Maximum bytes of a HyperLogLog in sparse form.', 0, 16_000),

  databases: {
    ...count(
      'Number of databases. It can only increase, because Redis cannot load data of a database that no longer exists.',
      1,
      1024,
    ),
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
