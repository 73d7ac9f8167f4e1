/**
 * A changed template reaches one member at a time, the leader last: in place where that goes, or else by a restart, before which the leader
 * hands over (safety rule G5).
 */
import { wait } from '../../../plan/plan.ts';
import { isResizing } from '../../../plan/resize.ts';
import { resizeTurn, whyNotInPlace } from '../../../plan/resize-turn.ts';
import { cannotStart, restartSteps, stuckPod } from '../../../plan/rollout.ts';
import type { Pod } from '../../../resources/children.ts';
import { answering } from '../observe/observed.ts';
import { isHealthy, type Member, nameOf, quorumOf, type Situation, targetOf, voters } from '../observe/situation.ts';
import { goingVolumesOutcome } from './going-volumes.ts';
import { acting, type EtcdPlan } from './membership.ts';
import { isOutdated } from './outdated.ts';

const recheckMs = 250;

/**
 * The template was wrong and has been corrected since: whoever cannot start on the old one never will. Nobody is
 * interrupted, so it needs no majority. A process that runs may be out of reach for a while, one that was killed is about
 * to start again, and both are needed then: they go only where the others are a majority without them, or where there has
 * never been a cluster. The template of now may be the wrong one.
 *
 * One whose volume would go with it is passed over, so that the others have their turn.
 */
export function planStuck(situation: Situation): EtcdPlan | undefined {
  const { cluster, sets, pods, observed } = situation;
  const answers = new Set(answering(observed.members).map(({ pod }) => pod));
  const isNew = cluster.status?.initialized !== true;
  const isSpare = (index: number, pod: Pod): boolean =>
    goingVolumesOutcome(situation, [index]) === undefined &&
    (cannotStart(pod) || isNew || areEnoughWithout(situation, index));
  const stuck = [...sets].flatMap(([index, set]) => {
    const pod = pods.get(index);
    const mayGo = (one: Pod): boolean => !answers.has(one.metadata.name) && isSpare(index, one);
    return pod === undefined ? [] : (stuckPod(set, [pod], mayGo) ?? []);
  })[0];
  return stuck === undefined ? undefined : restarting(stuck);
}

function areEnoughWithout({ members = [] }: Situation, index: number): boolean {
  const voting = voters(members);
  return voting.filter((member) => member.index !== index && isHealthy(member)).length >= quorumOf(voting.length);
}

function restarting(pod: Pod, note = ''): EtcdPlan | undefined {
  const steps = restartSteps(pod);
  if (steps.length === 0) return undefined;
  const words = `${pod.metadata.name} restarts with the new template${whyNotInPlace(pod)}${note}`;
  return { steps, outcome: wait('Restarting', words) };
}

/** Without one of them, those who stay are still a majority. */
export function canSpareOne(members: readonly Member[]): boolean {
  const votes = voters(members).length;
  return votes - 1 >= quorumOf(votes);
}

/**
 * The next member to get the template; undefined when every pod runs the current one. Everybody must be well. `note` is put behind what
 * is said about it.
 */
export function planRestart(situation: Situation, members: readonly Member[], note?: string): EtcdPlan | undefined {
  const { cluster, leader, pods } = situation;
  const outdated = members.filter((member) => isOutdated(situation, member));
  const podOf = ({ index }: Member): Pod | undefined => (index === undefined ? undefined : pods.get(index));
  const begun = outdated.find((member) => {
    const pod = podOf(member);
    return pod !== undefined && isResizing(pod);
  });
  const next = begun ?? outdated.find((member) => member.id !== leader?.id) ?? outdated[0];
  const pod = next === undefined ? undefined : podOf(next);
  if (next === undefined || pod === undefined) return undefined;
  const resize = resizeTurn(pod);
  if (resize !== undefined) return resize;
  const name = nameOf(cluster, next);
  const successor = members.find(
    (member) => member.id !== next.id && !member.isLearner && !isOutdated(situation, member),
  );
  if (leader !== undefined && next.id === leader.id && successor !== undefined) {
    return acting(
      { type: 'etcd.moveLeader', via: targetOf(leader), to: successor.id },
      `make ${nameOf(cluster, successor)} the leader: ${name} is the last to restart`,
      wait('MovingLeader', `${name} hands over before it restarts`, recheckMs),
    );
  }
  return restarting(pod, note);
}
