/**
 * Which member will not come back by itself: only such a one is replaced, and only beside a primary.
 *
 * Silence alone says nothing: a pod that starts again, a slow network and a busy machine end by themselves, and Patroni rewinds a member
 * that has left the primary's timeline. What counts is a blank volume, a log that the primary has removed, data that Patroni has not
 * rewound, or a pod that Kubernetes has given up.
 */
import { durationMs } from '../../../api/duration.ts';
import type { Pod } from '../../../resources/children.ts';
import type { LiveMember } from '../observe/observed.ts';
import { knownLoss } from '../observe/second-look.ts';
import { heldBy, isPrimary, type Situation } from '../observe/situation.ts';
import { hasYetToCopy, isFutile, isRepeated } from './newcomers.ts';
import { isOutdated } from './outdated.ts';
import { areSettingsKnown, withoutStart } from './parameters.ts';

/** What `start.sh` ends with where the volume is blank. */
export const blankExitCode = 78;
/** And where only that of the log is. The data is of no use without it. */
export const blankWalExitCode = 79;
/** With which it ends where an unfinished database cannot be moved aside: see `relabel.py`. */
export const unmovableExitCode = 80;
/** Beyond the grace that a pod has to stop: its node does not answer. */
const terminatingMs = 60_000;
/** For a process that crashes again and again, and for a volume that is bound to a node that is gone. */
const patienceMs = 180_000;
/** After this time, or that of the lock if it is longer, each Patroni has read new settings and tried to start PostgreSQL with them. */
const settledMs = 60_000;
const manyRestarts = 5;

export interface Failure {
  readonly why: string;
  /** Its data is a part of the primary's, and nothing else is wrong: it may be deleted and copied again in its place. */
  readonly isBehind?: true;
}

/** Undefined for a member that is well, or may be soon. */
export function failureOf(situation: Situation, index: number): Failure | undefined {
  const { primary, live, pods } = situation;
  if (primary === undefined) return undefined;
  const member = live.get(index);
  if (member !== undefined && isPrimary(situation, member)) return undefined;
  const pod = pods.get(index);
  return blank(situation, index, pod) ?? apart(situation, member) ?? givenUp(situation, index, pod);
}

/** Kubernetes cannot stop it: its node does not answer. */
export function isAbandoned({ observed }: Situation, pod: Pod | undefined): boolean {
  const { deletionTimestamp } = pod?.metadata ?? {};
  // The API server sets it to the end of the grace.
  return deletionTimestamp !== undefined && observed.at - Date.parse(deletionTimestamp) > terminatingMs;
}

/** Which volume is blank, in words. */
export function endedBlank(pod: Pod | undefined): string | undefined {
  const codes = exitCodes(pod);
  if (codes.includes(blankExitCode)) return 'its volume is blank';
  return codes.includes(blankWalExitCode) ? 'the volume of its log is blank' : undefined;
}

/** It has made no database yet, and cannot begin anew. */
export function isUnmovable(pod: Pod | undefined): boolean {
  return exitCodes(pod).includes(unmovableExitCode);
}

/** Of containers that do not run. */
function exitCodes(pod: Pod | undefined): readonly (number | undefined)[] {
  return (pod?.status?.containerStatuses ?? []).map(({ state, lastState }) =>
    state?.running === undefined ? (state?.terminated ?? lastState?.terminated)?.exitCode : undefined,
  );
}

function blank({ roster, claims, live }: Situation, index: number, pod: Pod | undefined): Failure | undefined {
  if (live.has(index)) return undefined;
  const blank = endedBlank(pod);
  if (blank !== undefined) return { why: blank };
  if (roster.get(index) !== 'resume') return undefined;
  const claim = claims.get(index);
  return claim !== undefined && heldBy(claim) === undefined ? { why: 'its volume is another one' } : undefined;
}

/** PostgreSQL runs, takes no writes, and copies from nobody. */
function apart(situation: Situation, member: LiveMember | undefined): Failure | undefined {
  const loss = member === undefined ? undefined : knownLoss(situation, member);
  switch (loss) {
    case undefined:
      return undefined;
    case 'behind':
      return { why: 'the primary has removed the log that it needs', isBehind: true };
    case 'diverged':
      return { why: 'it has left the primary’s timeline, and Patroni has not rewound it' };
    default:
      return loss satisfies never;
  }
}

function givenUp(situation: Situation, index: number, pod: Pod | undefined): Failure | undefined {
  if (pod === undefined) return undefined;
  const { observed, live } = situation;
  if (isAbandoned(situation, pod)) return { why: 'its node does not answer' };
  if (pod.metadata.deletionTimestamp !== undefined) return undefined;
  const conditions = pod.status?.conditions ?? [];
  const since = (type: string): number => {
    const condition = conditions.find((one) => one.type === type && one.status === 'False');
    return condition?.lastTransitionTime === undefined ? 0 : observed.at - Date.parse(condition.lastTransitionTime);
  };
  const scheduled = conditions.find(({ type }) => type === 'PodScheduled');
  if (/volume node affinity/.test(scheduled?.message ?? '') && since('PodScheduled') > patienceMs)
    return { why: 'the node of its volume is gone' };
  const isFailing = crashes(pod) || (failsToStart(live.get(index)) && runsFor(pod, observed.at) > patienceMs);
  if (!isFailing || since('Ready') <= patienceMs || !isAloneInIt(situation, index)) return undefined;
  if (hasYetToCopy(situation, index))
    return isFutile(situation, index) ? undefined : { why: 'its copy of the primary’s data fails' };
  return isRepeated(situation, index) ? undefined : { why: 'PostgreSQL does not start on its data' };
}

function crashes(pod: Pod): boolean {
  return (pod.status?.containerStatuses ?? []).some(
    ({ restartCount = 0, state, lastState }) =>
      restartCount >= manyRestarts &&
      state?.waiting?.reason === 'CrashLoopBackOff' &&
      // More memory is what it needs, not another volume.
      lastState?.terminated?.reason !== 'OOMKilled',
  );
}

/** Where Patroni is paused, a person may have stopped PostgreSQL. */
function failsToStart(member: LiveMember | undefined): boolean {
  return member?.isPaused === false && ['start failed', 'crashed', 'stopped'].includes(member.postgres);
}

/**
 * How long Patroni itself has run: 0 where it does not. The pod may have been unready for long before, while its node was away. Then PostgreSQL
 * is stopped until Patroni has recovered it from the crash, and rewound it.
 */
function runsFor(pod: Pod, at: number): number {
  const starts = (pod.status?.containerStatuses ?? []).flatMap(({ state }) => state?.running?.startedAt ?? []);
  return starts.length === 0 ? 0 : at - Math.max(...starts.map((start) => Date.parse(start)));
}

/** Another standby runs the same template and the same settings well: it is the data that keeps this one from running. */
function isAloneInIt(situation: Situation, index: number): boolean {
  const { roster, live } = situation;
  if (isOutdated(situation, index) || withoutStart(situation) !== undefined) return false;
  // A setting that was corrected a moment ago may be why it does not start.
  if (!areSettingsKnown(situation, Math.max(settledMs, durationMs(situation.spec.failover.ttl)))) return false;
  return [...roster.keys()].some(
    (other) =>
      other !== index &&
      live.get(other)?.isStreaming === true &&
      live.get(other)?.restartPending === false &&
      !isOutdated(situation, other),
  );
}
