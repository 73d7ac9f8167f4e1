/** A volume that the API server refuses to expand. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { persistentVolumeClaims } from '../../src/api/resource.ts';
import { desiredConditions } from '../../src/engine/desired-conditions.ts';
import { type Outcome, type Step, wait } from '../../src/plan/plan.ts';
import { type ReconcilerRig, reconcilerRig } from '../support/reconciler-rig.ts';

let rig: ReconcilerRig;

beforeEach(async () => {
  rig = await reconcilerRig();
});
afterEach(() => rig.stop());

const expand: Step = {
  type: 'patch',
  optional: true,
  ref: { resource: persistentVolumeClaims, namespace: 'apps', name: 'data-db-0', uid: 'uid' },
  patch: { spec: { resources: { requests: { storage: '10Gi' } } } },
  changes: [{ path: 'spec.resources.requests.storage', from: '1Gi', to: '10Gi' }],
};
const small = 'storage.size is 10Gi, and data-db-0 has 1Gi';
const expanding = wait('ExpandingVolumes', small);
const webhook = 'admission webhook "sizes.example" denied the request: too large';
const unsupported =
  'persistentvolumeclaims "data-db-0" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';

function answers(status: number, reason: string, message: string): void {
  rig.api.intercept = ({ method, path }) =>
    method === 'PATCH' && path.includes('persistentvolumeclaims')
      ? Promise.resolve({ status, headers: {}, body: JSON.stringify({ kind: 'Status', reason, message }) })
      : undefined;
}

function finds(outcome: Outcome): void {
  const { reason, message } = outcome.state === 'settled' ? { reason: 'x', message: 'x' } : outcome;
  rig.engine.find = () => ({
    plan: { steps: [expand], outcome },
    status: {
      phase: 'Updating',
      conditions: [
        ...desiredConditions('False', reason, message, { progressing: true }),
        { type: 'VolumesTooSmall', status: 'True', reason: 'ExpansionPending', message: small },
      ],
    },
  });
}

describe('an expansion that the API server refuses', () => {
  it.each([
    ['since the StorageClass does not allow it', 403, unsupported, 'ExpansionNotSupported'],
    ['for a quota', 403, 'exceeded quota: disks', 'ExpansionRefused'],
    ['for what a webhook says', 422, 'denied the request: too large', 'ExpansionRefused'],
    ['for a webhook with a status of its own', 409, webhook, 'ExpansionRefused'],
    ['for a webhook that says it has failed', 500, webhook, 'ExpansionRefused'],
  ])('blocks the cluster in its words: %s', async (_, status, message, reason) => {
    answers(status, 'Forbidden', message);
    finds(expanding);
    await rig.pass();
    expect(rig.status().phase).toBe('Blocked');
    expect(['Ready', 'Stalled', 'Degraded'].map((type) => rig.condition(type).split(':')[0])).toEqual([
      'False VolumesTooSmall',
      'True VolumesTooSmall',
      'False ExpandingVolumes',
    ]);
    const told = rig.condition('VolumesTooSmall');
    expect(told).toContain(`True ${reason}: ${small}; the API server refuses to expand them`);
    expect(told).toContain(message);
    const { next, blockedBy } = rig.status().plan ?? {};
    expect([next, blockedBy]).toEqual([undefined, expect.stringContaining(message)]);
    expect(rig.outcomes.map((outcome) => outcome.state)).toEqual(['wait', 'blocked']);
  });

  it('is a condition, and no more, where something else is waited for', async () => {
    answers(403, 'Forbidden', unsupported);
    finds(wait('MembersNotReady', 'the volume of db-0 is full'));
    await rig.pass();
    expect([rig.status().phase, rig.condition('Ready')]).toEqual([
      'Updating',
      'False MembersNotReady: the volume of db-0 is full',
    ]);
    expect(rig.condition('VolumesTooSmall')).toContain('True ExpansionNotSupported: ');
  });

  it('is none where the API server has only not answered as it should', async () => {
    answers(500, 'InternalError', 'etcdserver: request timed out');
    finds(expanding);
    await rig.pass();
    expect([rig.status().phase, rig.condition('VolumesTooSmall')]).toEqual([
      'Updating',
      `True ExpansionPending: ${small}`,
    ]);
  });
});
