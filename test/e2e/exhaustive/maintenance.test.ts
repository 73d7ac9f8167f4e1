/** Two clusters change at once, and their pods restart one cluster after the other. A window that is closed holds a change, until it opens by an edit. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Cluster } from '../../../src/api/cluster.ts';
import { ignoreLimitAnnotation } from '../../../src/api/maintenance.ts';
import { redisKind } from '../../../src/engines/redis/kind/schema.ts';
import type { Pod } from '../../../src/resources/children.ts';
import type { TestCluster } from '../../support/redis-cluster.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const size = { data: 3, sentinels: 3 };
/** Twelve pods, one after the other. */
const rollout = { withinMs: 600_000 };
let stage: Stage;
let clusters: readonly TestCluster[];

beforeAll(async () => {
  stage = await openStage('maintenance');
  await stage.startOperator();
  clusters = await Promise.all(['a', 'b'].map((name) => stage.create(name)));
  for (const cluster of clusters) await cluster.whole(size, { withinMs: 300_000 });
});
afterAll(() => stage.close());

const labelled = async (cluster: TestCluster, value: string): Promise<readonly boolean[]> => {
  const { data, sentinels } = await cluster.pods();
  return [...data, ...sentinels].map(({ metadata }: Pod) => metadata.labels?.change === value);
};
const reasonOf = ({ status }: Cluster, type = 'Progressing'): string | undefined =>
  status?.conditions?.find((condition) => condition.type === type)?.reason;

test('two clusters restart their pods one after the other', async () => {
  for (const cluster of clusters) await cluster.change({ pods: { labels: { change: 'one' } } });
  let most = 0;
  let waited = false;
  await until(
    'all pods of both have the label',
    async () => {
      const found = await Promise.all(clusters.map((cluster) => labelled(cluster, 'one')));
      most = Math.max(most, found.filter((pods) => pods.includes(true) && pods.includes(false)).length);
      const seen = await Promise.all(clusters.map((cluster) => cluster.object()));
      waited ||= seen.some((cluster) => reasonOf(cluster as Cluster) === 'WaitingForRollout');
      expect(found.flat()).not.toContain(false);
    },
    rollout,
  );
  expect(most, 'clusters in the middle of a rollout at once').toBe(1);
  expect(waited).toBe(true);
  for (const cluster of clusters) await cluster.whole(size, { withinMs: 300_000 });
});

test('a change waits for a window, and begins when an edit opens it', async () => {
  const [cluster] = clusters as readonly [TestCluster];
  const day = (Date.now() / 86_400_000 + 3) % 7;
  const names = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
  const later = names[(Math.floor(day) + 3) % 7] ?? 'Mon';
  await cluster.change({
    pods: { labels: { change: 'two' } },
    maintenance: { windows: [{ days: [later], start: '12:00', duration: '10m' }] },
  });
  await until('the change waits', async () => {
    const found = (await cluster.object()) as Cluster;
    expect(reasonOf(found)).toBe('WaitingForWindow');
    expect(found.status?.phase).toBe('Ready');
    expect(found.status?.plan?.waitingFor).toMatch(/opens at \d{4}-\d\d-\d\dT12:00:00Z/);
  });
  expect(await labelled(cluster, 'two')).not.toContain(true);
  await cluster.change({ maintenance: { windows: [{ start: '00:00', duration: '24h' }] } });
  await until(
    'all pods have the label',
    async () => expect(await labelled(cluster, 'two')).not.toContain(false),
    rollout,
  );
  await cluster.whole(size, { withinMs: 300_000 });
});

test('a rollout that is stuck holds the other cluster, until a person excludes it', async () => {
  const [a, b] = clusters as readonly [TestCluster, TestCluster];
  await a.change({ image: 'localhost/there-is-none:1' });
  await until('the first pod of a does not start', async () => {
    expect(reasonOf((await a.object()) as Cluster)).toBe('MembersNotReady');
  });
  await b.change({ pods: { labels: { change: 'three' } } });
  await until('b waits for a', async () => {
    const found = (await b.object()) as Cluster;
    expect([reasonOf(found), found.status?.plan?.waitingFor]).toEqual([
      'WaitingForRollout',
      expect.stringContaining('RedisCluster a'),
    ]);
  });
  await stage.client.mergePatch(
    { resource: redisKind.resource, namespace: a.namespace, name: a.name },
    { metadata: { annotations: { [ignoreLimitAnnotation]: 'true' } } },
  );
  await until(
    'all pods of b have the label',
    async () => expect(await labelled(b, 'three')).not.toContain(false),
    rollout,
  );
});
