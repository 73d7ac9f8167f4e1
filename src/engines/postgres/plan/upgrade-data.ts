/** Stage `upgrading`: the Job on the leader's volume. No member runs. */
import { blocked, wait } from '../../../plan/plan.ts';
import { podOf, type Situation } from '../observe/situation.ts';
import type { UpgradeRecord } from '../resources/upgrade-record.ts';
import { cancelling } from './upgrade-cancel.ts';
import { taskProgress } from './upgrade-jobs.ts';
import { type UpgradePlan, upgradeRecheckMs } from './upgrade-plan.ts';

export function planUpgrading(situation: Situation, record: UpgradeRecord): UpgradePlan {
  const { leader, from, to, oldSystem } = record;
  const { name, result, steps } = taskProgress(situation, record, { mode: 'upgrade', index: leader });
  const isRunning = (): boolean => false;
  const isUnwanted = situation.wanted.version !== to;
  const what = `pg_upgrade runs on the volume of ${podOf(situation, leader)}`;
  const undoing: UpgradePlan = {
    steps: [],
    record: { ...record, stage: 'undoing' },
    isRunning,
    outcome: wait(
      'UpgradeCancelled',
      `the volume of ${podOf(situation, leader)} is put back to ${from}`,
      upgradeRecheckMs,
    ),
  };
  switch (result.state) {
    case 'missing':
      // A pod that starts now would upgrade what has just been put back.
      if (isUnwanted && !result.isEnding) return undoing;
      return {
        steps: isUnwanted ? [] : steps,
        record,
        isRunning,
        outcome: wait('Upgrading', isUnwanted ? `Job ${name} ends` : what, upgradeRecheckMs),
      };
    case 'useless':
      return { steps, record, isRunning, outcome: wait('Upgrading', what, upgradeRecheckMs) };
    case 'running':
      return { steps, record, isRunning, outcome: wait('Upgrading', `${what}: ${result.message}`, upgradeRecheckMs) };
    case 'failed': {
      // The script has put everything back.
      if (result.isRefused) return cancelling(situation, record, result.message);
      if (isUnwanted) return undoing;
      const message = `${what}, and failed: ${result.message}\nNo member runs, and no data was removed. To go on, delete Job ${name}; to give it up, set version to ${from}`;
      return { steps, record, isRunning, outcome: blocked('UpgradeFailed', message) };
    }
    case 'done': {
      const { system = '', warnings = '' } = result.values;
      if (!/^\d{1,20}$/.test(system) || system === oldSystem) {
        const message = `Job ${name} does not tell the system identifier of the new data: nothing is started on it`;
        return { steps: [], record, isRunning, outcome: blocked('UpgradeFailed', message) };
      }
      const words = warnings === '' ? '' : ` (${warnings})`;
      return {
        steps: [],
        record: { ...record, stage: 'switching', newSystem: system, ...(words === '' ? {} : { warnings }) },
        isRunning,
        outcome: wait('Upgrading', `the data is of PostgreSQL ${to}${words}`, upgradeRecheckMs),
      };
    }
    default:
      return result satisfies never;
  }
}
