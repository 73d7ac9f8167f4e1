/** Pods that do not run the present template: a shard at a time, its replicas first, its primary once another has taken over. */

import { type Plan, wait } from '../../../../plan/plan.ts';
import { resizeTurn, whyNotInPlace } from '../../../../plan/resize-turn.ts';
import {
  cannotStart,
  isGenerationObserved,
  nextToRestart,
  outdatedPods,
  restartSteps,
  stuckPod,
} from '../../../../plan/rollout.ts';
import type { Pod } from '../../../../resources/children.ts';
import type { RedisAction } from '../../action.ts';
import { atLeast } from '../../kind/server.ts';
import type { Shard, ShardsSituation } from '../../observe/shards/situation.ts';
import { untilItFits } from '../resize-room.ts';
import { shardProblems } from './health.ts';
import { handingOver } from './turnover.ts';
import { goingVolumeProblem } from './volumes.ts';

type ShardsPlan = Plan<RedisAction>;

/** Asked of a cluster that is whole. */
export function planRestart(situation: ShardsSituation): ShardsPlan | undefined {
  const { children, shards } = situation;
  if (!shards.every(({ set }) => isGenerationObserved(children.statefulSet(set)))) {
    return { steps: [], outcome: wait('Updating', 'Kubernetes has yet to take up the new template') };
  }
  return planTurn(situation, shards);
}

/** Before slots of a newer server move there. Undefined where a restart changes nothing, or the shard is not whole itself. */
export function planRenewal(situation: ShardsSituation, shard: Shard): ShardsPlan | undefined {
  return shardProblems(situation, shard).length > 0 ? undefined : planTurn(situation, [shard]);
}

function planTurn(situation: ShardsSituation, shards: readonly Shard[]): ShardsPlan | undefined {
  const { children } = situation;
  const turns = shards.map((shard) => ({ shard, outdated: outdatedPods(children.statefulSet(shard.set), shard.pods) }));
  const [turn] = turns.filter(({ outdated }) => outdated.length > 0);
  if (turn === undefined) return undefined;
  const { shard, outdated } = turn;
  const isPrimary = ({ metadata }: Pod): boolean => metadata.name === shard.primary?.pod;
  const next = nextToRestart(outdated, isPrimary);
  if (next === undefined) return undefined;
  const resize = untilItFits(situation, next) ?? resizeTurn(next);
  if (resize !== undefined) return resize;
  if (!isPrimary(next) || shard.pods.length === 1) return restarting(next);
  const message = `${next.metadata.name} is the last of ${shard.set} to restart`;
  return handingOver(shard, message, () => true);
}

/**
 * A failover in the middle of a rollout may leave an older server behind a primary whose copies it cannot read. It waits for ever, and
 * everybody for it; the new template can read them.
 */
export function leftBehindPod({ shards, children }: ShardsSituation): Pod | undefined {
  return shards
    .flatMap(({ set, pods, nodes, primary }) => {
      const outdated = outdatedPods(children.statefulSet(set), pods);
      return outdated.filter(({ metadata }) =>
        nodes.some(
          ({ pod, copyRefused, version }) =>
            pod === metadata.name && copyRefused && primary !== undefined && !atLeast(version, primary.version),
        ),
      );
    })
    .at(0);
}

/** A pod that waits for what will never come, since its template was wrong and has been corrected. Its process has nothing to lose. */
export function planStuck(situation: ShardsSituation): ShardsPlan | undefined {
  const { children, shards, nodes, dataPods, cluster } = situation;
  if (dataPods.some(({ metadata }) => metadata.deletionTimestamp !== undefined)) return undefined;
  const silent = dataPods.filter(({ metadata }) => !nodes.some(({ pod }) => pod === metadata.name));
  const isSpare = cluster.status?.initialized !== true || silent.length === 1;
  const mayGo = (pod: Pod): boolean =>
    silent.includes(pod) &&
    (cannotStart(pod) || isSpare) &&
    goingVolumeProblem(situation, pod.metadata.name) === undefined;
  const pod = shards.flatMap(({ set, pods }: Shard) => stuckPod(children.statefulSet(set), pods, mayGo) ?? []).at(0);
  return pod === undefined ? undefined : restarting(pod);
}

export function restarting(pod: Pod): ShardsPlan | undefined {
  const steps = restartSteps(pod);
  if (steps.length === 0) return undefined;
  return {
    steps,
    outcome: wait('Restarting', `${pod.metadata.name} restarts with the new template${whyNotInPlace(pod)}`),
  };
}
