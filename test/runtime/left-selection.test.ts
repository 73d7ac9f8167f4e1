/** A resource that another operator serves by now, while the watch has not said so: what is in progress ends, and nothing brings it back. */
import { expect, it, onTestFinished } from 'vitest';
import { labelSelector } from '../../src/api/label-selector.ts';
import { configMaps } from '../../src/api/resource.ts';
import { deletionFinalizer } from '../../src/plan/deletion.ts';
import type { Step } from '../../src/plan/plan.ts';
import { reconcilerRig } from '../support/reconciler-rig.ts';
import { testChild, testCluster, testEngine } from '../support/test-engine.ts';
import { turn } from '../support/virtual-clock.ts';

const blue = { labels: { tier: 'blue' } };
const green = { labels: { tier: 'green' } };

async function rigOf(metadata: object = {}) {
  const cluster = testCluster('db', {}, { ...blue, ...metadata });
  const selector = labelSelector('tier=blue');
  const rig = await reconcilerRig([cluster, testChild(cluster, 'ConfigMap')], testEngine(), undefined, selector);
  onTestFinished(() => rig.stop());
  return { rig, known: () => rig.cache.cluster(rig.engine, 'apps', 'db')?.metadata.name };
}

it('takes nothing away, and is let go at once', async () => {
  const { rig, known } = await rigOf();
  const seen = { ...rig.cluster(), status: { observedGeneration: 1 } };
  const { name, uid = '' } = rig.api.get('ConfigMap', 'db')?.metadata ?? { name: '' };
  const step: Step = {
    type: 'delete',
    ref: { resource: configMaps, namespace: 'apps', name, uid },
    reason: 'outdated',
  };
  rig.api.lag();
  rig.api.put(testCluster('db', {}, green));
  rig.finds([step]);
  await rig.pass(seen);
  expect([rig.api.writes, known()]).toEqual([[], undefined]);
  // Back with the label, it is seen again, however late the watch is.
  rig.api.put(testCluster('db', {}, blue));
  rig.api.catchUp();
  await turn();
  expect(known()).toBe('db');
});

it('does not come back by the answer to a write that was under way', async () => {
  const { rig, known } = await rigOf({ finalizers: ['example.com/x'] });
  const { metadata } = rig.cluster();
  const ref = { resource: rig.engine.kind.resource, namespace: 'apps', name: 'db', uid: metadata.uid ?? '' };
  const patch = { metadata: { finalizers: ['example.com/x', deletionFinalizer] } };
  const seen = rig.cluster();
  rig.api.put(testCluster('db', {}, green));
  await turn();
  expect(known()).toBeUndefined();
  rig.finds([{ type: 'patch', ref, patch, changes: [] }]);
  await rig.pass(seen);
  await turn();
  expect(rig.cluster().metadata.finalizers).toContain(deletionFinalizer);
  expect(known()).toBeUndefined();
});
