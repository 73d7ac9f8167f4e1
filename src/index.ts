/** What the package offers to other cdk8s apps. */
export type { BackupSpec, BackupSpecInput } from './api/backup.ts';
export { backupKind } from './api/backup.ts';
export type { ScheduleSpec, ScheduleSpecInput } from './api/backup-schedule.ts';
export { scheduleKind } from './api/backup-schedule.ts';
export type { EtcdSpec, EtcdSpecInput } from './api/etcd.ts';
export { etcdKind } from './api/etcd.ts';
export type { RedisSpec, RedisSpecInput } from './api/redis.ts';
export { redisKind } from './api/redis.ts';
export { type ValidateOptions, type Verdict, validateCluster } from './api/validate.ts';
export type { Violation } from './api/violation.ts';
export { Backup, type BackupProps } from './constructs/backup.ts';
export { BackupSchedule, type BackupScheduleProps } from './constructs/backup-schedule.ts';
export { Crds } from './constructs/crds.ts';
export { EtcdCluster, type EtcdClusterProps } from './constructs/etcd-cluster.ts';
export { Operator, type OperatorProps } from './constructs/operator.ts';
export type { Watch } from './constructs/operator-identity.ts';
export { RedisCluster, type RedisClusterProps } from './constructs/redis-cluster.ts';
export { RenderedCluster, type RenderedClusterProps } from './constructs/rendered-cluster.ts';
