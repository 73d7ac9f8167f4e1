/** A generation whose change somebody refuses, keeps away or undoes, and what the status says of it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { accessChildren } from '../../src/plan/access.ts';
import { objectSteps } from '../../src/plan/objects.ts';
import { settled, wait } from '../../src/plan/plan.ts';
import { isOpen, isReadyOn, wantedPolicy } from '../support/access-wishes.ts';
import { playPasses } from '../support/played-passes.ts';
import { type ReconcilerRig, reconcilerRig } from '../support/reconciler-rig.ts';
import { testChild } from '../support/test-engine.ts';
import { turns } from '../support/virtual-clock.ts';

let rig: ReconcilerRig;
beforeEach(async () => {
  rig = await reconcilerRig();
});
afterEach(() => rig.stop());

async function changeSpec(): Promise<void> {
  rig.api.put({ ...rig.cluster(), spec: { replicas: 5 } });
  await turns();
}

/** First and last of what a pass every second finds in a minute, where `isWrong`. */
async function watched(isWrong: () => boolean): Promise<string[]> {
  const said: string[] = [];
  for (let second = 0; second < 60; second++) {
    await rig.pass();
    await turns();
    if (isWrong()) {
      const { phase, plan } = rig.status();
      said.push(`${second} s: ${phase}, AccessRefused ${rig.condition('AccessRefused')}, ${JSON.stringify(plan)}`);
    }
    await rig.clock.advance(1_000);
  }
  return said.slice(0, 1).concat(said.slice(-1));
}

describe('a NetworkPolicy that the spec asks for now', () => {
  it('is not called met where an admission webhook keeps the one before', async () => {
    rig.engine.resources = () => accessChildren([wantedPolicy(rig.cluster(), 'open')]);
    await rig.pass();
    await turns();
    rig.api.intercept = ({ method, path }) =>
      method === 'PATCH' && path.includes('/networkpolicies')
        ? Promise.resolve({ status: 200, headers: {}, body: JSON.stringify(rig.api.get('NetworkPolicy', 'db')) })
        : undefined;
    await changeSpec();
    rig.engine.resources = () => accessChildren([wantedPolicy(rig.cluster(), 'shut')]);
    expect(await watched(() => isOpen(rig) && isReadyOn(rig, 2))).toEqual([]);
  });

  it('is not called met where it is refused, and the plan of a cluster that is well waits for something else', async () => {
    await rig.pass();
    await changeSpec();
    rig.engine.resources = () => accessChildren([wantedPolicy(rig.cluster(), 'shut')]);
    rig.finds([], wait('MembersNotReady', 'db-sentinel-1 does not know every member yet', 1_000));
    const body = JSON.stringify({ kind: 'Status', reason: 'Forbidden', message: 'no' });
    rig.api.intercept = ({ method, path }) =>
      method === 'POST' && path.includes('/networkpolicies')
        ? Promise.resolve({ status: 403, headers: {}, body })
        : undefined;
    expect(await watched(() => isReadyOn(rig, 2))).toEqual([]);
  });
});

describe('a change of another generation that somebody undoes each time', () => {
  it('the generation is not called Ready', async () => {
    const wanted = testChild(rig.cluster(), 'ConfigMap', 'ours');
    const theirs = { ...wanted, data: { data: 'theirs' } };
    rig.api.put(theirs);
    await turns();
    await rig.pass();
    await changeSpec();
    rig.engine.find = (_, children) => ({
      plan: { steps: objectSteps([{ object: wanted }], children), outcome: settled },
    });
    const said: string[] = [];
    const began = rig.clock.monotonic();
    await playPasses(
      rig,
      60_000,
      () => {
        const { data } = rig.api.get('ConfigMap', 'db') as KubeObject & { readonly data: { readonly data: string } };
        if (data.data === 'theirs') return false;
        rig.api.put(theirs);
        return true;
      },
      () => {
        const at = rig.clock.monotonic() - began;
        if (isReadyOn(rig, 2)) said.push(`${at} ms: ${rig.status().phase} ${JSON.stringify(rig.status().plan)}`);
      },
    );
    expect(said.slice(0, 1).concat(said.slice(-1))).toEqual([]);
  });
});
