/** Specs change at a steady rate: how long until the controller has a worker for a change, and until status shows it. */
import { type Converged, delays, type Scene } from './converge.ts';
import { pause } from './in-flight.ts';
import { quantile } from './quantile.ts';
import { clusterName } from './workload.ts';

export interface Churned extends Pick<Converged, 'queueP50' | 'queueP99' | 'eventLoopP99'> {
  readonly ratePerSecond: number;
  /** What the loader reached; below the rate where the server did not take more. */
  readonly changesPerSecond: number;
  readonly clusters: number;
  /** Seconds from the answer to the change until `status.observedGeneration` has caught up. */
  readonly observedP50?: number;
  readonly observedP99?: number;
  /** Changes that status did not show within half a minute after the last. */
  readonly unobserved: number;
  readonly operatorCpuMsPerChange?: number;
}

/** Changes go round these. */
const mostClusters = 2500;
const patienceMs = 30_000;

export async function measureChurn(
  scene: Scene,
  n: number,
  ratePerSecond: number,
  seconds: number,
  change: string,
): Promise<Churned> {
  const { client, census, namespace, workload, subject } = scene;
  const clusters = Math.min(n, mostClusters);
  const [usage, samples] = [await subject.usage(), await subject.samples()];
  const latencies: number[] = [];
  const pending: Promise<void>[] = [];
  const startedAt = performance.now();
  const count = ratePerSecond * seconds;

  const changeOne = async (i: number): Promise<void> => {
    const name = clusterName(i % clusters);
    const body = JSON.parse(change.replaceAll('{i}', String(1 + (i % 100_000)))) as object;
    const { metadata } = await client.mergePatch({ resource: workload.resource, namespace, name }, body);
    const answeredAt = performance.now();
    // A watch may have shown it before the answer came.
    const at = await Promise.race([census.observed(name, metadata.generation ?? 0), late(startedAt + seconds * 1000)]);
    if (at !== undefined) latencies.push(Math.max(0, at - answeredAt) / 1000);
  };
  // A different stretch of clusters for each rate: none is changed for the second time only.
  const offset = Math.floor(clusters * ((ratePerSecond * 0.37) % 1));
  for (let i = 0; i < count; i++) {
    const wait = startedAt + (i * 1000) / ratePerSecond - performance.now();
    if (wait > 0) await pause(wait);
    pending.push(changeOne(offset + i));
  }
  const sentFor = (performance.now() - startedAt) / 1000;
  await Promise.all(pending);
  const [after, later] = [await subject.usage(), await subject.samples()];
  const { queueP50, queueP99, eventLoopP99 } = delays(samples, later);
  return {
    ratePerSecond,
    changesPerSecond: count / sentFor,
    clusters,
    unobserved: count - latencies.length,
    ...defined({ observedP50: quantile(latencies, 0.5), observedP99: quantile(latencies, 0.99) }),
    ...defined({ queueP50, queueP99, eventLoopP99 }),
    ...(usage === undefined || after === undefined
      ? {}
      : { operatorCpuMsPerChange: ((after.cpuSeconds - usage.cpuSeconds) * 1000) / count }),
  };
}

async function late(end: number): Promise<undefined> {
  await pause(Math.max(0, end + patienceMs - performance.now()));
}

function defined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
