/**
 * The end of a cluster whose name had volumes before there was a cluster: those are its own once it has been formed with
 * them. Until then it may have been refused for a name, a version or a volume, and has used none of them.
 */
import { describe, expect, it } from 'vitest';
import type { Cluster, CommonSpec } from '../../src/api/cluster.ts';
import type { KubeObject, ObjectMeta } from '../../src/api/object.ts';
import { planFinalization } from '../../src/jobs/last-backup.ts';
import { deletionFinalizer } from '../../src/plan/deletion.ts';
import { childrenOf } from '../../src/resources/children.ts';
import { describeStep } from '../../src/runtime/executor.ts';
import { engineOf, resourceOf, target } from '../support/backup-story.ts';

const before = '2026-11-19T00:00:00Z';
const after = '2026-11-20T00:00:01Z';

type Kind = 'RedisCluster' | 'EtcdCluster';

function deleted(
  kind: Kind,
  deletionPolicy: string,
  status: object = {},
  finalizers: readonly string[] = [],
): Cluster<CommonSpec> {
  const cluster = resourceOf(kind, 'db', { backup: { target }, deletionPolicy }, status);
  const going = { deletionTimestamp: '2026-11-21T03:00:00Z', finalizers: [deletionFinalizer, ...finalizers] };
  return { ...cluster, metadata: { ...cluster.metadata, ...going } } as Cluster<CommonSpec>;
}

const object = (apiVersion: string, kind: string, name: string, more: Partial<ObjectMeta> = {}): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name, namespace: 'apps', uid: `uid-of-${name}`, ...more },
});
const secret = object('v1', 'Secret', 'db-auth');
const ownerReferences = [{ apiVersion: 'x', kind: 'K', name: 'db', uid: 'uid-of-db', controller: true }];

describe.each([
  ['RedisCluster', 'data-db-0', 'data-db-1', 'db', {}, {}],
  [
    'EtcdCluster',
    'data-db-0-0',
    'data-db-1-0',
    'db-0',
    { 'clusterwright.dev/member': 'db-0' },
    { 'clusterwright.dev/member': 'db-1' },
  ],
] as const)('a %s that is deleted', (kind, first, second, setName, ...labels) => {
  const claims = (creationTimestamp: string): KubeObject[] =>
    [first, second].map((name, i) =>
      object('v1', 'PersistentVolumeClaim', name, { creationTimestamp, labels: labels[i] ?? {} }),
    );
  const stepsOf = (cluster: Cluster<CommonSpec>, objects: readonly KubeObject[]) =>
    planFinalization(engineOf(kind), cluster, childrenOf(objects), [secret], 0).plan.steps.map(describeStep);
  const letGo = [`patch ${kind} db`];
  const goes = [...[first, second].map((name) => `delete PersistentVolumeClaim ${name}`), 'delete Secret db-auth'].map(
    (words) => expect.stringContaining(words),
  );
  const set = (more: Partial<ObjectMeta>): KubeObject =>
    object('apps/v1', 'StatefulSet', setName, { labels: labels[0] ?? {}, ...more });

  it.each(['Delete', 'Snapshot'])('before it was formed leaves the volumes that are older, under %s', (policy) => {
    expect(stepsOf(deleted(kind, policy), claims(before))).toEqual(letGo);
    expect(stepsOf(deleted(kind, policy), [set({ ownerReferences }), ...claims(before)])).toEqual(letGo);
  });

  it('takes along those that it was formed with, and those of its own', () => {
    expect(stepsOf(deleted(kind, 'Delete', { initialized: true }), claims(before))).toEqual(goes);
    expect(stepsOf(deleted(kind, 'Delete'), claims(after))).toEqual(goes);
  });

  it.each(['Delete', 'Snapshot'])('with its children orphaned leaves them their volumes, under %s', (policy) => {
    const formed = { initialized: true };
    const running = [set({ ownerReferences }), ...claims(after)];
    expect(stepsOf(deleted(kind, policy, formed, ['orphan']), running)).toEqual(letGo);
    // Kubernetes has taken the owner away, and the finalizer after it.
    expect(stepsOf(deleted(kind, policy, formed), [set({}), ...claims(after)])).toEqual(letGo);
  });

  it('goes whole where a StatefulSet of somebody else has our labels', () => {
    const rescue = object('apps/v1', 'StatefulSet', `${setName}-rescue`, { labels: labels[0] ?? {} });
    const formed = deleted(kind, 'Delete', { initialized: true });
    expect(stepsOf(formed, [rescue, ...claims(after)])).toEqual(goes);
  });
});
