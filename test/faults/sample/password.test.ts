/** Another password in the Secret, or one that is put there and taken back: clients notice nothing, and nothing is restarted. */
import { describe, expect, it } from 'vitest';
import { runSimulated, scenarioNamed } from '../catalogue.ts';
import { judge } from '../oracles/index.ts';
import type { RunRecord } from '../record.ts';
import { changePassword, putBack } from '../scenarios/password.ts';
import type { Scenario } from '../scenarios/scenario.ts';

function expectUnnoticed(run: RunRecord, scenario: Scenario): void {
  expect(judge(run, run, scenario.mayDiffer)).toEqual([]);
  expect(run.ledger?.outages).toEqual([]);
  expect(run.ledger?.longestGapMs).toBeLessThan(1_000);
  expect(run.commits.filter(({ resource, verb }) => resource === 'pods' && verb !== 'update')).toEqual([]);
  const restarts = run.after.flatMap(({ kind, status }) =>
    kind === 'Pod' ? ((status as { containerStatuses?: { restartCount: number }[] }).containerStatuses ?? []) : [],
  );
  expect(restarts.map(({ restartCount }) => restartCount)).toEqual(Array(6).fill(0));
}

describe('another password', () => {
  it('is told to everybody within a minute of the edit, and the former one goes', async () => {
    const named = scenarioNamed('S7 password');
    const scenario: Scenario = {
      ...named,
      async act(stage) {
        const edited = stage.said();
        expect(edited).not.toContain('PasswordOverlap');
        await Promise.all([
          named.act(stage),
          stage.pause(60_000).then(() => expect(stage.said()).toContain('PasswordOverlap')),
        ]);
        expect(stage.said()).not.toContain('PasswordOverlap');
      },
    };
    expectUnnoticed(await runSimulated({ scenario: scenario.id, seed: 1, faults: [] }, scenario), scenario);
  });

  it('that is taken back restarts nobody, and locks nobody out', async () => {
    const named = scenarioNamed('S7 password');
    const scenario: Scenario = {
      ...named,
      // The condition is left out of one status, and is there again in the next one: its time begins anew for the other password.
      writes: (named.writes ?? 0) + 2,
      async act(stage) {
        const before = await changePassword(stage);
        // Longer than a kubelet takes to show it to the servers, and probes to find a server dead.
        await stage.pause(100_000);
        await putBack(stage, before);
        await stage.pause(200_000);
      },
    };
    expectUnnoticed(await runSimulated({ scenario: scenario.id, seed: 1, faults: [] }, scenario), scenario);
  });
});
