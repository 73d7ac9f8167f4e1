/** What the status says of undone changes that nobody undoes any more, or that were never undone by anybody else. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { configMaps } from '../../src/api/resource.ts';
import { accessMayFail } from '../../src/plan/access.ts';
import { type Step, settled } from '../../src/plan/plan.ts';
import { refOf } from '../../src/plan/ref.ts';
import { type ReconcilerRig, reconcilerRig } from '../support/reconciler-rig.ts';
import { testChild } from '../support/test-engine.ts';
import { turns } from '../support/virtual-clock.ts';

let rig: ReconcilerRig;
beforeEach(async () => {
  rig = await reconcilerRig();
});
afterEach(() => rig.stop());
const map = (name: string): KubeObject => {
  const child = testChild(rig.cluster(), 'ConfigMap');
  return { ...child, metadata: { ...child.metadata, name } };
};
async function fight(ms: number, more: object): Promise<void> {
  rig.engine.find = (_, children) => {
    const steps: Step[] =
      children.get('ConfigMap', 'db') === undefined ? [{ type: 'create', object: map('db'), ...more }] : [];
    return { plan: { steps, outcome: settled } };
  };
  for (const end = rig.clock.monotonic() + ms; rig.clock.monotonic() < end; ) {
    await rig.pass().catch(() => undefined);
    await turns();
    if (rig.api.get('ConfigMap', 'db') !== undefined) rig.api.vanish('ConfigMap', 'db');
    await turns();
    await rig.clock.advance(25);
  }
}

it('a new generation is not called ready while its own change waits behind one that somebody undoes', async () => {
  await rig.pass();
  await fight(30_000, {});
  const before = rig.cluster().metadata.generation;
  rig.api.put({ ...rig.cluster(), spec: { replicas: 5 } });
  await turns();
  expect(rig.cluster().metadata.generation).not.toBe(before);
  rig.engine.find = (_, children) => {
    const steps: Step[] = ['db', 'new'].flatMap((name): Step[] =>
      children.get('ConfigMap', name) === undefined ? [{ type: 'create', object: map(name) }] : [],
    );
    return { plan: { steps, outcome: settled } };
  };
  await rig.pass();
  const made = rig.api.get('ConfigMap', 'new') !== undefined;
  const { observedGeneration } = rig.status();
  expect({ made, isReady: rig.condition('Ready').startsWith('True') && observedGeneration !== before }).not.toEqual({
    made: false,
    isReady: true,
  });
});

it('a user who has switched a policy on, off and on again is not told that somebody undoes it', async () => {
  await rig.pass();
  let isWanted = true;
  rig.engine.find = (_, children) => {
    const live = children.get('ConfigMap', 'db');
    const ref = live === undefined ? undefined : refOf(live, configMaps);
    const steps: Step[] = [];
    if (isWanted && live === undefined) steps.push({ type: 'create', object: map('db'), ...accessMayFail });
    if (!isWanted && ref !== undefined) steps.push({ type: 'delete', ref, reason: 'off', ...accessMayFail });
    return { plan: { steps, outcome: settled } };
  };
  const said = new Set<string>();
  for (let t = 0; t < 40_000; t += 100) {
    const before: boolean = isWanted;
    isWanted = t < 5_000 || t >= 12_000;
    if (isWanted !== before) rig.api.put({ ...rig.cluster(), spec: { replicas: isWanted ? 5 : 3 } });
    await turns();
    await rig.pass();
    await turns();
    said.add(`${rig.condition('AccessRefused')} | ${rig.condition('Ready')}`);
    await rig.clock.advance(100);
  }
  expect([...said]).toEqual(['absent | True AllMembersReady: all is well']);
});

it('who does not wish for it any more is not told that it is undone', async () => {
  await rig.pass();
  await fight(30_000, accessMayFail);
  expect(rig.condition('AccessRefused')).toMatch(/^True/);
  rig.api.put({ ...rig.cluster(), spec: { replicas: 5 } });
  await turns();
  rig.engine.find = () => ({});
  let false4 = 0;
  for (let t = 0; t < 30_000; t += 100) {
    await rig.pass();
    await turns();
    if (rig.condition('AccessRefused') !== 'absent') false4 = t;
    await rig.clock.advance(100);
  }
  expect(false4).toBeLessThan(10_000);
});

it('another cluster of the name is not told what was undone of the earlier one', async () => {
  await rig.pass();
  await fight(30_000, accessMayFail);
  const { uid: _u, resourceVersion: _r, generation: _g, ...metadata } = rig.cluster().metadata;
  const { status: _s, ...object } = rig.cluster();
  rig.api.vanish('RedisCluster', 'db');
  await turns();
  rig.api.put({ ...object, metadata: { ...metadata, uid: 'another' } });
  await turns();
  rig.engine.find = () => ({});
  await rig.pass();
  expect([rig.cluster().metadata.uid, rig.condition('AccessRefused')]).toEqual(['another', 'absent']);
});
