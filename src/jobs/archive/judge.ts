/** What an archive means for its cluster: pure. Writes go on, whatever it is. */
import type { ArchiveStatus } from '../../api/status.ts';
import type { ArchiveSeen } from './observe.ts';

export interface Verdict {
  readonly reason: 'ArchiveGap' | 'ArchiveLate' | 'ArchiveStarting';
  readonly message: string;
}

export interface Judged {
  readonly status: ArchiveStatus;
  /** Absent while the archive is as it should be. */
  readonly verdict?: Verdict;
  /** What is waited for meanwhile: a short interruption is no verdict yet. */
  readonly interruption?: string;
}

/** A shown time that is older is shown anew. */
const shownForMs = 300_000;

/** @param before what the status says so far */
export function judgeArchive(seen: ArchiveSeen, maxLagMs: number, before: ArchiveStatus | undefined): Judged {
  const verdict = verdictOf(seen, maxLagMs, before);
  const state = verdict === undefined ? 'Following' : stateOf[verdict.reason];
  const { report, at } = seen;
  const isShown = before?.state === state && at - Date.parse(before.storedAt ?? '') < shownForMs;
  const end = isShown ? before.end : (report?.end ?? before?.end);
  const storedAt = isShown ? before.storedAt : (report?.storedAt ?? before?.storedAt);
  const since = before?.state === state ? before.since : new Date(at).toISOString();
  const status: ArchiveStatus = {
    state,
    since,
    ...(end === undefined ? {} : { end }),
    ...(storedAt === undefined ? {} : { storedAt }),
    ...(verdict === undefined ? {} : { message: verdict.message }),
  };
  if (verdict !== undefined) return { status, verdict };
  if (report?.state !== 'following') return { status, interruption: reasonOf(seen) };
  return report.hasBase === true
    ? { status }
    : { status, interruption: 'its pod has just started, and looks for the base backup' };
}

/** A pod that has started anew has yet to look for the base backup that was there before. */
function isUnchecked({ report, at }: ArchiveSeen, maxLagMs: number, before: ArchiveStatus | undefined): boolean {
  if (before?.state !== 'Following' || report === undefined) return false;
  const isNew = at - Date.parse(report.since) <= maxLagMs;
  return report.hasBase === undefined && report.upkeepProblem === undefined && isNew;
}

function reasonOf({ report, silence }: ArchiveSeen): string {
  return report?.problem?.message ?? silence ?? 'the log is not followed yet';
}

const stateOf = { ArchiveGap: 'Gap', ArchiveLate: 'Late', ArchiveStarting: 'Starting' } as const;

function verdictOf(seen: ArchiveSeen, maxLagMs: number, before: ArchiveStatus | undefined): Verdict | undefined {
  const { report, kept, at } = seen;
  const said = reasonOf(seen);
  const upkeep = report?.upkeepProblem === undefined ? '' : `; it failed so far: ${report.upkeepProblem}`;
  if (kept?.state === 'lost') {
    const message = `the database no longer keeps the log for the archive: ${kept.message}; ${said}; a new base backup follows as soon as the archive does`;
    return { reason: 'ArchiveGap', message };
  }
  if (report?.gap !== undefined) {
    return { reason: 'ArchiveGap', message: `${report.gap}; a new base backup is taken${upkeep}` };
  }
  if (report?.state === 'following') {
    if (report.hasBase === true || isUnchecked(seen, maxLagMs, before)) return undefined;
    const message = `no base backup leads to the end of the archived log yet; one is taken${upkeep}`;
    return before?.state === 'Gap' ? { reason: 'ArchiveGap', message } : { reason: 'ArchiveStarting', message };
  }
  const isNew = before === undefined || before.state === 'Starting';
  const late = at - Date.parse(report?.storedAt ?? before?.storedAt ?? '');
  // Of an archive that has stored nothing nobody knows how late it is.
  if (isNew && !(late > maxLagMs)) return { reason: 'ArchiveStarting', message: `the archive starts: ${said}` };
  if (late <= maxLagMs) return undefined;
  const waiting =
    kept?.state === 'kept' && kept.bytes !== undefined ? `; ${roughly(kept.bytes)} wait in the database` : '';
  return { reason: 'ArchiveLate', message: `the archive does not get on: ${said}${waiting}` };
}

/** The next power of two: what is said is not new with every commit. */
function roughly(bytes: number): string {
  return `up to ${2 ** Math.max(0, Math.ceil(Math.log2(bytes / 1024 ** 2)))} MiB`;
}
