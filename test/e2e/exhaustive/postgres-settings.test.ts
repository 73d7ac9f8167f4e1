/**
 * Settings of a PostgresCluster that no standby may have lower than its primary are raised, lowered, and lowered while it is parked, with
 * clients that write: no standby is ever left behind with a value that keeps it from starting.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { removeByName } from '../../support/kubernetes.ts';
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
  stage = await openStage('postgres-settings');
  await stage.startOperator();
  cluster = await stage.createPostgres('p');
  await cluster.whole(3);
  scenario = { cluster, ledger: await openPostgresLedger({ cluster }) };
});
afterEach((context) => keepPostgresEvidence(context, stage, cluster));
afterAll(() => stage.close());

const patient = { withinMs: 300_000 };
const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;

async function everybodyHas(settings: Readonly<Record<string, string>>): Promise<void> {
  await until(
    'everybody has the settings',
    async () => {
      for (const { metadata } of await cluster.pods())
        for (const [name, value] of Object.entries(settings))
          expect(await cluster.sql(metadata.name, `show ${name}`), `${metadata.name} ${name}`).toBe(value);
    },
    { ...patient, everyMs: 500 },
  );
}

/** When PostgreSQL of each member has started, by pod. */
async function starts(): Promise<ReadonlyMap<string, string>> {
  const pods = await cluster.pods();
  const asked = pods.map(
    async ({ metadata: { name } }) => [name, await cluster.sql(name, 'select pg_postmaster_start_time()')] as const,
  );
  return new Map(await Promise.all(asked));
}

const high = { max_connections: '160', max_worker_processes: '20', max_prepared_transactions: '10' };
const low = { max_connections: '60', max_worker_processes: '8', max_prepared_transactions: '0' };

test('raised: standbys first, and the primary hands over', async () => {
  const before = (await cluster.primary()).metadata.name;
  const { gapMs } = await underPostgresWriters('three settings raised', scenario, async () => {
    await cluster.change({ parameters: high });
    await everybodyHas(high);
    await cluster.whole(3, patient);
    return undefined;
  });
  expect((await cluster.primary()).metadata.name).not.toBe(before);
  expect(gapMs).toBeLessThan(8_000);
});

test('lowered: the primary restarts first and stays primary, and standbys follow', async () => {
  const before = (await cluster.primary()).metadata.name;
  const { gapMs } = await underPostgresWriters('three settings lowered', scenario, async () => {
    await cluster.change({ parameters: low });
    await everybodyHas(low);
    await cluster.whole(3, patient);
    return undefined;
  });
  const order = [...(await starts())].sort(([, a], [, b]) => (a < b ? -1 : 1)).map(([name]) => name);
  expect([(await cluster.primary()).metadata.name, order[0]]).toEqual([before, before]);
  expect(gapMs).toBeLessThan(12_000);
});

test('raised, and the primary is lost before it has restarted: nobody is left behind', async () => {
  const before = await cluster.primary();
  const { gapMs } = await underPostgresWriters(
    'settings raised, and the primary deleted meanwhile',
    scenario,
    async () => {
      await cluster.change({ parameters: high });
      await until(
        'a standby has them',
        async () => {
          const [standby] = await cluster.standbys();
          expect(await cluster.sql(standby?.metadata.name ?? '', 'show max_connections')).toBe(high.max_connections);
        },
        { ...patient, everyMs: 200 },
      );
      await removeByName(stage.client, before).catch(() => undefined);
      await everybodyHas(high);
      await cluster.whole(3, patient);
      return undefined;
    },
  );
  expect(gapMs).toBeLessThan(20_000);
});

test('parked under writers and lowered meanwhile: it comes back with the lower ones and all data', async () => {
  const { gapMs } = await underPostgresWriters('parked, lowered and back', scenario, async () => {
    const parkedAt = performance.now();
    await cluster.change({ instances: 0 });
    await until('nobody runs, and it says so', async () => {
      expect([(await cluster.pods()).length, await cluster.ready()]).toEqual([0, 'True Parked']);
    });
    const parked = seconds(parkedAt);
    await cluster.change({ parameters: low });
    const askedAt = performance.now();
    await cluster.change({ instances: 3 });
    await cluster.whole(3, patient);
    const back = seconds(askedAt);
    await everybodyHas(low);
    await cluster.whole(3, patient);
    return `parked after ${parked}, whole ${back} after it was wanted, with the settings ${seconds(askedAt)} after`;
  });
  expect(gapMs).toBeLessThan(300_000);
});
