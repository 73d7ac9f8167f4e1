/** `synchronous.strict` as clients meet it: when commits wait, and when they do not. An archive that follows is no standby. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { statefulSets } from '../../../src/api/resource.ts';
import { openStore } from '../../support/backup-store.ts';
import { keepPostgresEvidence } from '../../support/postgres-evidence.ts';
import type { PostgresTestCluster } from '../../support/postgres-test-cluster.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
let cluster: PostgresTestCluster;
const patient = { withinMs: 120_000 };

beforeAll(async () => {
  stage = await openStage('postgres-strict');
  await stage.startOperator();
  const store = await openStore(stage);
  cluster = await stage.createPostgres('s', {
    instances: 3,
    synchronous: { count: 2, strict: true },
    backup: { target: store.target as never, archive: {} },
  });
  await cluster.whole(3, patient);
  await until(
    'the archive follows',
    async () => expect((await cluster.status()).archive?.state).toBe('Following'),
    patient,
  );
  await cluster.sql((await cluster.primary()).metadata.name, 'create table t (i int)');
});
afterEach((context) => keepPostgresEvidence(context, stage, cluster));
afterAll(() => stage.close());

/** Commits wait for these. */
async function waitsFor(names: string): Promise<void> {
  await until(
    `commits wait for ${names}`,
    async () =>
      expect(await cluster.sql((await cluster.primary()).metadata.name, 'show synchronous_standby_names')).toBe(names),
    patient,
  );
}

/** What becomes of one row within so many seconds. */
async function write(seconds = 5): Promise<string> {
  const { name } = (await cluster.primary()).metadata;
  const insert = `timeout ${seconds} "$PGBIN/psql" -U postgres -Atc 'insert into t values (1)' app || echo waits`;
  return (await cluster.shell(name, insert, 30_000)).trim();
}

async function runs(standby: string, replicas: 0 | 1): Promise<void> {
  const ref = { resource: statefulSets, namespace: cluster.namespace, name: standby.replace(/-0$/, '') };
  await stage.client.mergePatch(ref, { spec: { replicas } });
}

test('commits wait while no standby is there, and not while one of two is', async () => {
  // Otherwise the operator starts them again.
  await cluster.change({ paused: true });
  await until('it is paused', async () => expect((await cluster.status()).phase).toBe('Paused'));
  const [one = '', other = ''] = (await cluster.standbys()).map(({ metadata }) => metadata.name);
  await waitsFor(`ANY 2 ("${one}","${other}")`);
  await runs(other, 0);
  await waitsFor(`ANY 1 ("${one}")`);
  expect(await write()).toBe('INSERT 0 1');
  await runs(one, 0);
  await until('both are gone', async () => expect(await cluster.pods()).toHaveLength(1), patient);
  await waitsFor('ANY 1 (*)');
  expect(await write()).toBe('waits');
  await until('the status says so', async () =>
    expect(JSON.stringify((await cluster.status()).conditions)).toContain(
      'commits wait for a standby, and none is there',
    ),
  );
  const streams =
    "select count(*) from pg_stat_replication where application_name not like 's-_-0' and state = 'streaming'";
  expect(await cluster.sql((await cluster.primary()).metadata.name, streams)).toBe('1');
  await cluster.change({ paused: false });
  await cluster.whole(3, patient);
  expect(await write()).toBe('INSERT 0 1');
});

test('commits of a single instance wait for nobody', async () => {
  await cluster.change({ instances: 1, synchronous: { count: 1, strict: true } });
  await cluster.whole(1, patient);
  await waitsFor('');
  expect(await write()).toBe('INSERT 0 1');
});

/**
 * Of the two processes of a copy, the one that copies files is held, as soon as it has started the other, which follows the log. Resolves
 * with its number.
 */
const holdCopy = `while :; do for stat in /proc/[0-9]*/stat; do
  read -r _ name _ parent _ 2>/dev/null <"$stat" || continue
  [ "$name" = '(pg_basebackup)' ] || continue
  read -r _ above _ 2>/dev/null <"/proc/$parent/stat" || continue
  [ "$above" = '(pg_basebackup)' ] && kill -STOP "$parent" && echo "$parent" && exit
done; done`;

test('from one instance to two, commits wait for the new standby, also while it copies the data', async () => {
  const primary = (await cluster.primary()).metadata.name;
  await cluster.change({ instances: 2 });
  let held = '';
  await until(
    'the copy is held',
    async () => {
      const [pod] = (await cluster.pods()).filter(({ metadata }) => metadata.name !== primary);
      held = (await cluster.shell(pod?.metadata.name ?? '', holdCopy, 20_000)).trim();
    },
    { ...patient, everyMs: 20 },
  );
  const [copying] = (await cluster.pods()).filter(({ metadata }) => metadata.name !== primary);
  await waitsFor('*');
  const streams = "select state from pg_stat_replication where application_name = 'pg_basebackup' order by 1";
  await until(
    'it follows the log',
    async () => expect(await cluster.sql(primary, streams)).toBe('backup\nstreaming'),
    patient,
  );
  expect(await write(20)).toBe('waits');
  await cluster.shell(copying?.metadata.name ?? '', `kill -CONT ${held}`);
  const members = await cluster.whole(2, patient);
  const [standby] = members.filter(({ metadata }) => metadata.name !== primary);
  await waitsFor(`ANY 1 ("${standby?.metadata.name}")`);
  expect(await write()).toBe('INSERT 0 1');
});

test('a new single instance serves', async () => {
  const single = await stage.createPostgres('a', { instances: 1, synchronous: { count: 1, strict: true } });
  await single.whole(1, patient);
  expect(await single.sql('a-0-0', 'show synchronous_standby_names')).toBe('');
});
