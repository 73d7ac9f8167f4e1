/**
 * Stage `stopping`: everybody stops in order, and the volumes are compared. Nothing on them is changed, and the upgrade may be cancelled
 * at any point.
 *
 * Patroni is paused first, so that nobody is elected when the primary stops. A primary that is shut down waits until its
 * standbys have everything, the checkpoint at its end included. So a standby with the same last checkpoint has all of its data.
 */
import { wait } from '../../../plan/plan.ts';
import { isGenerationObserved } from '../../../plan/rollout.ts';
import { indexOf, podOf, type Situation } from '../observe/situation.ts';
import type { UpgradeRecord } from '../resources/upgrade-record.ts';
import { memberProblems } from './health.ts';
import { isPauseWritten, pauseSteps } from './pause.ts';
import { cancelling } from './upgrade-cancel.ts';
import { compareVolumes, type Waiting } from './upgrade-compare.ts';
import { type UpgradePlan, upgradeRecheckMs, volumesGoing } from './upgrade-plan.ts';

/** After the end of its grace period. */
const patienceMs = 30_000;

export function planStopping(situation: Situation, record: UpgradeRecord): UpgradePlan {
  const { wanted, roster, pods, observed } = situation;
  const { leader, to, from } = record;
  if (wanted.version !== to || volumesGoing(situation) !== undefined) return cancelling(situation, record);
  const waiting = (message: string, more: Partial<UpgradePlan>): UpgradePlan => ({
    steps: [],
    record,
    outcome: wait('Upgrading', `PostgreSQL ${from} becomes ${to}: ${message}`, upgradeRecheckMs),
    ...more,
  });
  if (!isToldToStop(situation, leader)) return planPause(situation, record, waiting);
  if (isAnotherElected(situation, leader)) return cancelling(situation, record);
  const isRunning = (index: number): boolean => index !== leader;
  if (!isDown(situation, leader)) {
    const late = overdue(situation, leader, observed.at);
    return (late ?? false)
      ? cancelling(situation, record, `${podOf(situation, leader)} did not stop in time`)
      : waiting(`${podOf(situation, leader)} stops`, { isRunning });
  }
  const left = [...roster.keys()].filter((index) => !isToldToStop(situation, index) || !isDown(situation, index));
  if (left.length > 0) {
    const late = left.find((index) => pods.has(index) && overdue(situation, index, observed.at));
    return late !== undefined
      ? cancelling(situation, record, `${podOf(situation, late)} did not stop in time`)
      : waiting('the standbys stop', { isRunning: () => false });
  }
  return compareVolumes(situation, record, waiting);
}

/** The cluster serves as before. Whatever is not as it was when the upgrade began ends it: it begins again later. */
function planPause(situation: Situation, record: UpgradeRecord, waiting: Waiting): UpgradePlan {
  const { primary, roster, live } = situation;
  const isSamePrimary = primary !== undefined && indexOf(situation, primary) === record.leader;
  if (!isSamePrimary || memberProblems(situation).length > 0 || isPauseWritten(situation) === undefined)
    return cancelling(situation, record);
  const steps = pauseSteps(situation, true);
  const unpaused = [...roster.keys()].filter((index) => live.get(index)?.isPaused !== true);
  if (steps.length > 0 || unpaused.length > 0) return waiting('Patroni is paused', { steps });
  return waiting('the primary stops', { isRunning: (index) => index !== record.leader });
}

/** Somebody has ended the pause: that member takes writes, or is about to. */
function isAnotherElected(situation: Situation, leader: number): boolean {
  const { store } = situation;
  return store.leader !== undefined && store.leader !== podOf(situation, leader);
}

function isToldToStop({ sets }: Situation, index: number): boolean {
  return sets.get(index)?.spec?.replicas === 0;
}

function isDown({ sets, pods }: Situation, index: number): boolean {
  const set = sets.get(index);
  return !pods.has(index) && set !== undefined && isGenerationObserved(set) && (set.status?.replicas ?? 0) === 0;
}

function overdue({ pods }: Situation, index: number, now: number): boolean {
  const end = Date.parse(pods.get(index)?.metadata.deletionTimestamp ?? '');
  return now - end > patienceMs;
}
