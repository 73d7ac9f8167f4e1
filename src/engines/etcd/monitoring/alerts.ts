/** Alerts on etcd's own metrics. */
import { type Alert, perCluster, perMember, theCluster, theMember } from '../../../engine/monitoring.ts';

/** The etcd of Kubernetes itself serves the same metrics. */
const ofEtcd = 'clusterwright_engine="etcd"';
const status = '`clusterwright status EtcdCluster/NAME`';

export const etcdAlerts: readonly Alert[] = [
  {
    name: 'EtcdNoLeader',
    expr: `etcd_server_has_leader{${ofEtcd}} == 0`,
    for: '1m',
    severity: 'critical',
    summary: `The member ${theMember} of etcd has no leader.`,
    meaning:
      'If all members have no leader, no majority can talk to each other, and etcd accepts no writes. If one member has none, it is cut off.',
    actions: [
      `Look at ${status}: it says which members do not answer.`,
      'Bring the pods and nodes of the missing members back. Check that members reach each other on port 2380.',
      'If a majority is lost permanently, [recover](../engines/etcd/guide.md#recover-a-lost-majority).',
    ],
  },
  {
    name: 'EtcdMemberDown',
    expr: `up{${ofEtcd}} == 0 or (max by (${perCluster}) (count by (${perMember}) (etcd_network_known_peers{${ofEtcd}} == 1)) > count by (${perCluster}) (up{${ofEtcd}} == 1))`,
    for: '5m',
    severity: 'warning',
    summary: `A member of etcd in ${theCluster} does not answer.`,
    meaning:
      'A member does not serve metrics, or the members know more members than serve metrics. Clients are served while a majority is there. Another loss may stop writes.',
    actions: [
      `Look at ${status}: the message says which member is not ready, and what the operator does.`,
      'The operator replaces a member whose volume is lost. It cannot help if no node has space for the pod, or if the image cannot be pulled.',
      'Check the NetworkPolicies: Prometheus must reach port 2381.',
    ],
  },
  {
    name: 'EtcdManyLeaderChanges',
    expr: `max by (${perCluster}) (increase(etcd_server_leader_changes_seen_total{${ofEtcd}}[15m])) > 3`,
    for: '5m',
    severity: 'warning',
    summary: `etcd ${theCluster} has changed its leader {{ $value | humanize }} times in 15 minutes.`,
    meaning:
      'Each change stops writes for about an election timeout. A rollout changes the leader once or twice. More is a sign of a slow disk, a slow network or too little CPU.',
    actions: [
      'Look at the panels "Sync of the log" and "Round trip between members".',
      'Compare the CPU of the members with their limits.',
      'If members are far from each other, raise `config.electionTimeout` and `config.heartbeatInterval`.',
    ],
  },
  {
    name: 'EtcdSlowFsync',
    expr: `histogram_quantile(0.99, sum by (${perMember}, le) (rate(etcd_disk_wal_fsync_duration_seconds_bucket{${ofEtcd}}[5m]))) > 0.5`,
    for: '10m',
    severity: 'warning',
    summary: `One in a hundred syncs of the log of ${theMember} takes longer than {{ $value | humanizeDuration }}.`,
    meaning:
      'A member confirms a write after it has synced its log. The documentation of etcd asks for less than 10 ms. At half a second, a leader misses heartbeats, and is replaced.',
    actions: ['Check what else uses the disk of the node.', 'Use a StorageClass with local or provisioned SSDs.'],
  },
  {
    name: 'EtcdSpaceQuotaLow',
    expr: `etcd_mvcc_db_total_size_in_bytes{${ofEtcd}} / etcd_server_quota_backend_bytes{${ofEtcd}} > 0.8`,
    for: '10m',
    severity: 'warning',
    summary: `The database of ${theMember} uses {{ $value | humanizePercentage }} of its quota.`,
    meaning:
      'At 100%, etcd refuses writes. The operator compacts and defragments if that frees space. If the alert stays, the keys themselves need the space.',
    actions: [
      'Compare the panels "Database size" and "Database size in use". If the second is much smaller, wait for the defragmentation.',
      'Delete keys, or raise `config.quotaBackend`. Check `storage.size` first.',
    ],
  },
  {
    name: 'EtcdProposalsFail',
    expr: `sum by (${perMember}) (increase(etcd_server_proposals_failed_total{${ofEtcd}}[15m])) > 5`,
    for: '5m',
    severity: 'warning',
    summary: `{{ $value | humanize }} proposals of ${theMember} have failed in 15 minutes.`,
    meaning:
      'Writes were not agreed on, for example during an election or without a majority. Clients see errors or time-outs.',
    actions: [
      'Look whether `EtcdNoLeader` or `EtcdManyLeaderChanges` fires, too, and begin there.',
      `Look at ${status}.`,
    ],
  },
];
