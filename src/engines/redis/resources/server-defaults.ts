/** The directives as a server starts with them, by engine and version. Those that follow from the memory limit are in `memory.ts`. */
import type { RedisDirective } from '../kind/directives.ts';
import { atLeast, type Server } from '../kind/server.ts';

type Defaults = Readonly<Record<RedisDirective, string>>;

/** Those of Redis, which has changed none of these since 7.0. */
const common: Defaults = {
  maxmemory: '0',
  'maxmemory-clients': '0',
  'maxmemory-policy': 'noeviction',
  'maxmemory-samples': '5',
  'maxmemory-eviction-tenacity': '10',
  'active-expire-effort': '1',
  'lfu-log-factor': '10',
  'lfu-decay-time': '1',
  maxclients: '10000',
  timeout: '0',
  'tcp-keepalive': '300',
  'client-query-buffer-limit': '1073741824',
  'proto-max-bulk-len': '536870912',
  'tracking-table-max-keys': '1000000',
  'notify-keyspace-events': '',
  appendfsync: 'everysec',
  'no-appendfsync-on-rewrite': 'no',
  'auto-aof-rewrite-percentage': '100',
  'auto-aof-rewrite-min-size': '67108864',
  rdbcompression: 'yes',
  'repl-backlog-size': String(1024 * 1024),
  'repl-backlog-ttl': '3600',
  'repl-timeout': '60',
  'min-replicas-to-write': '0',
  'min-replicas-max-lag': '10',
  'replica-lazy-flush': 'no',
  'lazyfree-lazy-eviction': 'no',
  'lazyfree-lazy-expire': 'no',
  'lazyfree-lazy-server-del': 'no',
  'lazyfree-lazy-user-del': 'no',
  'lazyfree-lazy-user-flush': 'no',
  'slowlog-log-slower-than': '10000',
  'slowlog-max-len': '128',
  'commandlog-request-larger-than': '1048576',
  'commandlog-large-request-max-len': '128',
  'commandlog-reply-larger-than': '1048576',
  'commandlog-large-reply-max-len': '128',
  'latency-monitor-threshold': '0',
  'latency-tracking': 'yes',
  'acllog-max-len': '128',
  'busy-reply-threshold': '5000',
  'cluster-node-timeout': '15000',
  'cluster-require-full-coverage': 'yes',
  'cluster-preferred-endpoint-type': 'ip',
  loglevel: 'notice',
  hz: '10',
  'dynamic-hz': 'yes',
  activerehashing: 'yes',
  'hash-max-listpack-entries': '512',
  'hash-max-listpack-value': '64',
  'zset-max-listpack-entries': '128',
  'zset-max-listpack-value': '64',
  'set-max-intset-entries': '512',
  'set-max-listpack-entries': '128',
  'set-max-listpack-value': '64',
  'list-max-listpack-size': '-2',
  'list-compress-depth': '0',
  'stream-node-max-bytes': '4096',
  'stream-node-max-entries': '100',
  'hll-sparse-max-bytes': '3000',
  databases: '16',
  'io-threads': '1',
};

/** What Valkey has changed, and since when. */
const ofValkey: readonly (readonly [since: string, changed: Partial<Defaults>])[] = [
  [
    '8.0',
    {
      'repl-backlog-size': String(10 * 1024 * 1024),
      'replica-lazy-flush': 'yes',
      'lazyfree-lazy-eviction': 'yes',
      'lazyfree-lazy-expire': 'yes',
      'lazyfree-lazy-server-del': 'yes',
      'lazyfree-lazy-user-del': 'yes',
      'lazyfree-lazy-user-flush': 'yes',
    },
  ],
];

export function serverDefaults({ engine, version }: Server): Defaults {
  switch (engine) {
    case 'Redis':
      return common;
    case 'Valkey': {
      const changes = ofValkey.filter(([since]) => atLeast(version, since)).map(([, changed]) => changed);
      return Object.assign({}, common, ...changes) as Defaults;
    }
  }
}
