/** A failover in the middle of a new version. */
import { expect, it } from 'vitest';
import { runSimulated, scenarioNamed } from '../catalogue.ts';
import { judge } from '../oracles/index.ts';

it('ends with everybody on the new version, and clients wait for one election', async () => {
  const scenario = scenarioNamed('S5');
  const run = await runSimulated({ scenario: scenario.id, seed: 1, faults: [] }, scenario);
  expect(judge(run, run, scenario.mayDiffer)).toEqual([]);
  expect(run.ledger?.outages).toHaveLength(1);
});
