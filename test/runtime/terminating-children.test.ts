/** Objects of a cluster that are being deleted, and that a finalizer of somebody else holds. No step is planned for them. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { accessChildren } from '../../src/plan/access.ts';
import { accessComponent, componentLabel } from '../../src/resources/metadata.ts';
import { changeSpec, isOpen, isReadyOn, wantedPolicy, watched } from '../support/access-wishes.ts';
import { type ReconcilerRig, reconcilerRig } from '../support/reconciler-rig.ts';
import { testChild } from '../support/test-engine.ts';
import { turns } from '../support/virtual-clock.ts';

let rig: ReconcilerRig;
beforeEach(async () => {
  rig = await reconcilerRig();
});
afterEach(() => rig.stop());

/** Somebody has deleted it. */
async function holdTerminating(kind: string, name: string): Promise<void> {
  const live = rig.api.get(kind, name) as KubeObject;
  const deletionTimestamp = '2030-01-01T00:00:00Z';
  rig.api.put({ ...live, metadata: { ...live.metadata, finalizers: ['x.example/y'], deletionTimestamp } });
  await turns();
}

it('a generation that closes a cluster is not Ready while the policy that opens it is the one there is', async () => {
  rig.engine.resources = () => accessChildren([wantedPolicy(rig.cluster(), 'open')]);
  await rig.pass();
  await turns();
  await holdTerminating('NetworkPolicy', 'db');
  await changeSpec(rig);
  rig.engine.resources = () => accessChildren([wantedPolicy(rig.cluster(), 'shut')]);
  expect(await watched(rig, () => isOpen(rig) && isReadyOn(rig, 2))).toEqual([]);
});

/** A load balancer that its provider is to clean up. */
async function balanced(): Promise<KubeObject> {
  const { metadata } = testChild(rig.cluster(), 'ConfigMap');
  const labels = { ...metadata.labels, [componentLabel]: accessComponent };
  const service: KubeObject = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...metadata, name: 'db-external', labels },
    spec: { type: 'LoadBalancer' },
  };
  rig.engine.resources = () => accessChildren([service]);
  const finalizers = ['service.kubernetes.io/load-balancer-cleanup'];
  rig.api.put({ ...service, metadata: { ...service.metadata, finalizers } });
  await turns();
  await rig.pass();
  return service;
}

async function switchOff(): Promise<void> {
  await changeSpec(rig);
  rig.engine.resources = () => [];
  await rig.pass();
  await turns();
}

it('a generation that asks for a load balancer is not Ready while the one before is being cleaned up', async () => {
  const service = await balanced();
  await switchOff();
  expect(rig.api.get('Service', 'db-external')?.metadata.deletionTimestamp).toBeDefined();
  await changeSpec(rig, 3);
  rig.engine.resources = () => accessChildren([service]);
  expect(await watched(rig, () => isReadyOn(rig, 3))).toEqual([]);
});

it('a database whose load balancer is switched off stays Ready, and the plan names what is cleaned up', async () => {
  await balanced();
  await switchOff();
  expect(await watched(rig, () => rig.status().phase !== 'Ready' || !isReadyOn(rig, 2))).toEqual([]);
  const { waitingFor } = rig.status().plan ?? {};
  expect(waitingFor).toMatch(/^delete Service db-external: .* service.kubernetes.io\/load-balancer-cleanup$/);
  rig.api.vanish('Service', 'db-external');
  await turns();
  await rig.pass();
  expect(rig.status().plan?.waitingFor).toBeUndefined();
});
