/**
 * Sizes. Growing is at once: new nodes copy from the primary and harm nobody. But no sentinel joins while there is no
 * primary, or another is being elected: it would know of no node but the primary of before, and elect that. Shrinking is
 * one member at a time, only while nothing is amiss, never the primary, never the last replica in sync (safety rule R9).
 */
import { type ActStep, type Plan, wait } from '../../../plan/plan.ts';
import type { RedisAction } from '../action.ts';
import { redisNames } from '../names.ts';
import type { DataNode } from '../observe/observed.ts';
import { dataPodNames, type Situation } from '../observe/situation.ts';
import { target } from './repair.ts';
import { switchoverStep } from './switchover-step.ts';

export interface Sizes {
  readonly data: number;
  readonly sentinels: number;
}

/** The sizes to apply now. `whole` says that nothing is amiss, has to be repaired, or is still to be forgotten. */
export function sizesFor(situation: Situation, whole: boolean): Sizes {
  const { spec, dataSize, sentinelSize, dataPods, topology } = situation;
  const data = Math.max(spec.replicas, dataSize);
  const isSettled = topology.primary !== undefined && !topology.failingOver;
  const sentinels = isSettled ? Math.max(spec.sentinel.replicas, sentinelSize) : sentinelSize;
  const last = dataPodNames(situation.cluster, dataSize).at(-1);
  // Nobody follows a node that stands alone: others come from somebody who has scaled its StatefulSet. Their volumes stay.
  if (spec.mode === 'Standalone' && topology.primary !== undefined && topology.primary.pod !== last) {
    return { data: Math.max(spec.replicas, dataSize - 1), sentinels };
  }
  if (!whole || !bothSetsSeen(situation)) return { data, sentinels };
  if (sentinelSize > spec.sentinel.replicas) return { data, sentinels: sentinelSize - 1 };
  const leaving = dataPods.find((pod) => pod.metadata.name.endsWith(`-${dataSize - 1}`));
  const primaryIsLeaving = leaving === undefined || leaving.metadata.name === topology.primary?.pod;
  if (dataSize > spec.replicas && !primaryIsLeaving) return { data: dataSize - 1, sentinels };
  return { data, sentinels };
}

function bothSetsSeen({ children, cluster }: Situation): boolean {
  const names = redisNames(cluster.metadata.name);
  return [names.data, names.sentinel].every((name) => children.statefulSet(name) !== undefined);
}

export function podsToScaleIn({ cluster, spec, dataSize }: Situation): ReadonlySet<string> {
  return new Set(dataPodNames(cluster, dataSize).slice(spec.replicas));
}

/**
 * The primary sits on a node that has to go: make sure that Sentinel chooses none of the others that go, then ask it.
 * Undefined when the primary stays.
 */
export function planMovePrimary(situation: Situation, primary: DataNode): Plan<RedisAction> | undefined {
  const toScaleIn = podsToScaleIn(situation);
  if (!toScaleIn.has(primary.pod)) return undefined;
  const going = situation.nodes.filter((node) => toScaleIn.has(node.pod) && node.address !== primary.address);
  const demote = going.flatMap((node): ActStep<RedisAction>[] =>
    node.failoverEligible ? [eligibilityStep(node, false)] : [],
  );
  const message = `${primary.pod} hands over, since it is to be removed`;
  if (demote.length > 0) return { steps: demote, outcome: wait('Demoting', message, 500) };
  const unaware = situation.topology.watching.some((sentinel) =>
    sentinel.view.replicas.some((r) => r.priority > 0 && going.some((node) => node.address === r.address)),
  );
  // A sentinel asks its nodes for their priority every ten seconds.
  if (unaware)
    return { steps: [], outcome: wait('Demoting', `${message}; Sentinel has yet to see who may not be elected`, 500) };
  const step = switchoverStep(situation, primary, message);
  return { steps: step === undefined ? [] : [step], outcome: wait('HandingOver', message, 500) };
}

/** Nodes that stay and hold the data, on their disk too, may be elected again, whatever an earlier plan had in mind for them. */
export function eligibilitySteps(situation: Situation): ActStep<RedisAction>[] {
  const toScaleIn = podsToScaleIn(situation);
  return situation.nodes
    .filter((node) => !node.failoverEligible && node.linkUp && node.unwritten !== true && !toScaleIn.has(node.pod))
    .map((node) => eligibilityStep(node, true));
}

export function eligibilityStep(node: DataNode, failoverEligible: boolean): ActStep<RedisAction> {
  return {
    type: 'act',
    action: {
      type: 'redis.configure',
      node: target(node),
      settings: { 'replica-priority': failoverEligible ? '100' : '0' },
    },
    summary: `let Sentinel ${failoverEligible ? 'elect' : 'not elect'} ${node.pod}`,
  };
}
