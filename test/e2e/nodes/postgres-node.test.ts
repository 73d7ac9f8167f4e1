/**
 * The machine of the primary is lost, with the operator there and without it: a standby is elected, and what has been acknowledged is
 * there. When the machine is back, the old primary is a standby.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startNode, stopNode } from '../../../src/sandbox/faults/node.ts';
import type { OperatorProcess } from '../../support/operator-process.ts';
import { keepPostgresEvidence } from '../../support/postgres-evidence.ts';
import { openPostgresLedger } from '../../support/postgres-ledger.ts';
import { type PostgresScenario, underPostgresWriters } from '../../support/postgres-scenario.ts';
import type { PostgresTestCluster } from '../../support/postgres-test-cluster.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
let operator: OperatorProcess;
let cluster: PostgresTestCluster;
let scenario: PostgresScenario;

beforeAll(async () => {
  stage = await openStage('postgres-node');
  operator = await stage.startOperator();
  cluster = await stage.createPostgres('p');
  await cluster.whole(3);
  scenario = { cluster, ledger: await openPostgresLedger({ cluster, node: await safeNode() }) };
});
afterEach((context) => keepPostgresEvidence(context, stage, cluster));
afterAll(() => stage.close());

/** The node of a standby: the clients stay when that of the primary is lost. */
async function safeNode(): Promise<string> {
  const [standby] = await cluster.standbys();
  return standby?.spec?.nodeName ?? '';
}

test.each([
  ['there', false],
  ['away', true],
] as const)('with the operator %s', async (where, isAway) => {
  const before = (await cluster.primary()).metadata.name;
  const machine = (await cluster.primary()).spec?.nodeName ?? '';
  const { ledger } = scenario;
  await ledger.move(await safeNode());
  const { gapMs } = await underPostgresWriters(`node of the primary lost, operator ${where}`, scenario, async () => {
    if (isAway) await operator.stop();
    await stopNode(machine);
    const lostAt = performance.now();
    let back: number;
    try {
      await until('another primary', async () => expect((await cluster.primary()).metadata.name).not.toBe(before));
      const count = await ledger.count();
      await until('it acknowledges', async () => expect(await ledger.count()).toBeGreaterThan(count + 50));
      if (!isAway)
        await until('the status says what is missing', async () => expect(await cluster.ready()).toMatch(/^False/));
    } finally {
      await startNode(machine);
      back = performance.now();
    }
    if (isAway) operator = await stage.startOperator();
    await cluster.whole(3);
    const ms = performance.now() - back;
    return `machine away for ${((back - lostAt) / 1000).toFixed(1)} s, whole ${(ms / 1000).toFixed(1)} s after it was back`;
  });
  // Accepted are 24 s; the machine of a test is shared.
  expect(gapMs).toBeLessThan(48_000);
});
