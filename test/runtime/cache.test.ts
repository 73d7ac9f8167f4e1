import { describe, expect, it, onTestFinished } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import type { KindHandler } from '../../src/engine/engine.ts';
import { ApiUnreachable } from '../../src/runtime/api-error.ts';
import { createCache } from '../../src/runtime/cache.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { FakeApi } from '../support/fake-api.ts';
import { handlers } from '../support/handlers.ts';
import { RecordingLog } from '../support/recording-log.ts';
import { testCluster } from '../support/test-engine.ts';
import { turn, VirtualClock } from '../support/virtual-clock.ts';

it.each<readonly [story: string, namespaces: readonly string[], seen: readonly string[]]>([
  ['every namespace', [], ['apps', 'other']],
  ['one', ['apps'], ['apps']],
  ['two, each by watches of its own', ['apps', 'other'], ['apps', 'other']],
])('sees %s', async (_, namespaces, seen) => {
  const api = new FakeApi();
  const watched = new Set<string | undefined>();
  api.admitWatch = async ({ path }) => void watched.add(/namespaces\/([^/]+)/.exec(path)?.[1]);
  for (const namespace of ['apps', 'other']) api.put(testCluster('db', {}, { namespace }));
  const clock = new VirtualClock();
  const engines = handlers;
  const log = new RecordingLog();
  const options = { client: api.client(clock), engines, namespaces, clock, random: () => 0.5, log };
  const cache = createCache({ ...options, metrics: createMetrics() });
  const stopping = new AbortController();
  const running = cache.run(stopping.signal);
  while (!cache.hasSynced) await turn();

  const [redis] = engines;
  if (redis === undefined) throw new Error('there is no engine');
  expect(['apps', 'other'].filter((namespace) => cache.cluster(redis, namespace, 'db') !== undefined)).toEqual(seen);
  expect([...watched].sort()).toEqual(namespaces.length === 0 ? [undefined] : namespaces);
  stopping.abort();
  await running;
});

it.each<readonly [string, string, readonly string[]]>([
  ['a kind of clusters', 'redisclusters', ['RedisCluster']],
  ['a kind that is about clusters', 'backups', []],
])('tells whether clusters have yet to be listed while %s cannot be read', async (_, plural, expected) => {
  const api = new FakeApi();
  api.intercept = ({ path }) =>
    path.includes(`/${plural}`) ? Promise.resolve({ status: 500, headers: {}, body: '' }) : undefined;
  api.admitWatch = async ({ path }) => {
    if (path.includes(`/${plural}`))
      throw new ApiUnreachable('GET', path, true, new Error('a webhook does not answer'));
  };
  const clock = new VirtualClock();
  const options = { client: api.client(clock), engines: handlers, namespaces: [], clock, log: new RecordingLog() };
  const cache = createCache({ ...options, random: () => 0.5, metrics: createMetrics() });
  const stopping = new AbortController();
  const running = cache.run(stopping.signal);
  for (let i = 0; i < 200 && (!cache.hasAllChildren || cache.unlistedKinds.length > expected.length); i++) await turn();
  expect(cache.unlistedKinds).toEqual(expected);
  expect(cache.hasSynced).toBe(false);
  stopping.abort();
  await running;
});

describe('what belongs to a cluster', () => {
  async function seen(objects: readonly KubeObject[], namespaces: readonly string[] = []) {
    const api = new FakeApi();
    for (const object of objects) api.put(object);
    const clock = new VirtualClock();
    const engines = handlers;
    const options = {
      client: api.client(clock),
      engines,
      namespaces,
      clock,
      random: () => 0.5,
      log: new RecordingLog(),
    };
    const cache = createCache({ ...options, metrics: createMetrics() });
    const stopping = new AbortController();
    const running = cache.run(stopping.signal);
    onTestFinished(async () => {
      stopping.abort();
      await running;
    });
    while (!cache.hasSynced) await turn();
    return { api, cache, redis: engines.find(({ name }) => name === 'redis') as KindHandler };
  }
  const ours = { 'app.kubernetes.io/managed-by': 'clusterwright' };
  const map = (name: string, labels: Readonly<Record<string, string>>): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'apps', labels: { ...ours, ...labels } },
  });
  const own = { 'app.kubernetes.io/name': 'redis', 'app.kubernetes.io/instance': 'db' };

  it('is what says so by both labels, and what has lost them is told of once more', async () => {
    const { api, cache } = await seen([
      map('own', own),
      map('half', { 'app.kubernetes.io/name': 'redis' }),
      map('other', { 'app.kubernetes.io/instance': 'db' }),
      map('theirs', { ...own, 'app.kubernetes.io/instance': 'cache' }),
    ]);
    expect(cache.children('redis/apps/db').objects.map(({ metadata }) => metadata.name)).toEqual(['own']);
    const told: string[] = [];
    cache.onChildChange((key, { object }) => void told.push(`${key} ${object.metadata.name}`));
    api.put(map('own', { ...own, 'app.kubernetes.io/instance': 'cache' }));
    api.put(map('half', { 'app.kubernetes.io/name': 'etcd' }));
    await turn();
    expect(told.sort()).toEqual(['redis/apps/cache own', 'redis/apps/db own']);
  });

  it('is a Backup that names it, and none that names nothing that can be a name', async () => {
    const backup = (name: string, cluster: unknown): KubeObject => ({
      apiVersion: 'clusterwright.dev/v1alpha1',
      kind: 'Backup',
      metadata: { name, namespace: 'apps' },
      spec: { cluster },
    });
    const { cache, redis } = await seen([
      backup('good', { kind: 'RedisCluster', name: 'db' }),
      backup('other', { kind: 'EtcdCluster', name: 'db' }),
      backup('nameless', { kind: 'RedisCluster' }),
      backup('odd', { kind: ['RedisCluster'], name: 'db' }),
      backup('none', null),
    ]);
    expect(cache.keysByTargetRef(redis, 'apps', 'db')).toEqual(['backup/apps/good']);
    expect(cache.keysByTargetRef(redis, 'apps', 'undefined')).toEqual([]);
    expect(cache.keysByTargetRef(redis, 'other', 'db')).toEqual([]);
  });

  it('is known whole of the namespaces that are watched', async () => {
    const all = await seen([]);
    expect(['apps', 'other'].map((namespace) => all.cache.hasChildren(namespace))).toEqual([true, true]);
    const one = await seen([], ['apps']);
    expect(one.cache.hasChildren('apps')).toBe(true);
    expect(one.cache.hasAllChildren).toBe(true);
  });
});
