/** `access` is taken out of the spec: the operator deletes the load balancer, and a cloud provider cleans up for a while. */
import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { accessChildren } from '../../src/plan/access.ts';
import { accessComponent, componentLabel } from '../../src/resources/metadata.ts';
import { reconcilerRig } from '../support/reconciler-rig.ts';
import { testChild } from '../support/test-engine.ts';
import { turns } from '../support/virtual-clock.ts';

it('the database stays Ready, and the plan names what is cleaned up', async () => {
  const rig = await reconcilerRig();
  const { metadata } = testChild(rig.cluster(), 'ConfigMap');
  const service: KubeObject = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      ...metadata,
      name: 'db-external',
      labels: { ...metadata.labels, [componentLabel]: accessComponent },
      finalizers: ['service.kubernetes.io/load-balancer-cleanup'],
    } as KubeObject['metadata'],
    spec: { type: 'LoadBalancer' },
  };
  rig.engine.resources = () => accessChildren([service]);
  rig.api.put(service);
  await turns();
  await rig.pass();
  await turns();
  rig.api.put({ ...rig.cluster(), spec: { replicas: 5 } });
  await turns();
  rig.engine.resources = () => [];
  const said = new Set<string>();
  for (let second = 0; second < 60; second++) {
    await rig.pass();
    await turns();
    said.add(`${rig.status().phase}, Ready ${rig.condition('Ready').split(' ')[0]}`);
    await rig.clock.advance(1_000);
  }
  expect([...said]).toEqual(['Ready, Ready True']);
  expect(rig.status().plan?.waitingFor).toMatch(
    /^delete Service db-external: .* service.kubernetes.io\/load-balancer-cleanup$/,
  );
  rig.api.vanish('Service', 'db-external');
  await turns();
  await rig.pass();
  expect(rig.status().plan?.waitingFor).toBeUndefined();
  await rig.stop();
});
