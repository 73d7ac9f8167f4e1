/** What an old view of a cluster that was being deleted does to the next one of its name: nothing. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { deletionFinalizer } from '../../src/plan/deletion.ts';
import { createSecretReader, engineIO } from '../../src/runtime/engine-io.ts';
import { createExecutor } from '../../src/runtime/executor.ts';
import { createPace } from '../../src/runtime/pace.ts';
import { createReconciler, type PassResult } from '../../src/runtime/reconciler.ts';
import { createStatusWriter } from '../../src/runtime/status-writer.ts';
import { blankClaims } from '../support/blank-claims.ts';
import { type ControllerParts, controllerParts } from '../support/controller-parts.ts';
import { testChild, testCluster, testEngine } from '../support/test-engine.ts';
import { turn } from '../support/virtual-clock.ts';

const engine = testEngine();
const vanishing = { deletionPolicy: 'Delete' };
const going = { finalizers: [deletionFinalizer], deletionTimestamp: '2030-01-01T00:00:00Z' };
const old = testCluster('db', vanishing, { ...going, uid: 'old' });
let parts: ControllerParts;

beforeEach(async () => {
  parts = await controllerParts([], [engine]);
});
afterEach(() => parts.stop());

function pass(cluster: KubeObject): Promise<PassResult> {
  const { cache, client, clock, log } = parts;
  const secrets = createSecretReader({ client, clock, onValue: () => undefined });
  const dial = (): Promise<never> => Promise.reject(new Error('nobody listens'));
  const reconciler = createReconciler({
    ...{ client, cache, log },
    executor: createExecutor({ client, cache }),
    status: createStatusWriter({ client, cache, clock }),
    pace: createPace(clock),
    io: ({ metadata: { namespace } }, signal) =>
      engineIO({ namespace, secrets, claims: blankClaims, dial, clock, signal }),
    onOutcome: () => undefined,
  });
  return reconciler.reconcile(engine, cluster, 'test/apps/db', new AbortController().signal);
}

const children: readonly (readonly [kind: string, apiVersion: string])[] = [
  ['StatefulSet', 'apps/v1'],
  ['PersistentVolumeClaim', 'v1'],
];

it.each(children)('it takes no %s', async (kind, apiVersion) => {
  const next = testCluster('db', vanishing, { uid: 'next' });
  parts.api.put(next);
  parts.api.put({ ...testChild(next, 'ConfigMap'), kind, apiVersion });
  await turn();
  expect(await pass(old)).toMatchObject({ outcome: { reason: 'Outdated' }, again: 1000 });
  expect(parts.api.writes).toEqual([]);
});

it.each(children)('its own %s goes', async (kind, apiVersion) => {
  parts.api.put(old);
  parts.api.put({ ...testChild(old, 'ConfigMap'), kind, apiVersion });
  await turn();
  await pass(parts.api.get('RedisCluster', 'db') ?? old);
  expect(parts.api.writes.filter((write) => write !== 'PATCH db/status').length).toBe(1);
  expect(parts.api.writes[0]).toMatch(/^DELETE /);
});
