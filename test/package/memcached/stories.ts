/** What every engine has to keep, and stories of the planner, by what is published: `node --test stories.js`. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { validateCluster } from 'clusterwright';
import type { Cluster, KubeObject, Plan } from 'clusterwright/engine';
import { conformanceChecks, type EngineSample, runningChildren, silentContext } from 'clusterwright/testing';
import { memcached } from './index.js';
import { type MemcachedSpec, type MemcachedSpecInput, memcachedKind } from './kind.js';
import { plan } from './plan.js';
import { resources } from './resources.js';

const { group, version, kind } = memcachedKind.resource;

/** Valid, with its defaults. */
function clusterOf(spec: MemcachedSpecInput): Cluster<MemcachedSpec> {
  const metadata = { name: 'sessions', namespace: 'shop', uid: 'uid-sessions' };
  const verdict = validateCluster(memcachedKind, { apiVersion: `${group}/${version}`, kind, metadata, spec });
  ok(verdict.ok, JSON.stringify(verdict));
  return verdict.cluster as Cluster<MemcachedSpec>;
}

/** A process that answers whatever it is asked with its version. */
function connection(): Duplex {
  return new Duplex({
    read: () => undefined,
    write(_chunk, _encoding, done) {
      this.push('VERSION 1.6.38\r\n');
      done();
    },
  });
}

const io = silentContext({ dial: () => Promise.resolve(connection()) });

function sample(story: string, spec: MemcachedSpecInput): EngineSample {
  const cluster = clusterOf(spec);
  return { story, cluster, whole: { children: runningChildren(resources(cluster)), io } };
}

const samples = [
  sample('defaults', {}),
  sample('one pod', { replicas: 1 }),
  sample('everything set', {
    version: '1.5',
    image: 'registry.example.com/memcached:1.5',
    replicas: 7,
    resources: { requests: { cpu: '0.5', memory: '1024Mi' }, limits: { cpu: 1, memory: '2Gi' } },
    scheduling: { nodeSelector: { disk: 'ssd' }, topologySpread: 'Required' },
    config: { maxConnections: 4096 },
  }),
];

for (const { name, run } of conformanceChecks(memcached, { samples })) test(name, run);

/** The plan for `cluster` where the pods of `made` run; `change` says what is different. */
function planned(
  cluster: Cluster<MemcachedSpec>,
  made: Cluster<MemcachedSpec>,
  change: (object: KubeObject) => KubeObject = (object) => object,
): Plan {
  const children = runningChildren(resources(made), change);
  const versions = Object.fromEntries(children.pods.map(({ metadata }) => [metadata.name, '1.6.38']));
  return plan({ cluster, children, observed: { versions } });
}

test('a pod with an older template is restarted once all others answer', () => {
  const cluster = clusterOf({});
  const isOld = ({ metadata }: KubeObject): boolean => metadata.name === 'sessions-0';
  const { steps, outcome } = planned(cluster, cluster, (object) => {
    const { metadata } = object;
    const labels = { ...metadata.labels, 'controller-revision-hash': 'old' };
    return isOld(object) ? { ...object, metadata: { ...metadata, labels } } : object;
  });
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
