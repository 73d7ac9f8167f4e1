/** Some of the matrix, enough to fail when something breaks, for every run of the tests. */
import { describe, expect, it } from 'vitest';
import { runSimulated, scenarios } from '../catalogue.ts';
import { runMatrix } from '../matrix.ts';
import { faultClasses } from '../plan.ts';

/** A few plans of every cell of these scenarios; the whole matrix is `npm run faults`. */
export function sampleOf(ids: readonly string[]): void {
  describe('no oracle objects to', () => {
    it.each(scenarios.filter(({ id }) => ids.includes(id)))('$id: $title', async (scenario) => {
      const { cells } = await runMatrix({
        scenarios: [scenario],
        classes: faultClasses,
        seed: 1,
        perCell: 1,
        combinations: 1,
        run: runSimulated,
      });
      expect(cells.flatMap(({ failures }) => failures)).toEqual([]);
      expect(cells.reduce((sum, { runs }) => sum + runs, 0)).toBeGreaterThan(10);
    });
  });
}
