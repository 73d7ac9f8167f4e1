/** Pods whose labels somebody has changed: Services do not lead to them any more, and Kubernetes does not look after them. */

import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { situationOf as etcdSituationOf } from '../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../src/engines/etcd/plan/plan.ts';
import { etcdStatus } from '../../src/engines/etcd/status.ts';
import { situationOf as redisSituationOf } from '../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../src/engines/redis/plan/plan.ts';
import { redisStatus } from '../../src/engines/redis/status.ts';
import { componentLabel, instanceLabel } from '../../src/resources/metadata.ts';
import { describeStep } from '../../src/runtime/executor.ts';
import { etcdWorld } from '../support/etcd-situation.ts';
import { takesEtcdBackup } from '../support/etcd-words.ts';
import { redisWorld } from '../support/redis-situation.ts';

const relabelling =
  (name: string, label: string, value = 'mine') =>
  (objects: readonly KubeObject[]): readonly KubeObject[] =>
    objects.map((object) => {
      if (object.kind !== 'Pod' || object.metadata.name !== name) return object;
      const labels = { ...object.metadata.labels, [label]: value };
      return { ...object, metadata: { ...object.metadata, labels } };
    });
const status = { phase: 'Ready', observedGeneration: 1, initialized: true } as const;

function ofRedis(name: string, label = componentLabel, value?: string) {
  const { cluster, children, observed } = redisWorld({ status, children: relabelling(name, label, value) });
  const plan = planRedis(redisSituationOf(cluster, children, observed));
  return { plan, told: redisStatus(redisSituationOf(cluster, children, observed), plan) };
}
function ofEtcd(name: string, label = componentLabel, value?: string) {
  const { cluster, children, observed } = etcdWorld({ status, children: relabelling(name, label, value) });
  const plan = planEtcd(etcdSituationOf(cluster, children, observed), takesEtcdBackup);
  return { plan, told: etcdStatus(etcdSituationOf(cluster, children, observed), plan) };
}

it.each([
  ['Redis: a replica restarts', ofRedis('db-2'), 'delete Pod db-2'],
  ['Redis: a primary hands over first', ofRedis('db-0'), 'ask Sentinel for a failover'],
  ['Redis: one with the name of another cluster restarts', ofRedis('db-2', instanceLabel), 'delete Pod db-2'],
  ['Redis: a primary with that name hands over first', ofRedis('db-0', instanceLabel), 'ask Sentinel for a failover'],
  ['Redis: one that is called a sentinel restarts', ofRedis('db-2', componentLabel, 'sentinel'), 'delete Pod db-2'],
  ['Redis: one that is called a Job restarts', ofRedis('db-2', componentLabel, 'agent'), 'delete Pod db-2'],
  ['Redis: a sentinel restarts', ofRedis('db-sentinel-1'), 'delete Pod db-sentinel-1'],
  ['etcd: one with the name of another cluster restarts', ofEtcd('db-2-0', instanceLabel), 'delete Pod db-2-0'],
  ['etcd: a member restarts', ofEtcd('db-2-0'), 'delete Pod db-2-0'],
  ['etcd: a leader hands over first', ofEtcd('db-0-0'), 'the leader'],
])('%s, and the cluster is not ready meanwhile', (_, { plan, told }, step) => {
  expect(told.conditions.find(({ type }) => type === 'Ready')?.status).toBe('False');
  expect(plan.steps.map(describeStep)).toEqual([expect.stringContaining(step)]);
});
