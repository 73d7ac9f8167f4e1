/**
 * The room that a database takes.
 *
 * Over its quota etcd takes no more writes, until somebody has dropped the history, given back the unused space on every
 * member and ended the alarm (safety rule E11). Long before that, a database that is mostly unused space is made
 * smaller. Both work on one member at a time, and on a leader only after it has handed over.
 */
import { blocked, wait } from '../../../plan/plan.ts';
import type { Target } from '../action.ts';
import { nearlyFull, roomFor, spareBytes } from '../kind/quota.ts';
import { minorNumber, patchNumber } from '../kind/versions.ts';
import { type Member, nameOf, type Situation, targetOf } from '../observe/situation.ts';
import { givenQuota, quotaInForce } from './given-quota.ts';
import { wordsFor } from './health.ts';
import { acting, type EtcdPlan } from './membership.ts';
import { volumeBytes } from './volume-size.ts';

const recheckMs = 500;
/** After a member's process has started again, for as long nothing but an alarm has it defragmented. */
const calmMs = 600_000;

/** Less than this of the quota is not worth an interruption. */
const worthwhile = 0.05;

/** Undefined where there is room; what CORRUPT means is in `corruption.ts`. `members` vote, are a majority, and all of them must be well. */
export function planAlarms(situation: Situation, members: readonly Member[], via: Target): EtcdPlan | undefined {
  const { observed, spec, cluster, leader } = situation;
  const alarms = observed.agreed?.alarms ?? [];
  const listed = situation.members ?? members;
  const stale = alarms.find(({ type, memberId }) => type === 'NOSPACE' && !listed.some(({ id }) => id === memberId));
  if (stale !== undefined) {
    return acting(
      { type: 'etcd.disarm', via, memberId: stale.memberId, alarm: stale.type },
      `end the ${stale.type} alarm of a member that is gone`,
      wait('EndingAlarm', 'an alarm of a member that is gone is ended', recheckMs),
    );
  }
  const raised = alarms.find(({ type }) => type === 'NOSPACE');
  if (raised === undefined) return undefined;
  const quota = quotaInForce(situation);
  const compacted = observed.agreed?.compacted;
  const revision = leader?.live.revision;
  const mayCompact = spec.config.autoCompaction.mode !== 'Off' && compacted !== undefined && revision !== undefined;
  if (mayCompact && BigInt(compacted) < BigInt(revision)) {
    return acting(
      { type: 'etcd.compact', members: members.flatMap(({ live }) => (live ? [targetOf({ live })] : [])), revision },
      `drop the history of keys up to revision ${revision}: the quota is used up`,
      wait('FreeingSpace', 'the quota is used up: the history of keys is dropped', recheckMs),
    );
  }
  const worthy = members.filter((member) => unusedOf(member) > quota * worthwhile);
  const cramped = worthy.filter((member) => endsWithoutRoom(member) && !hasRoomForCopy(situation, member, spareBytes));
  const change = planDefragment(situation, members, (member) => worthy.includes(member) && !cramped.includes(member));
  if (change !== undefined) return change;
  const largest = Math.max(...members.map(({ live }) => live?.dbSize ?? 0));
  if (largest < quota * nearlyFull) {
    const member = members.find(({ id }) => id === raised.memberId);
    return acting(
      { type: 'etcd.disarm', via, memberId: raised.memberId, alarm: raised.type },
      `end the NOSPACE alarm of ${member === undefined ? 'a member' : nameOf(cluster, member)}`,
      wait('EndingAlarm', 'there is room again: writes are let in', recheckMs),
    );
  }
  const [first] = cramped;
  if (first?.live !== undefined) {
    const message = `${wordsFor(cluster, cramped)}: no room on the volume for the copy that gives unused space back, without which etcd ${first.live.version} ends: set version to 3.5.${survivingPatchOf35} or later, or raise storage.size`;
    return { steps: [], outcome: blocked('QuotaExhausted', message) };
  }
  const message = `the database holds ${largest} of ${quota} bytes and takes no writes: delete keys, or raise config.quotaBackend`;
  return { steps: [], outcome: blocked('QuotaExhausted', message) };
}

/** Undefined where no database is worth it. Everybody must be well. */
export function planDefragmentation(situation: Situation, members: readonly Member[]): EtcdPlan | undefined {
  const { mode, unusedPercent } = situation.spec.maintenance.defrag;
  if (mode === 'Off') return undefined;
  const quota = givenQuota(situation);
  return planDefragment(
    situation,
    members,
    (member) =>
      (member.live?.dbSize ?? 0) * 4 > quota &&
      unusedOf(member) * 100 >= (member.live?.dbSize ?? 0) * unusedPercent &&
      hasRoomForCopy(situation, member) &&
      hasRunForAWhile(situation, member),
  );
}

/** One that has just started may have ended for being defragmented: the next attempt is not the next thing that happens. */
function hasRunForAWhile({ pods, observed }: Situation, { index }: Member): boolean {
  const containers = (index === undefined ? undefined : pods.get(index))?.status?.containerStatuses ?? [];
  return containers.every(({ restartCount = 0, state }) => {
    const since = Date.parse(state?.running?.startedAt ?? '');
    return restartCount === 0 || Number.isNaN(since) || observed.at - since >= calmMs;
  });
}

/** What is used is copied beside the database before that goes. A log that meets a full disk ends its member. */
function hasRoomForCopy(situation: Situation, { live }: Member, spare = 0): boolean {
  return live === undefined || live.dbSize + live.dbInUse <= roomFor(volumeBytes(situation)) + spare;
}

/** From this one on a defragmentation that meets a full disk is given up; before, its member ends (etcd #18810). */
const survivingPatchOf35 = 17;

function endsWithoutRoom({ live }: Member): boolean {
  return live !== undefined && minorNumber(live.version) === 5 && patchNumber(live.version) < survivingPatchOf35;
}

function unusedOf({ live }: Member): number {
  return live === undefined ? 0 : live.dbSize - live.dbInUse;
}

function planDefragment(
  { cluster, leader }: Situation,
  members: readonly Member[],
  isWorthIt: (member: Member) => boolean,
): EtcdPlan | undefined {
  const worthy = members.filter(isWorthIt);
  const next = worthy.find(({ id }) => id !== leader?.id) ?? worthy[0];
  if (next?.live === undefined) return undefined;
  const name = nameOf(cluster, next);
  const successor = members.find((member) => !isWorthIt(member));
  if (leader !== undefined && next.id === leader.id && successor !== undefined) {
    return acting(
      { type: 'etcd.moveLeader', via: targetOf(leader), to: successor.id },
      `make ${nameOf(cluster, successor)} the leader: ${name} is to be defragmented`,
      wait('MovingLeader', `${name} hands over before it is defragmented`, recheckMs),
    );
  }
  return acting(
    { type: 'etcd.defragment', member: targetOf({ live: next.live }) },
    `give back the unused space of ${name}`,
    wait('Defragmenting', `${name} gives back its unused space`, recheckMs),
  );
}
