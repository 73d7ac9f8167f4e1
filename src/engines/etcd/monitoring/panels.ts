/** Panels on etcd's own metrics. */
import { ofCluster, type Panel, perCluster, perMember } from '../../../engine/monitoring.ts';

const legend = '{{clusterwright_member}}';
const rate = (metric: string, more = ''): string => `rate(${metric}{${ofCluster}${more}}[$__rate_interval])`;
const p99 = (metric: string): string =>
  `histogram_quantile(0.99, sum by (${perMember}, le) (${rate(`${metric}_bucket`)}))`;
const gauge = (metric: string): string => `max by (${perMember}) (${metric}{${ofCluster}})`;

export const etcdPanels: readonly Panel[] = [
  {
    title: 'Leader',
    unit: 'short',
    description: '1: leader. 0: follower.',
    queries: [{ expr: gauge('etcd_server_is_leader'), legend }],
  },
  {
    title: 'Members with a leader',
    unit: 'short',
    description: 'Fewer than members: some are cut off.',
    queries: [
      { expr: `sum by (${perCluster}) (etcd_server_has_leader{${ofCluster}})`, legend: '{{clusterwright_cluster}}' },
    ],
  },
  {
    title: 'Leader changes',
    unit: 'short',
    description: 'In 15 minutes.',
    queries: [
      { expr: `max by (${perMember}) (increase(etcd_server_leader_changes_seen_total{${ofCluster}}[15m]))`, legend },
    ],
  },
  {
    title: 'Requests per second',
    unit: 'ops',
    description: 'Keys written, deleted and read.',
    queries: [
      { expr: `sum by (${perMember}) (${rate('etcd_mvcc_put_total')})`, legend: `${legend} put` },
      { expr: `sum by (${perMember}) (${rate('etcd_mvcc_delete_total')})`, legend: `${legend} delete` },
      { expr: `sum by (${perMember}) (${rate('etcd_mvcc_range_total')})`, legend: `${legend} range` },
    ],
  },
  {
    title: 'Proposals',
    unit: 'ops',
    description: 'Committed and failed.',
    queries: [
      {
        expr: `sum by (${perMember}) (${rate('etcd_server_proposals_committed_total')})`,
        legend: `${legend} committed`,
      },
      { expr: `sum by (${perMember}) (${rate('etcd_server_proposals_failed_total')})`, legend: `${legend} failed` },
    ],
  },
  {
    title: 'Pending proposals',
    unit: 'short',
    description: 'Many: the cluster cannot keep up with its clients.',
    queries: [{ expr: gauge('etcd_server_proposals_pending'), legend }],
  },
  {
    title: 'Sync of the log',
    unit: 's',
    description: 'p99. Less than 10 ms is good.',
    queries: [{ expr: p99('etcd_disk_wal_fsync_duration_seconds'), legend }],
  },
  {
    title: 'Commit of the database',
    unit: 's',
    description: 'p99. Less than 25 ms is good.',
    queries: [{ expr: p99('etcd_disk_backend_commit_duration_seconds'), legend }],
  },
  {
    title: 'Round trip between members',
    unit: 's',
    description: 'p99. The heartbeat interval must be longer.',
    queries: [{ expr: p99('etcd_network_peer_round_trip_time_seconds'), legend }],
  },
  {
    title: 'Database size',
    unit: 'bytes',
    description: 'On disk, and the quota.',
    queries: [
      { expr: gauge('etcd_mvcc_db_total_size_in_bytes'), legend },
      { expr: gauge('etcd_server_quota_backend_bytes'), legend: `${legend} quota` },
    ],
  },
  {
    title: 'Database size in use',
    unit: 'bytes',
    description: 'What a defragmentation leaves.',
    queries: [{ expr: gauge('etcd_mvcc_db_total_size_in_use_in_bytes'), legend }],
  },
  {
    title: 'Memory',
    unit: 'bytes',
    description: 'Resident memory of the process.',
    queries: [{ expr: gauge('process_resident_memory_bytes'), legend }],
  },
  {
    title: 'Traffic with clients',
    unit: 'Bps',
    description: 'gRPC, received and sent.',
    queries: [
      {
        expr: `sum by (${perMember}) (${rate('etcd_network_client_grpc_received_bytes_total')})`,
        legend: `${legend} in`,
      },
      { expr: `sum by (${perMember}) (${rate('etcd_network_client_grpc_sent_bytes_total')})`, legend: `${legend} out` },
    ],
  },
];
