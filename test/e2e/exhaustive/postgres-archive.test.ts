/**
 * The log of a PostgreSQL goes to a real S3 server: its pod is deleted, the store is away for too long, and at last everything but the
 * store is lost. New clusters begin with what it has, up to the end and up to a time.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { persistentVolumeClaims, pods as podResource, statefulSets } from '../../../src/api/resource.ts';
import type { ClusterStatus } from '../../../src/api/status.ts';
import { manifestObject } from '../../../src/backup/manifest.ts';
import type { PostgresSpecInput } from '../../../src/engines/postgres/kind/schema.ts';
import { type BackupStore, openStore } from '../../support/backup-store.ts';
import { takeBackup } from '../../support/backups.ts';
import { listAll, removeByName } from '../../support/kubernetes.ts';
import { keepPostgresEvidence } from '../../support/postgres-evidence.ts';
import { type Acknowledged, openPostgresLedger } from '../../support/postgres-ledger.ts';
import { type PostgresScenario, underPostgresWriters } from '../../support/postgres-scenario.ts';
import { prepareSoundness, soundnessOf } from '../../support/postgres-soundness.ts';
import type { PostgresTestCluster } from '../../support/postgres-test-cluster.ts';
import { recordResult } from '../../support/results.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const run = promisify(execFile);
let stage: Stage;
let store: BackupStore;
let cluster: PostgresTestCluster;
let scenario: PostgresScenario;
/** Between two rows of the table `ruler`. */
let point: string;

const small: PostgresSpecInput = { storage: { size: '512Mi' }, resources: { limits: { memory: '384Mi' } } };
const alone: PostgresSpecInput = { ...small, instances: 1 };
const program = new URL('../../../build/src/cli.js', import.meta.url).pathname;
const seconds = (since: number): number => (performance.now() - since) / 1000;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

beforeAll(async () => {
  stage = await openStage('postgres-archive');
  await stage.startOperator();
  store = await openStore(stage);
  cluster = await stage.createPostgres('p', {
    ...small,
    instances: 2,
    backup: { target: store.target as never, archive: {} },
  });
  await cluster.whole(2, { withinMs: 240_000 });
  scenario = { cluster, ledger: await openPostgresLedger({ cluster }) };
});
afterEach((context) => keepPostgresEvidence(context, stage, cluster));
afterAll(() => stage.close());

async function archiveState(): Promise<string | undefined> {
  return (await cluster.status()).archive?.state;
}

const follows = (): Promise<void> =>
  until('the archive follows', async () => expect(await archiveState()).toBe('Following'), {
    withinMs: 180_000,
  });

async function baseBackups(): Promise<number> {
  const target = await store.open();
  try {
    let found = 0;
    for await (const { key } of target.list('')) if (key.endsWith(`/${manifestObject}`)) found += 1;
    return found;
  } finally {
    target.close();
  }
}

async function onPrimary(statement: string): Promise<string> {
  return cluster.sql((await cluster.primary()).metadata.name, statement);
}

const slot = "select wal_status from pg_replication_slots where slot_name = 'archive'";

test('its pod is deleted, and the primary is another one: it goes on where it was', async () => {
  await underPostgresWriters('archive pod deleted, switchover', scenario, async () => {
    const ref = { resource: podResource, namespace: stage.namespace, name: 'p-archive-0' };
    const before = await stage.client.get(ref);
    await removeByName(stage.client, before, { gracePeriodSeconds: 0 });
    await cluster.switchover();
    const startedAt = performance.now();
    await until('another pod', async () => {
      expect((await stage.client.get(ref)).metadata.uid).not.toBe(before.metadata.uid);
    });
    await cluster.whole(2);
    const end = await onPrimary('select pg_current_wal_flush_lsn()');
    await until('it has all of that', async () => {
      const report = JSON.parse(await reportOf()) as { readonly state: string; readonly end: string };
      expect(report.state).toBe('following');
      // On another timeline, at a position.
      expect(await onPrimary(`select '${report.end.split(' ')[0]}'::pg_lsn >= '${end}'`)).toBe('t');
    });
    await follows();
    expect(await onPrimary(slot)).toBe('reserved');
    return `the store has the log up to the new primary's ${seconds(startedAt).toFixed(1)} s later`;
  });
});

async function reportOf(): Promise<string> {
  const pod = (await stage.client.get({ resource: podResource, namespace: stage.namespace, name: 'p-archive-0' })) as {
    readonly status?: { readonly podIP?: string };
  };
  return (await fetch(`http://${pod.status?.podIP}:8010/archive`, { signal: AbortSignal.timeout(5000) })).text();
}

test('a drill replays the log', async () => {
  const target = store.target as never;
  await takeBackup(stage, 'first', { cluster: { kind: 'PostgresCluster', name: 'p' }, target });
  const startedAt = performance.now();
  const env = { ...process.env, KUBECONFIG: stage.kubeconfig };
  const words = [program, 'backup', 'verify', 'first', '--timeout', '240', '--ask', 'direct'];
  const { stdout } = await run(process.execPath, words, { env });
  expect(stdout).toMatch(/same/);
  await recordResult({ scenario: 'postgres: drill', measured: `same after ${seconds(startedAt).toFixed(1)} s` });
});

test('the store is away for longer than the log is kept: writes go on, it says so, and takes a new base backup', async () => {
  const before = await baseBackups();
  const { gapMs } = await underPostgresWriters('store away past the cap', scenario, async () => {
    await store.stop();
    let lostAt = 0;
    await until(
      'the slot is lost',
      async () => {
        // What a busy database writes in minutes.
        for (let n = 0; n < 4; n++)
          await onPrimary('insert into ledger values (gen_random_uuid(), 0, 0); select pg_switch_wal()');
        await onPrimary('checkpoint');
        expect(await onPrimary(slot)).toBe('lost');
        lostAt = performance.now();
      },
      { withinMs: 120_000 },
    );
    await until('it says so', async () => expect(await cluster.ready()).toBe('False ArchiveGap'));
    const said = seconds(lostAt);
    const count = await scenario.ledger.count();
    await until('writes go on', async () => expect(await scenario.ledger.count()).toBeGreaterThan(count + 100));
    await store.start();
    const backAt = performance.now();
    await until('a new base backup', async () => expect(await baseBackups()).toBeGreaterThan(before), {
      withinMs: 180_000,
    });
    await follows();
    await cluster.whole(2);
    expect(await onPrimary(slot)).toMatch(/reserved|extended/);
    expect(said).toBeLessThan(15);
    return `said ${said.toFixed(1)} s after the slot was lost, base backup and Ready ${seconds(backAt).toFixed(1)} s after the store is back`;
  });
  expect(gapMs).toBeLessThan(5000);
});

test('everything is lost but the store: a new cluster has all but the last seconds, and no holes', async () => {
  const { ledger } = scenario;
  await prepareSoundness(cluster);
  await ledger.resume();
  await onPrimary('create table if not exists ruler (n int)');
  await onPrimary('insert into ruler values (1)');
  await pause(1000);
  point = await onPrimary(`select to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`);
  await pause(1000);
  await onPrimary('insert into ruler values (2)');
  // Longer than it takes to store it.
  await pause(15_000);
  const acknowledged = await losingEverything();
  const lastAt = acknowledged.at(-1)?.at ?? 0;
  await store.start();

  const startedAt = performance.now();
  const restore = { target: store.target as never, cluster: { name: 'p' } };
  const restored = await stage.createPostgres('q', { ...alone, bootstrap: { restore } });
  await restored.whole(1, { withinMs: 300_000 });
  const readyAfter = seconds(startedAt);
  const found = await keysIn(restored);
  const missing = acknowledged.filter(({ key }) => !found.has(key));
  const holes = missing.filter(({ writer, n }) => isBehind(acknowledged, found, writer, n));
  const missingSeconds = (lastAt - (missing[0]?.at ?? lastAt)) / 1000;
  await recordResult({
    scenario: 'postgres: everything lost, restored from the store',
    acknowledged: acknowledged.length,
    measured: `${missing.length} acknowledged in the last ${missingSeconds.toFixed(1)} s missing, ${holes.length} holes, Ready after ${readyAfter.toFixed(1)} s`,
  });
  expect(holes).toEqual([]);
  expect(missingSeconds).toBeLessThan(10);
  expect(await soundnessOf(restored, ['q-0-0'])).toMatchObject({ damage: [] });
  await restored.remove();
}, 900_000);

/** Pods, volumes, the resource and then the store's server, one right after the other, while clients write. */
async function losingEverything(): Promise<readonly Acknowledged[]> {
  const { client, namespace } = stage;
  const own = ({ metadata }: { readonly metadata: { readonly name: string } }): boolean =>
    /^(data-)?p-/.test(metadata.name);
  const sets = (await listAll(client, statefulSets, namespace)).filter(own);
  const claims = (await listAll(client, persistentVolumeClaims, namespace)).filter(own);
  const pods = (await listAll(client, podResource, namespace)).filter(own);
  await cluster.remove();
  await Promise.all(sets.map((set) => removeByName(client, set, { propagation: 'Orphan' })));
  await Promise.all(pods.map((pod) => removeByName(client, pod, { gracePeriodSeconds: 0 })));
  await store.stop();
  await Promise.all(claims.map((claim) => removeByName(client, claim)));
  await until('nothing is left', async () => {
    expect((await listAll(client, persistentVolumeClaims, namespace)).filter(own)).toEqual([]);
    expect((await listAll(client, podResource, namespace)).filter(own)).toEqual([]);
  });
  await scenario.ledger.pause();
  return scenario.ledger.acknowledged();
}

async function keysIn(restored: PostgresTestCluster): Promise<ReadonlySet<string>> {
  const { primary = '' } = (await restored.status()) as ClusterStatus;
  const keys = await restored.sql(primary, "select run || '/' || writer || '/' || n from ledger");
  return new Set(keys.split('\n'));
}

/** Whether the same writer has something later that is there. */
function isBehind(all: readonly Acknowledged[], found: ReadonlySet<string>, writer: string, n: number): boolean {
  return all.some((other) => other.writer === writer && other.n > n && found.has(other.key));
}

test('up to a time: exactly what was committed by then', async () => {
  const acknowledged = await scenario.ledger.acknowledged();
  const startedAt = performance.now();
  const restore = { target: store.target as never, cluster: { name: 'p' }, until: { time: point } };
  const restored = await stage.createPostgres('t', { ...alone, bootstrap: { restore } });
  await restored.whole(1, { withinMs: 300_000 });
  const found = await keysIn(restored);
  const at = Date.parse(point);
  const { primary = '' } = (await restored.status()) as ClusterStatus;
  const latest = acknowledged.filter(({ key }) => found.has(key)).reduce((last, one) => Math.max(last, one.at), 0);
  const absent = acknowledged.filter((one) => one.at < at && !found.has(one.key));
  // A commit may be acknowledged a moment later.
  const after = acknowledged.filter((one) => one.at > at + 1000 && found.has(one.key));
  await recordResult({
    scenario: 'postgres: restored up to a time',
    measured: `the last row was acknowledged ${((at - latest) / 1000).toFixed(3)} s before it, ${absent.length} of before missing, ${after.length} of after there, Ready after ${seconds(startedAt).toFixed(1)} s`,
  });
  expect(await restored.sql(primary, 'select n from ruler')).toBe('1');
  expect({ absent, after }).toEqual({ absent: [], after: [] });
  await restored.remove();
});

test('a time that the log does not reach is said, and nothing is promoted', async () => {
  const time = new Date(Date.now() + 3_600_000).toISOString();
  const restore = { target: store.target as never, cluster: { name: 'p' }, until: { time } };
  const restored = await stage.createPostgres('u', { ...alone, bootstrap: { restore } });
  const message = await until(
    'it says so',
    async () => {
      const found = ((await restored.status()).conditions ?? []).find(({ type }) => type === 'Ready');
      expect(found?.reason, found?.message).toBe('RestoreFailed');
      return found?.message ?? '';
    },
    { withinMs: 300_000 },
  );
  expect(message).toMatch(/has not reached the point that is asked for, and was not promoted/);
  expect(message).toMatch(/recovery ended before configured recovery target was reached/);
  expect((await restored.pods()).map(({ metadata }) => metadata.name)).not.toContain('u-0-0');
  await recordResult({ scenario: 'postgres: a time that is not reached', measured: message.slice(0, 300) });
});
