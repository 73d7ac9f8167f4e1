/** What the agent is told of a Redis Cluster that it backs up or restores. */
import { expect, it } from 'vitest';
import type { Cluster } from '../../../../src/api/cluster.ts';
import { parseAgentTask } from '../../../../src/backup/agent-task.ts';
import { drivers } from '../../../../src/engines/drivers.ts';
import type { RedisSource } from '../../../../src/engines/redis/backup/schemas.ts';
import { redisBackup } from '../../../../src/engines/redis/backup/support.ts';
import { restoredShardText } from '../../../../src/engines/redis/client/restored-shard.ts';
import type { RedisSpec, RedisSpecInput } from '../../../../src/engines/redis/kind/schema.ts';
import { restoredKeysAnnotation, slotsAnnotation } from '../../../../src/engines/redis/names.ts';
import { engineOf } from '../../../support/backup-story.ts';
import { redisCluster } from '../../../support/redis-situation.ts';

const clusterOf = (spec: RedisSpecInput = {}): Cluster<RedisSpec> => redisCluster({ mode: 'Cluster', ...spec });
const sourceOf = (cluster: Cluster<RedisSpec>) => redisBackup.source(cluster).source as unknown as RedisSource;

it('every node of each shard is asked, also one that is to go, by the name of its pod', () => {
  const members = ['db-s0-0', 'db-s0-1', 'db-s1-2', 'db-s11-3'].map((name) => ({ name, role: 'unknown', ready: true }));
  const { shards = [] } = sourceOf({ ...clusterOf(), status: { members } });
  expect(shards.map((shard) => shard.members.map(({ host, port }) => `${host}:${port}`))).toEqual([
    ['db-s0-0.db.apps.svc:6379', 'db-s0-1.db.apps.svc:6379'],
    ['db-s1-0.db.apps.svc:6379', 'db-s1-1.db.apps.svc:6379', 'db-s1-2.db.apps.svc:6379'],
    ['db-s2-0.db.apps.svc:6379', 'db-s2-1.db.apps.svc:6379'],
  ]);
});

it('the agent logs in as the cluster, and is shown no password of clients', () => {
  const { source, secrets, topology } = redisBackup.source(clusterOf());
  expect(source).toMatchObject({ identity: { user: 'clusterwright/apps/db' } });
  expect(source).not.toHaveProperty('passwordFile');
  expect(source).not.toHaveProperty('members');
  expect(secrets.map(({ name, optional }) => [name, optional])).toEqual([['db-internal', undefined]]);
  expect(topology).toBe('3 shards of 2 nodes');
  expect(redisBackup.source(clusterOf({ replicasPerShard: 0 })).topology).toBe('3 shards of 1 node');
});

it('a task of the largest cluster is one that the agent takes', () => {
  const source = sourceOf(clusterOf({ shards: 20, replicasPerShard: 4 }));
  const cluster = { namespace: 'apps', kind: 'RedisCluster', name: 'db', uid: 'u' };
  const task = { task: 'take', cluster, purpose: { type: 'backup', name: 'b' }, source };
  const target = { type: 'claim', directory: '/backups', prefix: '' };
  expect(parseAgentTask(JSON.stringify({ ...task, target }), drivers)).toMatchObject({ task: 'take' });
});

it('in the other modes the agent is told what it always was', () => {
  const { source, secrets } = redisBackup.source(redisCluster({}));
  expect(Object.keys(source).sort()).toEqual(['engine', 'identity', 'members', 'passwordFile', 'sentinels']);
  expect(secrets.map(({ name, optional }) => [name, optional])).toEqual([
    ['db-auth', undefined],
    ['db-internal', true],
  ]);
  expect(redisBackup.restoreTemplate(redisCluster({}))).not.toHaveProperty('others');
});

it('each shard has a volume that is filled, whose claim says what the agent tells', () => {
  const { set, destination, others = [], annotationsOf } = redisBackup.restoreTemplate(clusterOf());
  expect([{ set, destination }, ...others]).toMatchObject(
    [0, 1, 2].map((index) => ({
      set: `db-s${index}`,
      destination: { shard: { index, count: 3 }, directory: '/data' },
    })),
  );
  const slots = [
    { first: 3, last: 7 },
    { first: 9, last: 9 },
  ];
  expect(annotationsOf?.(restoredShardText({ slots, lastingKeys: 5 }))).toEqual({
    [slotsAnnotation]: '3-7, 9',
    [restoredKeysAnnotation]: '5',
  });
  expect(annotationsOf?.('anything')).toBeUndefined();
});

it('objects of a restore in the other modes have the names that they had', () => {
  const spec = { bootstrap: { restore: { target: { claim: { name: 'backups' } } } } };
  const names = engineOf('RedisCluster')
    .resources(redisCluster(spec as never) as Cluster)
    .slice(0, 4)
    .map(({ object }) => `${object.kind} ${object.metadata.name}`);
  expect(names).toEqual([
    'PersistentVolumeClaim data-db-0',
    'ConfigMap db-restore-task',
    'Job db-restore',
    expect.not.stringContaining('restore'),
  ]);
});
