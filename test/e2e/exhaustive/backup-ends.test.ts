/** Schedules that run alone, what they keep, and a last backup that nobody gets around. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jobs, persistentVolumeClaims } from '../../../src/api/resource.ts';
import type { ClusterStatus } from '../../../src/api/status.ts';
import type { Job } from '../../../src/resources/children.ts';
import { isNotFound } from '../../../src/runtime/api-error.ts';
import { type BackupStore, openStore } from '../../support/backup-store.ts';
import { createSchedule, scheduleStatus } from '../../support/backups.ts';
import { listAll } from '../../support/kubernetes.ts';
import type { OperatorProcess } from '../../support/operator-process.ts';
import type { TestCluster } from '../../support/redis-cluster.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
let store: BackupStore;
let operator: OperatorProcess;
let db: TestCluster;
const size = { data: 3, sentinels: 3 };

beforeAll(async () => {
  stage = await openStage('backup-ends');
  operator = await stage.startOperator();
  store = await openStore(stage);
  db = await stage.create('db', { deletionPolicy: 'Snapshot', backup: { target: store.target as never } });
  await db.whole(size, { withinMs: 120_000 });
  await db.load('kept', 100);
});

afterAll(() => stage.close());

/** Runs that Kubernetes has finished, whoever watches. */
async function finished(): Promise<readonly Job[]> {
  const all = (await listAll(stage.client, jobs, stage.namespace)) as readonly Job[];
  return all.filter(({ status }) =>
    status?.conditions?.some(({ type, status: is }) => type === 'Complete' && is === 'True'),
  );
}

async function kept(): Promise<readonly string[]> {
  const target = await store.open();
  const found: string[] = [];
  for await (const { key } of target.list('')) if (key.endsWith('/manifest.json')) found.push(key);
  target.close();
  return found.sort();
}

test('a schedule runs while the operator is down, and is told of afterwards', async () => {
  await createSchedule(stage, 'often', {
    cluster: { kind: 'RedisCluster', name: 'db' },
    schedule: '* * * * *',
    retention: { count: 1 },
    target: store.target as never,
  });
  await until('the schedule taken up', async () => expect((await scheduleStatus(stage, 'often')).phase).toBe('Active'));
  expect(await operator.stop()).toBe(0);
  await until('two runs', async () => expect((await finished()).length).toBeGreaterThanOrEqual(2), {
    withinMs: 200_000,
    everyMs: 1000,
  });
  // The next run may have begun.
  await until('one is kept', async () => expect((await kept()).length).toBe(1));
  operator = await stage.startOperator();
  await until('the runs told of, and that the newest is kept', async () => {
    const said = await scheduleStatus(stage, 'often');
    expect(said.results?.length).toBeGreaterThanOrEqual(2);
    expect(said).toMatchObject({ phase: 'Active', lastSuccess: { outcome: 'Verified' } });
    expect(await kept()).toEqual([expect.stringContaining(said.lastSuccess?.id ?? 'nothing')]);
  });
});

test('a cluster waits for its last backup while the store is down, says so, and goes when it is back', async () => {
  await store.stop();
  await db.remove();
  const phase = async (): Promise<ClusterStatus> => ((await db.object()).status ?? {}) as ClusterStatus;
  await until(
    'it says what it waits for',
    async () => {
      const { phase: now, plan } = await phase();
      expect(now).toBe('Deleting');
      expect(plan?.waitingFor).toMatch(/the last backup failed|the attempt before it failed/);
    },
    { withinMs: 240_000, everyMs: 1000 },
  );
  expect((await db.pods()).sentinels.length).toBe(3);
  await store.start();
  await until(
    'the cluster gone',
    async () => {
      const isThere = await db.object().then(
        () => true,
        (error) => !isNotFound(error),
      );
      expect(isThere).toBe(false);
    },
    { withinMs: 240_000, everyMs: 1000 },
  );
  const claims = (await listAll(stage.client, persistentVolumeClaims, stage.namespace)).map(
    ({ metadata }) => metadata.name,
  );
  expect(claims.filter((name) => name.startsWith('data-db'))).toEqual([]);
  await until('the last backup kept beside the one of the schedule', async () => expect((await kept()).length).toBe(2));
});
