import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Step, wait } from '../../src/plan/plan.ts';
import type { ReconcileResult } from '../../src/runtime/reconcile-result.ts';
import { type ReconcilerRig, reconcilerRig } from '../support/reconciler-rig.ts';
import { turn } from '../support/virtual-clock.ts';

let rig: ReconcilerRig;

beforeEach(async () => {
  rig = await reconcilerRig();
});
afterEach(() => rig.stop());

describe('an action without an effect', () => {
  const act: Step = { type: 'act', action: { type: 'test.set' }, summary: 'set loglevel notice on db-0' };

  /** As the queue would: each pass when the one before has asked for it. What the last one came to. */
  async function passesFor(ms: number): Promise<{ readonly count: number; readonly last: ReconcileResult }> {
    const end = rig.clock.monotonic() + ms;
    for (let count = 1; ; count++) {
      const last = await rig.pass();
      if (rig.clock.monotonic() >= end) return { count, last };
      await rig.clock.advance(last.again ?? ms);
    }
  }

  it('is not repeated twenty times a second for ever, and is not urgent for ever', async () => {
    rig.finds([act]);
    expect(await rig.pass()).toMatchObject({ again: 50, hasActed: true });
    const { count, last } = await passesFor(60_000);
    expect(count).toBeLessThan(60);
    expect(last.hasActed).toBeUndefined();
  });

  it('is repeated no more than once a second where the plan asks for a look sooner', async () => {
    rig.finds([act], wait('EndingAlarm', 'an alarm is ended', 250));
    expect((await passesFor(60_000)).count).toBeLessThan(90);
  });

  it('is told of where nothing else is, and holds no generation back', async () => {
    await rig.pass();
    rig.api.put({ ...rig.cluster(), spec: { replicas: 5 } });
    await turn();
    rig.finds([act]);
    await passesFor(5_000);
    expect(rig.status().observedGeneration).toBe(1);
    await passesFor(15_000);
    expect(rig.status()).toMatchObject({ observedGeneration: 2, plan: { next: act.summary } });
    expect(rig.status().plan?.waitingFor).toMatch(/^done again and again.*: set loglevel notice on db-0$/);
  });

  it('once it shows one, the next action is looked after at once again', async () => {
    rig.finds([act]);
    await passesFor(30_000);
    rig.finds([]);
    await rig.pass();
    rig.finds([act]);
    expect(await rig.pass()).toMatchObject({ again: 50, hasActed: true });
  });
});
