/**
 * What keeps a cluster from being whole, in two grades. `readinessProblems` is what its users could notice: a member is missing or
 * a failover could not happen. `disruptionBlockers` adds what merely has to settle. As long as anything is amiss, nobody is
 * interrupted on purpose.
 */
import { podProblem } from '../../../plan/pod-problem.ts';
import { type Pod, podIsReady } from '../../../resources/children.ts';
import type { MemberFinding } from '../client/findings.ts';
import { answering, type DataNode } from '../observe/observed.ts';
import { majorityOf, type Situation } from '../observe/situation.ts';
import type { WatchingSentinel } from '../observe/topology.ts';
import { nodeProblem } from './node-problem.ts';
import { seesEverybody } from './repair.ts';

/** One phrase a trouble, in a stable order; empty when every member is in sync and a failover is possible. */
export function readinessProblems(situation: Situation, primary: DataNode): string[] {
  const { dataPods, sentinelPods, dataSize, sentinelSize, spec, topology } = situation;
  const data = [
    ...absent('data node', dataPods, dataSize),
    ...dataPods.flatMap((pod) => dataProblem(pod, situation, primary)),
    ...findingsIn(situation).flatMap(({ message, holdsRestarts }) => (holdsRestarts === true ? [message] : [])),
  ];
  if (spec.mode === 'Standalone') return data;
  const able = topology.watching.filter((sentinel) => canFailOver(sentinel, situation, primary)).length;
  const sentinels = [
    ...absent('sentinel', sentinelPods, sentinelSize),
    ...sentinelPods.flatMap((pod) => sentinelProblem(pod, situation, primary)),
    ...(topology.failingOver ? ['Sentinel is failing over'] : []),
  ];
  const few = able < majorityOf(spec.sentinel.replicas) ? ['too few sentinels know and reach the members'] : [];
  return [...data, ...(sentinels.length > 0 ? sentinels : few)];
}

/** What the members say about themselves, in the order of their pods. */
export function findingsIn({ nodes }: Situation): readonly MemberFinding[] {
  return nodes.flatMap(({ findings }) => findings);
}

/** `readinessProblems`, and what the sentinels have yet to learn. Empty when the cluster is whole at its present size. */
export function disruptionBlockers(situation: Situation, primary: DataNode): string[] {
  const problems = readinessProblems(situation, primary);
  if (problems.length > 0 || situation.spec.mode === 'Standalone') return problems;
  return situation.topology.watching
    .filter((sentinel) => !seesEverybody(sentinel, situation, primary))
    .map((sentinel) => `${sentinel.pod} does not know every member yet`);
}

/** Reaches the primary, enough peers for a majority, and a replica to elect where there is one. The operator may be alone in reaching them. */
function canFailOver({ view }: WatchingSentinel, { spec, nodes, observed }: Situation, primary: DataNode): boolean {
  const living = new Set(answering(observed.sentinels).map((sentinel) => sentinel.address));
  const peers = view.peers.filter((peer) => living.has(peer.address) && !peer.down).length;
  const replicas = nodes.filter((node) => node.address !== primary.address);
  const knowsReplica = view.replicas.some(
    (known) => !known.down && replicas.some((node) => node.address === known.address),
  );
  return (
    view.primary === primary.address &&
    !view.primaryDown &&
    peers + 1 >= majorityOf(spec.sentinel.replicas) &&
    (replicas.length === 0 || knowsReplica)
  );
}

function absent(what: string, pods: readonly Pod[], size: number): string[] {
  if (pods.length > size) return [`${pods.length - size} ${what}(s) are leaving`];
  return pods.length < size ? [`${size - pods.length} ${what}(s) have no pod`] : [];
}

function dataProblem(pod: Pod, { nodes }: Situation, primary: DataNode): string[] {
  const { name } = pod.metadata;
  const problem = nodeProblem(pod);
  if (problem !== undefined) return [problem];
  const node = nodes.find((candidate) => candidate.pod === name);
  if (node === undefined) return [`${name} does not answer`];
  if (node.address !== primary.address) {
    if (node.follows !== primary.address) return [`${name} does not follow ${primary.pod}`];
    if (node.copyRefused) return [`${name} cannot load what it copies from ${primary.pod}`];
    if (!node.linkUp) return [`${name} is copying from ${primary.pod}`];
    if (!primary.replicas.includes(node.address)) return [`${name} is catching up with ${primary.pod}`];
  }
  return podIsReady(pod) ? [] : [`${name} is not ready`];
}

function sentinelProblem(pod: Pod, situation: Situation, primary: DataNode): string[] {
  const { name } = pod.metadata;
  const problem = podProblem(pod);
  if (problem !== undefined) return [problem];
  if (!answering(situation.observed.sentinels).some((sentinel) => sentinel.pod === name))
    return [`${name} does not answer`];
  const sentinel = situation.topology.watching.find((candidate) => candidate.pod === name);
  if (sentinel === undefined) return [`${name} watches nobody`];
  if (sentinel.view.primary !== primary.address) return [`${name} does not watch ${primary.pod} yet`];
  return podIsReady(pod) ? [] : [`${name} is not ready`];
}
