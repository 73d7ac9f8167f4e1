/**
 * Valkey in a living cluster: made as such, its primary killed, backed up and restored; and a Redis that becomes one, and is upgraded
 * again, under writers. What the API server refuses is tested with `test/api/redis-engine-cases.ts` by `api-verdicts.test.ts`.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { images as recipes } from '../../../src/engines/images.ts';
import type { Pod } from '../../../src/resources/children.ts';
import { killProcess } from '../../../src/sandbox/faults/process.ts';
import { imageReference } from '../../../src/sandbox/images/recipe.ts';
import { createProgress } from '../../../src/sandbox/progress.ts';
import { loadImages } from '../../../src/sandbox/sandbox.ts';
import { type BackupStore, openStore } from '../../support/backup-store.ts';
import { takeBackup } from '../../support/backups.ts';
import { removeByName } from '../../support/kubernetes.ts';
import type { TestCluster } from '../../support/redis-cluster.ts';
import { statusOf } from '../../support/redis-view.ts';
import { replacedPods } from '../../support/replaced-pods.ts';
import { underWriters } from '../../support/scenario.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const size = { data: 3, sentinels: 3 };
const valkey = (version: string) =>
  ({ engine: 'Valkey', version, image: imageReference(`valkey:${version}`) }) as const;

let stage: Stage;

beforeAll(async () => {
  await loadImages(['valkey:8.1', 'valkey:9.1'], { recipes }, createProgress());
  stage = await openStage('redis-valkey');
  await stage.startOperator();
});
afterAll(() => stage.close());

async function all(cluster: TestCluster): Promise<readonly Pod[]> {
  const { data, sentinels } = await cluster.pods();
  return [...data, ...sentinels];
}

/** Every process, those of the sentinels too, is Valkey of this version. */
async function everybodyRuns(cluster: TestCluster, version: string): Promise<void> {
  for (const pod of await all(cluster)) {
    expect(String(await cluster.ask(pod, 'INFO', 'server'))).toContain(`valkey_version:${version}.`);
  }
}

async function anotherThan(cluster: TestCluster, former: Pod): Promise<void> {
  await until('another is primary', async () => {
    expect((await cluster.primary()).metadata.name).not.toBe(former.metadata.name);
  });
}

describe.each(['8.1', '9.1'])('a new cluster of Valkey %s', (version) => {
  const name = `v${version.replace('.', '')}`;
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await stage.create(name, valkey(version));
    await cluster.whole(size, { withinMs: 120_000 });
  });
  afterAll(() => cluster.remove());

  test('runs Valkey everywhere, and its status says so', async () => {
    await everybodyRuns(cluster, version);
    expect(statusOf(await cluster.object()).version).toMatch(new RegExp(`^${version}\\.`));
  });

  test('takes the place of a primary whose process is killed', async () => {
    const before = await cluster.primary();
    const { gapMs } = await underWriters(`Valkey ${version}: primary killed`, stage.client, cluster, async () => {
      await killProcess({ namespace: stage.namespace, name: before.metadata.name });
      await anotherThan(cluster, before);
      await cluster.whole(size, { withinMs: 120_000 });
    });
    expect(gapMs).toBeLessThan(15_000);
  });

  test('hands over before the pod of its primary is deleted', async () => {
    const before = await cluster.primary();
    const { gapMs } = await underWriters(
      `Valkey ${version}: primary's pod deleted`,
      stage.client,
      cluster,
      async () => {
        await removeByName(stage.client, before);
        await anotherThan(cluster, before);
        await cluster.whole(size, { withinMs: 120_000 });
      },
    );
    expect(gapMs).toBeLessThan(5000);
  });

  test('all its pods at once come back with their data', async () => {
    const missing = await cluster.load('kept', 1000);
    const before = await all(cluster);
    await Promise.all(before.map((pod) => removeByName(stage.client, pod)));
    await until('new pods', async () => {
      const uids = (await all(cluster)).map(({ metadata }) => metadata.uid);
      expect(uids).toHaveLength(before.length);
      expect(before.filter(({ metadata }) => uids.includes(metadata.uid))).toEqual([]);
    });
    await cluster.whole(size, { withinMs: 180_000 });
    expect(await missing()).toEqual([]);
  });

  test('a directive of Valkey is set while it runs', async () => {
    const before = (await all(cluster)).map(({ metadata }) => metadata.uid);
    await cluster.change({ config: { 'commandlog-reply-larger-than': 4096 } });
    await until('every node has it', async () => {
      for (const pod of (await cluster.pods()).data) {
        const told = await cluster.ask(pod, 'CONFIG', 'GET', 'commandlog-reply-larger-than');
        expect(told).toEqual(['commandlog-reply-larger-than', '4096']);
      }
    });
    expect((await all(cluster)).map(({ metadata }) => metadata.uid)).toEqual(before);
  });
});

describe('a Redis 7.0 that becomes Valkey', () => {
  let cluster: TestCluster;
  let missing: () => Promise<readonly string[]>;
  beforeAll(async () => {
    cluster = await stage.create('r', { version: '7.0' });
    await cluster.whole(size, { withinMs: 120_000 });
    missing = await cluster.load('kept', 1000);
  });
  afterAll(() => cluster.remove());

  test.each(['8.1', '9.1'])('%s: sentinels first, the primary last, and no write is lost', async (version) => {
    const primary = (await cluster.primary()).metadata.name;
    const { gapMs } = await underWriters(`to Valkey ${version}`, stage.client, cluster, async () => {
      const order = await replacedPods(
        () => all(cluster),
        async () => {
          await cluster.change(valkey(version));
          await until(
            `Valkey ${version} everywhere, and all well`,
            async () => {
              await everybodyRuns(cluster, version);
              await cluster.whole(size, { withinMs: 0 });
            },
            { withinMs: 300_000, everyMs: 500 },
          );
        },
      );
      expect(order).toHaveLength(6);
      expect(order.slice(0, 3).every((name) => name.includes('-sentinel-'))).toBe(true);
      expect(order.at(-1)).toBe(primary);
    });
    expect(gapMs).toBeLessThan(10_000);
    expect(await missing()).toEqual([]);
  });

  test('does not go back to Redis', async () => {
    await expect(cluster.change({ engine: 'Redis' })).rejects.toThrow('engine cannot change from Valkey to Redis');
    await cluster.whole(size);
  });
});

describe('a primary that is killed in the middle of the change', () => {
  test('is followed by one of either engine, and the change goes on', async () => {
    const cluster = await stage.create('mid', { version: '7.0' });
    await cluster.whole(size, { withinMs: 120_000 });
    const missing = await cluster.load('kept', 1000);
    await underWriters('primary killed in the middle of the change to Valkey', stage.client, cluster, async () => {
      await cluster.change(valkey('8.1'));
      await until(
        'a data node of Valkey',
        async () => {
          const told = await Promise.all(
            (await cluster.pods()).data.map((pod) => cluster.ask(pod, 'INFO', 'server').catch(() => '')),
          );
          expect(told.some((text) => String(text).includes('valkey_version'))).toBe(true);
        },
        { withinMs: 180_000, everyMs: 100 },
      );
      const { metadata } = await cluster.primary();
      await killProcess({ namespace: stage.namespace, name: metadata.name });
      await until(
        'Valkey everywhere, and all well',
        async () => {
          await everybodyRuns(cluster, '8.1');
          await cluster.whole(size, { withinMs: 0 });
        },
        { withinMs: 300_000, everyMs: 500 },
      );
    });
    expect(await missing()).toEqual([]);
    await cluster.remove();
  });
});

describe('what Valkey cannot read', () => {
  test('a Redis 8.0 stays one: the API server names the way', async () => {
    const cluster = await stage.create('late', { version: '8.0' });
    await cluster.whole(size, { withinMs: 120_000 });
    await expect(cluster.change(valkey('8.1'))).rejects.toThrow('copy the keys by commands');
    await cluster.whole(size);
    await cluster.remove();
  });
});

describe('backups', () => {
  let store: BackupStore;
  beforeAll(async () => {
    store = await openStore(stage);
  });

  test('one of Valkey says so, and comes back in Valkey', async () => {
    const source = await stage.create('source', valkey('9.1'));
    await source.whole(size, { withinMs: 120_000 });
    await source.load('kept', 1000);
    const taken = await takeBackup(stage, 'valkey', {
      cluster: { kind: 'RedisCluster', name: 'source' },
      target: store.target as never,
    });
    expect(taken.version).toMatch(/^Valkey 9\.1\./);
    const restore = { target: store.target as never, id: taken.id ?? '' };
    const restored = await stage.create('restored', { ...valkey('9.1'), bootstrap: { restore } });
    await restored.whole(size, { withinMs: 180_000 });
    const { data } = await restored.pods();
    for (const pod of data) expect(await restored.ask(pod, 'DBSIZE')).toBe(1000);
    await source.remove();
    await restored.remove();
  });

  test('one of Redis 8.0 does not come back in Valkey', async () => {
    const source = await stage.create('redis8', { version: '8.0' });
    await source.whole(size, { withinMs: 120_000 });
    const taken = await takeBackup(stage, 'redis8', {
      cluster: { kind: 'RedisCluster', name: 'redis8' },
      target: store.target as never,
    });
    const restore = { target: store.target as never, id: taken.id ?? '' };
    const refused = await stage.create('refused', { ...valkey('8.1'), bootstrap: { restore } });
    await until(
      'the status says why',
      async () => expect(JSON.stringify(statusOf(await refused.object()))).toContain('is to run Valkey 8.1'),
      { withinMs: 120_000 },
    );
  });
});
