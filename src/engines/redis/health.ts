/** What keeps a cluster from being whole. As long as anything is amiss, nobody is interrupted on purpose. */
import { type Pod, podIsReady } from '../../resources/children.ts';
import { answering, type DataNode } from './observed.ts';
import { seesEverybody } from './repair.ts';
import type { Situation } from './situation.ts';

/** One phrase a trouble, in a stable order; empty when the cluster is whole at its present size. */
export function amiss(situation: Situation, primary: DataNode): string[] {
  const { dataPods, sentinelPods, dataSize, sentinelSize, spec, topology } = situation;
  const withSentinel = spec.mode === 'Sentinel';
  return [
    ...absent('data node', dataPods, dataSize),
    ...dataPods.flatMap((pod) => dataTrouble(pod, situation, primary)),
    ...(withSentinel ? absent('sentinel', sentinelPods, sentinelSize) : []),
    ...(withSentinel ? sentinelPods.flatMap((pod) => sentinelTrouble(pod, situation, primary)) : []),
    ...(topology.failingOver ? ['Sentinel is failing over'] : []),
  ];
}

function absent(what: string, pods: readonly Pod[], size: number): string[] {
  return pods.length < size ? [`${size - pods.length} ${what}(s) have no pod`] : [];
}

function podTrouble(pod: Pod): string | undefined {
  if (pod.metadata.deletionTimestamp !== undefined) return `${pod.metadata.name} is terminating`;
  const unschedulable = pod.status?.conditions?.find((c) => c.type === 'PodScheduled' && c.status === 'False');
  if (unschedulable !== undefined) return `${pod.metadata.name} cannot be scheduled: ${unschedulable.message ?? ''}`;
  return undefined;
}

function dataTrouble(pod: Pod, { nodes }: Situation, primary: DataNode): string[] {
  const { name } = pod.metadata;
  const trouble = podTrouble(pod);
  if (trouble !== undefined) return [trouble];
  const node = nodes.find((candidate) => candidate.pod === name);
  if (node === undefined) return [`${name} does not answer`];
  if (node.address !== primary.address) {
    if (node.follows !== primary.address) return [`${name} does not follow ${primary.pod}`];
    if (!node.linkUp) return [`${name} is copying from ${primary.pod}`];
    if (!primary.replicas.includes(node.address)) return [`${name} is catching up with ${primary.pod}`];
  }
  return podIsReady(pod) ? [] : [`${name} is not ready`];
}

function sentinelTrouble(pod: Pod, situation: Situation, primary: DataNode): string[] {
  const { name } = pod.metadata;
  const trouble = podTrouble(pod);
  if (trouble !== undefined) return [trouble];
  if (!answering(situation.observed.sentinels).some((sentinel) => sentinel.pod === name))
    return [`${name} does not answer`];
  const sentinel = situation.topology.watching.find((candidate) => candidate.pod === name);
  if (sentinel === undefined) return [`${name} watches nobody`];
  if (!seesEverybody(sentinel, situation, primary)) return [`${name} does not know every member yet`];
  return podIsReady(pod) ? [] : [`${name} is not ready`];
}
