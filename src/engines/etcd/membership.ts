/**
 * One change of the membership at a time, each decided on a list that a majority has just confirmed.
 *
 * In: added without a vote, started, promoted when it has caught up. Out: removed from the list, then stopped. A member
 * that is lost goes before another one comes, since a voter more would raise the majority that the others have to reach
 * (safety rules E1 to E4).
 */
import { type Outcome, type Plan, wait } from '../../plan/plan.ts';
import type { EtcdAction, Target } from './action.ts';
import { lossOf, mayLose } from './loss.ts';
import { memberName, peerUrl } from './names.ts';
import { isHealthy, type Member, nameOf, nextIndex, type Situation, targetOf, voters } from './situation.ts';

export type EtcdPlan = Plan<EtcdAction>;

/** How often to look again while members connect and copy, which no watch tells of. */
const recheckMs = 250;

export function acting(action: EtcdAction, summary: string, outcome: Outcome): EtcdPlan {
  return { steps: [{ type: 'act', action, summary }], outcome };
}

/** Where a change is asked for: the leader, or whoever knows one. */
export function viaOf({ leader, members = [] }: Situation): Target | undefined {
  const member = leader ?? members.find((candidate) => isHealthy(candidate) && !candidate.isLearner);
  return member?.live === undefined ? undefined : targetOf({ live: member.live });
}

/** Takes out who will not come back. Undefined when nobody is lost, or when nobody may go now. */
export function planReplacement(situation: Situation, members: readonly Member[], via: Target): EtcdPlan | undefined {
  for (const member of members) {
    const loss = lossOf(situation, member);
    if (loss === undefined || !mayLose(situation, members, member)) continue;
    const message = `${nameOf(situation.cluster, member)} is replaced: ${loss}`;
    return acting(
      { type: 'etcd.removeMember', via, memberId: member.id },
      `remove ${nameOf(situation.cluster, member)} from the members: ${loss}`,
      wait('Replacing', message, recheckMs),
    );
  }
  return undefined;
}

/** A member without a vote gets it when it has caught up, or goes when it is not wanted any more. */
export function planLearner(situation: Situation, members: readonly Member[], via: Target): EtcdPlan | undefined {
  const learner = members.find(({ isLearner }) => isLearner);
  if (learner === undefined) return undefined;
  const { cluster, spec } = situation;
  const name = nameOf(cluster, learner);
  if (voters(members).length >= spec.replicas) {
    return acting(
      { type: 'etcd.removeMember', via, memberId: learner.id },
      `remove ${name} from the members: it is not wanted any more`,
      wait('ScalingIn', `${name} leaves before it has a vote`, recheckMs),
    );
  }
  if (learner.live === undefined) {
    return { steps: [], outcome: wait('Joining', `${name} starts, and has no vote yet`, recheckMs) };
  }
  return acting(
    { type: 'etcd.promote', via, memberId: learner.id },
    `give ${name} a vote, if it has caught up`,
    wait('Joining', `${name} catches up with the leader`, recheckMs),
  );
}

export function planOut(situation: Situation, members: readonly Member[], via: Target): EtcdPlan | undefined {
  const { cluster, spec } = situation;
  const count = voters(members).length;
  if (count >= spec.replicas) return undefined;
  const index = nextIndex(situation);
  const name = memberName(cluster.metadata.name, index);
  return acting(
    { type: 'etcd.addLearner', via, index, peerUrl: peerUrl(cluster, index) },
    `add ${name} to the members, without a vote`,
    wait('ScalingOut', `${count} of ${spec.replicas} members vote`, recheckMs),
  );
}

/** The newest that does not lead: a leader need not move for it. */
export function planIn(situation: Situation, members: readonly Member[], via: Target): EtcdPlan | undefined {
  const { cluster, spec, leader } = situation;
  const voting = voters(members);
  if (voting.length <= spec.replicas) return undefined;
  const [victim] = voting
    .filter((member) => member.id !== leader?.id && member.index !== undefined)
    .sort((a, b) => (b.index ?? 0) - (a.index ?? 0));
  if (victim === undefined) return undefined;
  const name = nameOf(cluster, victim);
  return acting(
    { type: 'etcd.removeMember', via, memberId: victim.id },
    `remove ${name} from the members: ${spec.replicas} are wanted`,
    wait('ScalingIn', `${name} leaves`, recheckMs),
  );
}
