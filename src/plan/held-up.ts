/** What keeps an upgrade from beginning though it is its turn: what has to come before it fails or is missing, and that may last. */
import type { Outcome } from './plan.ts';

/** The backup before it has failed. */
export const versionBackupFailed = 'VersionBackupFailed';
/** There is no PersistentVolumeClaim to keep the backup on. */
export const claimMissing = 'ClaimMissing';
/** There is no ServiceAccount to take the backup as. */
export const serviceAccountMissing = 'ServiceAccountMissing';

const reasons: readonly string[] = [versionBackupFailed, claimMissing, serviceAccountMissing];

export function isHeldUpBy(outcome: Outcome): boolean {
  return outcome.state === 'blocked' || (outcome.state === 'wait' && reasons.includes(outcome.reason));
}
