/** Somebody deletes an object each time: what the cluster needs besides is still done, and the status does not turn back and forth. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { accessMayFail } from '../../src/plan/access.ts';
import { type Step, settled, wait } from '../../src/plan/plan.ts';
import { playPasses } from '../support/played-passes.ts';
import { type ReconcilerRig, reconcilerRig } from '../support/reconciler-rig.ts';
import { testChild } from '../support/test-engine.ts';

let rig: ReconcilerRig;
beforeEach(async () => {
  rig = await reconcilerRig();
});
afterEach(() => rig.stop());
const child = (): KubeObject => testChild(rig.cluster(), 'ConfigMap');

const run = (ms: number, meanwhile: (now: number) => boolean): Promise<void> => playPasses(rig, ms, meanwhile);

describe('a repair of several steps behind an object that somebody deletes at once each time', () => {
  it('is over within 10 s', async () => {
    let done = 0;
    let over: number | undefined;
    const began = rig.clock.monotonic();
    rig.engine.find = (_, children) => {
      const made: Step[] = children.get('ConfigMap', 'db') === undefined ? [{ type: 'create', object: child() }] : [];
      const acts: Step[] =
        rig.clock.monotonic() < began + 30_000 || done >= 5
          ? []
          : [{ type: 'act', action: { type: `test.${done}` }, summary: `repair ${done}` }];
      return {
        plan: { steps: [...made, ...acts], outcome: acts.length > 0 ? wait('Repairing', 'x', 500) : settled },
        act: async () => {
          done++;
          if (done === 5) over = rig.clock.monotonic();
        },
      };
    };
    await run(90_000, () => {
      if (rig.api.get('ConfigMap', 'db') === undefined) return false;
      rig.api.vanish('ConfigMap', 'db');
      return true;
    });
    expect((over ?? Number.POSITIVE_INFINITY) - began - 30_000).toBeLessThan(10_000);
  });
});

describe('a NetworkPolicy that somebody deletes two seconds after it was made, again and again', () => {
  async function fight(until: number, total: number) {
    const said: string[] = [];
    rig.engine.find = (_, children) => ({
      plan: {
        steps:
          children.get('ConfigMap', 'db') === undefined ? [{ type: 'create', object: child(), ...accessMayFail }] : [],
        outcome: settled,
      },
    });
    let madeAt: number | undefined;
    await run(total, (now) => {
      const ready = rig.status().conditions === undefined ? '' : rig.condition('Ready').slice(0, 5);
      if (said.at(-1) !== ready) said.push(ready);
      if (rig.api.get('ConfigMap', 'db') === undefined) madeAt = undefined;
      else madeAt ??= now;
      if (madeAt === undefined || now - madeAt < 2_000 || now >= until) return false;
      rig.api.vanish('ConfigMap', 'db');
      madeAt = undefined;
      return true;
    });
    return said;
  }
  it('does not turn Ready back and forth', async () => {
    const said = await fight(Number.POSITIVE_INFINITY, 120_000);
    expect(said.length).toBeLessThan(8);
  });
  it('is not told of any more once that is over', async () => {
    await fight(rig.clock.monotonic() + 60_000, 90_000);
    expect(rig.condition('AccessRefused')).toBe('absent');
    expect(rig.condition('Ready')).toMatch(/^True/);
  });
});
