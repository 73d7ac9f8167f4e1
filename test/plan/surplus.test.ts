/** What a spec does not ask for any more goes, and nothing that holds data does. */
import { expect, it } from 'vitest';
import type { Cluster } from '../../src/api/cluster.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { surplusSteps } from '../../src/plan/surplus.ts';
import { childrenOf } from '../../src/resources/children.ts';
import { ownedMetadata } from '../../src/resources/metadata.ts';

const cluster: Cluster = {
  apiVersion: 'clusterwright.dev/v1',
  kind: 'RedisCluster',
  metadata: { name: 'db', namespace: 'shop', uid: 'ours' },
  spec: {},
};

function child(kind: string, component: string, owner: Cluster = cluster): KubeObject {
  const metadata = ownedMetadata(owner, `db-${component}`, { engine: 'redis', component, version: '8.0' });
  const groups: Readonly<Record<string, string>> = { Service: 'v1', NetworkPolicy: 'networking.k8s.io/v1' };
  return { apiVersion: groups[kind] ?? 'apps/v1', kind, metadata: { ...metadata, uid: `of-${component}` } };
}

type Row = readonly [story: string, there: KubeObject, isWanted: boolean, goes: boolean];

it.each<Row>([
  ['a Service of access', child('Service', 'access'), false, true],
  ['a Service of access that the spec asks for', child('Service', 'access'), true, false],
  ['a NetworkPolicy', child('NetworkPolicy', 'network'), false, true],
  ['a NetworkPolicy that the spec asks for', child('NetworkPolicy', 'network'), true, false],
  ['a NetworkPolicy of an earlier cluster', child('NetworkPolicy', 'network', withUid('earlier')), false, false],
  ['a component that the engine calls optional', child('StatefulSet', 'pooler'), false, true],
  ['a StatefulSet of members', child('StatefulSet', 'member'), false, false],
])('%s', (_, there, isWanted, goes) => {
  const desired = isWanted ? [{ object: there }] : [];
  const steps = surplusSteps(cluster, childrenOf([there]), desired, ['pooler']);
  expect(steps.map((step) => (step.type === 'delete' ? step.ref.uid : step.type))).toEqual(
    goes ? [there.metadata.uid] : [],
  );
});

function withUid(uid: string): Cluster {
  return { ...cluster, metadata: { ...cluster.metadata, uid } };
}
