/** Failures of steps that are not reached: how long they stand, and how often the API server is asked meanwhile. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { objectSteps } from '../../src/plan/objects.ts';
import { type Step, settled, wait } from '../../src/plan/plan.ts';
import { playPasses } from '../support/played-passes.ts';
import { act, type ReconcilerRig, reconcilerRig } from '../support/reconciler-rig.ts';
import { testChild } from '../support/test-engine.ts';
import { turns } from '../support/virtual-clock.ts';

let rig: ReconcilerRig;
beforeEach(async () => {
  rig = await reconcilerRig();
});
afterEach(() => rig.stop());
const run = (ms: number, meanwhile: (now: number) => boolean, each?: () => void): Promise<void> =>
  playPasses(rig, ms, meanwhile, each);
const body = JSON.stringify({ kind: 'Status', reason: 'Forbidden', message: 'exceeded quota' });

it('a quota that keeps a new cluster from its ConfigMap is asked as seldom as before, and the Secret once', async () => {
  const { metadata } = testChild(rig.cluster(), 'ConfigMap');
  const secret: KubeObject = { apiVersion: 'v1', kind: 'Secret', metadata: { ...metadata, name: 'db-auth' } };
  const map = testChild(rig.cluster(), 'ConfigMap');
  let isFull = true;
  let asked = 0;
  rig.api.intercept = ({ method, path }) => {
    if (method !== 'POST' || !path.includes('/configmaps')) return undefined;
    asked++;
    return isFull ? Promise.resolve({ status: 403, headers: {}, body }) : undefined;
  };
  rig.engine.find = (_, children) => ({
    plan: {
      steps: objectSteps([{ object: secret, generate: [{ key: 'password', length: 8 }] }, { object: map }], children),
      outcome: wait('Creating', 'x'),
    },
  });
  await run(600_000, () => false);
  expect(asked).toBeLessThan(60);
  isFull = false;
  await run(40_000, () => false);
  expect(rig.api.get('ConfigMap', 'db')).toBeDefined();
});

it('a name conflict that is gone is not said any more within 10 s, though something else is fought over', async () => {
  rig.api.put({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'db', namespace: 'apps' } });
  await turns();
  rig.engine.find = (_, children) => {
    const map: Step[] =
      children.get('ConfigMap', 'db') === undefined
        ? [{ type: 'create', object: testChild(rig.cluster(), 'ConfigMap') }]
        : [];
    const service: Step[] =
      children.get('Service', 'db') === undefined
        ? [{ type: 'create', object: { ...testChild(rig.cluster(), 'ConfigMap'), kind: 'Service' } }]
        : [];
    return { plan: { steps: [...map, ...service, act], outcome: settled } };
  };
  const began = rig.clock.monotonic();
  let gone = false;
  let clear: number | undefined;
  await run(
    90_000,
    (now) => {
      if (now - began > 45_000 && !gone) {
        gone = true;
        rig.api.vanish('Service', 'db');
        return true;
      }
      if (rig.api.get('ConfigMap', 'db') === undefined) return false;
      rig.api.vanish('ConfigMap', 'db');
      return true;
    },
    () => {
      if (gone && !rig.condition('Ready').includes('NameConflict')) clear ??= rig.clock.monotonic() - began - 45_000;
    },
  );
  expect(clear ?? Number.POSITIVE_INFINITY).toBeLessThan(10_000);
});
