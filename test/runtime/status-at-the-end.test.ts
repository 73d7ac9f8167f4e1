import { afterEach, describe, expect, it } from 'vitest';
import type { Cluster } from '../../src/api/cluster.ts';
import type { KubeObject } from '../../src/api/object.ts';
import type { ClusterStatus } from '../../src/api/status.ts';
import { deletionFinalizer } from '../../src/plan/deletion.ts';
import { type Step, settled, wait } from '../../src/plan/plan.ts';
import { createSecretReader, engineIO } from '../../src/runtime/engine-io.ts';
import { createExecutor } from '../../src/runtime/executor.ts';
import { createPace } from '../../src/runtime/pace.ts';
import { createReconciler, type PassResult, type Reconciler } from '../../src/runtime/reconciler.ts';
import { createStatusWriter } from '../../src/runtime/status-writer.ts';
import { blankClaims } from '../support/blank-claims.ts';
import { type ControllerParts, controllerParts } from '../support/controller-parts.ts';
import { ready, type TestEngine, testChild, testCluster, testEngine } from '../support/test-engine.ts';
import { turn } from '../support/virtual-clock.ts';

let engine: TestEngine;
let parts: ControllerParts;
let reconciler: Reconciler;

async function begin(spec: object, metadata: object): Promise<void> {
  engine = testEngine();
  parts = await controllerParts([testCluster('db', spec, metadata)], [engine]);
  const { cache, client, clock, log } = parts;
  const secrets = createSecretReader({ client, clock, onValue: () => undefined });
  const dial = () => Promise.reject(new Error('refused'));
  reconciler = createReconciler({
    client,
    cache,
    executor: createExecutor({ client, cache }),
    status: createStatusWriter({ client, cache, clock }),
    pace: createPace(clock),
    io: (_, signal) => engineIO({ namespace: 'apps', secrets, claims: blankClaims, dial, clock, signal }),
    log,
    onOutcome: () => undefined,
  });
}
afterEach(() => parts.stop());

const cluster = (): KubeObject => parts.api.get('RedisCluster', 'db') as KubeObject;
const status = (): ClusterStatus => (cluster() as Cluster).status ?? {};
const condition = (type: string): string => {
  const found = (status().conditions ?? []).find((each) => each.type === type);
  return `${found?.status} ${found?.reason}: ${found?.message}`;
};
const pass = (): Promise<PassResult> =>
  reconciler.reconcile(engine, cluster(), 'test/apps/db', new AbortController().signal);

const going = { finalizers: [deletionFinalizer], deletionTimestamp: '2030-01-01T00:00:00Z' };

describe('the status of a cluster that is being deleted', () => {
  it('no longer says Ready while a volume that somebody holds keeps it', async () => {
    await begin({ deletionPolicy: 'Delete' }, going);
    const conditions = ready.map((each) => ({
      ...each,
      observedGeneration: 1,
      lastTransitionTime: '2030-01-01T00:00:00Z',
    }));
    parts.api.put({ ...cluster(), status: { phase: 'Ready', initialized: true, conditions } });
    const claim = { ...testChild(cluster(), 'ConfigMap'), kind: 'PersistentVolumeClaim' };
    parts.api.put({ ...claim, metadata: { ...claim.metadata, finalizers: ['kubernetes.io/pvc-protection'] } });
    await turn();
    await pass();
    await turn();
    expect(await pass()).toMatchObject({ outcome: { reason: 'DeletingData' }, again: 1000 });
    expect(status()).toMatchObject({ phase: 'Deleting', initialized: true });
    expect(condition('Ready')).toMatch(/^False DeletingData: /);
  });

  it('says what cannot be deleted, in the words of who refused', async () => {
    await begin({ deletionPolicy: 'Delete' }, going);
    parts.api.put({ ...testChild(cluster(), 'ConfigMap'), kind: 'PersistentVolumeClaim' });
    await turn();
    parts.api.intercept = ({ method }) =>
      method === 'DELETE'
        ? Promise.resolve({
            status: 403,
            headers: {},
            body: JSON.stringify({
              kind: 'Status',
              code: 403,
              reason: 'Forbidden',
              message: 'held by policy legal-hold',
            }),
          })
        : undefined;
    await expect(pass()).rejects.toThrow('legal-hold');
    expect(condition('Ready')).toMatch(/^False StepFailed: delete PersistentVolumeClaim db: .*legal-hold/);
  });

  it('says what it waits for before anything may go', async () => {
    await begin({ deletionPolicy: 'Snapshot', backup: { target: { claim: { name: 'a' } } } }, going);
    engine.lastBackup = () => ({ steps: [], outcome: wait('LastBackupFailed', 'the store does not answer', 500) });
    expect(await pass()).toMatchObject({ outcome: { reason: 'LastBackupFailed' }, again: 500 });
    expect(status()).toMatchObject({ phase: 'Deleting', plan: { waitingFor: 'the store does not answer' } });
    engine.lastBackup = () => undefined;
    await turn();
    expect((await pass()).outcome).toEqual(settled);
    expect(parts.api.list('RedisCluster')).toEqual([]);
  });

  it('says why its last backup cannot even be begun', async () => {
    await begin({ deletionPolicy: 'Snapshot', backup: { target: { claim: { name: 'a' } } } }, going);
    const steps: Step[] = [{ type: 'act', action: { type: 'test.refused' }, summary: 'begin it' }];
    engine.lastBackup = () => ({ steps, outcome: wait('LastBackup', 'a last backup is taken') });
    await expect(pass()).rejects.toThrow('begin it');
    expect(condition('Ready')).toMatch(/^False StepFailed: begin it/);
  });
});
