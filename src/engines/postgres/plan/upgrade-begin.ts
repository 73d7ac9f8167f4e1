/**
 * Whether a major upgrade begins. Everybody is well and nothing else is to be done. Until it begins, nothing of the members
 * is touched: a rehearsal upgrades a copy of the data, and then a backup is taken.
 */
import type { BackupFactory, OwnBackup } from '../../../engine/backup-support.ts';
import { goodForMs, requiredBackup, versionBackupFailed, versionBackupReason } from '../../../jobs/required-backup.ts';
import { blocked, settled, wait } from '../../../plan/plan.ts';
import type { InvalidIndexes } from '../observe/server.ts';
import { indexOf, type Situation } from '../observe/situation.ts';
import { postgresImage } from '../resources/pods.ts';
import type { UpgradeRecord } from '../resources/upgrade-record.ts';
import { pausedByPerson } from './pause.ts';
import { keptRecord } from './upgrade-finish.ts';
import { taskProgress, type Upgrade } from './upgrade-jobs.ts';
import { type UpgradePlan, upgradeRecheckMs, volumesGoing } from './upgrade-plan.ts';

/** Nothing tells that an index is valid again, or that a connection is free. */
const lookMs = 30_000;

/** Undefined where the data has the version of the spec. */
export function beginUpgrade(situation: Situation, take: BackupFactory): UpgradePlan | undefined {
  const { spec, wanted, upgrade, cluster, primary, store } = situation;
  const [from, to] = [spec.version, wanted.version];
  if (from === to) return undefined;
  const generation = cluster.metadata.generation ?? 0;
  const staying = { steps: [], record: keptRecord(situation) } as const;
  const paused = pausedByPerson(situation);
  if (Number(to) < Number(from)) {
    const message = `the data is of PostgreSQL ${from}, which ${to} cannot read: set version to ${from} or a later one`;
    return { ...staying, outcome: blocked('DowngradeRefused', message) };
  }
  if (upgrade?.why !== undefined && upgrade.generation === generation) {
    const also = paused === undefined ? '' : `. ${paused}`;
    const message = `${upgrade.why}. All members run ${from} again. It is tried again when the spec changes${also}`;
    return { ...staying, outcome: blocked('UpgradeCancelled', message) };
  }
  // The end of the upgrade would be the end of that pause.
  if (paused !== undefined) {
    const message = `PostgreSQL ${from} becomes ${to} only after the pause: ${paused}`;
    return { ...staying, outcome: wait('FailoverPaused', message) };
  }
  const going = volumesGoing(situation);
  if (going !== undefined) return { ...staying, outcome: blocked('VolumesGoing', going) };
  const leader = primary === undefined ? undefined : indexOf(situation, primary);
  if (leader === undefined || store.systemId === undefined) return undefined;
  const planned: Upgrade = { from, to, image: postgresImage({ ...cluster, spec: wanted }), generation };
  const objects = take(cluster, upgradeBackup(situation, planned));
  if (objects === undefined && !wanted.upgrade.withoutBackup) {
    const message = `PostgreSQL ${from} becomes ${to} only after a backup, and no backup can be taken: spec.backup names no target. To upgrade without one, set spec.upgrade.withoutBackup to true`;
    return { ...staying, outcome: blocked('UpgradeNeedsBackup', message) };
  }
  if (primary?.server?.state !== 'seen') {
    const message = `PostgreSQL ${from} becomes ${to} only after a look at its indexes, and the primary lets nobody in: all its connections are taken`;
    return { ...staying, outcome: wait('MembersNotReady', message, lookMs) };
  }
  const unfit = indexesInTheWay(primary.server.indexes);
  if (unfit !== undefined) {
    const message = `PostgreSQL ${from} becomes ${to} only when its indexes are valid, since pg_upgrade drops what others enforce: ${unfit}`;
    return { ...staying, outcome: blocked('UpgradeRefused', message, lookMs) };
  }
  const rehearsed = rehearsal(situation, planned);
  if (rehearsed !== undefined) return rehearsed;
  if (situation.mayNotInterrupt === true) return { ...staying, outcome: settled };
  return {
    begins: true,
    ...(backup(situation, planned, objects) ?? {
      steps: [],
      record: { ...planned, stage: 'stopping', leader, oldSystem: store.systemId } satisfies UpgradeRecord,
      outcome: wait('Upgrading', `PostgreSQL ${from} becomes ${to}: the members stop`, upgradeRecheckMs),
    }),
  };
}

/** What is not known counts as invalid. */
function indexesInTheWay({ invalid, unseen }: InvalidIndexes = {}): string | undefined {
  const words = [
    ...(invalid === undefined ? [] : [`${invalid} are invalid: repair each by REINDEX, or drop it`]),
    ...(unseen === undefined ? [] : [`nobody has looked into ${unseen}`]),
  ];
  return words.length === 0 ? undefined : words.join('; ');
}

/** Undefined once it has succeeded. */
function rehearsal(situation: Situation, planned: Upgrade): UpgradePlan | undefined {
  const { from, to } = planned;
  const { name, result, steps } = taskProgress(situation, planned, { mode: 'rehearse' });
  const record = situation.upgrade;
  const what = `the upgrade from ${from} to ${to} is rehearsed on a copy`;
  switch (result.state) {
    case 'done':
      return undefined;
    case 'missing':
    case 'useless':
      return { steps, record, outcome: wait('Rehearsing', what) };
    case 'running':
      return { steps, record, outcome: wait('Rehearsing', `${what}: ${result.message}`, 5000) };
    case 'failed': {
      const again = `The cluster runs ${from} as before. To try again, delete Job ${name} or change the spec; to give it up, set version to ${from}`;
      return result.isRefused
        ? { steps, record, outcome: blocked('UpgradeRefused', `${result.message}\n${again}`) }
        : { steps, record, outcome: blocked('RehearsalFailed', `${what}, and failed: ${result.message}\n${again}`) };
    }
    default:
      return result satisfies never;
  }
}

/** Undefined where there is a verified one, or none is wanted. */
function backup(
  situation: Situation,
  { from, to }: Upgrade,
  objects: ReturnType<BackupFactory>,
): UpgradePlan | undefined {
  if (objects === undefined) return undefined;
  const progress = requiredBackup(objects, situation.children, situation.observed.at);
  const record = situation.upgrade;
  const what = `a backup is taken before PostgreSQL ${from} becomes ${to}`;
  switch (progress.state) {
    case 'verified':
      return undefined;
    case 'missing':
      return { steps: progress.steps, record, outcome: wait(versionBackupReason, what), prepares: true };
    case 'pending':
      return { steps: progress.steps, record, outcome: wait(versionBackupReason, `${what}: ${progress.message}`) };
    case 'running': {
      const outcome = wait(versionBackupReason, `${what}: ${progress.message}`, progress.recheckMs);
      return { steps: progress.steps, record, outcome, prepares: true };
    }
    case 'failed': {
      const message = `${what}, and failed: ${progress.message}; it is tried again`;
      return { steps: progress.steps, record, outcome: wait(versionBackupFailed, message, progress.recheckMs) };
    }
    default:
      return progress satisfies never;
  }
}

function upgradeBackup({ cluster, observed }: Situation, { from, to, generation }: Upgrade): OwnBackup {
  const { name, uid } = cluster.metadata;
  return {
    name: `${name}-version-backup`,
    purpose: 'version',
    before: `${from}-${to}`,
    ...(uid === undefined ? {} : { uid: `${uid}-${generation}-${Math.floor(observed.at / goodForMs)}` }),
  };
}
