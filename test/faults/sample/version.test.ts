/** A failover in the middle of a new version: the primary of before cannot copy from its successor. */
import { expect, it } from 'vitest';
import { runSimulated, scenarioNamed } from '../catalogue.ts';
import { judge } from '../oracles/index.ts';

it('is restarted, since it waits for ever, and everybody for it', async () => {
  const scenario = scenarioNamed('S5');
  const run = await runSimulated({ scenario: scenario.id, seed: 1, faults: [] }, scenario);
  expect(judge(run, run, scenario.mayDiffer)).toEqual([]);
  expect(run.ledger?.outages).toHaveLength(1);
});
