/** The StatefulSet of a database that somebody has relabelled: its label is put right, and it stays. */
import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { objectSteps } from '../../src/plan/objects.ts';
import { settled } from '../../src/plan/plan.ts';
import { componentLabel, networkComponent } from '../../src/resources/metadata.ts';
import { reconcilerRig } from '../support/reconciler-rig.ts';
import { testChild } from '../support/test-engine.ts';
import { turns } from '../support/virtual-clock.ts';

it('as one of an object that says who may connect', async () => {
  const rig = await reconcilerRig();
  const { metadata } = testChild(rig.cluster(), 'ConfigMap');
  const labels = { ...metadata.labels, [componentLabel]: 'data' };
  const set: KubeObject = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { ...metadata, labels },
    spec: { replicas: 3, template: {} },
  };
  rig.engine.resources = () => [{ object: set }];
  rig.engine.find = (_, children) => ({
    plan: { steps: objectSteps([{ object: set }], children), outcome: settled },
  });
  await rig.pass();
  await turns();
  await rig.pass();
  const live = rig.api.get('StatefulSet', 'db');
  rig.api.put({ ...set, metadata: { ...metadata, labels: { ...labels, [componentLabel]: networkComponent } } });
  await turns();
  await rig.pass();
  await turns();
  expect(rig.api.writes.filter((write) => write.startsWith('DELETE'))).toEqual([]);
  expect(rig.api.get('StatefulSet', 'db')?.metadata.uid).toBe(live?.metadata.uid);
  await rig.stop();
});
