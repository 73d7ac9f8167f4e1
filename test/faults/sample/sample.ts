/** Some of the matrix, enough to fail when something breaks, for every run of the tests. */
import { describe, expect, it } from 'vitest';
import { runSimulated, scenarios } from '../catalogue.ts';
import { runMatrix } from '../matrix.ts';
import { type FaultClass, faultClasses } from '../plan.ts';

/** Crashes, lost answers, stale views, lost leases and faults of the database find most; `npm run test:all` has all classes. */
const essential: readonly FaultClass[] = ['F1', 'F3', 'F8', 'F14', 'F16'];
const ofEveryRun = process.env.CLUSTERWRIGHT_ALL_VERSIONS === undefined ? essential : faultClasses;

/** A plan of every cell of these scenarios, or of some classes; the whole matrix is `npm run faults`. */
export function sampleOf(ids: readonly string[], classes: readonly FaultClass[] = ofEveryRun): void {
  describe('no oracle objects to', () => {
    it.each(scenarios.filter(({ id }) => ids.includes(id)))('$id: $title', async (scenario) => {
      const { cells } = await runMatrix({
        scenarios: [scenario],
        classes,
        seed: 1,
        perCell: 1,
        combinations: 1,
        run: runSimulated,
      });
      expect(cells.flatMap(({ failures }) => failures)).toEqual([]);
      // The undisturbed one twice, one with several faults, and hardly a class that says nothing of the scenario.
      expect(cells.reduce((sum, { runs }) => sum + runs, 0)).toBeGreaterThan(classes.length / 2 + 1);
    });
  });
}
