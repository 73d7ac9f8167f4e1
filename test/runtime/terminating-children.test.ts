/** Objects of a cluster that are being deleted, and that a finalizer of somebody else holds. No step is planned for them. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { accessChildren } from '../../src/plan/access.ts';
import { accessComponent, componentLabel } from '../../src/resources/metadata.ts';
import { isOpen, isReadyOn, wantedPolicy } from '../support/access-wishes.ts';
import { type ReconcilerRig, reconcilerRig } from '../support/reconciler-rig.ts';
import { testChild } from '../support/test-engine.ts';
import { turns } from '../support/virtual-clock.ts';

let rig: ReconcilerRig;
beforeEach(async () => {
  rig = await reconcilerRig();
});
afterEach(() => rig.stop());

/** A second generation. */
async function changeSpec(replicas = 5): Promise<void> {
  rig.api.put({ ...rig.cluster(), spec: { replicas } });
  await turns();
}

/** Somebody has deleted it. */
async function holdTerminating(kind: string, name: string): Promise<void> {
  const live = rig.api.get(kind, name) as KubeObject;
  const deletionTimestamp = '2030-01-01T00:00:00Z';
  rig.api.put({ ...live, metadata: { ...live.metadata, finalizers: ['x.example/y'], deletionTimestamp } });
  await turns();
}

/** What a pass every second finds in two minutes, where `isWrong`. */
async function watched(isWrong: () => boolean): Promise<string[]> {
  const said: string[] = [];
  for (let second = 0; second < 120; second++) {
    await rig.pass();
    await turns();
    if (isWrong()) said.push(`${second} s: phase ${rig.status().phase}, Ready ${rig.condition('Ready')}`);
    await rig.clock.advance(1_000);
  }
  return said;
}

it('a generation that closes a cluster is not Ready while the policy that opens it is the one there is', async () => {
  rig.engine.resources = () => accessChildren([wantedPolicy(rig.cluster(), 'open')]);
  await rig.pass();
  await turns();
  await holdTerminating('NetworkPolicy', 'db');
  await changeSpec();
  rig.engine.resources = () => accessChildren([wantedPolicy(rig.cluster(), 'shut')]);
  const said = await watched(() => isOpen(rig) && isReadyOn(rig, 2));
  expect(said.slice(0, 1).concat(said.slice(-1))).toEqual([]);
});

it('a generation that asks for a load balancer is not Ready while the one before is being cleaned up', async () => {
  const { metadata } = testChild(rig.cluster(), 'ConfigMap');
  const labels = { ...metadata.labels, [componentLabel]: accessComponent };
  const service: KubeObject = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...metadata, name: 'db-external', labels },
    spec: { type: 'LoadBalancer' },
  };
  rig.engine.resources = () => accessChildren([service]);
  rig.api.put({
    ...service,
    metadata: { ...service.metadata, finalizers: ['service.kubernetes.io/load-balancer-cleanup'] },
  });
  await turns();
  await rig.pass();
  // Switched off, and on again.
  await changeSpec();
  rig.engine.resources = () => [];
  await rig.pass();
  await turns();
  expect(rig.api.get('Service', 'db-external')?.metadata.deletionTimestamp).toBeDefined();
  await changeSpec(3);
  rig.engine.resources = () => accessChildren([service]);
  const said = await watched(() => isReadyOn(rig, 3));
  expect(said.slice(0, 1).concat(said.slice(-1))).toEqual([]);
});
