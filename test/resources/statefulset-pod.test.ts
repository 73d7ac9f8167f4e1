/** The pod that is judged is the one that Kubernetes makes, as far as it is known before. */
import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { etcdResources } from '../../src/engines/etcd/resources/resources.ts';
import { redisResources } from '../../src/engines/redis/resources/resources.ts';
import { podOfSet } from '../../src/resources/statefulset-pod.ts';
import { podOf, revisionLabel } from '../faults/kubernetes/statefulset-pod.ts';
import { etcdCluster } from '../support/etcd-situation.ts';
import { redisCluster } from '../support/redis-situation.ts';

const sets: readonly KubeObject[] = [...redisResources(redisCluster()), ...etcdResources(etcdCluster())].flatMap(
  ({ object }) => (object.kind === 'StatefulSet' ? [{ ...object, metadata: { ...object.metadata, uid: 'u' } }] : []),
);

it.each(sets.map((set) => [set.metadata.name, set] as const))('of %s', (name, set) => {
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name, uid: 'u', controller: true };
  const { metadata, ...rest } = podOf(set, 2, 'r', owner);
  const { [revisionLabel]: _, ...labels } = metadata.labels ?? {};
  expect(podOfSet(set, 2)).toEqual({ ...rest, metadata: { ...metadata, labels } });
});

it('there are those of data nodes, of sentinels and of members', () => {
  expect(sets.length).toBeGreaterThan(2);
});
