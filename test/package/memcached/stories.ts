/** Stories of the planner, by what is published: `node --test stories.js`. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { validateCluster } from 'clusterwright';
import { type Cluster, childrenOf, type KubeObject, type Plan } from 'clusterwright/engine';
import { memcached } from './index.js';
import { type MemcachedSpec, type MemcachedSpecInput, memcachedKind } from './kind.js';
import { plan } from './plan.js';

const { group, version, kind } = memcachedKind.resource;

/** Valid, with its defaults. */
function clusterOf(spec: MemcachedSpecInput): Cluster<MemcachedSpec> {
  const metadata = { name: 'sessions', namespace: 'shop', uid: 'uid-sessions' };
  const verdict = validateCluster(memcachedKind, { apiVersion: `${group}/${version}`, kind, metadata, spec });
  ok(verdict.ok, JSON.stringify(verdict));
  return verdict.cluster as Cluster<MemcachedSpec>;
}

/** What there is once the offline plan of `made` has been carried out and every pod is ready. */
function planned(cluster: Cluster<MemcachedSpec>, made: Cluster<MemcachedSpec>): Plan {
  const created = memcached
    .handler('agent:1')
    .planOffline(made)
    .steps.flatMap((step): KubeObject[] => (step.type === 'create' ? [step.object] : []));
  const objects = created.map((object) => ({
    ...object,
    metadata: { ...object.metadata, uid: `uid-${object.kind}`, generation: 1 },
    ...(object.kind === 'StatefulSet' ? { status: { observedGeneration: 1, updateRevision: 'new' } } : {}),
  }));
  const labels = objects.find((object) => object.kind === 'StatefulSet')?.metadata.labels ?? {};
  const pods = Array.from({ length: made.spec.replicas }, (_, number) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `sessions-${number}`,
      namespace: 'shop',
      uid: `uid-${number}`,
      labels: { ...labels, 'controller-revision-hash': number === 0 ? 'old' : 'new' },
    },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  }));
  const versions = Object.fromEntries(pods.map(({ metadata }) => [metadata.name, '1.6.38']));
  return plan({ cluster, children: childrenOf([...objects, ...pods]), observed: { versions } });
}

test('a pod with an older template is restarted once all others answer', () => {
  const cluster = clusterOf({});
  const { steps, outcome } = planned(cluster, cluster);
  deepEqual(
    steps.map((step) => step.type === 'delete' && step.ref.name),
    ['sessions-0'],
  );
  equal(outcome.state === 'wait' && outcome.reason, 'Restarting');
});

test('another size changes the StatefulSet alone', () => {
  const { steps } = planned(clusterOf({ replicas: 5 }), clusterOf({ replicas: 3 }));
  const changes = steps.flatMap((step) => (step.type === 'apply' ? step.changes : []));
  deepEqual(
    changes.filter(({ path }) => path.startsWith('spec.')),
    [{ path: 'spec.replicas', from: 3, to: 5 }],
  );
  equal(steps.length, 1);
});
