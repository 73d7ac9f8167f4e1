/** RedisClusters in mode Cluster: first those that are accepted, then those that are refused. */
import type { Case } from './case.ts';
import { place } from './target-cases.ts';

const cluster = { mode: 'Cluster' };

export const shardsCases: readonly Case[] = [
  { story: 'a Redis Cluster', spec: cluster },
  { story: 'the most shards', spec: { ...cluster, shards: 100, replicasPerShard: 0 } },
  { story: 'the most replicas', spec: { ...cluster, shards: 20, replicasPerShard: 4 } },
  { story: 'shards without replicas', spec: { ...cluster, replicasPerShard: 0 } },
  { story: 'a number of replicas that each shard has', spec: { ...cluster, config: { 'min-replicas-to-write': 1 } } },
  { story: 'the one database of a Redis Cluster, said', spec: { ...cluster, config: { databases: 1 } } },
  { story: 'exporters and a NetworkPolicy', spec: { ...cluster, monitoring: {}, networkPolicy: {} } },
  {
    story: 'users of a Redis Cluster',
    spec: { ...cluster, users: [{ name: 'orders', secretRef: { name: 'orders', key: 'password' }, rules: ['+get'] }] },
  },
  { story: 'its volumes are deleted with it', spec: { ...cluster, deletionPolicy: 'Delete' } },
  { story: 'backups of shards', spec: { ...cluster, backup: place } },
  { story: 'a last backup of shards', spec: { ...cluster, backup: place, deletionPolicy: 'Snapshot' } },
  { story: 'shards from a backup', spec: { ...cluster, bootstrap: { restore: place } } },
  { story: 'more replicas', old: cluster, spec: { ...cluster, replicasPerShard: 2 } },

  { story: 'two shards', spec: { ...cluster, shards: 2 }, refused: 'spec.shards' },
  { story: '101 shards', spec: { ...cluster, shards: 101 }, refused: 'spec.shards' },
  { story: '102 nodes', spec: { ...cluster, shards: 51 }, refused: 'spec.shards' },
  { story: '105 nodes', spec: { ...cluster, shards: 21, replicasPerShard: 4 }, refused: 'spec.shards' },
  { story: 'fewer than no replicas', spec: { ...cluster, replicasPerShard: -1 }, refused: 'spec.replicasPerShard' },
  { story: 'five replicas', spec: { ...cluster, replicasPerShard: 5 }, refused: 'spec.replicasPerShard' },
  { story: 'shards under Sentinel', spec: { shards: 3 }, refused: 'spec.mode' },
  { story: 'replicas of shards under Sentinel', spec: { replicasPerShard: 1 }, refused: 'spec.mode' },
  { story: 'replicas instead of shards', spec: { ...cluster, replicas: 6 }, refused: 'spec.replicas' },
  {
    story: 'more replicas than a shard has',
    spec: { ...cluster, config: { 'min-replicas-to-write': 2 } },
    refused: 'spec',
  },
  { story: 'several databases', spec: { ...cluster, config: { databases: 16 } }, refused: 'spec' },
  { story: 'shards without volumes', spec: { ...cluster, storage: { ephemeral: true } }, refused: 'spec.storage' },
  {
    story: 'access to shards from outside',
    spec: { ...cluster, access: { primary: { type: 'NodePort' } } },
    refused: 'spec.access',
  },
  { story: 'a proxy of shards', spec: { ...cluster, proxy: {} }, refused: 'spec.proxy' },
  {
    story: 'shards from a Redis that runs elsewhere',
    spec: { ...cluster, bootstrap: { importFrom: { host: 'redis.example.com' } } },
    refused: 'spec.bootstrap',
  },
  {
    story: 'a last backup of shards without a place for it',
    spec: { ...cluster, deletionPolicy: 'Snapshot' },
    refused: 'spec.backup',
  },
  { story: 'from Sentinel to shards', old: {}, spec: cluster, refused: 'spec.mode' },
  { story: 'from shards to Sentinel', old: cluster, spec: { mode: 'Sentinel' }, refused: 'spec.mode' },
  { story: 'from shards to the default mode', old: cluster, spec: {}, refused: 'spec.mode' },
  {
    story: 'from a number of shards to the default mode',
    old: { ...cluster, shards: 5, replicasPerShard: 2 },
    spec: {},
    refused: 'spec.mode',
  },
  {
    story: 'from shards to Standalone',
    old: cluster,
    spec: { mode: 'Standalone', replicas: 1 },
    refused: 'spec.mode',
  },
  { story: 'from Standalone to shards', old: { mode: 'Standalone', replicas: 1 }, spec: cluster, refused: 'spec.mode' },
  {
    story: 'another engine of shards',
    old: { ...cluster, version: '7.2' },
    spec: { ...cluster, engine: 'Valkey', version: '8.1' },
    refused: 'spec.engine',
  },
  ...Object.entries({
    'cluster-node-timeout': 3000,
    'cluster-require-full-coverage': true,
    'cluster-preferred-endpoint-type': 'hostname',
  }).map(([name, value]) => ({
    story: `${name} under Sentinel`,
    spec: { config: { [name]: value } },
    refused: 'spec',
  })),
];
