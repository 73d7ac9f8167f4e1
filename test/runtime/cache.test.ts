import { expect, it } from 'vitest';
import { enginesWith } from '../../src/engines/index.ts';
import { createCache } from '../../src/runtime/cache.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { FakeApi } from '../support/fake-api.ts';
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
  const engines = enginesWith('image');
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
