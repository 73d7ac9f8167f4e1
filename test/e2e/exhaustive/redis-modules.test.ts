/** Modules of the image: data that only a module reads survives a failover, restarts of all pods, and a backup. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { killProcess } from '../../../src/sandbox/faults/process.ts';
import { openStore } from '../../support/backup-store.ts';
import { takeBackup } from '../../support/backups.ts';
import { removeByName } from '../../support/kubernetes.ts';
import { askRedis } from '../../support/redis-client.ts';
import { imageOf, type TestCluster } from '../../support/redis-cluster.ts';
import { loadModulesImage } from '../../support/redis-modules-image.ts';
import { statusOf } from '../../support/redis-view.ts';
import { underWriters } from '../../support/scenario.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const size = { data: 3, sentinels: 3 };

let stage: Stage;
let image: string;
let cluster: TestCluster;

beforeAll(async () => {
  stage = await openStage('redis-modules');
  image = await loadModulesImage();
  await stage.startOperator();
  cluster = await stage.create('r', { version: '7.0', image });
  await cluster.whole(size, { withinMs: 120_000 });
});
afterAll(() => stage.close());

async function command(of: TestCluster, ...words: readonly string[]): Promise<unknown> {
  return await askRedis(await of.entrance(), ...words);
}

async function isFound(of: TestCluster): Promise<void> {
  await until('the index', async () =>
    expect(await command(of, 'FT.SEARCH', 'index', 'kept', 'NOCONTENT')).toEqual([1, 'document']),
  );
}

test('a cluster without modules gets those of its image, one pod after the other, and loses no write', async () => {
  await expect(command(cluster, 'FT._LIST')).rejects.toThrow('unknown command');
  const { gapMs } = await underWriters('to modules', stage.client, cluster, async () => {
    await cluster.change({ modules: 'Bundled' });
    await until(
      'modules everywhere, and all well',
      async () => {
        for (const pod of (await cluster.pods()).data)
          expect(String(await cluster.ask(pod, 'INFO', 'modules'))).toContain('name=ft');
        await cluster.whole(size, { withinMs: 0 });
      },
      { withinMs: 300_000, everyMs: 500 },
    );
  });
  expect(gapMs).toBeLessThan(10_000);
  for (const pod of (await cluster.pods()).sentinels)
    expect(String(await cluster.ask(pod, 'INFO', 'modules'))).not.toContain('name=ft');
});

test('what the module has written is there after a failover, and after all pods were new', async () => {
  await command(cluster, 'FT.CREATE', 'index', 'SCHEMA', 'title', 'TEXT');
  await command(cluster, 'FT.ADD', 'index', 'document', '1.0', 'FIELDS', 'title', 'kept');
  await command(cluster, 'WAIT', '2', '5000');
  const before = await cluster.primary();
  await killProcess({ namespace: stage.namespace, name: before.metadata.name });
  await until('another is primary', async () =>
    expect((await cluster.primary()).metadata.name).not.toBe(before.metadata.name),
  );
  await cluster.whole(size, { withinMs: 120_000 });
  await isFound(cluster);
  const { data, sentinels } = await cluster.pods();
  const uids = [...data, ...sentinels].map(({ metadata }) => metadata.uid);
  await Promise.all([...data, ...sentinels].map((pod) => removeByName(stage.client, pod)));
  await until('new pods', async () => {
    const now = await cluster.pods();
    expect([...now.data, ...now.sentinels].filter(({ metadata }) => !uids.includes(metadata.uid))).toHaveLength(6);
  });
  await cluster.whole(size, { withinMs: 180_000 });
  await isFound(cluster);
});

test('a backup comes back with it', async () => {
  const store = await openStore(stage);
  const taken = await takeBackup(stage, 'modules', {
    cluster: { kind: 'RedisCluster', name: 'r' },
    target: store.target as never,
  });
  const restore = { target: store.target as never, id: taken.id ?? '' };
  const restored = await stage.create('restored', {
    version: '7.0',
    image,
    modules: 'Bundled',
    bootstrap: { restore },
  });
  await restored.whole(size, { withinMs: 180_000 });
  await isFound(restored);
  await restored.remove();
});

test('an image without modules stops the rollout at its first pod, and the status names the cause', async () => {
  const before = await cluster.primary();
  await cluster.change({ image: imageOf('7.0') });
  await until(
    'the status names it',
    async () => expect(JSON.stringify(statusOf(await cluster.object()))).toContain('its image has no modules'),
    { withinMs: 120_000 },
  );
  expect((await cluster.primary()).metadata.uid).toBe(before.metadata.uid);
  await isFound(cluster);
  await cluster.change({ image });
  await cluster.whole(size, { withinMs: 240_000 });
  await isFound(cluster);
});
