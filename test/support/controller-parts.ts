/** The controller's parts around a pretended API server, with the clock in the test's hands. */
import type { LabelSelector } from '../../src/api/label-selector.ts';
import type { KubeObject } from '../../src/api/object.ts';
import type { KindHandler } from '../../src/engine/engine.ts';
import { type Cache, createCache } from '../../src/runtime/cache.ts';
import type { KubeClient } from '../../src/runtime/client.ts';
import { createMetrics, type Metrics } from '../../src/runtime/metrics.ts';
import { FakeApi } from './fake-api.ts';
import { handlers as allEngines } from './handlers.ts';
import { RecordingLog } from './recording-log.ts';
import { turn, VirtualClock } from './virtual-clock.ts';

export interface ControllerParts {
  readonly api: FakeApi;
  readonly clock: VirtualClock;
  readonly log: RecordingLog;
  readonly metrics: Metrics;
  readonly client: KubeClient;
  readonly cache: Cache;
  /** Ends the watches. */
  stop(): Promise<void>;
}

/** Resolves when the cache is complete. `objects` are there from the beginning. */
export async function controllerParts(
  objects: readonly KubeObject[] = [],
  engines: readonly KindHandler[] = allEngines,
  selector?: LabelSelector,
): Promise<ControllerParts> {
  const api = new FakeApi();
  for (const object of objects) api.put(object);
  const clock = new VirtualClock();
  const log = new RecordingLog();
  const metrics = createMetrics();
  const client = api.client(clock);
  const cache = createCache({ client, engines, namespaces: [], selector, clock, random: () => 0.5, log, metrics });
  const stopping = new AbortController();
  const running = cache.run(stopping.signal);
  while (!cache.hasSynced) await turn();
  return {
    api,
    clock,
    log,
    metrics,
    client,
    cache,
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
