/** The log of a PostgresCluster has volumes of its own: they fill up and grow, are lost, are upgraded and restored, and go with the cluster. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { persistentVolumeClaims } from '../../../src/api/resource.ts';
import type { PostgresSpecInput } from '../../../src/engines/postgres/kind/schema.ts';
import { retiredAnnotation } from '../../../src/engines/postgres/names.ts';
import { podIsReady } from '../../../src/resources/children.ts';
import { fillVolume } from '../../../src/sandbox/faults/volume.ts';
import { limitedClass } from '../../../src/sandbox/storage.ts';
import { type BackupStore, openStore } from '../../support/backup-store.ts';
import { takeBackup } from '../../support/backups.ts';
import { removeByName } from '../../support/kubernetes.ts';
import { keepPostgresEvidence } from '../../support/postgres-evidence.ts';
import { openPostgresLedger } from '../../support/postgres-ledger.ts';
import { type PostgresScenario, underPostgresWriters } from '../../support/postgres-scenario.ts';
import type { PostgresTestCluster } from '../../support/postgres-test-cluster.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
let store: BackupStore;
let cluster: PostgresTestCluster;
let scenario: PostgresScenario;

const spec: PostgresSpecInput = {
  version: '15',
  // Has both versions.
  image: 'clusterwright-postgres:17',
  resources: { limits: { memory: '256Mi' } },
  walStorage: { size: '256Mi', storageClassName: limitedClass },
};

beforeAll(async () => {
  stage = await openStage('postgres-wal-volume');
  await stage.startOperator();
  store = await openStore(stage);
  cluster = await stage.createPostgres('p', { ...spec, backup: { target: store.target as never } });
  await cluster.whole(3, { withinMs: 240_000 });
  scenario = { cluster, ledger: await openPostgresLedger({ cluster }) };
});
afterEach((context) => keepPostgresEvidence(context, stage, cluster));
afterAll(() => stage.close());

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;

/** Where the log of each member is, and that its data has none beside it. */
async function logsOf(found: PostgresTestCluster): Promise<readonly string[]> {
  const pods = await found.pods();
  const look = 'readlink "$DATA_DIRECTORY/pg_wal"; ls /var/lib/postgresql-wal; ls "$DATA_DIRECTORY" | grep pg_wal';
  const answers = await Promise.all(pods.map(({ metadata: { name } }) => found.shell(name, look)));
  return answers.map((answer) => answer.replaceAll('\n', ' '));
}

const onOwnVolume = '/var/lib/postgresql-wal/pg_wal pg_wal pg_wal';
const afterUpgrade = '/var/lib/postgresql-wal/pg_wal.17 pg_wal.17 pg_wal';

async function walClaims() {
  return (await cluster.claims()).filter(({ metadata: { name } }) => name.startsWith('wal-'));
}

test('the log of every member is on its own volume, also of one that was copied and of one that was rewound', async () => {
  expect(await logsOf(cluster)).toEqual([onOwnVolume, onOwnVolume, onOwnVolume]);
  await underPostgresWriters('with volumes for the log: the primary killed by force', scenario, async () => {
    const before = await cluster.primary();
    await removeByName(stage.client, before, { gracePeriodSeconds: 0 });
    await until('another primary', async () => {
      const primary = await cluster.primary();
      const isBack = primary.metadata.name === before.metadata.name && primary.metadata.uid !== before.metadata.uid;
      // Patroni lets it lead again where it is back before any standby could be asked.
      if (isBack && podIsReady(primary)) await removeByName(stage.client, primary, { gracePeriodSeconds: 0 });
      expect(primary.metadata.name).not.toBe(before.metadata.name);
    });
    await cluster.whole(3, { withinMs: 180_000 });
    return undefined;
  });
  expect(await logsOf(cluster)).toEqual([onOwnVolume, onOwnVolume, onOwnVolume]);
});

test('the volumes of the log are full, and grow', async () => {
  const { ledger } = scenario;
  await underPostgresWriters('full volumes of the log grow', scenario, async () => {
    const pods = await cluster.pods();
    const filledAt = performance.now();
    const fill = (name: string) =>
      fillVolume({ namespace: stage.namespace, name }, { path: '/var/lib/postgresql-wal' });
    await Promise.all(pods.map(({ metadata: { name } }) => fill(name)));
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
    const askedAt = performance.now();
    await cluster.change({ walStorage: { size: '512Mi', storageClassName: limitedClass } });
    await until('the volumes have grown', async () =>
      expect((await walClaims()).map(({ status }) => status?.capacity?.storage)).toEqual(pods.map(() => '512Mi')),
    );
    const grownAt = performance.now();
    const grown = seconds(askedAt);
    await until('writes are taken', async () => expect(await ledger.count()).toBeGreaterThan(count), {
      withinMs: 300_000,
    });
    const serves = seconds(grownAt);
    await cluster.whole(3, { withinMs: 300_000 });
    return `full after ${stopped}, grown ${grown} after it was asked, serves ${serves} after growth`;
  });
  expect((await cluster.status()).walStorage).toEqual({ capacity: '512Mi', minimumSize: '512Mi' });
});

test('the volume of the log of a member is lost: the member is replaced, and its data is kept', async () => {
  const [victim] = await cluster.standbys();
  if (victim === undefined) throw new Error('there is no standby');
  const { name } = victim.metadata;
  await underPostgresWriters('volume of the log of a standby lost', scenario, async () => {
    const claim = (await walClaims()).find(({ metadata }) => metadata.name === `wal-${name}`);
    if (claim === undefined) throw new Error('it has no claim');
    await removeByName(stage.client, claim);
    await removeByName(stage.client, victim, { gracePeriodSeconds: 0 });
    await until(
      'it is replaced',
      async () => expect((await cluster.pods()).map((pod) => pod.metadata.name)).not.toContain(name),
      {
        withinMs: 120_000,
      },
    );
    await cluster.whole(3, { withinMs: 240_000 });
    return undefined;
  });
  const retired = (await cluster.claims()).filter(
    ({ metadata }) => metadata.annotations?.[retiredAnnotation] === 'true',
  );
  expect(retired.map(({ metadata }) => metadata.name)).toEqual([`data-${name}`, `wal-${name}`]);
  expect(await logsOf(cluster)).toEqual([onOwnVolume, onOwnVolume, onOwnVolume]);
});

test('a restore has the log on its own volume', async () => {
  await cluster.sql(
    (await cluster.primary()).metadata.name,
    'create table kept as select generate_series(1, 5000) as n',
  );
  const taken = await takeBackup(stage, 'first', {
    cluster: { kind: 'PostgresCluster', name: 'p' },
    target: store.target as never,
  });
  const restore = { target: store.target as never, id: taken.id ?? '' };
  const restored = await stage.createPostgres('r', {
    ...spec,
    instances: 2,
    deletionPolicy: 'Delete',
    bootstrap: { restore },
  });
  await restored.whole(2, { withinMs: 240_000 });
  expect(await logsOf(restored)).toEqual([onOwnVolume, onOwnVolume]);
  const [{ metadata: { name = '' } = {} } = {}] = await cluster.pods();
  const content = 'select count(*), sum(n) from kept';
  expect(await restored.sql((await restored.primary()).metadata.name, content)).toBe(await cluster.sql(name, content));
  await restored.remove();
  await until('all volumes gone with it', async () => {
    const { items } = await stage.client.list(persistentVolumeClaims, { namespace: stage.namespace });
    expect(items.map(({ metadata }) => metadata.name).filter((name) => /^(data|wal)-r-/.test(name))).toEqual([]);
  });
});

test('a major upgrade gives the new data a log on the same volume', async () => {
  await underPostgresWriters('with volumes for the log: 15 to 17', scenario, async () => {
    await cluster.change({ version: '17' });
    await until('17 runs', async () => expect((await cluster.status()).version).toMatch(/^17/), { withinMs: 300_000 });
    await cluster.whole(3, { withinMs: 300_000 });
    return undefined;
  });
  const logs = await logsOf(cluster);
  expect(logs.toSorted()).toEqual([onOwnVolume, onOwnVolume, afterUpgrade].toSorted());
});
