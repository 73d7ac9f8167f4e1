/** `run --namespaces a,a`: with a store for each of the two, each child would be seen twice. */
import { expect, it } from 'vitest';
import { createCache } from '../../src/runtime/cache.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { FakeApi } from '../support/fake-api.ts';
import { RecordingLog } from '../support/recording-log.ts';
import { testChild, testCluster, testEngine } from '../support/test-engine.ts';
import { turn, VirtualClock } from '../support/virtual-clock.ts';

it.each([[['apps']], [['apps', 'apps']]])('%j: each namespace is watched once', async (namespaces) => {
  const api = new FakeApi();
  const clock = new VirtualClock();
  const cluster = api.put(testCluster('db'));
  api.put(testChild(cluster, 'ConfigMap'));
  const cache = createCache({
    client: api.client(clock),
    engines: [testEngine()],
    namespaces,
    clock,
    random: () => 0.5,
    log: new RecordingLog(),
    metrics: createMetrics(),
  });
  const stopping = new AbortController();
  const running = cache.run(stopping.signal);
  while (!cache.hasSynced) await turn();
  expect(cache.children('test/apps/db').objects).toHaveLength(1);
  stopping.abort();
  await running;
});
