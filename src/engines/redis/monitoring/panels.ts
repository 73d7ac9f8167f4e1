/** Panels on the metrics of the exporters beside Redis nodes and sentinels. */
import { ofCluster, type Panel, perCluster, perMember } from '../../../engine/monitoring.ts';

const legend = '{{clusterwright_member}}';
const gauge = (metric: string): string => `max by (${perMember}) (${metric}{${ofCluster}})`;
const rate = (metric: string): string => `rate(${metric}{${ofCluster}}[$__rate_interval])`;
const perSecond = (metric: string, more = ''): string => `sum by (${perMember}${more}) (${rate(metric)})`;

const members: readonly Panel[] = [
  {
    title: 'Role of each node',
    unit: 'short',
    description: '1: primary. 0: replica. No line: the node does not answer.',
    queries: [
      {
        expr: `max by (${perMember}) (redis_instance_info{${ofCluster}, role="master"} or 0 * redis_instance_info{${ofCluster}, role="slave"})`,
        legend,
      },
    ],
  },
  {
    title: 'What sentinels reach',
    unit: 'short',
    description: 'Sentinels and replicas that a sentinel reaches, itself included.',
    queries: [
      { expr: gauge('redis_sentinel_master_ok_sentinels'), legend: `${legend} sentinels` },
      { expr: gauge('redis_sentinel_master_ok_slaves'), legend: `${legend} replicas` },
    ],
  },
  {
    title: 'Clients',
    unit: 'short',
    description: 'Connected clients, those that wait in a blocking command, and how many a node accepts.',
    queries: [
      { expr: gauge('redis_connected_clients'), legend },
      { expr: gauge('redis_blocked_clients'), legend: `${legend} blocked` },
      { expr: gauge('redis_config_maxclients'), legend: `${legend} maxclients` },
    ],
  },
];

const replication: readonly Panel[] = [
  {
    title: 'Replication lag',
    unit: 'bytes',
    description: 'What the primary has written and a replica has not received.',
    queries: [
      {
        expr: `clamp_min(max by (${perCluster}) (redis_master_repl_offset{${ofCluster}}) - on (${perCluster}) group_right () max by (${perMember}) (redis_slave_repl_offset{${ofCluster}}), 0)`,
        legend,
      },
    ],
  },
  {
    title: 'Last acknowledgement',
    unit: 's',
    description: 'How long ago a replica acknowledged, as the primary sees it.',
    queries: [
      {
        expr: `max by (${perCluster}, slave_ip) (redis_connected_slave_lag_seconds{${ofCluster}})`,
        legend: '{{clusterwright_cluster}} {{slave_ip}}',
      },
    ],
  },
  {
    title: 'Full copies',
    unit: 'short',
    description: 'That a node has given to replicas in 15 minutes. Many: a replica does not finish its copy.',
    queries: [{ expr: `max by (${perMember}) (increase(redis_replica_resyncs_full{${ofCluster}}[15m]))`, legend }],
  },
];

const work: readonly Panel[] = [
  {
    title: 'Commands per second',
    unit: 'ops',
    description: 'Of clients, replicas and sentinels.',
    queries: [{ expr: perSecond('redis_commands_processed_total'), legend }],
  },
  {
    title: 'Time of commands',
    unit: 's',
    description:
      'p99 of the time that the server works on a command, without the network and the wait for other commands.',
    queries: [
      {
        expr: `histogram_quantile(0.99, sum by (${perMember}, le) (${rate('redis_commands_latencies_usec_bucket')})) / 1e6`,
        legend,
      },
    ],
  },
  {
    title: 'Busiest commands',
    unit: 'percentunit',
    description: 'The ten commands that take most of the time of the server. 100%: it does nothing else.',
    queries: [
      {
        expr: `topk(10, ${perSecond('redis_commands_duration_seconds_total', ', cmd')})`,
        legend: `${legend} {{cmd}}`,
      },
    ],
  },
  {
    title: 'Errors',
    unit: 'ops',
    description: 'Commands that were answered with an error.',
    queries: [{ expr: perSecond('redis_total_error_replies'), legend }],
  },
  {
    title: 'Hit ratio',
    unit: 'percentunit',
    description: 'Reads of keys that exist.',
    queries: [
      {
        expr: `${perSecond('redis_keyspace_hits_total')} / (${perSecond('redis_keyspace_hits_total')} + ${perSecond('redis_keyspace_misses_total')})`,
        legend,
      },
    ],
  },
  {
    title: 'Network',
    unit: 'Bps',
    description: 'Received from and sent to clients.',
    queries: [
      { expr: perSecond('redis_net_input_bytes_total'), legend: `${legend} in` },
      { expr: perSecond('redis_net_output_bytes_total'), legend: `${legend} out` },
    ],
  },
];

const data: readonly Panel[] = [
  {
    title: 'Memory',
    unit: 'bytes',
    description: 'Used, resident, and maxmemory.',
    queries: [
      { expr: gauge('redis_memory_used_bytes'), legend },
      { expr: gauge('redis_memory_used_rss_bytes'), legend: `${legend} resident` },
      { expr: gauge('redis_memory_max_bytes'), legend: `${legend} maxmemory` },
    ],
  },
  {
    title: 'Keys',
    unit: 'short',
    description: 'In all databases.',
    queries: [{ expr: `sum by (${perMember}) (redis_db_keys{${ofCluster}})`, legend }],
  },
  {
    title: 'Keys that go',
    unit: 'ops',
    description: 'Expired, and evicted for want of memory.',
    queries: [
      { expr: perSecond('redis_expired_keys_total'), legend: `${legend} expired` },
      { expr: perSecond('redis_evicted_keys_total'), legend: `${legend} evicted` },
    ],
  },
  {
    title: 'Append-only file',
    unit: 'bytes',
    description: 'It grows until a rewrite.',
    queries: [{ expr: gauge('redis_aof_current_size_bytes'), legend }],
  },
];

export const redisPanels: readonly Panel[] = [...members, ...replication, ...work, ...data];
