/** A PostgresCluster whose first database is a copy of one of an earlier version, made by a Job. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { events, jobs, pods as podResource } from '../../../src/api/resource.ts';
import { dumpJobName, stagingPrefix } from '../../../src/engines/postgres/names.ts';
import { imageReference } from '../../../src/sandbox/images/recipe.ts';
import { listAll, removeByName } from '../../support/kubernetes.ts';
import { keepPostgresEvidence } from '../../support/postgres-evidence.ts';
import { openPostgresLedger, type PostgresLedger } from '../../support/postgres-ledger.ts';
import type { PostgresTestCluster } from '../../support/postgres-test-cluster.ts';
import { recordResult } from '../../support/results.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
let source: PostgresTestCluster;
let cluster: PostgresTestCluster;
let ledger: PostgresLedger;

const job = dumpJobName('p');
/** It has the programs of both versions. */
const image = imageReference('postgres:17');
const rows = 3_000_000;

beforeAll(async () => {
  stage = await openStage('postgres-logical-import');
  await stage.startOperator();
  source = await stage.createPostgres('old', { version: '15', image, instances: 1 });
  await source.whole(1);
  await source.sql(
    'old-0-0',
    `create extension pg_trgm; set role app; create table kept as select n, md5(n::text) as v from generate_series(1, ${rows}) as n;
    create index on kept (v)`,
  );
});
afterEach((context) => keepPostgresEvidence(context, stage, cluster));
afterAll(() => stage.close());

const said = async (): Promise<string> =>
  (await cluster.status()).conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
/** Of the new cluster, by its superuser, who needs none of them. */
const ask = async (statement: string): Promise<readonly string[]> => {
  const words = `psql -X -At -h /var/run/postgresql -U postgres postgres -c "${statement}"`;
  return (await cluster.shell((await cluster.primary()).metadata.name, `"$PGBIN"/${words}`)).split('\n');
};
const databases = (): Promise<readonly string[]> => ask('select datname from pg_database where not datistemplate');

test('it is refused while the source is written to, and the database does not exist', async () => {
  ledger = await openPostgresLedger({ cluster: source });
  await until('writes acknowledged', async () => expect(await ledger.count()).toBeGreaterThan(200));
  cluster = await stage.createPostgres('p', {
    version: '17',
    image,
    bootstrap: {
      importFrom: {
        host: 'old-primary',
        user: 'app',
        password: { name: 'old-app' },
        tls: { ca: { name: 'old-server-tls' } },
        logical: { database: 'app' },
      },
    },
  });
  await until('it is refused', async () => expect(await cluster.ready()).toBe('False ImportRefused'), {
    withinMs: 300_000,
  });
  expect(await said()).toMatch(/rows were written at the source while it was copied.*delete Job p-import/);
  expect(await databases()).not.toContain('app');
});

test('tried again when its clients are stopped, the copy is whole, also where its pod is deleted halfway', async () => {
  await ledger.pause();
  const acknowledged = await ledger.count();
  await removeByName(stage.client, await stage.client.get({ resource: jobs, namespace: stage.namespace, name: job }));
  const copying = await until(
    'rows arrive in another database',
    async () => {
      const staging = (await databases()).filter((name) => name.startsWith(stagingPrefix));
      expect(staging).toHaveLength(1);
      const sessions = `select count(*) from pg_stat_activity where datname = '${staging[0]}' and query like 'COPY%'`;
      expect(await ask(sessions)).not.toEqual(['0']);
      const labelSelector = `batch.kubernetes.io/job-name=${job}`;
      const { items } = await stage.client.list(podResource, { namespace: stage.namespace, labelSelector });
      const pod = items.find(({ metadata }) => metadata.deletionTimestamp === undefined);
      if (pod === undefined) throw new Error('the Job has no pod');
      return pod;
    },
    { everyMs: 100 },
  );
  const beganAt = performance.now();
  await removeByName(stage.client, copying, { gracePeriodSeconds: 0 });
  await cluster.whole(3, { withinMs: 400_000 });
  const took = `${((performance.now() - beganAt) / 1000).toFixed(1)} s`;
  const primary = (await cluster.primary()).metadata.name;
  expect(await cluster.sql(primary, 'select count(*), count(distinct v) from kept')).toBe(`${rows}|${rows}`);
  expect(await cluster.sql(primary, "select tableowner from pg_tables where tablename = 'kept'")).toBe('app');
  await ledger.move(undefined, cluster);
  const lost = await ledger.lost();
  expect([...lost]).toEqual([]);
  await until('writes acknowledged', async () => expect(await ledger.count()).toBeGreaterThan(acknowledged));
  expect((await databases()).filter((name) => name.startsWith(stagingPrefix))).toEqual([]);
  const left = await listAll(stage.client, jobs, stage.namespace);
  expect(left.map(({ metadata }) => metadata.name)).not.toContain(job);
  const notes = (await listAll(stage.client, events, stage.namespace)).map((event) => String(Object(event).note));
  expect(notes.find((note) => /the copy database app/.test(note))).toMatch(/2 tables, \d+ rows/);
  await recordResult({
    scenario: 'postgres: logical import from 15 to 17',
    acknowledged,
    lost: lost.length,
    measured: `${rows} rows; ${took} from the deletion of its pod to Ready`,
  });
});
