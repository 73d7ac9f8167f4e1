/** Which cells run on real pods by default, and where in a scenario their faults begin. */
import { describe, expect, it } from 'vitest';
import { type FaultClass, writeOf } from '../plan.ts';
import type { Reference } from './evidence.ts';
import { plansOf, rounds, roundsOf } from './matrix.ts';
import { realScenarios } from './scenarios.ts';

function references(writes: number): Map<string, Reference> {
  const reference = { writes, fewestWrites: writes, state: {}, masked: [], counts: {}, uncounted: [] };
  return new Map(realScenarios.map(({ id }) => [id, reference]));
}

describe('the matrix', () => {
  it('runs the classes that need real sockets, processes and pods in every scenario', () => {
    const cells = new Set(
      roundsOf(undefined).flatMap((round) =>
        plansOf(round, references(10)).map((plan) => `${plan.class} ${plan.scenario}`),
      ),
    );
    const everywhere: readonly FaultClass[] = ['F1', 'F3', 'F8', 'F12', 'F14'];
    const expected = everywhere.flatMap((id) => realScenarios.map((scenario) => `${id} ${scenario.id}`));
    expect(expected.filter((cell) => !cells.has(cell))).toEqual([]);
    expect([...cells].filter((cell) => cell.startsWith('F16'))).toHaveLength(6);
  });

  it('runs a class on demand, and no other', () => {
    expect(new Set(roundsOf(['F7', 'F16']).map((round) => round.class))).toEqual(new Set(['F7', 'F16']));
    expect(roundsOf(undefined).map((round) => round.class)).not.toContain('F7');
  });

  it.each([1, 2, 7, 30])('lets every fault begin within the %i writes of a scenario', (writes) => {
    const faults = rounds.flatMap((round) => plansOf(round, references(writes))).flatMap((plan) => plan.faults);
    expect(faults.length).toBeGreaterThan(50);
    expect(faults.map((fault) => writeOf(fault) ?? 1).filter((write) => write < 1 || write > writes)).toEqual([]);
  });

  it('begins at a moment where nothing is written, and leaves out what needs a write', () => {
    const plans = rounds.flatMap((round) => plansOf(round, references(0)));
    expect(plans.flatMap((plan) => plan.faults).filter((fault) => writeOf(fault) !== undefined)).toEqual([]);
    expect(plans.filter((plan) => plan.class === 'F14')).toHaveLength(realScenarios.length);
    expect(plans.filter((plan) => plan.class === 'F1')).toEqual([]);
  });

  it('says no fault twice', () => {
    const plans = rounds.flatMap((round) => plansOf(round, references(1)));
    for (const { faults } of plans) {
      const words = faults.map((fault) => JSON.stringify(fault));
      expect(new Set(words).size).toBe(words.length);
    }
  });
});
