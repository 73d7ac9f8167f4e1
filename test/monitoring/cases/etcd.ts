import { type AlertCase, always, rising, type Series } from '../case.ts';

const member = (index: number): string =>
  `namespace="shop",clusterwright_cluster="registry",clusterwright_member="registry-${index}",clusterwright_engine="etcd"`;
const cluster = { namespace: 'shop', clusterwright_cluster: 'registry' };
const ofMember = (index: number) => ({ ...cluster, clusterwright_member: `registry-${index}` });
const series = (name: string, index: number, value: number | string, more = ''): Series => ({
  [`${name}{${member(index)}${more}}`]: typeof value === 'number' ? always(value) : value,
});
const up = (values: readonly number[]): Series =>
  Object.assign({}, ...values.map((value, index) => series('up', index, value))) as Series;
/** What member 0 knows: itself and the others. One has been removed. */
const known: Series = {
  ...series('etcd_network_known_peers', 0, 1, ',Remote="a"'),
  ...series('etcd_network_known_peers', 0, 1, ',Remote="b"'),
  ...series('etcd_network_known_peers', 0, 1, ',Remote="c"'),
  ...series('etcd_network_known_peers', 0, 0, ',Remote="d"'),
};
/** A hundred syncs a minute; this many take longer than half a second. */
const syncs = (slow: number): Series => ({
  ...series('etcd_disk_wal_fsync_duration_seconds_bucket', 0, rising(100 - slow), ',le="0.256"'),
  ...series('etcd_disk_wal_fsync_duration_seconds_bucket', 0, rising(100 - slow), ',le="0.512"'),
  ...series('etcd_disk_wal_fsync_duration_seconds_bucket', 0, rising(100), ',le="1.024"'),
  ...series('etcd_disk_wal_fsync_duration_seconds_bucket', 0, rising(100), ',le="+Inf"'),
});
const size = (bytes: number): Series => ({
  ...series('etcd_mvcc_db_total_size_in_bytes', 0, bytes),
  ...series('etcd_server_quota_backend_bytes', 0, 1000),
});

export const etcdCases: readonly AlertCase[] = [
  {
    alert: 'EtcdNoLeader',
    fires: series('etcd_server_has_leader', 0, 0),
    labels: { ...ofMember(0), clusterwright_engine: 'etcd' },
    quiet: series('etcd_server_has_leader', 0, 1),
  },
  {
    alert: 'EtcdMemberDown',
    story: 'does not answer',
    fires: up([1, 0, 1]),
    labels: { ...ofMember(1), clusterwright_engine: 'etcd' },
    quiet: up([1, 1, 1]),
  },
  {
    alert: 'EtcdMemberDown',
    story: 'has no pod',
    fires: { ...known, ...up([1, 1]) },
    labels: cluster,
    quiet: { ...known, ...up([1, 1, 1]) },
  },
  {
    alert: 'EtcdManyLeaderChanges',
    fires: series('etcd_server_leader_changes_seen_total', 0, rising(1)),
    labels: cluster,
    quiet: series('etcd_server_leader_changes_seen_total', 0, '1x50 2x5 3x5'),
  },
  { alert: 'EtcdSlowFsync', fires: syncs(10), labels: ofMember(0), quiet: syncs(0) },
  {
    alert: 'EtcdSpaceQuotaLow',
    fires: size(810),
    labels: { ...ofMember(0), clusterwright_engine: 'etcd' },
    quiet: size(790),
  },
  {
    alert: 'EtcdProposalsFail',
    fires: series('etcd_server_proposals_failed_total', 0, rising(1)),
    labels: ofMember(0),
    quiet: series('etcd_server_proposals_failed_total', 0, '0x30 3x30'),
  },
];
