/** What users do with a PostgresCluster that runs: they change settings, park it, delete it, and make it again. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { configMaps, persistentVolumeClaims, secrets, statefulSets } from '../../src/api/resource.ts';
import { stateNames } from '../../src/engines/postgres/names.ts';
import { imageReference } from '../../src/sandbox/images/recipe.ts';
import { listAll } from '../support/kubernetes.ts';
import { keepPostgresEvidence } from '../support/postgres-evidence.ts';
import { openPostgresLedger } from '../support/postgres-ledger.ts';
import { type PostgresScenario, underPostgresWriters } from '../support/postgres-scenario.ts';
import type { PostgresTestCluster } from '../support/postgres-test-cluster.ts';
import { recordResult } from '../support/results.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';
import { checkVolume } from '../support/volume-check.ts';

let stage: Stage;
let cluster: PostgresTestCluster;
let scenario: PostgresScenario;

beforeAll(async () => {
  stage = await openStage('postgres-change');
  await stage.startOperator();
  cluster = await stage.createPostgres('p');
  await cluster.whole(3);
  scenario = { cluster, ledger: await openPostgresLedger({ cluster }) };
});
afterEach((context) => keepPostgresEvidence(context, stage, cluster));
afterAll(() => stage.close());

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;

/** What each member says of a setting, and when its PostgreSQL has started. */
async function told(setting: string): Promise<readonly string[]> {
  const pods = await cluster.pods();
  return Promise.all(pods.map(({ metadata }) => cluster.sql(metadata.name, `show ${setting}`)));
}

async function starts(): Promise<readonly string[]> {
  const pods = await cluster.pods();
  return Promise.all(pods.map(({ metadata }) => cluster.sql(metadata.name, 'select pg_postmaster_start_time()')));
}

async function names(resource: typeof secrets): Promise<readonly string[]> {
  return (await listAll(stage.client, resource, stage.namespace)).map(({ metadata }) => metadata.name);
}

test('a setting that needs no restart is changed while everybody goes on', async () => {
  const before = await starts();
  const { gapMs } = await underPostgresWriters('a setting changed online', scenario, async () => {
    await cluster.change({ parameters: { work_mem: '8MB' } });
    await until('everybody has it', async () => expect(await told('work_mem')).toEqual(['8MB', '8MB', '8MB']));
    await cluster.whole(3);
    return undefined;
  });
  expect(await starts()).toEqual(before);
  expect(gapMs).toBeLessThan(2_000);
});

test('a setting that needs a restart: standbys first, the primary hands over', async () => {
  const before = (await cluster.primary()).metadata.name;
  const { gapMs } = await underPostgresWriters('a setting changed by restarts', scenario, async () => {
    await cluster.change({ parameters: { work_mem: '8MB', max_connections: '120' } });
    await until('everybody has it', async () => expect(await told('max_connections')).toEqual(['120', '120', '120']));
    await cluster.whole(3);
    return undefined;
  });
  expect((await cluster.primary()).metadata.name).not.toBe(before);
  expect(gapMs).toBeLessThan(8_000);
});

test('parks, with volumes whose every checksum is right, and comes back with the data', async () => {
  const { ledger } = scenario;
  await ledger.resume();
  const count = await ledger.count();
  await until('more written', async () => expect(await ledger.count()).toBeGreaterThan(count + 50));
  await ledger.pause();
  const claims = (await cluster.claims()).map(({ metadata }) => metadata.name);
  const parkedAt = performance.now();
  await cluster.change({ instances: 0 });
  await until('nobody runs, and it says so', async () => {
    expect([(await cluster.pods()).length, await cluster.ready()]).toEqual([0, 'True Parked']);
  });
  const parked = seconds(parkedAt);
  const image = imageReference('postgres:17');
  const command = ['/usr/lib/postgresql/17/bin/pg_checksums', '--check', '-D', '/volume/data'];
  const { namespace } = stage;
  const found = await Promise.all(
    claims.map((claim) => checkVolume(stage.client, { namespace, claim, image, command })),
  );
  expect(found.map(({ code, output }) => [code, /Bad checksums: +(\d+)/.exec(output)?.[1] ?? output])).toEqual(
    claims.map(() => [0, '0']),
  );
  const { gapMs } = await (async () => {
    const askedAt = performance.now();
    await cluster.change({ instances: 3 });
    await cluster.whole(3);
    const back = seconds(askedAt);
    await recordResult({
      scenario: 'postgres: parked',
      measured: `parked after ${parked}, ${found.length} volumes with right checksums, whole ${back} after it was wanted`,
    });
    return underPostgresWriters('after parking', scenario, async () => undefined);
  })();
  expect(gapMs).toBeLessThan(8_000);
});

test('deleted, it leaves volumes, Secrets and the state of Patroni; made again, it goes on with them', async () => {
  const { ledger } = scenario;
  const claims = await names(persistentVolumeClaims);
  const acknowledged = await ledger.count();
  await cluster.remove();
  const goneAt = performance.now();
  await until('its members are gone', async () => {
    expect([await names(statefulSets), (await cluster.pods()).length]).toEqual([[], 0]);
  });
  const gone = seconds(goneAt);
  expect(await names(persistentVolumeClaims)).toEqual(claims);
  expect(await names(secrets)).toContain('p-app');
  expect(await names(configMaps)).toEqual(expect.arrayContaining([...stateNames('p')]));

  const askedAt = performance.now();
  cluster = await stage.createPostgres('p', { deletionPolicy: 'Delete', parameters: { max_connections: '120' } });
  await cluster.whole(3);
  await recordResult({
    scenario: 'postgres: deleted and made again',
    measured: `gone after ${gone}, whole after ${seconds(askedAt)}`,
  });
  expect(await ledger.lost()).toEqual([]);
  expect(await ledger.count()).toBe(acknowledged);
});

test('deleted with the policy Delete, nothing of it is left', async () => {
  await cluster.remove();
  await until('all of it gone', async () => {
    const ours = async (resource: typeof secrets): Promise<readonly string[]> =>
      (await names(resource)).filter((name) => /^(data-)?p(-|$)/.test(name));
    const left = [secrets, configMaps, persistentVolumeClaims, statefulSets].map(ours);
    expect((await Promise.all(left)).flat()).toEqual([]);
  });
});
