/** The old version starts again on all members. Its data is as it was. */
import { blocked, wait } from '../../../plan/plan.ts';
import { podOf, type Situation } from '../observe/situation.ts';
import type { UpgradeRecord } from '../resources/upgrade-record.ts';
import { pauseSteps } from './pause.ts';
import { taskProgress } from './upgrade-jobs.ts';
import { type UpgradePlan, upgradeRecheckMs } from './upgrade-plan.ts';

/** `why`: it is not tried again before the spec changes. */
export function cancelling(situation: Situation, record: UpgradeRecord, why?: string): UpgradePlan {
  const { from, to } = record;
  const words = why === undefined ? '' : `: ${why}`;
  return {
    steps: pauseSteps(situation, false),
    record: {
      ...record,
      stage: 'cancelled',
      ...(why === undefined ? {} : { why: `PostgreSQL ${from} did not become ${to}: ${why}` }),
    },
    outcome: wait('UpgradeCancelled', `all members start again on ${from}${words}`, upgradeRecheckMs),
  };
}

/** Stage `undoing`: the new version has never run on the volume, or the Job says that it has. */
export function planUndo(situation: Situation, record: UpgradeRecord): UpgradePlan {
  const { leader, from } = record;
  const { name, result, steps } = taskProgress(situation, record, { mode: 'undo', index: leader });
  const isRunning = (): boolean => false;
  const volume = `the volume of ${podOf(situation, leader)}`;
  switch (result.state) {
    case 'done':
      return cancelling(situation, record);
    case 'missing':
    case 'useless':
    case 'running':
      return {
        steps,
        record,
        isRunning,
        outcome: wait('UpgradeCancelled', `${volume} is put back to ${from}`, upgradeRecheckMs),
      };
    case 'failed': {
      // The new version has run on it. If the spec wants that version again, the upgrade continues.
      if (result.isRefused && situation.wanted.version === record.to) {
        const outcome = wait('Upgrading', `pg_upgrade goes on, on ${volume}`, upgradeRecheckMs);
        return { steps: [], record: { ...record, stage: 'upgrading' }, isRunning, outcome };
      }
      const message = `${volume} cannot be put back to ${from}: ${result.message}. No member runs. Delete Job ${name} to try again, or take the way back that the guide describes`;
      return { steps, record, isRunning, outcome: blocked('UpgradeFailed', message) };
    }
    default:
      return result satisfies never;
  }
}
