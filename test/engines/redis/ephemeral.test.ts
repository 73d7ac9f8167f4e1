/**
 * A cluster that keeps its data in its pods, and volumes that an earlier cluster of the name has left: they are none of its
 * own, whatever their names and labels are.
 */
import { expect, it } from 'vitest';
import type { Cluster, CommonSpec } from '../../../src/api/cluster.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { forecastRedis } from '../../../src/engines/redis/plan/forecast.ts';
import { planFinalization } from '../../../src/jobs/last-backup.ts';
import { deletionFinalizer } from '../../../src/plan/deletion.ts';
import { childrenOf } from '../../../src/resources/children.ts';
import { describeStep } from '../../../src/runtime/executor.ts';
import { deletionSpec } from '../../../src/runtime/partial-spec.ts';
import { engineOf, resourceOf, target } from '../../support/backup-story.ts';
import { type PlanRow, planned } from '../../support/plan-words.ts';
import { redisCluster, redisWorld } from '../../support/redis-situation.ts';

/** Claims of five nodes; the one that was primary last is not the first. */
const { claims } = redisWorld({ spec: { replicas: 5 }, terms: { 0: 1, 4: 3 } }).children;
const beside = (objects: readonly KubeObject[]): readonly KubeObject[] => [...objects, ...claims];
const storage = { ephemeral: true };

it.each<PlanRow>([
  ['nothing is written on them', { spec: { storage: { ...storage, size: '20Gi' } }, children: beside }, ['settled']],
  [
    'nothing is written on one that stands alone either',
    { spec: { mode: 'Standalone', replicas: 1, storage }, children: beside },
    ['settled'],
  ],
  [
    'who was primary by their terms has no say',
    { spec: { storage }, children: beside, primary: 0, sentinels: { all: 'forgot' } },
    [
      'monitor db-sentinel-0 -> db-0',
      'monitor db-sentinel-1 -> db-0',
      'monitor db-sentinel-2 -> db-0',
      'wait Repairing',
    ],
  ],
])('beside volumes of an earlier cluster %s', (_, story, plan) => expect(planned(story)).toEqual(plan));

it('they are not said to be taken over', () => {
  const cluster = redisCluster({ storage });
  expect(forecastRedis(cluster, childrenOf(claims))).toEqual(forecastRedis(cluster, childrenOf([])));
});

const secret: KubeObject = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db-auth', uid: 'uid-of-db-auth' } };

function ending(spec: object, status: object, objects: readonly KubeObject[]) {
  const made = resourceOf('RedisCluster', 'db', { storage, backup: { target }, ...spec }, status);
  const cluster = made as Cluster<CommonSpec>;
  const metadata = {
    ...cluster.metadata,
    deletionTimestamp: '2026-11-21T03:00:00Z',
    finalizers: [deletionFinalizer],
  };
  const { plan } = planFinalization(
    engineOf('RedisCluster'),
    { ...cluster, metadata },
    childrenOf(objects),
    [secret],
    0,
  );
  return plan.steps.map(describeStep);
}

it.each<readonly [story: string, status: object]>([
  ['has run', { initialized: true }],
  ['was never formed', {}],
])('they stay, with their Secrets, when one that %s is deleted', (_, status) => {
  expect(ending({ deletionPolicy: 'Delete' }, status, claims)).toEqual(['patch RedisCluster db']);
});

it('they stay where its spec is not valid any more', () => {
  const cluster = resourceOf('RedisCluster', 'db', { storage, deletionPolicy: 'Delete' });
  const broken = { ...cluster, spec: { ...(cluster.spec as object), version: 7 } };
  const { kind } = engineOf('RedisCluster');
  expect(deletionSpec(kind, broken)?.spec).toMatchObject({ deletionPolicy: 'Delete', storage });
});

it('a last backup is taken of what it holds, and they stay', () => {
  const snapshot = { deletionPolicy: 'Snapshot' };
  expect(ending(snapshot, { initialized: true }, claims)).toEqual([
    'create ConfigMap db-last-backup-task',
    'create Job db-last-backup',
  ]);
  expect(ending(snapshot, {}, claims)).toEqual(['patch RedisCluster db']);
});

it('without such volumes its Secrets go', () => {
  expect(ending({ deletionPolicy: 'Delete' }, { initialized: true }, [])).toEqual([
    'delete Secret db-auth: deletionPolicy is Delete',
  ]);
});
