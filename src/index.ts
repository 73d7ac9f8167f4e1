/// <reference types="node" preserve="true" />
/** What the package offers to other cdk8s apps. */
export type { BackupSpec, BackupSpecInput } from './api/backup.ts';
export { backupKind } from './api/backup.ts';
export type { ScheduleSpec, ScheduleSpecInput } from './api/backup-schedule.ts';
export { scheduleKind } from './api/backup-schedule.ts';
export { type ValidateOptions, type Verdict, validateCluster } from './api/validate.ts';
export type { Violation } from './api/violation.ts';
export { Backup, type BackupProps } from './constructs/backup.ts';
export { BackupSchedule, type BackupScheduleProps } from './constructs/backup-schedule.ts';
export type { ResourceMetadata, ResourceProps } from './constructs/checked-object.ts';
export { type ClusterProps, clusterConstruct } from './constructs/cluster-construct.ts';
export {
  EtcdCluster,
  type EtcdClusterProps,
  PostgresCluster,
  type PostgresClusterProps,
  RedisCluster,
  type RedisClusterProps,
} from './constructs/clusters.ts';
export type { Connection } from './constructs/connection.ts';
export { Crds, type CrdsProps } from './constructs/crds.ts';
export { Monitoring, type MonitoringProps } from './constructs/monitoring.ts';
export { Operator, type OperatorProps } from './constructs/operator.ts';
export type { OperatorResources } from './constructs/operator-deployment.ts';
export {
  PostgresDatabase,
  type PostgresDatabaseProps,
  PostgresUser,
  type PostgresUserProps,
} from './constructs/postgres-contents.ts';
export { RenderedCluster, type RenderedClusterProps } from './constructs/rendered-cluster.ts';
export type { Watch } from './constructs/watch.ts';
export {
  type Alert,
  conditions,
  type EngineMonitoring,
  type MonitoringPart,
  ofCluster,
  type Panel,
  perCluster,
  perMember,
  type Query,
  type Scrape,
  type Severity,
  theCluster,
  theMember,
  theResource,
  type Unit,
} from './engine/monitoring.ts';
export type { EtcdSpec, EtcdSpecInput } from './engines/etcd/kind/schema.ts';
export { etcdKind } from './engines/etcd/kind/schema.ts';
export { engineMonitoring } from './engines/monitoring.ts';
export type {
  DatabaseSpec as PostgresDatabaseSpec,
  DatabaseSpecInput as PostgresDatabaseSpecInput,
} from './engines/postgres/kind/database.ts';
export { databaseKind as postgresDatabaseKind } from './engines/postgres/kind/database.ts';
export type { PostgresSpec, PostgresSpecInput } from './engines/postgres/kind/schema.ts';
export { postgresKind } from './engines/postgres/kind/schema.ts';
export type {
  UserSpec as PostgresUserSpec,
  UserSpecInput as PostgresUserSpecInput,
} from './engines/postgres/kind/user.ts';
export { userKind as postgresUserKind } from './engines/postgres/kind/user.ts';
export type { RedisSpec, RedisSpecInput } from './engines/redis/kind/schema.ts';
export { redisKind } from './engines/redis/kind/schema.ts';
