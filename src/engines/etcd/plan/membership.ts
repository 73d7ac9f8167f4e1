/**
 * One change of who votes at a time, each decided on a list that a majority has just confirmed.
 *
 * In: added without a vote, started, promoted when it has caught up. Out: removed from the list, then stopped. A member
 * that is lost goes before another one comes, since a voter more would raise the majority that the others have to reach
 * (safety rules E1 to E4).
 */
import { pods as podResource } from '../../../api/resource.ts';
import { type Outcome, type Plan, type Step, wait } from '../../../plan/plan.ts';
import { refOf } from '../../../plan/ref.ts';
import type { Pod } from '../../../resources/children.ts';
import type { EtcdAction, Target } from '../action.ts';
import { minorNumber } from '../kind/versions.ts';
import { memberName, peerUrl } from '../names.ts';
import { isToResume } from '../observe/formation.ts';
import { isHealthy, type Member, nameOf, nextIndex, type Situation, targetOf, voters } from '../observe/situation.ts';
import { complaintOf } from '../observe/termination-message.ts';
import { unknownVolumesOutcome } from '../observe/unknown-volumes.ts';
import { failureOf, isReplaceable } from './failed-member.ts';
import { goingVolumesOutcome, isGoing } from './going-volumes.ts';
import { memberProblems, wordsFor } from './health.ts';
import { areYoung } from './newcomer.ts';
import { isOutdated } from './outdated.ts';
import { keepStep } from './volumes.ts';

/** Its volume holds data that is worth a look: nobody can copy it from anywhere else. */
function isDamaged(pod: Pod | undefined): boolean {
  const complaint = complaintOf(pod);
  return complaint === 'unreadable' || complaint === 'shortened' || complaint === 'inconsistent';
}

export type EtcdPlan = Plan<EtcdAction>;

/** How often to look again while members connect and copy, which no watch tells of. */
const recheckMs = 250;
/** For a member that takes long to come. */
const patientMs = 5_000;

export function acting(action: EtcdAction, summary: string, outcome: Outcome): EtcdPlan {
  return { steps: [{ type: 'act', action, summary, ...eventOf(action) }], outcome };
}

function eventOf({ type }: EtcdAction): { readonly event?: string } {
  return type === 'etcd.moveLeader' ? { event: 'MoveLeader' } : {};
}

/** Whom the spec does not want is gone for good: see `ActStep.destructive`. So is whom his pod says to be lost. */
export function removing(
  situation: Situation,
  { id: memberId }: Member,
  via: Target,
  summary: string,
  outcome: Outcome,
  lost?: Pod,
): EtcdPlan {
  const action = { type: 'etcd.removeMember', via, others: othersThan(situation, via, memberId), memberId } as const;
  const precondition = lost === undefined ? undefined : refOf(lost, podResource);
  const step = { type: 'act', action, summary, destructive: true } as const;
  return { steps: [precondition === undefined ? step : { ...step, precondition }], outcome };
}

/** Where a change is asked for: the leader, or whoever knows one. */
export function viaOf({ leader, members = [] }: Situation): Target | undefined {
  const member = leader ?? members.find((candidate) => isHealthy(candidate) && !candidate.isLearner);
  return member?.live === undefined ? undefined : targetOf({ live: member.live });
}

function othersThan({ members = [] }: Situation, via: Target, leaving?: string): Target[] {
  return voters(members).flatMap((member) =>
    member.live === undefined || !isHealthy(member) || member.live.pod === via.pod || member.id === leaving
      ? []
      : [targetOf({ live: member.live })],
  );
}

/** Takes out who will not come back. Undefined when nobody is lost, or when nobody may go now. */
export function planReplacement(situation: Situation, members: readonly Member[], via: Target): EtcdPlan | undefined {
  for (const member of members) {
    const failure = failureOf(situation, member);
    if (failure === undefined || !isReplaceable(situation, members, member)) continue;
    const message = `${nameOf(situation.cluster, member)} is replaced: ${failure}`;
    const pod = member.index === undefined ? undefined : situation.pods.get(member.index);
    const plan = removing(
      situation,
      member,
      via,
      `remove ${nameOf(situation.cluster, member)} from the members: ${failure}`,
      wait('Replacing', message, recheckMs),
      pod,
    );
    return isDamaged(pod) ? { ...plan, steps: [...keepStep(situation, member), ...plan.steps] } : plan;
  }
  return undefined;
}

/**
 * Members without a vote get it when they have caught up, one after the other, or go when they are not wanted any more.
 * Not before they are to resume: one that votes and comes back blank may give its vote to who lacks what it has
 * acknowledged (safety rule E3).
 */
export function planLearner(situation: Situation, members: readonly Member[], via: Target): EtcdPlan | undefined {
  const learners = members.filter(({ isLearner }) => isLearner);
  const newest = learners.at(-1);
  if (newest === undefined) return undefined;
  const { cluster, spec } = situation;
  if (voters(members).length + learners.length > spec.replicas) {
    const name = nameOf(cluster, newest);
    return removing(
      situation,
      newest,
      via,
      `remove ${name} from the members: it is not wanted any more`,
      wait('ScalingIn', `${name} leaves before it has a vote`, recheckMs),
    );
  }
  const copying = learners
    .filter(({ live }) => live !== undefined)
    .sort((a, b) => (b.live?.applied ?? 0) - (a.live?.applied ?? 0));
  const ready = copying.find((member) => isToResume(situation, member));
  const first = ready ?? copying[0];
  const isSoon = areYoung(situation, learners);
  const againMs = isSoon ? recheckMs : patientMs;
  const another = learners.length === 1 ? planAnother(situation, members, newest, via) : undefined;
  if (first === undefined) {
    const message = `${wordsFor(cluster, learners)}: no vote yet; ${memberProblems(situation, learners).join('; ')}`;
    return another ?? { steps: [], outcome: wait('Joining', message, againMs) };
  }
  const name = nameOf(cluster, first);
  const promotion: Step<EtcdAction> = {
    type: 'act',
    action: { type: 'etcd.promote', via, memberId: first.id },
    summary: `give ${name} a vote, if it has caught up`,
    ...(isSoon ? {} : { unhurried: true }),
  };
  return {
    // The other way round etcd 3.5 takes nobody in until the new voter has been connected for five seconds.
    steps: [...(another?.steps ?? []), ...(ready === undefined ? [] : [promotion])],
    outcome: wait('Joining', `${name} catches up with the leader`, againMs),
  };
}

/** From this minor on two members may be without a vote, as `settings.ts` has it. */
const takingTwo = 6;

/**
 * The next one while one is there without a vote, since what takes time is to start and to copy, and who has no vote
 * endangers nobody. Not before the first has started: a member that starts waits until it can resolve the names of all
 * who are listed, and then asks each of them, so that one more who is listed and does not run costs it seven seconds or
 * more. Members that still run by older settings might count the second as one too many, and the others not. So 3.5 is
 * asked for one only: it refuses the second when that is in the log already, and a 3.6 that reads the log again takes it in.
 */
function planAnother(
  situation: Situation,
  members: readonly Member[],
  first: Member,
  via: Target,
): EtcdPlan | undefined {
  const voting = voters(members);
  const pod = first.index === undefined ? undefined : situation.pods.get(first.index);
  const isStarted = pod?.status?.containerStatuses?.some(({ started }) => started === true) === true;
  const hasStarted = isStarted || first.live !== undefined;
  const isMixed = members.some((member) => isOutdated(situation, member));
  const running = [situation.spec.version, ...members.flatMap(({ live }) => live?.version ?? [])];
  const mayBeTwo = running.every((version) => minorNumber(version) >= takingTwo);
  const isRoom = voting.length + 1 < situation.spec.replicas;
  const isKnown = unknownVolumesOutcome(situation) === undefined;
  return isRoom && hasStarted && mayBeTwo && isKnown && !isMixed && memberProblems(situation, voting).length === 0
    ? adding(situation, voting.length, via)
    : undefined;
}

/** Everybody votes. */
export function planScaleOut(situation: Situation, members: readonly Member[], via: Target): EtcdPlan | undefined {
  const count = voters(members).length;
  if (count >= situation.spec.replicas) return undefined;
  const unknown = unknownVolumesOutcome(situation);
  return unknown === undefined ? adding(situation, count, via) : { steps: [], outcome: unknown };
}

function adding(situation: Situation, votes: number, via: Target): EtcdPlan {
  const { cluster, spec } = situation;
  const index = nextIndex(situation);
  return acting(
    { type: 'etcd.addLearner', via, others: othersThan(situation, via), index, peerUrl: peerUrl(cluster, index) },
    `add ${memberName(cluster.metadata.name, index)} to the members, without a vote`,
    wait('ScalingOut', `${votes} of ${spec.replicas} members vote`, recheckMs),
  );
}

const byAge = (a: Member, b: Member): number => (b.index ?? 0) - (a.index ?? 0);

/**
 * The newest member that does not lead, so that no leader has to move. Members whose volume goes with their pod come first:
 * of two that are left, neither could be restarted.
 */
export function planScaleIn(situation: Situation, members: readonly Member[], via: Target): EtcdPlan | undefined {
  const { cluster, spec, leader } = situation;
  const voting = voters(members);
  if (voting.length <= spec.replicas) return undefined;
  const [leaving] = voting
    .filter((member) => member.id !== leader?.id && member.index !== undefined)
    .sort((a, b) => Number(isGoing(situation, b.index)) - Number(isGoing(situation, a.index)) || byAge(a, b));
  if (leaving === undefined) return undefined;
  const staying = voting.flatMap(({ id, index }) => (index === undefined || id === leaving.id ? [] : [index]));
  const going = staying.length > 2 ? undefined : goingVolumesOutcome(situation, staying, staying);
  if (going !== undefined) return { steps: [], outcome: going };
  const name = nameOf(cluster, leaving);
  return removing(
    situation,
    leaving,
    via,
    `remove ${name} from the members: ${spec.replicas} are wanted`,
    wait('ScalingIn', `${name} leaves`, recheckMs),
  );
}
