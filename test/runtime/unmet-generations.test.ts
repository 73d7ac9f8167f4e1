/** A generation whose change somebody refuses, keeps away or undoes, and what the status says of it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { accessChildren } from '../../src/plan/access.ts';
import { objectSteps } from '../../src/plan/objects.ts';
import { settled, wait } from '../../src/plan/plan.ts';
import {
  changeSpec,
  isOpen,
  isReadyOn,
  keepPolicy,
  undoesConfigMap,
  wantedPolicy,
  watched,
} from '../support/access-wishes.ts';
import { playPasses } from '../support/played-passes.ts';
import { type ReconcilerRig, reconcilerRig } from '../support/reconciler-rig.ts';
import { testChild } from '../support/test-engine.ts';
import { turns } from '../support/virtual-clock.ts';

let rig: ReconcilerRig;
beforeEach(async () => {
  rig = await reconcilerRig();
});
afterEach(() => rig.stop());

describe('a NetworkPolicy that the spec asks for now', () => {
  it('is not called met where an admission webhook keeps the one before', async () => {
    rig.engine.resources = () => accessChildren([wantedPolicy(rig.cluster(), 'open')]);
    await rig.pass();
    await turns();
    keepPolicy(rig);
    await changeSpec(rig);
    rig.engine.resources = () => accessChildren([wantedPolicy(rig.cluster(), 'shut')]);
    expect(await watched(rig, () => isOpen(rig) && isReadyOn(rig, 2))).toEqual([]);
  });

  it('is asked for again within a minute where a webhook keeps it: nobody tells when that is corrected', async () => {
    rig.engine.resources = () => accessChildren([wantedPolicy(rig.cluster(), 'open')]);
    await rig.pass();
    await turns();
    keepPolicy(rig);
    await changeSpec(rig);
    rig.engine.resources = () => accessChildren([wantedPolicy(rig.cluster(), 'shut')]);
    const { again = Number.POSITIVE_INFINITY } = await rig.pass();
    await turns();
    expect([rig.status().phase, isReadyOn(rig, 2)]).toEqual(['Blocked', false]);
    expect(again).toBeLessThanOrEqual(60_000);
  });

  it('is not called met where it is refused, and the plan of a cluster that is well waits for something else', async () => {
    await rig.pass();
    await changeSpec(rig);
    rig.engine.resources = () => accessChildren([wantedPolicy(rig.cluster(), 'shut')]);
    rig.finds([], wait('MembersNotReady', 'db-sentinel-1 does not know every member yet', 1_000));
    const body = JSON.stringify({ kind: 'Status', reason: 'Forbidden', message: 'no' });
    rig.api.intercept = ({ method, path }) =>
      method === 'POST' && path.includes('/networkpolicies')
        ? Promise.resolve({ status: 403, headers: {}, body })
        : undefined;
    expect(await watched(rig, () => isReadyOn(rig, 2))).toEqual([]);
  });
});

describe('a change of another generation that somebody undoes each time', () => {
  it('the generation is not called Ready', async () => {
    const wanted = testChild(rig.cluster(), 'ConfigMap', 'ours');
    const undo = undoesConfigMap(rig);
    await turns();
    await rig.pass();
    await changeSpec(rig);
    rig.engine.find = (_, children) => ({
      plan: { steps: objectSteps([{ object: wanted }], children), outcome: settled },
    });
    const said: string[] = [];
    const began = rig.clock.monotonic();
    await playPasses(rig, 60_000, undo, () => {
      const at = rig.clock.monotonic() - began;
      if (isReadyOn(rig, 2)) said.push(`${at} ms: ${rig.status().phase} ${JSON.stringify(rig.status().plan)}`);
    });
    expect(said.slice(0, 1).concat(said.slice(-1))).toEqual([]);
  });
});
