/**
 * One change of who votes at a time, each decided on a list that a majority has just confirmed.
 *
 * In: added without a vote, started, promoted when it has caught up. Out: removed from the list, then stopped. A member
 * that is lost goes before another one comes, since a voter more would raise the majority that the others have to reach
 * (safety rules E1 to E4).
 */
import { type Outcome, type Plan, wait } from '../../plan/plan.ts';
import type { EtcdAction, Target } from './action.ts';
import { wordsFor } from './health.ts';
import { lossOf, mayLose } from './loss.ts';
import { memberName, peerUrl } from './names.ts';
import { isOutdated } from './outdated.ts';
import { isHealthy, type Member, nameOf, nextIndex, type Situation, targetOf, voters } from './situation.ts';

export type EtcdPlan = Plan<EtcdAction>;

/** How often to look again while members connect and copy, which no watch tells of. */
const recheckMs = 250;

export function acting(action: EtcdAction, summary: string, outcome: Outcome): EtcdPlan {
  return { steps: [{ type: 'act', action, summary }], outcome };
}

/** Whom the spec does not want is gone for good: see `ActStep.takesAway`. */
function removing({ id: memberId }: Member, via: Target, summary: string, outcome: Outcome): EtcdPlan {
  const action = { type: 'etcd.removeMember', via, memberId } as const;
  return { steps: [{ type: 'act', action, summary, takesAway: true }], outcome };
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
    return removing(
      member,
      via,
      `remove ${nameOf(situation.cluster, member)} from the members: ${loss}`,
      wait('Replacing', message, recheckMs),
    );
  }
  return undefined;
}

/** Members without a vote get it when they have caught up, one after the other, or go when they are not wanted any more. */
export function planLearner(situation: Situation, members: readonly Member[], via: Target): EtcdPlan | undefined {
  const learners = members.filter(({ isLearner }) => isLearner);
  const newest = learners.at(-1);
  if (newest === undefined) return undefined;
  const { cluster, spec } = situation;
  if (voters(members).length + learners.length > spec.replicas) {
    const name = nameOf(cluster, newest);
    return removing(
      newest,
      via,
      `remove ${name} from the members: it is not wanted any more`,
      wait('ScalingIn', `${name} leaves before it has a vote`, recheckMs),
    );
  }
  const [first] = learners
    .filter(({ live }) => live !== undefined)
    .sort((a, b) => (b.live?.applied ?? 0) - (a.live?.applied ?? 0));
  if (first === undefined) {
    const names = wordsFor(cluster, learners);
    return { steps: [], outcome: wait('Joining', `${names}: started, without a vote yet`, recheckMs) };
  }
  const name = nameOf(cluster, first);
  return acting(
    { type: 'etcd.promote', via, memberId: first.id },
    `give ${name} a vote, if it has caught up`,
    wait('Joining', `${name} catches up with the leader`, recheckMs),
  );
}

/**
 * Everybody votes. Two come at once, since what takes time is to start and to copy, and who has no vote endangers
 * nobody. Both are listed before either starts: each is told who else there is, and refuses to start on a list that is
 * not etcd's. Members that still run by older settings might count one as one too many, and the others not.
 */
export function planOut(situation: Situation, members: readonly Member[], via: Target): EtcdPlan | undefined {
  const { cluster, spec } = situation;
  const count = voters(members).length;
  if (count >= spec.replicas) return undefined;
  const isMixed = members.some((member) => isOutdated(situation, member));
  const next = nextIndex(situation);
  const peers = [next, next + 1]
    .slice(0, isMixed ? 1 : spec.replicas - count)
    .map((index) => ({ index, peerUrl: peerUrl(cluster, index) }));
  const names = peers.map(({ index }) => memberName(cluster.metadata.name, index)).join(' and ');
  return acting(
    { type: 'etcd.addLearners', via, peers },
    `add ${names} to the members, without a vote`,
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
  return removing(
    victim,
    via,
    `remove ${name} from the members: ${spec.replicas} are wanted`,
    wait('ScalingIn', `${name} leaves`, recheckMs),
  );
}
