/**
 * What resources that are about others cost the controller's memory of the API: n clusters, each with a schedule, come in
 * with the first list, and a hundred clusters more one by one. In this process, with no API server and no passes.
 */

import { scheduleKind } from '../../src/api/backup-schedule.ts';
import { redisKind } from '../../src/engines/redis/kind/schema.ts';
import { createCache } from '../../src/runtime/cache.ts';
import { createClient } from '../../src/runtime/client.ts';
import { createController } from '../../src/runtime/controller.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { createWorkQueue } from '../../src/runtime/queue.ts';
import { systemClock } from '../../src/system/clock.ts';
import { handlers as engines } from '../support/handlers.ts';
import { RecordingLog } from '../support/recording-log.ts';
import { turn } from '../support/virtual-clock.ts';
import { range } from './in-flight.ts';
import { createPretendedApi } from './pretended-api.ts';
import { clusterName } from './workload.ts';

export interface Scheduled {
  readonly n: number;
  /** CPU from the first request to a complete view. */
  readonly listCpuSeconds: number;
  /** CPU of one cluster more. */
  readonly addedCpuMs: number;
}

const added = 100;

const schedule = (i: number): object => ({
  cluster: { kind: redisKind.resource.kind, name: clusterName(i) },
  schedule: '0 3 * * *',
  retention: { keepLast: 7 },
  target: { s3: { bucket: 'backups', endpoint: 'https://s3.test', credentials: { secretRef: { name: 's3' } } } },
});

export async function measureSchedules(n: number): Promise<Scheduled> {
  const api = createPretendedApi();
  for (const i of range(0, n)) {
    api.add(redisKind.resource, clusterName(i));
    api.add(scheduleKind.resource, `daily-${clusterName(i)}`, schedule(i));
  }
  const [clock, log, metrics, random] = [systemClock, new RecordingLog(), createMetrics(), Math.random];
  const client = createClient({ transport: api.transport, clock, random });
  const cache = createCache({ client, engines, namespaces: [], clock, random, log, metrics });
  const queue = createWorkQueue({ name: 'bench', clock, random });
  createController({
    engines,
    cache,
    queue,
    reconciler: { reconcile: () => Promise.reject(new Error('there are no passes')), overdue: () => Promise.resolve() },
    listeners: { follow: () => undefined, forget: () => undefined, closeAll: () => undefined },
    status: { forget: () => undefined },
    clock,
    random,
    log,
    metrics,
  });
  const stopping = new AbortController();
  const atStart = process.cpuUsage();
  const running = cache.run(stopping.signal);
  while (!cache.hasSynced) await turn();
  const listCpuSeconds = cpuMsSince(atStart) / 1000;

  const atAdded = process.cpuUsage();
  for (const i of range(n, n + added)) api.add(redisKind.resource, clusterName(i));
  while (queue.depth < 2 * n + added) await turn();
  const addedCpuMs = cpuMsSince(atAdded) / added;
  stopping.abort();
  await running;
  await queue.shutDown();
  return { n, listCpuSeconds, addedCpuMs };
}

function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
