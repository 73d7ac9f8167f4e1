/** An admission webhook keeps the NetworkPolicy as it was. It is corrected: nothing tells the operator. */
import { expect, it } from 'vitest';
import { accessChildren } from '../../src/plan/access.ts';
import { isReadyOn, wantedPolicy } from '../support/access-wishes.ts';
import { reconcilerRig } from '../support/reconciler-rig.ts';
import { turns } from '../support/virtual-clock.ts';

it('the policy is asked for again within a minute, as docs/monitoring.md says of AccessRefused', async () => {
  const rig = await reconcilerRig();
  rig.engine.resources = () => accessChildren([wantedPolicy(rig.cluster(), 'open')]);
  await rig.pass();
  await turns();
  rig.api.intercept = ({ method, path }) =>
    method === 'PATCH' && path.includes('/networkpolicies')
      ? Promise.resolve({ status: 200, headers: {}, body: JSON.stringify(rig.api.get('NetworkPolicy', 'db')) })
      : undefined;
  rig.api.put({ ...rig.cluster(), spec: { replicas: 5 } });
  await turns();
  rig.engine.resources = () => accessChildren([wantedPolicy(rig.cluster(), 'shut')]);
  const { again = Number.POSITIVE_INFINITY } = await rig.pass();
  await turns();
  const said = [rig.status().phase, isReadyOn(rig, 2)];
  await rig.stop();
  expect(said).toEqual(['Blocked', false]);
  expect(again).toBeLessThanOrEqual(60_000);
});
