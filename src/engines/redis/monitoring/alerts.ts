/** Alerts on the metrics of the exporters beside Redis nodes and sentinels. */
import { type Alert, perCluster, perMember, theCluster, theMember } from '../../../engine/monitoring.ts';

/** Exporters of other databases serve the same metrics. */
const ofRedis = 'clusterwright_engine="redis"';
const status = '`clusterwright status RedisCluster/NAME` and `kubectl describe rediscluster NAME`';

/** While exporters come to a cluster, pod by pod, the primary has one last: others see it before. */
const primaries = `redis_instance_info{${ofRedis}, role="master"}`;
const linked = `redis_master_link_up{${ofRedis}} == 1`;
const watched = `redis_sentinel_master_status{${ofRedis}, master_status="ok"}`;

const availability: readonly Alert[] = [
  {
    name: 'RedisDown',
    expr: `redis_up{${ofRedis}} == 0`,
    for: '5m',
    severity: 'warning',
    summary: `Redis of ${theMember} does not answer.`,
    meaning:
      'The exporter in this pod runs, and cannot log in to the Redis node or sentinel beside it. If the node was primary, Sentinel elects another; then clients are served, and another loss may stop them. If none is elected, `RedisNoPrimary` fires, too.',
    actions: [
      `Look at ${status}: the message of \`Ready\` says which member is not ready and why.`,
      'Look at the log of the member: `kubectl logs POD`. If Redis runs, look at the log of the exporter: `kubectl logs POD -c exporter`.',
      'If the number of clients has reached `maxclients`, close clients or raise `config.maxclients`.',
    ],
  },
  {
    name: 'RedisMemberMissing',
    expr: `max by (${perCluster}) (redis_sentinel_master_slaves{${ofRedis}} - redis_sentinel_master_ok_slaves{${ofRedis}}) > 0 or max by (${perCluster}) (redis_sentinel_master_sentinels{${ofRedis}} - redis_sentinel_master_ok_sentinels{${ofRedis}}) > 0`,
    for: '5m',
    severity: 'warning',
    summary: `A Redis node or sentinel of ${theCluster} is missing.`,
    meaning:
      'A sentinel knows a node or another sentinel that it does not reach. An exporter goes with its pod, so no other alert is about a pod that is gone. Clients are served as long as there is a primary. Another loss may stop them.',
    actions: [
      `Look at ${status}: the message of \`Ready\` says which member is missing and why.`,
      'The operator cannot help if no Kubernetes node has space for the pod, or if the image cannot be pulled.',
      'Check that sentinels reach nodes on port 6379, and each other on port 26379.',
    ],
  },
  {
    name: 'RedisNoPrimary',
    expr: `count by (${perCluster}) (up{${ofRedis}}) unless count by (${perCluster}) (${primaries}) unless count by (${perCluster}) (${linked}) unless count by (${perCluster}) (${watched})`,
    for: '2m',
    severity: 'critical',
    summary: `No primary of ${theCluster} is seen: clients may not be able to write.`,
    meaning:
      'No node is primary, no replica has a link to one, and no sentinel reaches one, as far as the exporters of this cluster say. This includes exporters that do not answer. A failover takes seconds, so it has not succeeded.',
    actions: [
      `Look at ${status}: the reason of \`Ready\` says why no node is promoted.`,
      'If `Ready` is `True`, clients are served, and the exporters fail: look at their logs.',
      'Bring back the pods and nodes that the message names. Remove no volume: each may have writes that the others lack.',
      'If they are lost permanently, [recover](../engines/redis/guide.md#recover).',
    ],
  },
  {
    name: 'RedisTwoPrimaries',
    expr: `count by (${perCluster}) (${primaries}) > 1`,
    for: '2m',
    severity: 'critical',
    summary: `{{ $value }} nodes of ${theCluster} are primaries at the same time.`,
    meaning:
      'The Service of the primary leads to one of them. Clients that use addresses of pods may write to another, and those writes are lost when it becomes a replica again. With three or more nodes, a primary without replicas refuses writes after some seconds.',
    actions: [
      `Look at ${status}. With the reason \`PrimaryContested\`, [name the primary](../engines/redis/guide.md#name-the-primary-choose-primary).`,
      'Stop clients that connect to a pod of the other node directly.',
      'If the operator is away, bring it back: it makes the other node a replica.',
    ],
  },
  {
    name: 'RedisSentinelNoQuorum',
    expr: `max by (${perCluster}) (redis_sentinel_master_ckquorum_status{${ofRedis}}) == 0`,
    for: '5m',
    severity: 'warning',
    summary: `The sentinels of ${theCluster} could not fail over.`,
    meaning:
      'Each sentinel that answers reaches too few others for the quorum, or for the majority that a failover needs. Clients are served as long as the primary runs.',
    actions: [
      `Look at ${status}: it says which sentinels are not ready and why.`,
      'Bring their pods and nodes back. Check that sentinels reach each other on port 26379.',
      'If most of them are lost, [recover](../engines/redis/guide.md#recover-when-most-sentinels-are-lost).',
    ],
  },
  {
    name: 'RedisScrapeFails',
    expr: `up{${ofRedis}} == 0 or max by (${perMember}) (redis_exporter_last_scrape_error{${ofRedis}} == 1) unless on (${perMember}) redis_up{${ofRedis}} == 0`,
    for: '15m',
    severity: 'warning',
    summary: `Metrics of ${theMember} are missing or incomplete.`,
    meaning:
      'The exporter does not answer, or one of its queries fails. Redis itself may be well, but other alerts of this member may not fire.',
    actions: [
      'Look at the log of the exporter: `kubectl logs POD -c exporter`.',
      'Check the NetworkPolicies: Prometheus must reach port 9121 of Redis nodes and sentinels.',
    ],
  },
];

const replication: readonly Alert[] = [
  {
    name: 'RedisReplicaDisconnected',
    expr: `max by (${perMember}) (redis_master_link_up{${ofRedis}}) == 0`,
    for: '10m',
    severity: 'warning',
    summary: `The replica ${theMember} has no link to its primary.`,
    meaning:
      'The data of the replica is old, and a failover to it loses writes. The Service for reads leaves it out while another replica has a link. A copy of much data may take this long.',
    actions: [
      'Look at the panel "Full copies" and at the log of the replica. They show whether it copies again and again.',
      'Look at the log of the primary. If an output buffer is too small for what is written during a copy, raise `resources.limits.memory`.',
      'Check that the replica reaches the primary on port 6379.',
    ],
  },
  {
    name: 'RedisReplicaLags',
    expr: `max by (${perCluster}, slave_ip) (redis_connected_slave_lag_seconds{${ofRedis}}) > 30`,
    for: '5m',
    severity: 'warning',
    summary: `The replica {{ $labels.slave_ip }} of ${theCluster} last acknowledged {{ $value | humanizeDuration }} ago.`,
    meaning:
      'A replica acknowledges what it has received every second. A failover to it would lose what has been written since. A long command on the replica, a slow disk or the network may be the cause.',
    actions: [
      'Find the pod: `kubectl get pods -o wide`. Compare its CPU with its limit, and look at its disk.',
      'Look for long commands on the replica: `SLOWLOG GET`.',
    ],
  },
];

const use: readonly Alert[] = [
  {
    name: 'RedisMemoryRunsOut',
    expr: `max by (${perMember}) (redis_memory_used_bytes{${ofRedis}} / (redis_memory_max_bytes{${ofRedis}} > 0)) > 0.9 and on (${perMember}) redis_instance_info{${ofRedis}, maxmemory_policy="noeviction"}`,
    for: '10m',
    severity: 'warning',
    summary: `${theMember} uses {{ $value | humanizePercentage }} of maxmemory, and evicts no keys.`,
    meaning:
      'At 100%, Redis refuses commands that need memory. The alert is about the policy `noeviction` alone: with another one, a cache is full all the time.',
    actions: [
      'Delete keys, or set times to live.',
      'Raise `resources.limits.memory`: `maxmemory` is 60% of it by default. The pods restart one at a time.',
      'If the data is a cache, set `config.maxmemory-policy`. It applies without a restart.',
    ],
  },
  {
    name: 'RedisConnectionsRunOut',
    expr: `max by (${perMember}) (redis_connected_clients{${ofRedis}} / redis_config_maxclients{${ofRedis}}) > 0.85`,
    for: '10m',
    severity: 'warning',
    summary: `${theMember} has {{ $value | humanizePercentage }} of the clients that it accepts.`,
    meaning:
      'At `maxclients`, Redis refuses new clients. These include replicas, sentinels, the operator and the exporter.',
    actions: [
      'See who is connected: `CLIENT LIST`. Clients that do not close connections are a fault of the application.',
      'Set `config.timeout`, which closes idle connections, or raise `config.maxclients`. Both apply without a restart.',
    ],
  },
];

export const redisAlerts: readonly Alert[] = [...availability, ...replication, ...use];
