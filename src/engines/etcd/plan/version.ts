/**
 * Whether the version of the spec may be rolled out onto what runs (safety rules E6 and E7): one minor at a time, from a
 * patch that is fit for it, after a backup, and downwards only as far as etcd itself has prepared the data.
 *
 * While it may not, templates keep the version that their member has: whoever starts again by itself would start with
 * the new one. Another minor begins only while a majority answers, since nobody else can say what the data is fit for;
 * but one that nobody has come to run may be gone back from.
 */

import type { BackupFactory } from '../../../engine/backup-support.ts';
import { requiredBackup, versionBackupFailed, versionBackupReason } from '../../../jobs/required-backup.ts';
import { blocked, type ObjectStep, type Outcome, wait } from '../../../plan/plan.ts';
import type { StatefulSet } from '../../../resources/children.ts';
import type { Target } from '../action.ts';
import { firstPatchOf35, lastPatchBefore36 } from '../kind/schema.ts';
import { minorNumber, minorOf, patchNumber, versionLabel } from '../kind/versions.ts';
import { allowedTarget, isPrepared } from '../observe/downgrade.ts';
import { answering, type LiveMember } from '../observe/observed.ts';
import { type Situation, voters } from '../observe/situation.ts';
import { memberProblems } from './health.ts';
import { imageMismatch, type Mismatch } from './image-version.ts';
import { acting, type EtcdPlan } from './membership.ts';
import { noOtherMinorStarted } from './never-started.ts';
import { isOutdated } from './outdated.ts';
import { canSpareOne } from './restart.ts';
import { doneWith, versionBackup } from './version-backup.ts';

export interface VersionGate {
  readonly isOpen: boolean;
  /** Another minor begins with this plan, or the backup before it. */
  readonly begins?: true;
  /** That backup is at work. */
  readonly prepares?: true;
  /** What it waits for, or what is in the way; instead of "settled". */
  readonly outcome?: Outcome;
  /** Towards a backup, or away from one that nobody waits for any more. */
  readonly steps: readonly ObjectStep[];
  /** A downgrade to this one is to be allowed, once everybody is well. */
  readonly target?: string;
  /**
   * Nobody can tell what the templates should name: they stay. `new`: nor is any member started. `pinned`: they name the version of now,
   * and nothing else is the matter, so what else has changed of them is written.
   */
  readonly templates?: 'stay' | 'new' | 'pinned';
  /** Put behind what is said of restarts. */
  readonly note?: string;
  /** One is allowed: etcd lets no member join. `unwanted`: it is to be cancelled. */
  readonly downgrade?: 'allowed' | 'unwanted';
  /** Members have the version that is wanted, or have yet to go back: templates wait for no window. */
  readonly goesOn?: true;
}

const open: VersionGate = { isOpen: true, steps: [] };
const recheckMs = 500;
const joining = wait('CancellingDowngrade', 'a member joins, which etcd allows only without a downgrade', recheckMs);

const shut = (outcome: Outcome, more: Partial<VersionGate> = {}): VersionGate => ({
  isOpen: false,
  outcome,
  steps: [],
  ...more,
});

/** Those who say what they run, with a vote or without. */
export function running({ observed }: Situation): LiveMember[] {
  return answering(observed.members).filter(({ version }) => version !== '');
}

/** Minors that the templates name. */
function templates({ sets }: Situation): number[] {
  return [...sets.values()].flatMap((set) => minorIn(set) ?? []);
}

function minorIn(set: StatefulSet | undefined): number | undefined {
  const version = set?.spec?.template?.metadata?.labels?.[versionLabel];
  return version === undefined ? undefined : minorNumber(version);
}

/** Members are about to restart with the minor that is wanted. Who restarts for something else takes no other minor along. */
export function isMinorRolling(situation: Situation): boolean {
  const { sets, pods, spec } = situation;
  const wanted = minorNumber(spec.version);
  return [...pods.keys()].some((index) => minorIn(sets.get(index)) === wanted && isOutdated(situation, { index }));
}

/** Somebody runs another minor than the one that is wanted, or etcd has not ended a downgrade. */
export function isVersionDue(situation: Situation): boolean {
  const wanted = minorNumber(situation.spec.version);
  return (
    running(situation).some(({ version }) => minorNumber(version) !== wanted) ||
    allowedTarget(situation.observed) !== undefined
  );
}

/** Asks for a downgrade, or waits for etcd to end one. Everybody must be well. */
export function planDowngrade({ target, downgrade, outcome }: VersionGate, via: Target): EtcdPlan | undefined {
  if (target !== undefined && outcome !== undefined) {
    const summary = `allow the members to go back to ${minorOf(target)}`;
    return acting({ type: 'etcd.enableDowngrade', via, target }, summary, outcome);
  }
  const lasting = wait('Downgrading', 'no member joins until the downgrade is over', recheckMs);
  return downgrade === undefined ? undefined : { steps: [], outcome: outcome ?? lasting };
}

/** Cancels a downgrade that is not wanted, or not now. */
export function planCancelDowngrade({ downgrade, outcome }: VersionGate, via: Target): EtcdPlan | undefined {
  if (downgrade !== 'unwanted' || outcome?.state !== 'wait') return undefined;
  return acting({ type: 'etcd.cancelDowngrade', via }, `cancel the downgrade: ${outcome.message}`, outcome);
}

/** Somebody is to join, which etcd allows only without a downgrade: afterwards one is allowed anew. */
function isJoining({ members = [], spec }: Situation): boolean {
  const isIncomplete = voters(members).length < spec.replicas && !canSpareOne(members);
  return isIncomplete || members.some(({ isLearner }) => isLearner);
}

/** `mayBegin`: another minor may begin now. Where one would, and may not, nothing of it is done, not even its backup. */
export function versionGate(situation: Situation, take: BackupFactory, mayBegin = true): VersionGate {
  const { spec, cluster, members } = situation;
  const mismatch = imageMismatch(situation);
  if (mismatch !== undefined) return gateMismatch(situation, mismatch);
  const refused = refusal(situation);
  if (refused !== undefined) return shut(refused);
  if (cluster.status?.initialized !== true) return open;
  const wanted = minorNumber(spec.version);
  const written = templates(situation);
  const runs = running(situation).map(({ version }) => minorNumber(version));
  const old = [...written, ...runs].find((minor) => minor !== wanted);
  if (old === undefined) return { ...gateAtRest(situation), steps: doneWith(situation) };
  if (noOtherMinorStarted(situation, wanted)) return open;
  const isBegun = runs.includes(wanted) || (written.includes(wanted) && !isWell(situation));
  if (!isBegun && members === undefined) {
    // What a person corrects may be what the others need to start.
    const pending = wait('VersionPending', `${spec.version} waits for a majority that answers`);
    return shut(pending, { templates: 'pinned' });
  }
  const gate = old < wanted ? gateUp(situation) : gateDown(situation, wanted);
  const isNext = gate.isOpen || gate.target !== undefined;
  if (!isBegun && isNext && !mayBegin) return { isOpen: false, steps: [], templates: 'pinned' };
  const before = isBegun || !isNext ? undefined : backupGate(situation, old, take);
  // A downgrade that etcd allows has begun: no member may join before it has ended.
  const begins = !isBegun && isNext && gate.downgrade === undefined ? ({ begins: true } as const) : {};
  if (before !== undefined)
    return { ...before, ...begins, ...(gate.downgrade === undefined ? {} : { downgrade: gate.downgrade }) };
  // A template that the API server did not take at once follows the others.
  const goesOn = isBegun && gate.isOpen ? ({ goesOn: true } as const) : {};
  return { ...(spec.backup === undefined ? withNote(gate) : gate), ...begins, ...goesOn };
}

/** A downgrade that was begun by mistake would keep everybody from joining. */
function gateMismatch({ observed }: Situation, { message, runs }: Mismatch): VersionGate {
  const templates = runs ? 'stay' : 'new';
  if (allowedTarget(observed) !== undefined)
    return shut(wait('CancellingDowngrade', message, recheckMs), { downgrade: 'unwanted', templates });
  return shut(blocked('VersionMismatch', message), { templates });
}

/** All say what they run. Otherwise somebody may have begun to run what the templates name. */
function isWell(situation: Situation): boolean {
  return situation.members !== undefined && memberProblems(situation, situation.members).length === 0;
}

/** Nobody can say so later than before the first restart. */
function withNote(gate: VersionGate): VersionGate {
  const note = '; no backup comes before: spec.backup names no target';
  const { outcome, target } = gate;
  if (target === undefined || outcome?.state !== 'wait') return { ...gate, note };
  return { ...gate, note, outcome: { ...outcome, message: `${outcome.message}${note}` } };
}

/** Why it must never be rolled out onto what runs. CEL refuses most of it earlier. */
function refusal(situation: Situation): Outcome | undefined {
  const wanted = situation.spec.version;
  for (const { pod, version } of running(situation)) {
    const step = minorNumber(wanted) - minorNumber(version);
    const runs = `${pod} runs ${version}`;
    if (step > 1) return blocked('UpgradeSkipsMinor', `${runs}: ${wanted} is more than one minor ahead`);
    if (step < -1) return blocked('DowngradeRefused', `${runs}: ${wanted} is more than one minor behind`);
    const fit = Math.min(minorNumber(wanted), minorNumber(version)) === 5 ? lastPatchBefore36 : firstPatchOf35;
    if (step === 1 && patchNumber(version) < fit) {
      return blocked('UpgradePrerequisite', `${runs}: ${minorOf(version)}.${fit} comes before ${wanted}`);
    }
    if (step === -1 && patchNumber(wanted) < fit) {
      return blocked('DowngradeRefused', `${runs}: the way back leads to ${minorOf(wanted)}.${fit} or later`);
    }
  }
  return undefined;
}

/** Undefined when there is one, or none can be had. */
function backupGate(situation: Situation, old: number, take: BackupFactory): VersionGate | undefined {
  const { cluster, children, observed, spec } = situation;
  const objects = take(cluster, versionBackup(cluster, old, observed.at));
  if (objects === undefined) return undefined;
  const progress = requiredBackup(objects, children, observed.at);
  const waiting = `a backup is taken before 3.${old} becomes ${minorOf(spec.version)}`;
  switch (progress.state) {
    case 'verified':
      return undefined;
    case 'missing':
      return shut(wait(versionBackupReason, waiting), { steps: progress.steps, prepares: true });
    case 'pending':
      return shut(wait(versionBackupReason, `${waiting}: ${progress.message}`), { steps: progress.steps });
    case 'running':
      return shut(wait(versionBackupReason, `${waiting}: ${progress.message}`, progress.recheckMs), {
        steps: progress.steps,
        prepares: true,
      });
    case 'failed': {
      const message = `the backup before ${minorOf(spec.version)} failed: ${progress.message}; it is tried again, and no member restarts before`;
      return shut(wait(versionBackupFailed, message, progress.recheckMs), { steps: progress.steps });
    }
    default:
      return progress satisfies never;
  }
}

/** Everybody has the minor that is wanted. etcd ends a downgrade by itself, within five seconds. */
function gateAtRest(situation: Situation): VersionGate {
  const { observed, spec } = situation;
  const target = allowedTarget(observed);
  if (target === undefined) return open;
  if (minorNumber(target) < minorNumber(spec.version)) return cancelling(spec.version);
  if (isJoining(situation)) return { ...open, outcome: joining, downgrade: 'unwanted' };
  const outcome = wait('Downgrading', `all members run ${minorOf(spec.version)}: etcd ends the downgrade`, recheckMs);
  return { ...open, outcome, downgrade: 'allowed' };
}

function gateUp({ observed, spec }: Situation): VersionGate {
  return allowedTarget(observed) === undefined ? open : cancelling(spec.version);
}

function cancelling(version: string): VersionGate {
  const message = `${version} is wanted`;
  return shut(wait('CancellingDowngrade', message, recheckMs), { downgrade: 'unwanted' });
}

/**
 * Where somebody runs the earlier minor already, the cluster has agreed on it, and keeps to it: a member of a later one
 * has its data in the earlier form as soon as it says so. That is also so in the middle of an upgrade.
 */
function gateDown(situation: Situation, wanted: number): VersionGate {
  const { observed, spec, members } = situation;
  const to = minorOf(spec.version);
  const live = running(situation);
  const later = live.filter(({ version }) => minorNumber(version) > wanted);
  const isMixed = live.some(({ version }) => minorNumber(version) === wanted);
  const isAllowed = allowedTarget(observed) !== undefined;
  const sealed: Partial<VersionGate> = isAllowed ? { downgrade: 'allowed', goesOn: true } : {};
  const areAllThere = members?.every((member) => member.live !== undefined) === true;
  const behind = later.filter(
    ({ storageVersion }) => storageVersion === undefined || minorNumber(storageVersion) > wanted,
  );
  if (isAllowed && isJoining(situation)) {
    const isSafe = isMixed && behind.length === 0;
    return { ...(isSafe ? open : shut(joining)), outcome: joining, downgrade: 'unwanted' };
  }
  if (isMixed ? behind.length === 0 : isAllowed && areAllThere && isPrepared(later, wanted)) {
    return { ...open, ...sealed };
  }
  if (isMixed || isAllowed) {
    const names = behind.map(({ pod }) => pod).join(', ');
    return shut(wait('Downgrading', `etcd brings the data into the form of ${to}: ${names}`, recheckMs), sealed);
  }
  if (members === undefined) return shut(wait('VersionPending', `${spec.version} waits for a majority that answers`));
  if (behind.length < later.length) {
    return shut(wait('Downgrading', 'the members have yet to agree on the version of their data', recheckMs));
  }
  if (observed.agreed?.downgrade?.state === 'refused') {
    return shut(blocked('DowngradeRefused', `etcd refuses to go back to ${to}: ${observed.agreed.downgrade.words}`));
  }
  const asking = wait('Downgrading', `etcd is asked to let its members go back to ${to}`, recheckMs);
  return shut(asking, { target: `${to}.0` });
}
