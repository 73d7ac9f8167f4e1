/**
 * Which backups of a cluster may go: pure, over what the target holds.
 *
 * Only those are looked at whose manifest could be trusted, that are of this cluster and were made by this schedule. The
 * newest of them stays, and so does the one that was just made, whatever count and age say. What was made on demand,
 * by another schedule, with another key, or for a last farewell is never touched. What the archive of a log has taken as its base goes
 * together with a later backup of this schedule, where no older backup stays: the log before that is asked for no more.
 *
 * Backups that hold suddenly little are counted apart, and as long as the one that was just made is one of them, none
 * goes at all: they never push out a real one.
 */
import type { Retention } from './agent-task.ts';
import { timeOfId } from './id.ts';
import type { Purpose } from './identity.ts';
import { clockToleranceMs, newestFirst } from './order.ts';

export interface TrustedManifest {
  readonly clusterUid: string;
  readonly purpose: Purpose;
  /** Absent in manifests of format 1. */
  readonly sequence?: number;
  /** It holds suddenly little: see `sudden-loss.ts`. */
  readonly isDoubtful?: boolean;
}

/** A folder of the cluster's. */
export interface Candidate {
  readonly id: string;
  /** `unusable`: there is a manifest, and it cannot be trusted or read. `none`: it was never written, or is gone. */
  readonly manifest: TrustedManifest | 'unusable' | 'none';
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
  /** Holds suddenly little, and is as it should be: as long as it is there, those after it are compared with it. */
  readonly confirmed?: string | undefined;
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

export function planRetention(question: RetentionQuestion): RetentionPlan {
  const { candidates, justMade, now } = question;
  const doubt = clockDoubt(question);
  const abandoned = candidates
    .filter(({ id, manifest }) => manifest === 'none' && id !== justMade)
    .filter(({ id, modifiedAt }) => now - Math.max(modifiedAt, timeOfId(id) ?? now) > abandonedAfterMs)
    .map(({ id }) => id);
  return {
    expired: expiredIn(question, doubt === undefined),
    abandoned: doubt === undefined ? abandoned : [],
    ...(doubt === undefined ? {} : { doubt }),
  };
}

function expiredIn(question: RetentionQuestion, isAgeCertain: boolean): readonly string[] {
  const { candidates, clusterUid, schedule, retention = {}, justMade, confirmed, now } = question;
  const known = candidates
    .flatMap(({ id, manifest, modifiedAt }) =>
      typeof manifest !== 'string' && manifest.clusterUid === clusterUid ? [{ ...manifest, id, modifiedAt }] : [],
    )
    .sort(newestFirst);
  const own = known.filter(({ purpose }) => purpose.type === 'schedule' && purpose.name === schedule);
  // A list that lacks the newest one tells neither how many there are nor what the newest holds.
  if (!own.some(({ id }) => id === justMade)) return [];
  const doubtful = own.filter(({ isDoubtful }) => isDoubtful === true);
  if (doubtful.some(({ id }) => id === justMade)) return [];
  const good = own.filter(({ isDoubtful }) => isDoubtful !== true);
  const [newest] = good;
  const { count = Number.POSITIVE_INFINITY, ageSeconds = Number.POSITIVE_INFINITY } = retention;
  const goes = (backup: Pick<Candidate, 'id' | 'modifiedAt'>, index: number): boolean => {
    if (backup === newest || backup.id === justMade || backup.id === confirmed) return false;
    const made = madeAt(backup, now);
    if (made === undefined) return false;
    return index >= count || (isAgeCertain && now - made > ageSeconds * 1000);
  };
  const past = good.filter(goes);
  const gone = [...past, ...doubtful.filter(goes)];
  const [last] = past;
  // Nobody asks for what was before a backup that goes. While an older one stays, the log since then is asked for, and a base behind a gap
  // may be the only one that leads on from there.
  const oldestKept = known.findLastIndex((backup) => backup.purpose.type !== 'archive' && !gone.includes(backup));
  const from = last === undefined ? known.length : Math.max(known.indexOf(last), oldestKept);
  const bases = known.slice(from + 1).filter(({ purpose }) => purpose.type === 'archive');
  const expired = [...gone, ...bases];
  return known
    .filter((backup) => expired.includes(backup))
    .map(({ id }) => id)
    .reverse();
}

/** The later of what its id and the target say: what seems young stays. An id from the future says nothing. */
function madeAt({ id, modifiedAt }: Pick<Candidate, 'id' | 'modifiedAt'>, now: number): number | undefined {
  const named = timeOfId(id);
  if (named === undefined) return undefined;
  return named > now + clockToleranceMs ? modifiedAt : Math.max(named, modifiedAt);
}

/** The target wrote down when the newest backup arrived, by its own clock. */
function clockDoubt({ candidates, justMade, now }: RetentionQuestion): string | undefined {
  const arrived = candidates.find(({ id }) => id === justMade)?.modifiedAt;
  if (arrived === undefined)
    return 'the backup that was just made is not in the list of the target: nothing was let go';
  const apart = Math.abs(now - arrived);
  if (apart <= clockToleranceMs) return undefined;
  return `this clock and the target's are ${Math.round(apart / 60_000)} minutes apart: nothing was let go for its age`;
}
