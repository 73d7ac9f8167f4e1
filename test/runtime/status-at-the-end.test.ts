import { afterEach, describe, expect, it } from 'vitest';
import { deletionFinalizer } from '../../src/plan/deletion.ts';
import { type Step, settled, wait } from '../../src/plan/plan.ts';
import { detailDelayMs } from '../../src/runtime/status-writer.ts';
import { type ReconcilerRig, reconcilerRig } from '../support/reconciler-rig.ts';
import { ready, testClaim, testCluster } from '../support/test-engine.ts';
import { turn } from '../support/virtual-clock.ts';

let rig: ReconcilerRig;

const going = { finalizers: [deletionFinalizer], deletionTimestamp: '2030-01-01T00:00:00Z' };

async function begin(spec: object): Promise<void> {
  rig = await reconcilerRig([testCluster('db', spec, going)]);
}
afterEach(() => rig.stop());

describe('the status of a cluster that is being deleted', () => {
  it('no longer says Ready while a volume that somebody holds keeps it', async () => {
    await begin({ deletionPolicy: 'Delete' });
    const conditions = ready.map((each) => ({
      ...each,
      observedGeneration: 1,
      lastTransitionTime: '2030-01-01T00:00:00Z',
    }));
    rig.api.put({ ...rig.cluster(), status: { phase: 'Ready', initialized: true, conditions } });
    const claim = testClaim(rig.cluster());
    rig.api.put({ ...claim, metadata: { ...claim.metadata, finalizers: ['kubernetes.io/pvc-protection'] } });
    await turn();
    await rig.pass();
    await turn();
    expect(await rig.pass()).toMatchObject({ outcome: { reason: 'DeletingData' }, again: 1000 });
    expect(rig.status()).toMatchObject({ phase: 'Deleting', initialized: true });
    expect(rig.condition('Ready')).toMatch(/^False DeletingData: /);
  });

  it('says what cannot be deleted, in the words of who refused', async () => {
    await begin({ deletionPolicy: 'Delete' });
    rig.api.put(testClaim(rig.cluster()));
    await turn();
    rig.api.intercept = ({ method }) =>
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
    await expect(rig.pass()).rejects.toThrow('legal-hold');
    expect(rig.condition('Ready')).toMatch(/^False StepFailed: delete PersistentVolumeClaim data-db-0: .*legal-hold/);
  });

  it('says what it waits for before anything may go', async () => {
    await begin({ deletionPolicy: 'Snapshot', backup: { target: { claim: { name: 'a' } } } });
    rig.engine.lastBackup = () => ({ steps: [], outcome: wait('LastBackupFailed', 'the store does not answer', 500) });
    expect(await rig.pass()).toMatchObject({ outcome: { reason: 'LastBackupFailed' }, again: 500 });
    expect(rig.status()).toMatchObject({ phase: 'Deleting', plan: { waitingFor: 'the store does not answer' } });
    rig.engine.lastBackup = () => undefined;
    await turn();
    expect((await rig.pass()).outcome).toEqual(settled);
    expect(rig.api.list('RedisCluster')).toEqual([]);
  });

  it('is written to its last word, where no watch and no plan brings the next look', async () => {
    await begin({ deletionPolicy: 'Snapshot', backup: { target: { claim: { name: 'a' } } } });
    const says = (message: string): void => {
      rig.engine.lastBackup = () => ({ steps: [], outcome: wait('LastBackup', message) });
    };
    says('its Job is being started');
    await rig.pass();
    await turn();
    says('its Job runs');
    const { again = Number.POSITIVE_INFINITY } = await rig.pass();
    expect(again).toBeLessThanOrEqual(detailDelayMs);
    await rig.clock.advance(again);
    expect((await rig.pass()).again).toBeUndefined();
    expect(rig.condition('Ready')).toBe('False LastBackup: its Job runs');
  });

  it('says why its last backup cannot even be begun', async () => {
    await begin({ deletionPolicy: 'Snapshot', backup: { target: { claim: { name: 'a' } } } });
    const steps: Step[] = [{ type: 'act', action: { type: 'test.refused' }, summary: 'begin it' }];
    rig.engine.lastBackup = () => ({ steps, outcome: wait('LastBackup', 'a last backup is taken') });
    await expect(rig.pass()).rejects.toThrow('begin it');
    expect(rig.condition('Ready')).toMatch(/^False StepFailed: begin it/);
  });
});

it('the status of an invalid spec is written again where the API server knew a later object', async () => {
  rig = await reconcilerRig([testCluster('db', { replicas: 'many' })]);
  const seen = rig.cluster();
  // Changes neither its generation nor anything else that brings a pass.
  rig.api.lag();
  rig.api.put({ ...seen, metadata: { ...seen.metadata, labels: { team: 'a' } } });
  const { again = Number.POSITIVE_INFINITY } = await rig.pass(seen);
  expect(again).toBeLessThan(1_000);
  rig.api.catchUp();
  await turn();
  expect((await rig.pass()).again).toBeUndefined();
  expect(rig.status().phase).toBe('Invalid');
});
