/**
 * What a schedule keeps, on real pods. Its earlier backups were taken by the agent in the test's own process, whose
 * clock is set back by hours; the runs of today are Jobs of its CronJob. The store knows better than that clock when a
 * backup came, so none of them has aged; they go by their count. While the store takes no writes, nothing goes.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { container } from '../../../src/agent/container.ts';
import { take } from '../../../src/agent/take.ts';
import type { Purpose } from '../../../src/backup/identity.ts';
import { drivers } from '../../../src/engines/drivers.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { agentContext } from '../../support/agent-context.ts';
import { type BackupStore, openStore } from '../../support/backup-store.ts';
import { createSchedule, runSchedule, scheduleStatus, takeBackup } from '../../support/backups.ts';
import type { TestCluster } from '../../support/redis-cluster.ts';
import { dataPort } from '../../support/redis-view.ts';
import { recordResult } from '../../support/results.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
let store: BackupStore;
let db: TestCluster;
const hour = 3600 * 1000;

beforeAll(async () => {
  stage = await openStage('backup-retention');
  await stage.startOperator();
  store = await openStore(stage);
  db = await stage.create('db', { mode: 'Standalone', replicas: 1 });
  await until('data taken', () => db.load('kept', 100), { withinMs: 120_000 });
});

afterAll(() => stage.close());

/** Takes a backup as it would have been taken so many hours ago. Resolves with its id. */
async function takenBefore(hours: number, purpose: Purpose): Promise<string> {
  const [{ metadata }, { data }, password, target] = await Promise.all([
    db.object(),
    db.pods(),
    db.password(),
    store.open(),
  ]);
  const directory = await mkdtemp(join(tmpdir(), 'backup-retention-'));
  const passwordFile = join(directory, 'password');
  await writeFile(passwordFile, password);
  try {
    const clock = { ...systemClock, now: () => systemClock.now() - hours * hour };
    const { backup } = await take(
      {
        task: 'take',
        cluster: { namespace: stage.namespace, kind: 'RedisCluster', name: 'db', uid: metadata.uid ?? '' },
        purpose,
        source: {
          engine: 'redis',
          members: data.map(({ status }) => ({ host: status?.podIP ?? '', port: dataPort })),
          passwordFile,
        },
        target: { type: 'claim', directory: '/never/used', prefix: '' },
        idleTimeoutSeconds: 5,
        jitterSeconds: 0,
      },
      { target, keys: undefined, drivers },
      agentContext({ clock }),
      container,
    );
    return backup.id;
  } finally {
    target.close();
    await rm(directory, { recursive: true });
  }
}

/** Ids of the backups in the store, oldest first. */
async function kept(): Promise<readonly string[]> {
  const target = await store.open();
  const found: string[] = [];
  for await (const { key } of target.list('')) {
    if (key.endsWith('/manifest.json')) found.push(key.split('/').at(-2) ?? '');
  }
  target.close();
  return found.sort();
}

test('what is beyond its count goes after a good run, what only a wrong clock calls old stays, and nothing goes after a bad run', async () => {
  await createSchedule(stage, 'daily', {
    cluster: { kind: 'RedisCluster', name: 'db' },
    schedule: '0 3 * * *',
    suspend: true,
    retention: { count: 3, age: '24h' },
    target: store.target as never,
  });
  await until('the schedule taken up', async () =>
    expect((await scheduleStatus(stage, 'daily')).phase).toBe('Suspended'),
  );
  const daily: Purpose = { type: 'schedule', name: 'daily' };
  const others = await takenBefore(60, { type: 'schedule', name: 'weekly' });
  const beyondCount = await takenBefore(50, daily);
  const oldByClock = await takenBefore(30, daily);
  const young = await takenBefore(2, daily);
  const { id: onDemand = '' } = await takeBackup(stage, 'on-demand', {
    cluster: { kind: 'RedisCluster', name: 'db' },
    target: store.target as never,
  });
  const before = [others, beyondCount, oldByClock, young, onDemand];
  expect(await kept()).toEqual(before);

  await store.stop();
  await store.start({ readOnly: true });
  await runSchedule(stage, 'daily', 'by-hand-1');
  const failed = await until('the run failed', async () => {
    const said = await scheduleStatus(stage, 'daily');
    expect(said).toMatchObject({ phase: 'Degraded', lastFailure: { job: 'by-hand-1', outcome: 'Failed' } });
    return said;
  });
  expect(failed.lastFailure?.message).toMatch(/refus|denied/i);
  expect(await kept()).toEqual(before);

  await store.stop();
  await store.start();
  const startedAt = performance.now();
  await runSchedule(stage, 'daily', 'by-hand-2');
  const good = await until('the run verified', async () => {
    const said = await scheduleStatus(stage, 'daily');
    expect(said).toMatchObject({ phase: 'Suspended', lastSuccess: { job: 'by-hand-2', outcome: 'Verified' } });
    return said.lastSuccess;
  });
  await recordResult({
    scenario: 'redis: retention',
    measured: `1 of 5 let go, ${((performance.now() - startedAt) / 1000).toFixed(1)} s after the store took writes again`,
  });
  expect(await kept()).toEqual([others, oldByClock, young, onDemand, good?.id ?? '']);
});
