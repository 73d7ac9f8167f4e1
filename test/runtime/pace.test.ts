import { beforeEach, describe, expect, it } from 'vitest';
import type { Step } from '../../src/plan/plan.ts';
import { afterActionMs, createPace, noEffectMs, type Pace, type Paced } from '../../src/runtime/pace.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

let clock: VirtualClock;
let pace: Pace;

beforeEach(() => {
  clock = new VirtualClock();
  pace = createPace(clock);
});

const act = (summary: string): Step => ({ type: 'act', action: { type: `test.${summary.split(' ')[0]}` }, summary });

/** Passes that do the same again and again, each when the one before has asked for it. */
async function repeat(ms: number, ...summaries: readonly string[]): Promise<readonly Paced[]> {
  const end = clock.monotonic() + ms;
  const found: Paced[] = [];
  for (let i = 0; clock.monotonic() < end; i++) {
    const paced = pace.after('test/apps/db', [act(summaries[i % summaries.length] ?? '')]);
    found.push(paced);
    await clock.advance(paced.after);
  }
  return found;
}

describe('after an action', () => {
  it('the next look comes soon, and later and later where it is the same again', async () => {
    const waits = (await repeat(60_000, 'ask')).map(({ after }) => after);
    expect([waits[0], waits[1], waits.at(-1)]).toEqual([afterActionMs, afterActionMs, 5_000]);
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(waits.length).toBeLessThan(50);
  });

  it('nothing is seen late by more than a quarter of the time that it took', async () => {
    for (const took of [100, 1_000, 15_000]) {
      const start = clock.monotonic();
      await repeat(took, 'ask');
      expect(clock.monotonic() - start).toBeLessThanOrEqual(took * 1.25 + afterActionMs);
      pace.after('test/apps/db', []);
    }
  });

  it('two that undo each other are slowed down as well', async () => {
    expect((await repeat(60_000, 'open it', 'shut it')).length).toBeLessThan(70);
  });

  it('and those that ask for a little more each time', async () => {
    const numbers = Array.from({ length: 2_000 }, (_, i) => `count to ${i}`);
    expect((await repeat(60_000, ...numbers)).length).toBeLessThan(50);
  });

  it('another one is looked after as soon as the first', async () => {
    await repeat(30_000, 'ask');
    expect(pace.after('test/apps/db', [act('ask'), act('fail over')]).after).toBe(afterActionMs);
    expect(pace.after('test/apps/other', [act('ask')]).after).toBe(afterActionMs);
  });

  it('what was done long ago is new when it is done again, whatever went on meanwhile', async () => {
    pace.after('test/apps/db', [act('fail over')]);
    await repeat(120_000, 'ask');
    const { idle } = pace.after('test/apps/db', [act('fail over')]);
    expect(idle).toEqual([]);
    expect(pace.after('test/apps/db', [act('ask'), act('fail over')]).after).toBe(afterActionMs);
  });

  it.each<readonly [story: string, meanwhile: () => Promise<unknown>]>([
    ['a pass has found nothing to do', async () => pace.after('test/apps/db', [])],
    ['it was long ago', () => clock.advance(60_000)],
  ])('the same begins anew once %s', async (_, meanwhile) => {
    await repeat(30_000, 'ask');
    await meanwhile();
    expect(pace.after('test/apps/db', [act('ask')])).toEqual({ after: afterActionMs, idle: [], hasNewIdle: false });
  });

  it('what shows no effect for ten seconds is told, once', async () => {
    await repeat(noEffectMs - 1, 'ask');
    const told = await repeat(30_000, 'ask');
    expect([told[0]?.idle.length, told.filter(({ hasNewIdle }) => hasNewIdle).length]).toEqual([1, 1]);
  });
});
