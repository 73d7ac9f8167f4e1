/**
 * The archived log for a restore: which backup to begin with, and the files that lead on from it, as the server's `restore_command`
 * looks for them. What a server would take for the end of the log, though it goes on elsewhere, is said here: a part that is missing.
 */
import { access, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Which } from '../../../backup/agent-task.ts';
import type { AgentContext } from '../../../engine/driver/agent-context.ts';
import { syncFolder, writeDurably } from '../../../engine/driver/durable.ts';
import { Failure } from '../../../engine/driver/failure.ts';
import type { ChosenBase, DatedState, LogStore } from '../../../engine/driver/log-archive.ts';
import type { PostgresDestination, PostgresState } from '../backup/schemas.ts';
import { formatLsn, historyName, type Lsn, parseLsn, segmentName } from '../client/lsn.ts';
import {
  type ArchivedSegment,
  type ArchivedWal,
  archivedWal,
  type Coverage,
  coverage,
  historyPiece,
  logFrom,
} from './archived-wal.ts';
import { stretchAt, type TimelinePath, timelinePath } from './timeline-path.ts';

/** Names of times and positions, of which a backup tells whether it is before them. */
export function chosenBase(
  { log }: PostgresDestination,
  _: Which,
  backups: readonly DatedState<PostgresState>[],
): ChosenBase {
  const { time, lsn, name, xid } = log?.until ?? {};
  const [some, ...others] = backups;
  if (some === undefined) return { kind: 'any' };
  if (name !== undefined || xid !== undefined) {
    if (others.length === 0) return { kind: 'any' };
    const message = `nobody can tell which of ${backups.length} backups was taken before ${name === undefined ? `the transaction ${xid}` : `the restore point ${name}`}: say which one to begin with, by its id`;
    return { kind: 'none', reason: 'Ambiguous', message };
  }
  if (time === undefined && lsn === undefined) return { kind: 'any' };
  const isBefore = ({ completedAt, state }: DatedState<PostgresState>): boolean =>
    time === undefined ? position(state.endLsn) <= position(lsn) : Date.parse(completedAt) <= Date.parse(time);
  const before = backups.filter(isBefore);
  const newest = before.reduce<DatedState<PostgresState> | undefined>(
    (a, b) => (a !== undefined && position(a.state.startLsn) >= position(b.state.startLsn) ? a : b),
    undefined,
  );
  if (newest !== undefined) return { kind: 'one', id: newest.id };
  const oldest = backups.at(-1) ?? some;
  const message = `no backup was complete before ${time ?? lsn}: the oldest, ${oldest.id}, was complete at ${oldest.completedAt}, ${oldest.state.endLsn}`;
  return { kind: 'none', reason: 'NotFound', message };
}

const position = (text: string | undefined): Lsn => parseLsn(text ?? '') ?? 0n;

/** To the newest timeline of the archive; undefined where it holds nothing. */
export async function newestPath(wal: ArchivedWal, store: LogStore): Promise<TimelinePath | undefined> {
  const newest = Math.max(0, ...wal.histories, ...wal.segments.map(({ timeline }) => timeline));
  if (newest === 0) return undefined;
  const isFirst = newest === 1;
  const history = isFirst ? undefined : (await store.read(historyPiece(wal.systemId, newest))).toString('utf8');
  return timelinePath(newest, history);
}

/** @throws Failure NotFound, Ambiguous */
export async function fetchWal(
  { directory, log }: PostgresDestination,
  backup: PostgresState,
  store: LogStore,
  context: AgentContext,
): Promise<void> {
  // An earlier attempt has gone further than this.
  if (log === undefined || !(await isThere(directory))) return;
  const wal = archivedWal(await store.list(), backup.systemId, backup.segmentBytes);
  const path = await newestPath(wal, store);
  if (path === undefined) {
    if (log.until === undefined) return;
    throw new Failure('NotFound', 'the log of the cluster is not in the archive, and `until` needs it');
  }
  const found = neededFor(backup, wal, path, log.until);
  context.log.info({ segments: found.segments.length, end: formatLsn(found.end) }, 'the archived log is fetched');
  await rm(log.directory, { recursive: true, force: true });
  await mkdir(log.directory, { mode: 0o700 });
  for (const timeline of wal.histories.filter((each) => each > backup.timeline)) {
    await writeFile(
      join(log.directory, historyName(timeline)),
      await store.read(historyPiece(wal.systemId, timeline)),
      context,
    );
  }
  for (const segment of found.segments) {
    const name = segmentName(segment.timeline, segment.start, backup.segmentBytes);
    const content = await store.read(segment.piece);
    const end = segment.start + BigInt(content.length);
    // The backup has more of its own last file than an archive that ended with it.
    if (end < position(backup.endLsn) && (await isThere(join(directory, 'pg_wal', name)))) continue;
    await writeFile(join(log.directory, name), padded(content, segment, path, backup.segmentBytes), context);
  }
  await syncFolder(log.directory);
}

/** What leads from the backup to the point. @throws Failure */
export function neededFor(
  backup: PostgresState,
  wal: ArchivedWal,
  path: TimelinePath,
  until: { readonly lsn?: string } | undefined,
): Coverage {
  const from = logFrom(backup);
  if (stretchAt(path, backup.timeline, from) === undefined) {
    const words = `the backup is of timeline ${backup.timeline}, and the archived log of timeline ${path.at(-1)?.timeline} does not lead on from it`;
    throw new Failure('NotFound', words);
  }
  const lacking = wal.histories.length === 0 ? undefined : missingHistory(wal, backup.timeline, path);
  if (lacking !== undefined) throw new Failure('NotFound', `${lacking} is not in the archive`);
  const found = coverage(wal, path, from);
  if (found.segments.length === 0 && found.resumesAt === undefined) return found;
  const upTo = until?.lsn === undefined ? undefined : position(until.lsn);
  if (found.resumesAt !== undefined && (upTo === undefined || upTo >= found.end)) {
    // A server would end there and be promoted, as if nothing had come after it.
    const isUnbounded = until === undefined || upTo !== undefined;
    const words = `the archived log is missing from ${formatLsn(found.end)} to ${formatLsn(found.resumesAt)}: restore a backup that was taken after it, the backup alone by its id, or to a point before it`;
    if (isUnbounded) throw new Failure('NotFound', words);
  }
  if (upTo === undefined) return found;
  // A record may go on in the next file.
  const last = upTo + BigInt(backup.segmentBytes);
  return { ...found, segments: found.segments.filter(({ start }) => start <= last) };
}

/** A server that looks for the newest timeline tries one number after the other. */
function missingHistory(wal: ArchivedWal, from: number, path: TimelinePath): string | undefined {
  const newest = path.at(-1)?.timeline ?? from;
  for (let timeline = from + 1; timeline <= newest; timeline++) {
    if (!wal.histories.includes(timeline)) return historyName(timeline);
  }
  return undefined;
}

/** As long as a file has to be. What a primary wrote behind the end of its timeline never happened. */
export function padded(
  content: Buffer,
  { timeline, start }: Pick<ArchivedSegment, 'timeline' | 'start'>,
  path: TimelinePath,
  segmentBytes: number,
): Buffer {
  const end = path.find((stretch) => stretch.timeline === timeline)?.end;
  const valid = end === undefined || end >= start + BigInt(content.length) ? content.length : Number(end - start);
  if (valid === segmentBytes) return content;
  const whole = Buffer.alloc(segmentBytes);
  content.copy(whole, 0, 0, valid);
  return whole;
}

async function writeFile(path: string, content: Buffer, { signal }: AgentContext): Promise<void> {
  await writeDurably(path, [content], signal);
}

async function isThere(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
