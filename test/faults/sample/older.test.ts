/** A cluster that is older than identities: clients notice nothing when it gets one. */
import { expect, it } from 'vitest';
import { runSimulated, scenarioNamed } from '../catalogue.ts';
import { judge } from '../oracles/index.ts';

it('is taken over without an outage, and without a restart', async () => {
  const scenario = scenarioNamed('S16 older');
  const run = await runSimulated({ scenario: scenario.id, seed: 1, faults: [] }, scenario);
  expect(judge(run, run, scenario.mayDiffer)).toEqual([]);
  expect(run.ledger?.outages).toEqual([]);
  expect(run.ledger?.longestGapMs).toBeLessThan(1_000);
  expect(run.commits.filter(({ resource, verb }) => resource === 'pods' && verb !== 'update')).toEqual([]);
});
