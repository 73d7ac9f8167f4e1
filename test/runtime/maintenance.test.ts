/** What goes on for a cluster that is not looked at: its spec is not valid, or its end is near. */
import { afterEach, expect, it } from 'vitest';
import type { Cluster } from '../../src/api/cluster.ts';
import type { KubeObject, ObjectMeta } from '../../src/api/object.ts';
import type { RedisSpec } from '../../src/engines/redis/kind/schema.ts';
import { deletionFinalizer } from '../../src/plan/deletion.ts';
import { type EngineAction, type Step, wait } from '../../src/plan/plan.ts';
import { act, type ReconcilerRig, reconcilerRig } from '../support/reconciler-rig.ts';
import { testChild, testCluster, testEngine } from '../support/test-engine.ts';

let rig: ReconcilerRig;
/** The clusters that were kept up, as they were understood. */
let kept: Cluster[];
/** What else there is to do, and what of it has been done. */
let more: readonly Step[];
let acted: readonly string[];

/** A cluster whose engine makes a ConfigMap for its upkeep, on `auth` alone. */
async function begin(spec: object, metadata: Partial<ObjectMeta> = {}): Promise<KubeObject> {
  [kept, more, acted] = [[], [], []];
  const plan = async (cluster: Cluster): Promise<Step[]> => {
    kept.push(cluster);
    return [{ type: 'create', object: testChild(cluster, 'ConfigMap') }, ...more];
  };
  const engine = testEngine({ maintenance: { fields: ['auth'], plan, act: doIt } });
  rig = await reconcilerRig([testCluster('db', spec, metadata)], engine);
  return rig.cluster();
}

async function doIt({ type }: EngineAction, { metadata, spec }: Cluster): Promise<void> {
  acted = [...acted, `${type} of ${metadata.name} with ${(spec as RedisSpec).replicas} nodes`];
}

afterEach(() => rig.stop());

it.each<readonly [story: string, spec: object, goesOn: boolean]>([
  ['goes on, on the fields that it rests on', { auth: { secretRef: { name: 'own' } } }, true],
  ['goes on where nobody has written those', {}, true],
  ['rests where one of those is not valid', { auth: 'none' }, false],
  ['rests where nothing is to be changed', { paused: true }, false],
])('with a spec that is not valid it %s', async (_, spec, goesOn) => {
  const cluster = await begin({ replicas: 0, ...spec });
  expect((await rig.pass(cluster)).outcome).toMatchObject({ reason: 'InvalidSpec' });
  expect(rig.api.writes).toEqual(['PATCH db/status', ...(goesOn ? ['POST apps/configmaps'] : [])]);
  const understood = kept.map((one) => one.spec as RedisSpec);
  expect(understood).toMatchObject(goesOn ? [{ replicas: 3, ...spec }] : []);
});

it('it rests on the spec as it stands, not as the watch last told', async () => {
  const seen = { ...(await begin({ replicas: 0 })), status: { observedGeneration: 1 } };
  rig.api.put({ ...seen, spec: { replicas: 1 } });
  await rig.pass(seen);
  expect(rig.api.list('ConfigMap')).toEqual([]);
});

it.each([
  ['goes on while a last backup is waited for', true],
  ['ends with that', false],
])('of a cluster that is deleted it %s', async (_, isAwaited) => {
  const spec = { deletionPolicy: 'Snapshot', backup: { target: { claim: { name: 'a' } } } };
  const going = { finalizers: [deletionFinalizer], deletionTimestamp: '2030-01-01T00:00:00Z' };
  const cluster = await begin(spec, going);
  rig.engine.lastBackup = () => (isAwaited ? { steps: [], outcome: wait('LastBackup', 'it is taken') } : undefined);
  await rig.pass(cluster);
  expect(rig.api.list('ConfigMap').length).toBe(isAwaited ? 1 : 0);
});

it('an action of it rests on no more of a spec that is not valid', async () => {
  const cluster = await begin({ replicas: 0 });
  more = [act];
  await rig.pass(cluster);
  expect(acted).toEqual(['test.act of db with 3 nodes']);
});

it('an action of it has no part in the end of a cluster, which it could hold up', async () => {
  const spec = { deletionPolicy: 'Snapshot', backup: { target: { claim: { name: 'a' } } } };
  const cluster = await begin(spec, { finalizers: [deletionFinalizer], deletionTimestamp: '2030-01-01T00:00:00Z' });
  more = [act];
  rig.engine.lastBackup = () => ({ steps: [], outcome: wait('LastBackup', 'it is taken') });
  await rig.pass(cluster);
  expect([rig.api.list('ConfigMap').length, acted]).toEqual([1, []]);
});
