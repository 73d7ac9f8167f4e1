import { type AlertCase, always, type Series } from '../case.ts';

const condition = (kind: string, type: string, value: number | string, reason = 'X'): Series => ({
  [`clusterwright_${kind.toLowerCase()}_condition{customresource_kind="${kind}",namespace="shop",name="db",type="${type}",reason="${reason}"}`]:
    typeof value === 'number' ? always(value) : value,
});
const labels = (kind: string) => ({ namespace: 'shop', name: 'db', customresource_kind: kind });
const redis = { namespace: 'shop', name: 'db' };

export const conditionCases: readonly AlertCase[] = [
  {
    alert: 'DatabaseUnavailable',
    fires: condition('EtcdCluster', 'Ready', 0, 'QuorumLost'),
    labels: labels('EtcdCluster'),
    quiet: condition('EtcdCluster', 'Ready', 0, 'Restarting'),
  },
  {
    alert: 'DatabaseDegraded',
    fires: condition('RedisCluster', 'Degraded', 1),
    labels: labels('RedisCluster'),
    quiet: { ...condition('RedisCluster', 'Degraded', 0), ...condition('BackupSchedule', 'Degraded', 1) },
  },
  {
    alert: 'DatabaseNotReady',
    story: 'also while its reason changes',
    fires: {
      ...condition('PostgresCluster', 'Ready', '0x50 stale', 'Updating'),
      ...condition('PostgresCluster', 'Ready', '_x50 0x10', 'Restarting'),
    },
    labels: labels('PostgresCluster'),
    quiet: { ...condition('PostgresCluster', 'Ready', 1), ...condition('Backup', 'Ready', 0) },
  },
  {
    alert: 'DatabaseWaitsForAPerson',
    fires: condition('PostgresDatabase', 'Stalled', 1),
    labels: labels('PostgresDatabase'),
    quiet: { ...condition('PostgresDatabase', 'Degraded', 1), ...condition('Backup', 'Stalled', 1) },
  },
  {
    alert: 'BackupFailed',
    fires: condition('Backup', 'Stalled', 1),
    labels: labels('Backup'),
    quiet: { ...condition('Backup', 'Ready', 0), ...condition('RedisCluster', 'Stalled', 1) },
  },
  {
    alert: 'BackupScheduleDegraded',
    fires: condition('BackupSchedule', 'Degraded', 1),
    labels: labels('BackupSchedule'),
    quiet: condition('BackupSchedule', 'Degraded', 0),
  },
  ...['DiskFull', 'PersistenceFailing', 'ReplicationBroken'].map((type) => ({
    alert: `Redis${type}`,
    fires: condition('RedisCluster', type, 1),
    labels: redis,
    quiet: { ...condition('RedisCluster', type, 0), ...condition('EtcdCluster', type, 1) },
  })),
];
