/** The password is edited by hand, and put back: clients notice nothing, and nothing is restarted. */
import { expect, it } from 'vitest';
import { runSimulated, scenarioNamed } from '../catalogue.ts';
import { judge } from '../oracles/index.ts';
import { editPassword, putBack } from '../scenarios/password.ts';
import type { Scenario } from '../scenarios/scenario.ts';

it('restarts nobody, and locks nobody out', async () => {
  const scenario: Scenario = {
    ...scenarioNamed('S7 password'),
    end: 'whole',
    async act(stage) {
      const before = await editPassword(stage);
      expect(stage.said()).toContain('PasswordUnknown');
      // Longer than a kubelet takes to show it to the servers, and probes to find a server dead.
      await stage.pause(150_000);
      await putBack(stage, before);
    },
  };
  const run = await runSimulated({ scenario: scenario.id, seed: 1, faults: [] }, scenario);
  expect(judge(run, run, scenario.mayDiffer)).toEqual([]);
  expect(run.ledger?.outages).toEqual([]);
  expect(run.ledger?.longestGapMs).toBeLessThan(1_000);
  expect(run.commits.filter(({ resource, verb }) => resource === 'pods' && verb !== 'update')).toEqual([]);
  const restarts = run.after.flatMap(({ kind, status }) =>
    kind === 'Pod' ? ((status as { containerStatuses?: { restartCount: number }[] }).containerStatuses ?? []) : [],
  );
  expect(restarts.map(({ restartCount }) => restartCount)).toEqual(Array(6).fill(0));
});
