import { type AlertCase, always, type Series } from '../case.ts';

const member = (name: string): string =>
  `namespace="shop",clusterwright_cluster="cache",clusterwright_member="${name}",clusterwright_engine="redis",pod="${name}"`;
const cluster = { namespace: 'shop', clusterwright_cluster: 'cache' };
const ofMember = (name: string) => ({ ...cluster, clusterwright_member: name });
const all = (name: string) => ({ ...ofMember(name), clusterwright_engine: 'redis', pod: name });
const series = (name: string, of: string, value: number | string, more = ''): Series => ({
  [`${name}{${member(of)}${more}}`]: typeof value === 'number' ? always(value) : value,
});
const nodes = ['cache-0', 'cache-1', 'cache-2'];
const sentinels = ['cache-sentinel-0', 'cache-sentinel-1', 'cache-sentinel-2'];
const upOf = (names: readonly string[], value = 1): Series =>
  Object.assign({}, ...names.flatMap((name) => [series('up', name, value), series('redis_up', name, value)])) as Series;
const up = upOf([...nodes, ...sentinels]);
const role = (name: string, is: string, policy = 'noeviction'): Series =>
  series('redis_instance_info', name, 1, `,role="${is}",maxmemory_policy="${policy}"`);
const link = (name: string, value: number | string): Series =>
  series('redis_master_link_up', name, value, ',master_host="10.0.0.1"');
const replicas: Series = { ...role('cache-1', 'slave'), ...role('cache-2', 'slave') };
const status = (name: string, is: string): Series =>
  series('redis_sentinel_master_status', name, 1, `,master_name="cache",master_status="${is}"`);
/** How many of them a sentinel knows, and how many it reaches. */
const known = (what: 'slaves' | 'sentinels', all: number, reached: number): Series => ({
  ...series(`redis_sentinel_master_${what}`, 'cache-sentinel-0', all, ',master_name="cache"'),
  ...series(`redis_sentinel_master_ok_${what}`, 'cache-sentinel-0', reached, ',master_name="cache"'),
});
const quorum = (name: string, value: number): Series =>
  series('redis_sentinel_master_ckquorum_status', name, value, `,message="${value}"`);
const memory = (used: number, most: number, policy = 'noeviction'): Series => ({
  ...role('cache-0', 'master', policy),
  ...series('redis_memory_used_bytes', 'cache-0', used),
  ...series('redis_memory_max_bytes', 'cache-0', most),
});
const clients = (connected: number): Series => ({
  ...series('redis_connected_clients', 'cache-0', connected),
  ...series('redis_config_maxclients', 'cache-0', 1000),
});
const lag = (seconds: number): Series =>
  series('redis_connected_slave_lag_seconds', 'cache-0', seconds, ',slave_ip="10.0.0.2",slave_state="online"');
const scrapeError = (value: number, err: string): Series =>
  series('redis_exporter_last_scrape_error', 'cache-1', value, `,err="${err}"`);

export const redisCases: readonly AlertCase[] = [
  { alert: 'RedisDown', fires: series('redis_up', 'cache-1', 0), labels: all('cache-1'), quiet: up },
  {
    alert: 'RedisMemberMissing',
    story: 'a node',
    fires: known('slaves', 2, 1),
    labels: cluster,
    quiet: known('slaves', 2, 2),
  },
  {
    alert: 'RedisMemberMissing',
    story: 'a sentinel',
    fires: known('sentinels', 3, 2),
    labels: cluster,
    quiet: known('sentinels', 3, 3),
  },
  {
    alert: 'RedisNoPrimary',
    story: 'replicas without a link',
    fires: { ...up, ...replicas, ...link('cache-1', 0), ...status('cache-sentinel-0', 'odown') },
    labels: cluster,
    quiet: { ...up, ...replicas, ...role('cache-0', 'master') },
  },
  {
    alert: 'RedisNoPrimary',
    story: 'nobody answers; and exporters that come one after the other, first beside a replica',
    fires: upOf(nodes, 0),
    labels: cluster,
    quiet: { ...upOf(['cache-2']), ...role('cache-2', 'slave'), ...link('cache-2', 1) },
  },
  {
    alert: 'RedisNoPrimary',
    story: 'sentinels that miss it; and exporters that come beside sentinels first',
    fires: { ...upOf(sentinels), ...status('cache-sentinel-0', 'sdown') },
    labels: cluster,
    quiet: { ...upOf(sentinels), ...status('cache-sentinel-0', 'ok') },
  },
  {
    alert: 'RedisTwoPrimaries',
    fires: { ...up, ...role('cache-0', 'master'), ...role('cache-1', 'master') },
    labels: cluster,
    quiet: { ...up, ...role('cache-0', 'master'), ...replicas },
  },
  {
    alert: 'RedisSentinelNoQuorum',
    fires: { ...quorum('cache-sentinel-0', 0), ...quorum('cache-sentinel-1', 0) },
    labels: cluster,
    quiet: { ...quorum('cache-sentinel-0', 0), ...quorum('cache-sentinel-1', 1) },
  },
  {
    alert: 'RedisScrapeFails',
    story: 'no answer; and a server that is down, which is another alert',
    fires: series('up', 'cache-1', 0),
    labels: all('cache-1'),
    quiet: { ...upOf(['cache-0']), ...series('redis_up', 'cache-1', 0), ...scrapeError(1, 'dial') },
  },
  {
    alert: 'RedisScrapeFails',
    story: 'a question fails',
    fires: { ...up, ...scrapeError(1, 'x') },
    labels: ofMember('cache-1'),
    quiet: { ...up, ...scrapeError(0, '') },
  },
  {
    alert: 'RedisReplicaDisconnected',
    fires: link('cache-1', 0),
    labels: ofMember('cache-1'),
    quiet: link('cache-1', '1x50 0x5 1x5'),
  },
  { alert: 'RedisReplicaLags', fires: lag(40), labels: { ...cluster, slave_ip: '10.0.0.2' }, quiet: lag(2) },
  {
    alert: 'RedisMemoryRunsOut',
    story: 'and a cache that evicts',
    fires: memory(95, 100),
    labels: ofMember('cache-0'),
    quiet: memory(100, 100, 'allkeys-lru'),
  },
  {
    alert: 'RedisMemoryRunsOut',
    story: 'and one with room, or without a limit',
    fires: memory(91, 100),
    labels: ofMember('cache-0'),
    quiet: {
      ...memory(89, 100),
      ...series('redis_memory_max_bytes', 'cache-1', 0),
      ...series('redis_memory_used_bytes', 'cache-1', 9),
    },
  },
  { alert: 'RedisConnectionsRunOut', fires: clients(900), labels: ofMember('cache-0'), quiet: clients(800) },
];
