/**
 * What keeps a Redis Cluster from being whole. `readinessProblems` is what its users could notice, `disruptionBlockers` adds what merely has to
 * settle. As long as anything is amiss, nobody is interrupted on purpose.
 */
import { type Pod, podIsReady } from '../../../../resources/children.ts';
import type { MemberFinding } from '../../client/findings.ts';
import { replicasPerShardOf } from '../../kind/shards.ts';
import { countSlots, slotText } from '../../kind/slots.ts';
import { isSurplus } from '../../observe/shards/distribution.ts';
import { isLeaving, isToGo, type Shard, type ShardsSituation } from '../../observe/shards/situation.ts';
import {
  absentNodes,
  areAllServed,
  doViewsAgree,
  isLinked,
  openSlots,
  unownedSlots,
} from '../../observe/shards/views.ts';
import { nodeProblem } from '../node-problem.ts';
import { unelectable } from './turnover.ts';

/** One phrase a trouble, in a stable order. */
export function readinessProblems(situation: ShardsSituation): string[] {
  const { shards, nodes } = situation;
  const unowned = unownedSlots(nodes);
  const uncovered = nodes.length > 0 && countSlots(unowned) > 0 ? [`nobody serves slots ${slotText(unowned)}`] : [];
  const members = shards
    .filter((shard) => shard.isServing || !isSurplus(situation, shard))
    .flatMap((shard) => (isSurplus(situation, shard) ? surplusProblems(shard) : shardProblems(situation, shard)));
  const held = findingsIn(situation).flatMap(({ message, holdsRestarts }) => (holdsRestarts === true ? [message] : []));
  const open = nodes.flatMap(({ pod, self }) => openSlots(self).map((slot) => `slot ${slot} is being moved on ${pod}`));
  const problems = [...uncovered, ...members, ...held, ...open];
  if (problems.length > 0) return problems;
  // One that is to go may have met nobody, and never will.
  const heard = nodes.filter(({ pod, self }) => !isLeaving(situation, pod) || self.slots.length > 0);
  return areAllServed(nodes) && doViewsAgree(heard) ? [] : ['the nodes do not agree on who serves which slots'];
}

/** What the nodes say about themselves, in the order of their pods. */
export function findingsIn({ nodes }: ShardsSituation): readonly MemberFinding[] {
  return nodes.flatMap(({ findings }) => findings);
}

/**
 * Replicas that are in sync, and that nobody would elect: the shard would stay down without its primary. Nobody waits for them: the restart
 * that is due may be what helps.
 */
export function electionProblems(situation: ShardsSituation): string[] {
  return situation.shards.flatMap(({ primary, nodes }) =>
    nodes
      .filter((node) => node.self.primaryId === primary?.id && node.linkUp && !node.failoverEligible)
      .filter(({ pod }) => !isToGo(situation, pod))
      .map(unelectable),
  );
}

export function disruptionBlockers(situation: ShardsSituation): string[] {
  const problems = readinessProblems(situation);
  if (problems.length > 0) return problems;
  const nodes = situation.nodes.filter(({ pod }) => !isLeaving(situation, pod));
  const unlinked = nodes.flatMap((node) => {
    const other = nodes.find((one) => one !== node && !isLinked(node, one));
    return other === undefined ? [] : [`${node.pod} does not reach ${other.pod} yet`];
  });
  const gone = absentNodes(situation)
    .filter(({ pod }) => pod === undefined || !isToGo(situation, pod))
    .map(({ id, pod }) => `${id.slice(0, 8)} (${pod ?? 'of no pod'}) is yet to be forgotten`);
  return [...unlinked, ...gone];
}

/** Its slots leave from its primary. Its replicas are to go, and may be lost. */
function surplusProblems(shard: Shard): string[] {
  const { set, pods, primary } = shard;
  if (primary === undefined) return [`${set} has no primary`];
  return pods.filter(({ metadata }) => metadata.name === primary.pod).flatMap((pod) => memberProblem(pod, shard));
}

export function shardProblems(situation: ShardsSituation, shard: Shard): string[] {
  const { set, pods, primary, nodes } = shard;
  const wanted = replicasPerShardOf(situation.spec) + 1;
  const staying = pods.filter(({ metadata }) => !isLeaving(situation, metadata.name));
  const missing = wanted - staying.length;
  const absent = missing > 0 ? [`${missing} node(s) of ${set} have no pod`] : [];
  if (primary === undefined) {
    const silent = staying.filter(({ metadata }) => !nodes.some(({ pod }) => pod === metadata.name));
    return [...absent, `${set} has no primary`, ...silent.map(({ metadata }) => `${metadata.name} does not answer`)];
  }
  return [...absent, ...staying.flatMap((pod) => memberProblem(pod, shard))];
}

function memberProblem(pod: Pod, { nodes, primary }: Shard): string[] {
  const { name, deletionTimestamp } = pod.metadata;
  const problem = nodeProblem(pod);
  if (problem !== undefined) return [problem];
  const node = nodes.find((one) => one.pod === name);
  if (node === undefined || primary === undefined) return [`${name} does not answer`];
  if (deletionTimestamp !== undefined) return [`${name} is being stopped`];
  if (!node.isClusterOk) return [`${name} says that the cluster is down`];
  if (node !== primary) {
    if (node.self.primaryId !== primary.id) return [`${name} is no replica of ${primary.pod}`];
    if (node.copyRefused) return [`${name} cannot load what it copies from ${primary.pod}`];
    if (!node.linkUp) return [`${name} is copying from ${primary.pod}`];
    if (!primary.replicas.includes(node.address)) return [`${name} is catching up with ${primary.pod}`];
  }
  return podIsReady(pod) ? [] : [`${name} is not ready`];
}
