/**
 * Whether the status of an EtcdCluster is true: while it says Ready, every member that the spec wants takes part in
 * reads that a majority confirms. What happens is seen a moment late, so the figure is a time: how long the status went
 * on saying Ready after that was no longer so.
 */
import type { ClusterStatus } from '../../src/api/status.ts';
import type { EtcdTestCluster } from './etcd-test-cluster.ts';
import { whileLooking } from './while-looking.ts';

const everyMs = 50;

async function saysReady(cluster: EtcdTestCluster): Promise<boolean> {
  const { metadata, status } = await cluster.object();
  const { conditions = [], observedGeneration } = (status ?? {}) as ClusterStatus;
  const isReady = conditions.some((condition) => condition.type === 'Ready' && condition.status === 'True');
  return isReady && observedGeneration === metadata.generation;
}

async function isWhole(cluster: EtcdTestCluster): Promise<boolean> {
  const { replicas = 3 } = (await cluster.object()).spec as { readonly replicas?: number };
  const addresses = (await cluster.pods()).flatMap(({ status }) => status?.podIP ?? []);
  const answers = await Promise.all(
    addresses.map((address) =>
      cluster.ask(address, 'kv/range', { key: 'AA==' }, 1000).then(
        () => true,
        () => false,
      ),
    ),
  );
  return answers.filter(Boolean).length >= replicas;
}

/** Runs `work`. Resolves with the milliseconds of the longest time in which the status was wrong meanwhile. */
export async function falseReadyWhile(cluster: EtcdTestCluster, work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let since: number | undefined;
  const look = async (): Promise<void> => {
    const startedAt = performance.now();
    const whole = await isWhole(cluster);
    const ready = await saysReady(cluster);
    // Asked afterwards: a status that was right when the members were asked may say so until they have answered.
    since = ready && !whole ? (since ?? startedAt) : undefined;
    if (since !== undefined) longest = Math.max(longest, performance.now() - since);
  };
  await whileLooking(look, everyMs, work);
  return longest;
}
