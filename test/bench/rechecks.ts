/**
 * The controller's queue and workers under the load of many clusters that have lost a node each: every pass over one
 * waits a second for the socket that nobody answers, and asks for another a second later. Meanwhile others fail over.
 * On virtual time, with no engine behind it.
 */
import { redis } from '../../src/engines/redis/index.ts';
import { toHandler } from '../../src/jobs/to-handler.ts';
import { settled, wait } from '../../src/plan/plan.ts';
import { clusterKey, createCache } from '../../src/runtime/cache.ts';
import { createClient } from '../../src/runtime/client.ts';
import { backgroundLimit, createController } from '../../src/runtime/controller.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { createWorkQueue } from '../../src/runtime/queue.ts';
import { sleep } from '../../src/system/clock.ts';
import { RecordingLog } from '../support/recording-log.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { createPretendedApi } from './pretended-api.ts';

export interface RecheckLoad {
  /** Clusters with a dead node. */
  readonly n: number;
  /** From a failover to the pass that labels its new primary. */
  readonly failoverMs: { readonly median: number; readonly longest: number };
  /** Longest time from the end of a pass over a cluster with a dead node to the beginning of the next. */
  readonly recheckMs: number;
}

const deadSocketMs = 1_000;
const recheckMs = 1_000;
const passMs = 20;
const seconds = 60;
/** Failovers a second, each of another cluster. */
const failovers = 2;

export async function measureRechecks(n: number): Promise<RecheckLoad> {
  const engine = toHandler(redis);
  const { resource } = engine.kind;
  const well = Array.from({ length: failovers * seconds }, (_, i) => `well-${i}`);
  const ill = Array.from({ length: n }, (_, i) => `ill-${i}`);
  const api = createPretendedApi();
  for (const name of [...well, ...ill]) api.add(resource, name);
  const [clock, log, metrics] = [new VirtualClock(), new RecordingLog(), createMetrics()];
  const random = (): number => 0.5;
  const client = createClient({ transport: api.transport, clock, random });
  const cache = createCache({ client, engines: [engine], namespaces: [], clock, random, log, metrics });
  const stopping = new AbortController();
  const watching = cache.run(stopping.signal);
  while (!cache.hasSynced) await clock.advance(1);
  const queue = createWorkQueue({ name: 'load', clock, random, backgroundLimit });
  const failedAt = new Map<string, number>();
  const endedAt = new Map<string, number>();
  const delays: number[] = [];
  let longest = 0;
  const controller = createController({
    engines: [engine],
    cache,
    queue,
    reconciler: {
      overdue: () => Promise.resolve(),
      async reconcile(_, { metadata: { name } }, _key, signal) {
        const since = failedAt.get(name);
        if (since !== undefined) delays.push(clock.monotonic() - since);
        failedAt.delete(name);
        if (name.startsWith('well')) {
          await sleep(clock, passMs, signal);
          return { outcome: settled };
        }
        longest = Math.max(longest, clock.monotonic() - (endedAt.get(name) ?? clock.monotonic()));
        await sleep(clock, deadSocketMs, signal);
        endedAt.set(name, clock.monotonic());
        return { outcome: wait('MembersNotReady', 'a node is silent', recheckMs), again: recheckMs };
      },
    },
    listeners: { follow: () => undefined, forget: () => undefined, closeAll: () => undefined },
    status: { forget: () => undefined },
    clock,
    random,
    log,
    metrics,
  });
  const ended = controller.run(stopping.signal);
  const keyOf = (name: string): string => clusterKey(engine.name, 'bench', name);
  for (const name of ill) queue.add(keyOf(name), 'high');
  // Until every cluster has been looked at, and the queue is as long as it gets.
  await clock.advance(90_000);
  for (const name of well) {
    failedAt.set(name, clock.monotonic());
    queue.add(keyOf(name), 'high');
    await clock.advance(1000 / failovers);
  }
  await clock.advance(90_000);
  stopping.abort(new Error('over'));
  await clock.advance(60_000);
  await ended;
  await watching;
  delays.sort((a, b) => a - b);
  return {
    n,
    failoverMs: { median: delays[delays.length >> 1] ?? Number.NaN, longest: delays.at(-1) ?? Number.NaN },
    recheckMs: longest,
  };
}
