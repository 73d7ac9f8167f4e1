/** n clusters are created at full speed while the controller runs: how long until the last child, and at what cost. */
import type { KubeClient } from '../../src/runtime/client.ts';
import type { Census } from './census.ts';
import { loaderLanes } from './floor.ts';
import { inFlight, range } from './in-flight.ts';
import { cpuSecondsOfAll } from './process-usage.ts';
import { bucketQuantile, bucketsOf, since } from './quantile.ts';
import type { Subject } from './subject.ts';
import { clusterName, type Workload } from './workload.ts';

export interface Converged {
  readonly n: number;
  readonly children: number;
  /** From the first request to the last child, as a watch shows it. */
  readonly seconds: number;
  /** Clusters and children. */
  readonly objectsPerSecond: number;
  readonly operatorCpuMs?: number;
  /** API server and etcd, per cluster, for loader, controller and watches together. */
  readonly serverCpuMs?: number;
  readonly rssBytes?: number;
  readonly heapBytes?: number;
  readonly queueP50?: number;
  readonly queueP99?: number;
  readonly eventLoopP99?: number;
}

export interface Scene {
  readonly client: KubeClient;
  readonly workload: Workload;
  readonly namespace: string;
  readonly census: Census;
  readonly subject: Subject;
  /** Of API server and etcd; empty where they are not known. */
  readonly serverPids: readonly number[];
}

export const queueMetric = 'clusterwright_queue_latency_seconds';
export const eventLoopMetric = 'clusterwright_event_loop_delay_seconds';

/** Details of a status are gathered for ten seconds. */
const quietMs = 12_000;

/** `childrenEach`: how many a cluster has. */
export async function measureConverge(scene: Scene, n: number, childrenEach: number): Promise<Converged> {
  const { client, workload, namespace, census, subject, serverPids } = scene;
  const [usage, server, samples] = [await subject.usage(), await cpuSecondsOfAll(serverPids), await subject.samples()];
  const startedAt = performance.now();
  await inFlight(loaderLanes, range(0, n), async (i) => {
    await client.create(workload.manifest(clusterName(i), namespace));
  });
  await census.complete(n * childrenEach);
  const seconds = (census.lastChildAt - startedAt) / 1000;
  await census.quiet(quietMs, 60_000);
  const [after, serverAfter, later] = [
    await subject.usage(),
    await cpuSecondsOfAll(serverPids),
    await subject.samples(),
  ];
  const children = n * childrenEach;
  return {
    n,
    children,
    seconds,
    objectsPerSecond: (children + n) / seconds,
    ...(usage === undefined || after === undefined
      ? {}
      : { operatorCpuMs: ((after.cpuSeconds - usage.cpuSeconds) * 1000) / n, rssBytes: after.rssBytes }),
    ...(server === undefined || serverAfter === undefined ? {} : { serverCpuMs: ((serverAfter - server) * 1000) / n }),
    ...delays(samples, later),
  };
}

type Samples = Awaited<ReturnType<Subject['samples']>>;

/** What its own metrics say of the time between two scrapes. */
export function delays(
  before: Samples,
  after: Samples,
): Pick<Converged, 'queueP50' | 'queueP99' | 'eventLoopP99' | 'heapBytes'> {
  const quantileOf = (metric: string, q: number): number | undefined =>
    bucketQuantile(since(bucketsOf(before, metric), bucketsOf(after, metric)), q);
  const heap = after.find(({ name, labels }) => name === 'clusterwright_memory_bytes' && labels.part === 'heap_used');
  const found = {
    queueP50: quantileOf(queueMetric, 0.5),
    queueP99: quantileOf(queueMetric, 0.99),
    eventLoopP99: quantileOf(eventLoopMetric, 0.99),
    heapBytes: heap?.value,
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}
