import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Refused } from '../../src/engine/refused.ts';
import { type Step, settled } from '../../src/plan/plan.ts';
import { act, type ReconcilerRig, reconcilerRig } from '../support/reconciler-rig.ts';
import { testChild } from '../support/test-engine.ts';
import { turn } from '../support/virtual-clock.ts';

let rig: ReconcilerRig;

beforeEach(async () => {
  rig = await reconcilerRig();
});
afterEach(() => rig.stop());

const create = (): Step => ({ type: 'create', object: testChild(rig.cluster(), 'ConfigMap') });
const refuses = (): Promise<never> => Promise.reject(new Refused('SettingsRefused', 'db-0 refuses hz 9: ERR no'));

describe('a pass', () => {
  it('in which the database refuses a setting goes on, says what was refused, and does not come back for it at once', async () => {
    rig.finds([act, create()], settled, refuses);
    expect((await rig.pass()).again).toBeUndefined();
    expect(rig.api.list('ConfigMap')).toHaveLength(1);
    expect(rig.condition('SettingsRefused')).toBe('True Refused: db-0 refuses hz 9: ERR no');
    expect([rig.status().phase, rig.condition('Ready')]).toEqual(['Ready', expect.stringMatching(/^True/)]);
    rig.finds([]);
    await rig.pass();
    expect(rig.status().conditions?.map(({ type }) => type)).not.toContain('SettingsRefused');
  });

  it('in which a setting of the new spec is refused says so for the new generation', async () => {
    const before = rig.cluster();
    rig.api.put({ ...before, metadata: { ...before.metadata, generation: 2 }, status: { observedGeneration: 1 } });
    await turn();
    rig.finds([act], settled, refuses);
    await rig.pass();
    expect(rig.status().observedGeneration).toBe(2);
  });
});
