/**
 * Members show a certificate of a user's CA, and everything that reads their data connects by it: backups, drills, the archive, and the Jobs
 * of a major upgrade. Meanwhile the CA is replaced.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { jobs, pods as podResource } from '../../../src/api/resource.ts';
import type { PostgresSpecInput } from '../../../src/engines/postgres/kind/schema.ts';
import { imageReference } from '../../../src/sandbox/images/recipe.ts';
import { type BackupStore, openStore } from '../../support/backup-store.ts';
import { takeBackup } from '../../support/backups.ts';
import { listAll } from '../../support/kubernetes.ts';
import { keepPostgresEvidence } from '../../support/postgres-evidence.ts';
import { openPostgresLedger } from '../../support/postgres-ledger.ts';
import { type PostgresScenario, underPostgresWriters } from '../../support/postgres-scenario.ts';
import { prepareSoundness, soundnessOf } from '../../support/postgres-soundness.ts';
import type { PostgresTestCluster } from '../../support/postgres-test-cluster.ts';
import {
  answer,
  casForClients,
  company,
  everybodyShows,
  heldBack,
  secretText,
  serialOf,
  userCertificate,
} from '../../support/postgres-user-certificate.ts';
import { recordResult } from '../../support/results.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const run = promisify(execFile);
const program = new URL('../../../build/src/cli.js', import.meta.url).pathname;
const first = company();
const second = company();
const tls: PostgresSpecInput = { tls: { server: { secretRef: { name: 'shop-db-tls' } } } };
const small: PostgresSpecInput = { storage: { size: '512Mi' }, resources: { limits: { memory: '384Mi' } } };
const alone: PostgresSpecInput = { ...small, instances: 1, deletionPolicy: 'Delete' };
const long = { withinMs: 480_000 };

let stage: Stage;
let store: BackupStore;
/** Of 17. */
let cluster: PostgresTestCluster;
/** Of 15. */
let older: PostgresTestCluster;
/** Which one a failing test was about. */
let about: PostgresTestCluster;
let scenario: PostgresScenario;
/** What members are to show after the CA has been replaced. */
let next: Record<string, string>;
let replacedAt: number;

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;

beforeAll(async () => {
  stage = await openStage('postgres-server-certificate-data');
  await stage.startOperator();
  store = await openStore(stage);
  const secret = userCertificate(stage, 'shop-db-tls', ['p', 'u', 'r', 'e']);
  await secret.create(secret.signedBy(first));
  const backup = { target: store.target as never, archive: {} };
  cluster = await stage.createPostgres('p', { ...small, ...tls, instances: 2, backup });
  // The image has both versions.
  const image = imageReference('postgres:17');
  older = await stage.createPostgres('u', { ...small, ...tls, version: '15', image, instances: 2, backup });
  about = cluster;
  await cluster.whole(2, { withinMs: 240_000 });
  scenario = { cluster, ledger: await openPostgresLedger({ cluster }) };
  await older.whole(2, { withinMs: 240_000 });
  next = secret.signedBy(second);
  await secret.bring(next);
  replacedAt = performance.now();
}, 600_000);
afterEach((context) => keepPostgresEvidence(context, stage, about));
afterAll(() => stage.close());

const onPrimary = async (of: PostgresTestCluster, statement: string): Promise<string> =>
  of.sql((await of.primary()).metadata.name, statement);

const follows = (of: PostgresTestCluster): Promise<void> =>
  until('the archive follows', async () => expect((await of.status()).archive?.state).toBe('Following'), {
    withinMs: 240_000,
  });

async function archived(of: PostgresTestCluster): Promise<string> {
  const ref = { resource: podResource, namespace: stage.namespace, name: `${of.name}-archive-0` };
  const { status } = (await stage.client.get(ref)) as { readonly status?: { readonly podIP?: string } };
  const said = await fetch(`http://${status?.podIP}:8010/archive`, { signal: AbortSignal.timeout(5000) });
  const report = (await said.json()) as { readonly end: string };
  // On another timeline, at a position.
  return report.end.split(' ')[0] ?? '';
}

test('a Backup while both CAs are trusted: a drill finds it the same, and new clusters begin with it, with the certificate and without', async () => {
  for (const one of [cluster, older]) {
    await until('it is held back', async () => expect(await heldBack(one)).toBe('True NotTrustedYet'));
  }
  await scenario.ledger.pause();
  const startedAt = performance.now();
  const target = store.target as never;
  const { id = '' } = await takeBackup(stage, 'first', { cluster: { kind: 'PostgresCluster', name: 'p' }, target });
  const { stdout: log } = await run('kubectl', ['logs', '-n', stage.namespace, 'job/backup-first']);
  expect(log).toMatch(/"role":"standby"/);
  const backedUp = seconds(startedAt);

  const env = { ...process.env, KUBECONFIG: stage.kubeconfig };
  const words = [program, 'backup', 'verify', 'first', '--timeout', '240', '--ask', 'direct'];
  const drilledAt = performance.now();
  const { stdout } = await run(process.execPath, words, { env });
  expect(stdout).toMatch(/same/);
  const drilled = seconds(drilledAt);

  const restoredAt = performance.now();
  const bootstrap = { restore: { target, id } };
  const same = await stage.createPostgres('r', { ...alone, ...tls, bootstrap });
  const without = await stage.createPostgres('n', { ...alone, bootstrap });
  await Promise.all([same, without].map((one) => one.whole(1, { withinMs: 240_000 })));
  const restored = seconds(restoredAt);
  const content = 'select count(*) from ledger';
  const wanted = await onPrimary(cluster, content);
  expect(await onPrimary(same, content)).toBe(wanted);
  expect(await onPrimary(without, content)).toBe(wanted);
  // Nobody ran there who trusts another CA: it begins with what the Secret says now.
  expect(await answer(stage, same, second.certificate)).toBe('1');
  expect(await casForClients(stage, 'r')).toEqual([second.certificate]);
  // The operator's own.
  expect(await answer(stage, without, await secretText(stage, 'n-server-tls', 'ca.crt'))).toBe('1');
  expect(await answer(stage, without, second.certificate)).toMatch(/certificate verify failed/);
  // The one that it was taken from is as before.
  expect(await answer(stage, cluster, first.certificate)).toBe('1');
  await Promise.all([same.remove(), without.remove()]);
  await recordResult({
    scenario: 'postgres: backup of members with a certificate of a user',
    measured: `Verified after ${backedUp}, drill same after ${drilled}, two new clusters Ready after ${restored}`,
  });
}, 600_000);

test('15 becomes 17 before the next CA is trusted everywhere: rehearsed, standbys made anew, and the archive goes on', async () => {
  about = older;
  const ledger = await openPostgresLedger({ cluster: older });
  await onPrimary(older, 'create table filled as select n, md5(n::text) as v from generate_series(1, 100000) n');
  await onPrimary(older, 'alter table filled owner to app');
  expect(await heldBack(older)).toBe('True NotTrustedYet');
  const { conditions = [] } = await older.status();
  const told = conditions.find(({ reason }) => reason === 'NotTrustedYet')?.message ?? '';
  const mayEndAt = Date.parse(/waits until .*?(\d{4}-\S+Z)/.exec(told)?.[1] ?? '');
  expect(mayEndAt).toBeGreaterThan(0);
  const upgrade = { afterSql: "comment on table filled is 'after'" };
  const { gapMs } = await underPostgresWriters(
    'upgrade 15 to 17 of members with a certificate of a user',
    { cluster: older, ledger },
    async () => {
      await older.change({ version: '17', upgrade });
      await until('it stops', async () => expect(await older.pods()).toHaveLength(0), long);
      await older.whole(2, long);
      const startedAt = performance.now();
      await follows(older);
      return `the archive follows ${seconds(startedAt)} later`;
    },
  );
  expect((await onPrimary(older, 'show server_version')).split('.')[0]).toBe('17');
  expect(await onPrimary(older, 'select count(*) from filled')).toBe('100000');
  expect(await onPrimary(older, "select obj_description('filled'::regclass)")).toBe('after');
  const left = (await listAll(stage.client, jobs, stage.namespace)).map(({ metadata }) => metadata.name);
  expect(left.filter((name) => /^u-(rehearsal|checkpoint-.*|upgrade)$/.test(name))).toEqual([]);
  // Clients have their time, although no member ran for a while. A slow machine may take longer than that.
  const [shown, cas] = [await answer(stage, older, first.certificate), await casForClients(stage, 'u')];
  if (Date.now() < mayEndAt) expect([shown, cas.length]).toEqual(['1', 2]);
  expect(gapMs).toBeLessThan(120_000);
}, 900_000);

test('the archive connects anew after the CA was replaced, and a new cluster has everything up to the end', async () => {
  about = cluster;
  const { ledger } = scenario;
  await prepareSoundness(cluster);
  await ledger.resume();
  await everybodyShows(cluster, serialOf(next['tls.crt']), 400_000);
  const shownAfter = seconds(replacedAt);
  const slot = "select active_pid from pg_replication_slots where slot_name = 'archive' and active";
  const before = await onPrimary(cluster, slot);
  const endedAt = performance.now();
  await onPrimary(cluster, `select pg_terminate_backend((${slot}))`);
  await until('another connection', async () => {
    const now = await onPrimary(cluster, slot);
    expect([before, '']).not.toContain(now);
  });
  const again = seconds(endedAt);
  await follows(cluster);
  const count = await ledger.count();
  await until('more is written', async () => expect(await ledger.count()).toBeGreaterThan(count + 200));
  await ledger.pause();
  const end = await onPrimary(cluster, 'select pg_current_wal_flush_lsn()');
  await until('the archive has all of it', async () =>
    expect(await onPrimary(cluster, `select '${await archived(cluster)}'::pg_lsn >= '${end}'`)).toBe('t'),
  );
  const acknowledged = await ledger.acknowledged();

  const startedAt = performance.now();
  const restore = { target: store.target as never, cluster: { name: 'p' } };
  const restored = await stage.createPostgres('e', { ...alone, ...tls, bootstrap: { restore } });
  await restored.whole(1, { withinMs: 300_000 });
  const readyAfter = seconds(startedAt);
  const keys = await onPrimary(restored, "select run || '/' || writer || '/' || n from ledger");
  const found = new Set(keys.split('\n'));
  const missing = acknowledged.filter(({ key }) => !found.has(key));
  await recordResult({
    scenario: 'postgres: archive of members with a certificate of a user, restored to the end',
    acknowledged: acknowledged.length,
    lost: missing.length,
    measured: `members show the next CA ${shownAfter} after the Secret changed, the archive connected again after ${again}, Ready after ${readyAfter}`,
  });
  expect(missing.slice(0, 10)).toEqual([]);
  expect(await soundnessOf(restored, ['e-0-0'])).toMatchObject({ damage: [] });
  expect(await answer(stage, restored, second.certificate)).toBe('1');
  await cluster.whole(2);
  await everybodyShows(older, serialOf(next['tls.crt']), 240_000);
  expect(await answer(stage, older, second.certificate)).toBe('1');
  await follows(older);
}, 900_000);
