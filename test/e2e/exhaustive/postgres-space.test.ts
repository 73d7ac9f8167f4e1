/** The volumes of a PostgresCluster are full: it takes no writes, loses none, and goes on when they have grown. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { fillVolume } from '../../../src/sandbox/faults/volume.ts';
import { limitedClass } from '../../../src/sandbox/storage.ts';
import { keepPostgresEvidence } from '../../support/postgres-evidence.ts';
import { openPostgresLedger } from '../../support/postgres-ledger.ts';
import { type PostgresScenario, underPostgresWriters } from '../../support/postgres-scenario.ts';
import type { PostgresTestCluster } from '../../support/postgres-test-cluster.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
let cluster: PostgresTestCluster;
let scenario: PostgresScenario;

beforeAll(async () => {
  stage = await openStage('postgres-space');
  await stage.startOperator();
  cluster = await stage.createPostgres('p', { storage: { size: '512Mi', storageClassName: limitedClass } });
  await cluster.whole(3);
  scenario = { cluster, ledger: await openPostgresLedger({ cluster }) };
});
afterEach((context) => keepPostgresEvidence(context, stage, cluster));
afterAll(() => stage.close());

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;

/** What each claim asks for and has, `WANTED HAS`. */
async function sizes(): Promise<readonly string[]> {
  const claims = await cluster.claims();
  return claims.map(({ spec, status }) => `${spec?.resources?.requests?.storage} ${status?.capacity?.storage}`);
}

test('all volumes are full, and grow', async () => {
  const { ledger } = scenario;
  await underPostgresWriters('full volumes grow', scenario, async () => {
    const pods = await cluster.pods();
    const filledAt = performance.now();
    await Promise.all(pods.map(({ metadata: { name } }) => fillVolume({ namespace: stage.namespace, name })));
    // The log goes on in segments that are there already, until the next one is needed.
    const hasStopped = async (): Promise<void> => {
      const primary = (await cluster.primary()).metadata.name;
      await cluster.sql(primary, 'select pg_switch_wal()').catch(() => undefined);
      const count = await ledger.count();
      await new Promise((resolve) => setTimeout(resolve, 2000));
      expect(await ledger.count()).toBe(count);
    };
    await until('nothing is acknowledged any more', hasStopped, { withinMs: 180_000 });
    const stopped = seconds(filledAt);
    const count = await ledger.count();
    await until('the status says so', async () => expect(await cluster.ready()).toMatch(/^False/));
    const said = seconds(filledAt);
    const askedAt = performance.now();
    await cluster.change({ storage: { size: '1Gi', storageClassName: limitedClass } });
    await until('the volumes have grown', async () => expect(await sizes()).toEqual(pods.map(() => '1Gi 1Gi')));
    const grownAt = performance.now();
    const grown = seconds(askedAt);
    await until('writes are taken', async () => expect(await ledger.count()).toBeGreaterThan(count), {
      withinMs: 300_000,
    });
    const serves = seconds(grownAt);
    await cluster.whole(3, { withinMs: 300_000 });
    return `full after ${stopped}, said after ${said}, grown ${grown} after it was asked, serves ${serves} after growth`;
  });
});
