/** What the package offers to other cdk8s apps. */
export type { EtcdSpec, EtcdSpecInput } from './api/etcd.ts';
export { etcdKind } from './api/etcd.ts';
export type { RedisSpec, RedisSpecInput } from './api/redis.ts';
export { redisKind } from './api/redis.ts';
export { type ValidateOptions, type Verdict, validateCluster } from './api/validate.ts';
export type { Violation } from './api/violation.ts';
export { Crds } from './constructs/crds.ts';
export { EtcdCluster, type EtcdClusterProps } from './constructs/etcd-cluster.ts';
export { Operator, type OperatorProps } from './constructs/operator.ts';
export type { Watch } from './constructs/operator-identity.ts';
export { RedisCluster, type RedisClusterProps } from './constructs/redis-cluster.ts';
export { RenderedCluster, type RenderedClusterProps } from './constructs/rendered-cluster.ts';
