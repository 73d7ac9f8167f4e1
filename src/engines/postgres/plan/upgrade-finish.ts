/** Stages `finishing` and `cancelled`: the cluster serves, and is planned like any other. This is what comes besides. */
import type { BackupFactory } from '../../../engine/backup-support.ts';
import { requiredBackup, versionBackupReason } from '../../../jobs/required-backup.ts';
import { blocked, type ObjectStep, wait } from '../../../plan/plan.ts';
import type { Situation } from '../observe/situation.ts';
import { afterDigest } from '../resources/after-upgrade.ts';
import type { UpgradeRecord } from '../resources/upgrade-record.ts';
import { isPauseWritten, pauseSteps } from './pause.ts';
import { lateComparisons } from './upgrade-compare.ts';
import { finishedJobs, taskProgress } from './upgrade-jobs.ts';
import type { UpgradePlan } from './upgrade-plan.ts';

/** In every reconcile of these stages, whatever else is to be done. */
export function accompanying(situation: Situation): readonly ObjectStep[] {
  const { upgrade, primary } = situation;
  if (upgrade?.stage === 'cancelled') {
    const resumed = upgrade.isResumed === true ? [] : pauseSteps(situation, false);
    return [...resumed, ...lateComparisons(situation, upgrade)];
  }
  if (upgrade?.stage !== 'finishing' || primary === undefined) return [];
  return after(situation, upgrade).steps;
}

function after(situation: Situation, record: UpgradeRecord) {
  return taskProgress(situation, record, { mode: 'after' }, afterDigest(situation.wanted));
}

/** What the record becomes where nothing else changes it. */
export function keptRecord(situation: Situation): UpgradeRecord | undefined {
  const { upgrade, wanted } = situation;
  if (upgrade?.stage !== 'cancelled') return upgrade;
  const isResumed = upgrade.isResumed === true || isPauseWritten(situation) === false;
  if (!isResumed) return upgrade;
  const isForgotten = upgrade.why === undefined || wanted.version === upgrade.from;
  return isForgotten ? undefined : { ...upgrade, isResumed };
}

/** Everybody is well, and there is nothing else to do. Undefined where no upgrade is being finished. */
export function finishUpgrade(situation: Situation, take: BackupFactory): UpgradePlan | undefined {
  const { upgrade, cluster, children, observed } = situation;
  if (upgrade?.stage !== 'finishing') return undefined;
  const { from, to, newSystem = '', warnings } = upgrade;
  const noted = (words: string): string => (warnings === undefined ? words : `${words} (${warnings})`);
  const { name, result, steps } = after(situation, upgrade);
  switch (result.state) {
    case 'missing':
    case 'useless':
      return { steps, record: upgrade, outcome: wait('Upgrading', noted('statistics are collected')) };
    case 'running':
      return {
        steps,
        record: upgrade,
        outcome: wait('Upgrading', noted(`statistics are collected: ${result.message}`), 5000),
      };
    case 'failed': {
      const message = noted(
        `PostgreSQL ${to} takes writes, and what follows failed: ${result.message}\nDelete Job ${name} to try again, or change spec.upgrade.afterSql`,
      );
      return { steps, record: upgrade, outcome: blocked('AfterUpgradeFailed', message) };
    }
    case 'done':
      break;
    default:
      return result satisfies never;
  }
  const { name: own, uid } = cluster.metadata;
  const objects = take(cluster, {
    name: `${own}-upgraded-backup`,
    purpose: 'version',
    before: `after-${from}-${to}`,
    ...(uid === undefined ? {} : { uid: `${uid}-${newSystem}` }),
  });
  const done: UpgradePlan = {
    steps: finishedJobs(situation),
    record: undefined,
    outcome: wait('Upgrading', noted(`PostgreSQL ${from} has become ${to}`)),
  };
  if (objects === undefined) return done;
  const progress = requiredBackup(objects, children, observed.at);
  const what = noted(`a backup of PostgreSQL ${to} is taken`);
  switch (progress.state) {
    case 'verified':
      return done;
    case 'missing':
      return { steps: progress.steps, record: upgrade, outcome: wait(versionBackupReason, what) };
    case 'pending':
      return {
        steps: progress.steps,
        record: upgrade,
        outcome: wait(versionBackupReason, `${what}: ${progress.message}`),
      };
    case 'running':
    case 'failed': {
      const outcome = wait(versionBackupReason, `${what}: ${progress.message}`, progress.recheckMs);
      return { steps: progress.steps, record: upgrade, outcome };
    }
    default:
      return progress satisfies never;
  }
}
