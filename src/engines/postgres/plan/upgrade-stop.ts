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
import { taskProgress } from './upgrade-jobs.ts';
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
  return compare(situation, record, waiting);
}

type Waiting = (message: string, more: Partial<UpgradePlan>) => UpgradePlan;

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

/** All volumes at once. At least one standby must be proven to have everything that the primary has. */
function compare(situation: Situation, record: UpgradeRecord, waiting: Waiting): UpgradePlan {
  const { roster } = situation;
  const { leader, oldSystem } = record;
  const found = [...roster.keys()].map((index) => ({
    index,
    ...taskProgress(situation, record, { mode: 'checkpoint', index }),
  }));
  const isRunning = (): boolean => false;
  const failed = found.find(({ result }) => result.state === 'failed');
  if (failed?.result.state === 'failed')
    return cancelling(situation, record, `Job ${failed.name} failed: ${failed.result.message}`);
  const values = new Map(
    found.flatMap(({ index, result }) => (result.state === 'done' ? [[index, result.values]] : [])),
  );
  if (values.size < found.length) {
    const steps = found.flatMap((one) => one.steps);
    return waiting('the volumes of the members are compared', { steps, isRunning });
  }
  const own = values.get(leader);
  const name = podOf(situation, leader);
  if (own === undefined || own.state !== 'shut down' || own.system !== oldSystem || !isLocation(own.checkpoint)) {
    const state = `state ${own?.state ?? 'unknown'}, database ${own?.system ?? 'unknown'}`;
    return cancelling(situation, record, `${name} was not shut down in order (${state})`);
  }
  const kept = [...values].flatMap(([index, one]) => {
    const isDownInOrder = one.state === 'shut down in recovery' || one.state === 'shut down';
    const isEqual = (['system', 'checkpoint', 'timeline'] as const).every((key) => one[key] === own[key]);
    return index !== leader && isDownInOrder && isEqual ? [index] : [];
  });
  if (roster.size > 1 && kept.length === 0)
    return cancelling(situation, record, `no standby has the last checkpoint of ${name} (${own.checkpoint})`);
  return waiting(`pg_upgrade runs on the volume of ${name}`, {
    record: { ...record, stage: 'upgrading', kept },
    isRunning,
  });
}

function isLocation(text: string | undefined): boolean {
  return /^[0-9A-F]{1,8}\/[0-9A-F]{1,8}$/.test(text ?? '');
}
