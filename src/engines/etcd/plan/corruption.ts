/**
 * Members whose data differs (safety rule E10). It comes before everything else, whatever readiness says: while a CORRUPT
 * alarm stands no member is ready, and etcd takes no writes.
 *
 * A member goes only where etcd names it and a majority of voters without it hold the same keys at one revision. Then its
 * alarm ends, when everybody who is left holds the same. In every other case this is where the operator stops: the alarm
 * keeps writes out of data that has come apart, and which of it is right, a person has to say.
 */
import { blocked, wait } from '../../../plan/plan.ts';
import type { Target } from '../action.ts';
import { isCorruption } from '../observe/observed.ts';
import { type Member, nameOf, type Situation, targetOf, voters } from '../observe/situation.ts';
import { complaintOf } from '../observe/termination-message.ts';
import { isOutvoted, majorityAmong, verdictOn, verdictWords } from './comparison.ts';
import { failureOf } from './failed-member.ts';
import { memberProblems, wordsFor } from './health.ts';
import { acting, type EtcdPlan, planReplacement, removing } from './membership.ts';
import { planStuck } from './restart.ts';
import { keepStep } from './volumes.ts';

const recheckMs = 250;
const awayRecheckMs = 1000;
/** No watch tells that somebody has ended an alarm or removed a member. */
const blockedRecheckMs = 10_000;
/** Where clients write, whom each comparison holds up; of a pod that starts again the watch tells. */
const writingRecheckMs = 60_000;

/** Undefined where nobody's data is in doubt. */
export function planCorruption(situation: Situation, members: readonly Member[]): EtcdPlan | undefined {
  const raised = new Set(
    (situation.observed.agreed?.alarms ?? []).filter(isCorruption).map(({ memberId }) => memberId),
  );
  if (raised.size === 0) return planInconsistency(situation, members);
  if (raised.has('0')) {
    return stopped(situation, voters(members), 'etcd has raised CORRUPT and names no member');
  }
  const named = members.filter(({ id }) => raised.has(id));
  const others = voters(members).filter((member) => !named.includes(member));
  const majority = majorityAmong(situation, others);
  const [first] = named;
  if (first !== undefined) {
    const names = wordsFor(situation.cluster, named);
    if (majority === undefined || first.index === undefined) {
      return stopped(
        situation,
        others,
        `etcd says that the data of ${names} is corrupt, and the others do not prove it`,
      );
    }
    return planRemoval(situation, first, endpointOf(situation, majority));
  }
  return planFinalization(situation, members, [...raised]);
}

/** Those with an alarm have left: it ends, where everybody who has stayed holds the same. */
function planFinalization(situation: Situation, members: readonly Member[], raised: readonly string[]): EtcdPlan {
  const voting = voters(members);
  const majority = majorityAmong(situation, voting);
  const [memberId] = raised;
  const cause = 'a CORRUPT alarm of a member that has left stands';
  // One alone agrees with nobody. It may be what is left of a majority, or the data of a snapshot, which holds alarms, too.
  const isProven = majority !== undefined && majority.length > 1;
  if (!isProven || memberId === undefined) return stopped(situation, members, cause);
  const via = endpointOf(situation, majority);
  // Nobody can compare a member without a vote, which may have copied the data that was corrupt.
  const learner = members.find(({ isLearner, index }) => isLearner && index !== undefined);
  if (learner !== undefined) {
    const name = nameOf(situation.cluster, learner);
    return removing(
      situation,
      learner,
      via,
      `remove ${name} from the members: it may have copied corrupt data`,
      wait('Replacing', `${name} is replaced: it may have copied corrupt data`, recheckMs),
    );
  }
  if (majority.length < members.length) {
    const away = memberProblems(
      situation,
      members.filter((member) => !majority.includes(member)),
    ).join('; ');
    const outcome = wait(
      'MembersNotReady',
      `${cause}, and ends when all others have been compared: ${away}`,
      awayRecheckMs,
    );
    // Whoever is lost for another reason is never going to be compared.
    return planReplacement(situation, members, via) ?? { steps: planStuck(situation)?.steps ?? [], outcome };
  }
  return acting(
    { type: 'etcd.disarm', via, memberId, alarm: 'CORRUPT' },
    'end the CORRUPT alarm of a member that has left: the others hold the same data',
    wait('EndingAlarm', 'a CORRUPT alarm of a member that has left is ended: the others hold the same data', recheckMs),
  );
}

function planRemoval(situation: Situation, member: Member, via: Target): EtcdPlan {
  const name = nameOf(situation.cluster, member);
  const why = 'its data is corrupt, and a majority of the others hold the same';
  const plan = removing(
    situation,
    member,
    via,
    `remove ${name} from the members: ${why}`,
    wait('Replacing', `${name} is replaced: ${why}`, recheckMs),
  );
  return { ...plan, steps: [...keepStep(situation, member), ...plan.steps] };
}

/** A member that does not start since it has found other data than its own, without a proof that it is the one. */
function planInconsistency(situation: Situation, members: readonly Member[]): EtcdPlan | undefined {
  const accusers = members.filter(
    (member) =>
      member.live === undefined &&
      member.index !== undefined &&
      complaintOf(situation.pods.get(member.index)) === 'inconsistent' &&
      failureOf(situation, member) === undefined &&
      !isOutvoted(situation, member),
  );
  if (accusers.length === 0) return undefined;
  const names = wordsFor(situation.cluster, accusers);
  const what = `${names} found data that differs from its own, and does not start`;
  return stopped(situation, voters(members), what, writingRecheckMs);
}

/**
 * The same plan; but while a comparison is made and clients write, whom it holds up, the next look is no sooner than it
 * has to be, unless a member has just been taken out.
 */
export function sparingWriters({ observed }: Situation, plan: EtcdPlan): EtcdPlan {
  const { outcome, steps } = plan;
  const isFenced = observed.agreed?.alarms.some(isCorruption) === true;
  const takesOut = steps.some((step) => step.type === 'act' && step.destructive === true);
  if (observed.comparison === undefined || isFenced || takesOut || outcome.state === 'settled') return plan;
  const { recheckMs: soon } = outcome;
  if (soon === undefined || soon >= blockedRecheckMs) return plan;
  return { ...plan, outcome: { ...outcome, recheckMs: blockedRecheckMs } };
}

/** Where no majority answers: those who do not start for what they have found in others. Undefined where there are none. */
export function inconsistentPods({ pods }: Situation): string | undefined {
  const names = [...pods.values()]
    .filter((pod) => complaintOf(pod) === 'inconsistent')
    .map(({ metadata }) => metadata.name);
  return names.length === 0
    ? undefined
    : `${names.join(', ')} found data that differs from its own, and does not start`;
}

/** The leader, where it is one of them. */
function endpointOf({ leader }: Situation, majority: readonly Member[]): Target {
  const [first] = [...majority].sort((a, b) => Number(b.id === leader?.id) - Number(a.id === leader?.id));
  if (first?.live === undefined) throw new Error('a majority of members that answer has one that does');
  return targetOf({ live: first.live });
}

/** A pod that cannot start may get a template that was corrected: it is nobody's data. */
function stopped(situation: Situation, among: readonly Member[], what: string, againMs = blockedRecheckMs): EtcdPlan {
  const verdict = verdictWords(situation.cluster, verdictOn(situation, among));
  const message = `${what}: nobody is removed, and no alarm is ended, until a person has compared the data${verdict === '' ? '' : ` (${verdict})`}`;
  return {
    steps: planStuck(situation)?.steps ?? [],
    outcome: blocked('DataCorrupt', message, againMs),
  };
}
