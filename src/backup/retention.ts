/**
 * Which backups of a cluster may go: pure, over what the target holds.
 *
 * Only those are looked at whose manifest could be trusted, that are of this cluster and were made by this schedule. The
 * newest of them stays, and so does the one that was just made, whatever count and age say. What was made on demand,
 * by another schedule, with another key, or for a last farewell is never touched.
 */
import type { Retention } from './agent-task.ts';
import { timeOfId } from './id.ts';
import type { Purpose } from './identity.ts';

/** A folder of the cluster's. */
export interface Candidate {
  readonly id: string;
  /** `unusable`: there is a manifest, and it cannot be trusted or read. `none`: it was never written, or is gone. */
  readonly manifest: { readonly clusterUid: string; readonly purpose: Purpose } | 'unusable' | 'none';
  /** Of the object that was written last; milliseconds since the epoch. */
  readonly modifiedAt: number;
}

export interface RetentionQuestion {
  readonly candidates: readonly Candidate[];
  readonly clusterUid: string;
  readonly schedule: string;
  /** Undefined keeps every backup, and sweeps only what never became one. */
  readonly retention: Retention | undefined;
  /** Just made. */
  readonly justMade: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface RetentionPlan {
  /** Backups that go, oldest first. */
  readonly expired: readonly string[];
  /** Folders that never became a backup, and will not any more. */
  readonly abandoned: readonly string[];
  /** Why age was not gone by. */
  readonly doubt?: string;
}

/** Nobody writes at one backup for longer without writing anything. */
export const abandonedAfterMs = 24 * 3600 * 1000;

/** A clock that is this far from the target's is wrong: one of the two would throw away what is young. */
export const clockToleranceMs = 3600 * 1000;

export function planRetention(question: RetentionQuestion): RetentionPlan {
  const { candidates, clusterUid, schedule, retention = {}, justMade, now } = question;
  const newestFirst = candidates
    .filter(({ manifest }) => isOf(manifest, clusterUid, schedule))
    .map(({ id }) => id)
    .sort((a, b) => (a < b ? 1 : -1));
  const [newest] = newestFirst;
  const doubt = clockDoubt(question);
  const { count = Number.POSITIVE_INFINITY, ageSeconds = Number.POSITIVE_INFINITY } = retention;
  const expired = newestFirst.filter((id, index) => {
    if (id === newest || id === justMade) return false;
    const made = timeOfId(id);
    if (made === undefined) return false;
    return index >= count || (doubt === undefined && now - made > ageSeconds * 1000);
  });
  const abandoned = candidates
    .filter(({ id, manifest }) => manifest === 'none' && id !== justMade)
    .filter(({ id, modifiedAt }) => now - Math.max(modifiedAt, timeOfId(id) ?? now) > abandonedAfterMs)
    .map(({ id }) => id);
  return {
    expired: expired.reverse(),
    abandoned: doubt === undefined ? abandoned : [],
    ...(doubt === undefined ? {} : { doubt }),
  };
}

function isOf(manifest: Candidate['manifest'], clusterUid: string, schedule: string): boolean {
  if (typeof manifest === 'string') return false;
  const { purpose } = manifest;
  return manifest.clusterUid === clusterUid && purpose.type === 'schedule' && purpose.name === schedule;
}

/** The target wrote down when the newest backup arrived, by its own clock. */
function clockDoubt({ candidates, justMade, now }: RetentionQuestion): string | undefined {
  const arrived = candidates.find(({ id }) => id === justMade)?.modifiedAt;
  if (arrived === undefined) return 'the backup that was just made is not in the list of the target';
  const apart = Math.abs(now - arrived);
  if (apart <= clockToleranceMs) return undefined;
  return `this clock and the target's are ${Math.round(apart / 60_000)} minutes apart: nothing was let go for its age`;
}
