/** The constructs of this package's engines, a line each. */

import { etcdDefinition } from '../engines/etcd/definition.ts';
import type { EtcdSpecInput } from '../engines/etcd/kind/schema.ts';
import { postgresDefinition } from '../engines/postgres/definition.ts';
import type { PostgresSpecInput } from '../engines/postgres/kind/schema.ts';
import { redisDefinition } from '../engines/redis/definition.ts';
import type { RedisSpecInput } from '../engines/redis/kind/schema.ts';
import { type ClusterProps, clusterConstruct } from './cluster-construct.ts';

export const EtcdCluster = clusterConstruct(etcdDefinition);
export type EtcdCluster = InstanceType<typeof EtcdCluster>;
export type EtcdClusterProps = ClusterProps<EtcdSpecInput>;

export const PostgresCluster = clusterConstruct(postgresDefinition);
export type PostgresCluster = InstanceType<typeof PostgresCluster>;
export type PostgresClusterProps = ClusterProps<PostgresSpecInput>;

export const RedisCluster = clusterConstruct(redisDefinition);
export type RedisCluster = InstanceType<typeof RedisCluster>;
export type RedisClusterProps = ClusterProps<RedisSpecInput>;
