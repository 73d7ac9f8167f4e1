/** Claims that outlive their cluster are given to nobody else's pods. */
import { afterEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { statefulSets } from '../../src/api/resource.ts';
import { claimConflict, claimsFor } from '../../src/plan/claimed.ts';
import type { Step } from '../../src/plan/plan.ts';
import { createExecutor } from '../../src/runtime/executor.ts';
import { NameConflict } from '../../src/runtime/name-conflict.ts';
import { engineOf, resourceOf } from '../support/backup-story.ts';
import { type ControllerParts, controllerParts } from '../support/controller-parts.ts';

type Kind = 'RedisCluster' | 'EtcdCluster';

/** The StatefulSets of a cluster of this kind and name, as the engine wants them. */
function setsOf(kind: Kind, name: string): KubeObject[] {
  const desired = engineOf(kind).resources(resourceOf(kind, name, {}));
  return desired.map(({ object }) => object).filter((object) => object.kind === 'StatefulSet');
}
const creating = (object: KubeObject): Step => ({ type: 'create', object });
/** What such a cluster leaves behind. */
const leftBy = (kind: Kind, name: string): KubeObject[] =>
  setsOf(kind, name).flatMap((set) => claimsFor(creating(set)));
const names = (objects: readonly KubeObject[]): string[] => objects.map(({ metadata }) => metadata.name);

it('claims are called as Kubernetes calls them', () => {
  expect(names(leftBy('EtcdCluster', 'db'))).toEqual(['data-db-0-0', 'data-db-1-0', 'data-db-2-0']);
  expect(names(leftBy('RedisCluster', 'db-0'))).toEqual(['data-db-0-0', 'data-db-0-1', 'data-db-0-2']);
});

it.each<readonly [story: string, from: unknown, to: number, claims: readonly string[]]>([
  ['grows: those of the pods that are added', 1, 3, ['data-db-1', 'data-db-2']],
  ['comes back from nothing: all', undefined, 1, ['data-db-0']],
  ['shrinks: none', 3, 1, []],
])('a set that %s', (_, from, to, claims) => {
  const [set] = setsOf('RedisCluster', 'db') as [KubeObject];
  const object = { ...set, spec: { ...(set.spec as object), replicas: to } };
  const change = { path: 'spec.replicas', ...(from === undefined ? {} : { from }), to };
  expect(names(claimsFor({ type: 'apply', object, changes: [change] }))).toEqual(claims);
  expect(claimsFor({ type: 'apply', object, changes: [{ path: 'spec.template', from: 1 }] })).toEqual([]);
  // The size alone, while the template waits.
  const ref = { resource: statefulSets, name: 'db', uid: 'u' };
  expect(names(claimsFor({ type: 'patch', ref, patch: {}, changes: [change], scaled: set }))).toEqual(claims);
});

it('what is no StatefulSet, or adds no pod, takes none', () => {
  const [set] = setsOf('RedisCluster', 'db') as [KubeObject];
  const ref = { resource: statefulSets, name: 'db', uid: 'u' };
  expect(claimsFor({ type: 'delete', ref, reason: 'x' })).toEqual([]);
  expect(claimsFor(creating({ ...set, kind: 'Other' }))).toEqual([]);
  expect(claimsFor({ type: 'apply', object: { ...set, kind: 'Other' }, changes: [{ path: 'spec.replicas' }] })).toEqual(
    [],
  );
  expect(claimsFor(creating(set))[0]?.metadata.namespace).toBe(set.metadata.namespace);
});

describe('a new cluster', () => {
  let parts: ControllerParts | undefined;
  afterEach(() => parts?.stop());

  it.each<
    readonly [story: string, left: readonly [Kind, string], wanted: readonly [Kind, string], whose: string | undefined]
  >([
    ['meets those of another kind', ['EtcdCluster', 'db'], ['RedisCluster', 'db-0'], 'the etcd cluster db'],
    ['the other way round', ['RedisCluster', 'db-0'], ['EtcdCluster', 'db'], 'the redis cluster db-0'],
    ['meets its own', ['EtcdCluster', 'db'], ['EtcdCluster', 'db'], undefined],
    ['meets those of another name', ['EtcdCluster', 'db'], ['EtcdCluster', 'db-0'], undefined],
  ])('that %s', async (_, left, wanted, whose) => {
    const claims = leftBy(...left);
    const [set] = setsOf(...wanted) as [KubeObject];
    parts = await controllerParts(claims);
    const executor = createExecutor({ client: parts.client, cache: parts.cache });
    const running = executor.run([creating(set)], () => Promise.reject(), new AbortController().signal);
    if (whose === undefined) {
      await running;
      expect(parts.api.writes).toEqual(['POST apps/statefulsets']);
      return;
    }
    await expect(running).rejects.toThrow(NameConflict);
    await expect(running).rejects.toThrow(`PersistentVolumeClaim data-db-0-0 exists and belongs to ${whose}`);
    expect(parts.api.writes).toEqual([]);
  });

  it('takes none of another cluster of its kind', () => {
    const [claim] = leftBy('EtcdCluster', 'db') as [KubeObject];
    const [other] = leftBy('EtcdCluster', 'other') as [KubeObject];
    const live = { ...claim, metadata: { ...claim.metadata, labels: other.metadata.labels ?? {} } };
    expect(claimConflict(claim, live)).toContain('belongs to the etcd cluster other');
  });

  it('takes one that somebody has made for it by hand', () => {
    const [claim] = leftBy('EtcdCluster', 'db') as [KubeObject];
    expect(claimConflict(claim, { ...claim, metadata: { name: claim.metadata.name, namespace: 'apps' } })).toBe(
      undefined,
    );
  });
});
