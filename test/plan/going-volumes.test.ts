/** The last word about volumes that go: whatever an engine has planned. */
import { describe, expect, it } from 'vitest';
import type { KubeObject, ObjectMeta } from '../../src/api/object.ts';
import { configMaps, pods, statefulSets } from '../../src/api/resource.ts';
import { isVolumeGoing, sparingVolumes } from '../../src/plan/going-volumes.ts';
import { blocked, type ObjectStep, type Plan, type Step, wait } from '../../src/plan/plan.ts';
import { type Claim, childrenOf, type Pod } from '../../src/resources/children.ts';

const object = (kind: string, name: string, more: Partial<ObjectMeta> = {}, rest: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, uid: `uid-${name}`, ...more },
  ...rest,
});
const deletionTimestamp = '2030-01-01T00:00:00Z';
const set = object('StatefulSet', 'db');
const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 'uid-db', controller: true }];
const podOf = (ordinal: number, more: Partial<ObjectMeta> = {}): KubeObject =>
  object('Pod', `db-${ordinal}`, { ownerReferences, ...more }, { spec: { nodeName: 'node' } });
/** Somebody has deleted the claims of `going`. */
const childrenWith = (going: readonly number[], pod = podOf) =>
  childrenOf([
    set,
    ...[0, 1, 2].map((ordinal) => pod(ordinal)),
    ...[0, 1, 2].map((ordinal) =>
      object('PersistentVolumeClaim', `data-db-${ordinal}`, going.includes(ordinal) ? { deletionTimestamp } : {}),
    ),
  ]);

const deletePod = (ordinal: number): ObjectStep => ({
  type: 'delete',
  ref: { resource: pods, name: `db-${ordinal}`, uid: `uid-db-${ordinal}` },
  reason: 'a test',
});
const deleteSet: ObjectStep = {
  type: 'delete',
  ref: { resource: statefulSets, name: 'db', uid: 'uid-db' },
  reason: 'a test',
};
const scaled = (to: number, object = set): ObjectStep => ({
  type: 'apply',
  object,
  changes: [{ path: 'spec.replicas', from: 3, to }],
});
const made = (replicas: number): ObjectStep => ({
  type: 'create',
  object: object('StatefulSet', 'db', {}, { spec: { replicas } }),
});
const changed: ObjectStep = {
  type: 'apply',
  object: set,
  changes: [{ path: 'spec.template.spec.priority', from: 1, to: 2 }],
};
const act: Step = { type: 'act', action: { type: 'test.act' }, summary: 'a test' };
const patched: ObjectStep = {
  type: 'patch',
  ref: { resource: configMaps, name: 'db', uid: 'uid-of-db' },
  patch: {},
  changes: [{ path: 'spec.replicas', from: 3, to: 0 }],
};
const planOf = (...steps: readonly Step[]): Plan => ({ steps, outcome: wait('Restarting', 'one restarts') });
const never = blocked('VolumesGoing', 'nobody else has the data');
const isHeld = (plan: Plan, going: readonly number[]): boolean =>
  sparingVolumes(plan, childrenWith(going), () => never).outcome === never;

describe('a volume goes with its pod', () => {
  const there = podOf(1) as Pod;
  const unplaced = object('Pod', 'db-1') as Pod;
  const claim = object('PersistentVolumeClaim', 'data-db-1') as Claim;
  const deleted = object('PersistentVolumeClaim', 'data-db-1', { deletionTimestamp }) as Claim;

  it.each<readonly [string, Pod | undefined, Claim | undefined, boolean]>([
    ['somebody has deleted its claim', there, deleted, true],
    ['the claim has gone as well, and the pod runs on', there, undefined, true],
    ['not of a pod that is on no node, and has no claim yet', unplaced, undefined, false],
    ['not where there is neither', undefined, undefined, false],
    ['not where nobody has deleted the claim', there, claim, false],
  ])('%s', (_, pod, of, goes) => expect(isVolumeGoing(pod, of)).toBe(goes));
});

describe('a pod whose volume would go with it', () => {
  it.each<readonly [string, ObjectStep, number]>([
    ['is not deleted', deletePod(1), 1],
    ['does not go with its StatefulSet', deleteSet, 1],
    ['does not go when its StatefulSet becomes smaller', scaled(2), 2],
    ['does not go when its StatefulSet is made anew, and smaller', made(2), 2],
  ])('%s', (_, step, going) => {
    expect(sparingVolumes(planOf(changed, step), childrenWith([going]), () => never)).toEqual({
      steps: [changed],
      outcome: never,
    });
  });

  it.each<readonly [string, Step, number]>([
    ['another is deleted', deletePod(1), 0],
    ['another goes when their StatefulSet becomes smaller', scaled(2), 1],
    ['the template of their StatefulSet is changed', changed, 1],
    ['their StatefulSet is made anew, and no smaller', made(3), 2],
    ['the StatefulSet of other pods becomes smaller', scaled(0, object('StatefulSet', 'db-sentinel')), 2],
    ['an object of another kind, and of the same name, becomes smaller', scaled(0, object('Deployment', 'db')), 2],
    ['an object is patched', patched, 2],
    ['the engine does something', act, 2],
  ])('is no reason to wait when %s', (_, step, going) => expect(isHeld(planOf(step), [going])).toBe(false));

  it('goes where the engine says that others have the data, which is asked of all of them at once', () => {
    const asked: (readonly string[])[] = [];
    const plan = planOf(deletePod(0), deletePod(2));
    const spared = sparingVolumes(plan, childrenWith([0, 2]), (names) => {
      asked.push(names);
      return undefined;
    });
    expect(spared).toBe(plan);
    expect(asked).toEqual([['db-0', 'db-2']]);
  });

  it('is not deleted for that of its log either, where it has one', () => {
    const plan = planOf(deletePod(1));
    const logs = [0, 1, 2].map((ordinal) =>
      object('PersistentVolumeClaim', `wal-db-${ordinal}`, ordinal === 1 ? { deletionTimestamp } : {}),
    );
    const children = childrenOf([...childrenWith([]).objects, ...logs]);
    expect(sparingVolumes(plan, children, () => never).outcome).toBe(plan.outcome);
    expect(sparingVolumes(plan, children, () => never, ['data', 'wal']).outcome).toBe(never);
  });

  it('keeps the others of the plan, too', () => {
    expect(sparingVolumes(planOf(deletePod(0), deletePod(1)), childrenWith([1]), () => never).steps).toEqual([]);
  });

  it('goes where a person has said so', () => {
    const plan: Plan = { ...planOf(deletePod(1)), destructive: true };
    expect(sparingVolumes(plan, childrenWith([1]), () => never)).toBe(plan);
  });

  it('is not spared when it stops already', () => {
    const children = childrenWith([1], (ordinal) => podOf(ordinal, { deletionTimestamp }));
    expect(sparingVolumes(planOf(deletePod(1)), children, () => never).steps).toHaveLength(1);
  });
});

it('a plan that is blocked keeps its own reason', () => {
  const plan: Plan = { steps: [deletePod(1)], outcome: blocked('PrimaryContested', 'two') };
  expect(sparingVolumes(plan, childrenWith([1]), () => never)).toEqual({ steps: [], outcome: plan.outcome });
});
