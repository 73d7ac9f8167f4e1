/**
 * The archive's side of the log: the primary is found, and its log follows from where the archive ends. The permanent slot on the
 * server keeps what the archive does not have; Patroni makes it on each member, and moves it along.
 */

import type { AgentContext } from '../../../engine/driver/agent-context.ts';
import { Failure } from '../../../engine/driver/failure.ts';
import type { LogArchive, LogEvent, LogStore } from '../../../engine/driver/log-archive.ts';
import { secretLine, tlsFrom } from '../../../engine/driver/secret-files.ts';
import type { PostgresDestination, PostgresSource, PostgresState } from '../backup/schemas.ts';
import { formatLsn } from '../client/lsn.ts';
import {
  createSlot,
  dropSlot,
  identifySystem,
  readSlot,
  segmentBytesOf,
  timelineHistory,
} from '../client/replication-commands.ts';
import { ServerError } from '../client/server-error.ts';
import { archiveSlot } from '../names.ts';
import {
  type ArchivedWal,
  archivedWal,
  continuation,
  coverage,
  historyPiece,
  logFrom,
  type Position,
  segmentPiece,
  unneededPieces,
} from './archived-wal.ts';
import type { StandbyHas } from './confirmation.ts';
import { openSession, type PostgresAccess, type PostgresSession, postgresFailure } from './session.ts';
import { findPrimary, standbyHas } from './survey.ts';
import { stretchAt, type TimelinePath, timelinePath } from './timeline-path.ts';
import { chosenBase, fetchWal, newestPath } from './wal-restore.ts';
import { streamWal } from './wal-stream.ts';

/** What has come of a segment is stored after so long: with the time that storing takes, less than 10 s of the log are missing. */
const unfinishedAfterMs = 5_000;

/** `undefined_file`: the server has removed a segment that was asked for. PostgreSQL's documentation, Appendix A. */
const removed = '58P01';

export const postgresArchive: LogArchive<PostgresSource, PostgresDestination, PostgresState> = {
  follow,
  replayable,
  choose: chosenBase,
  fetch: fetchWal,
  unneeded: unneededPieces,
};

async function* follow(
  source: PostgresSource,
  store: LogStore,
  context: AgentContext,
): AsyncGenerator<LogEvent, never, undefined> {
  const { user, passwordFile, members, withStandby } = source;
  const password = passwordFile === undefined ? undefined : await secretLine(passwordFile, context);
  // The certificate is renewed while the log is followed, which takes months.
  const access = async (): Promise<PostgresAccess> => ({ user, password, tls: await tlsFrom(source.tls), context });
  const { endpoint } = await findPrimary(members, source.systemId, await access());
  const has =
    (systemId: string): StandbyHas =>
    async (timeline, upTo) =>
      standbyHas(members, { systemId, timeline, upTo }, await access());
  for (let where = 'compared' as Where; ; where = elsewhere[where]) {
    const session = await openSession(endpoint, await access());
    const begin = await beginningOf(session, store, where, context);
    if (begin.gap !== undefined) yield { kind: 'gap', message: begin.gap };
    try {
      return yield* events(session, begin, context, withStandby === true ? has(begin.systemId) : undefined);
    } catch (error) {
      if (where === 'anew' || !isRemoved(error)) throw error;
      context.log.warn({ err: error }, 'the server has removed what comes next');
    }
  }
}

const isRemoved = (error: unknown): boolean =>
  error instanceof Failure && error.cause instanceof ServerError && error.cause.code === removed;

/** At the last file that is held, so that it is compared; behind it; or where the server's log begins, which leaves a gap. */
type Where = 'compared' | 'behind' | 'anew';
/** Where the server has removed what was asked for. */
const elsewhere = { compared: 'behind', behind: 'anew', anew: 'anew' } as const satisfies Record<Where, Where>;

interface Beginning {
  readonly from: Position;
  readonly systemId: string;
  readonly segmentBytes: number;
  readonly gap?: string;
}

async function beginningOf(
  { connection, place }: PostgresSession,
  store: LogStore,
  where: Where,
  context: AgentContext,
): Promise<Beginning> {
  try {
    const { systemid: systemId, timeline, xlogpos } = await identifySystem(connection);
    const segmentBytes = await segmentBytesOf(connection);
    const history = timeline > 1 ? (await timelineHistory(connection, timeline)).content : undefined;
    const path = timelinePath(timeline, history);
    const pieces = await store.list();
    const wal = archivedWal(pieces, systemId, segmentBytes);
    const wanted = continuation(wal, path);
    let slot = await readSlot(connection, archiveSlot);
    const isLost = slot !== undefined && slot.restart === undefined;
    if (isLost) await dropSlot(connection, archiveSlot);
    if (slot?.restart === undefined) {
      await createSlot(connection, archiveSlot, 'permanent');
      slot = await readSlot(connection, archiveSlot);
    }
    const common = { systemId, segmentBytes };
    if (wanted !== undefined && where !== 'anew')
      return { ...common, from: where === 'compared' ? lastHeld(wal, wanted) : wanted };
    const position = slot?.restart ?? xlogpos;
    const from = stretchWith(path, position);
    if (wal.segments.length === 0) return { ...common, from };
    const missing = wanted === undefined ? 'of this timeline' : `from ${formatLsn(wanted.position)} on`;
    const gap = `${place} has no more of the log ${missing}, and the archive goes on at ${formatLsn(position)}`;
    return { ...common, from, gap };
  } catch (error) {
    connection.close();
    throw postgresFailure(error, place, context);
  }
}

/**
 * Who goes on with a member that had not heard of the newest timeline begins that a second time: then the archive has the log of another
 * server under the same names. A file that is not whole is asked for again anyway. The first timeline begins once.
 */
function lastHeld({ segments, segmentBytes }: ArchivedWal, next: Position): Position {
  const position = next.position - BigInt(segmentBytes);
  const isHeld = segments.some(({ timeline, start }) => timeline === next.timeline && start === position);
  return next.timeline > 1 && isHeld ? { ...next, position } : next;
}

function stretchWith(path: TimelinePath, position: bigint): Position {
  const { timeline } = path.find(({ end }) => end === undefined || position < end) ?? path[0];
  return { timeline, position };
}

async function* events(
  session: PostgresSession,
  { from, systemId, segmentBytes }: Beginning,
  context: AgentContext,
  has: StandbyHas | undefined,
): AsyncGenerator<LogEvent, never, undefined> {
  const message = `${session.place}, timeline ${from.timeline}, from ${formatLsn(from.position)}`;
  const confirmed = has === undefined ? {} : { standbyHas: has };
  const options = { slot: archiveSlot, from, systemId, segmentBytes, unfinishedAfterMs, ...confirmed };
  const pieces = streamWal(session, options, context);
  yield { kind: 'opened', message };
  for await (const piece of pieces) {
    switch (piece.kind) {
      case 'history':
        yield {
          kind: 'piece',
          name: historyPiece(systemId, piece.timeline),
          content: Buffer.from(piece.content),
          isWhole: true,
        };
        break;
      case 'segment':
        yield {
          kind: 'piece',
          name: segmentPiece(systemId, piece.timeline, piece.start, segmentBytes),
          content: piece.bytes,
          isWhole: piece.isWhole,
          end: `${formatLsn(piece.end)} of timeline ${piece.timeline}`,
        };
        break;
      default:
        piece satisfies never;
    }
  }
  throw new Error('the log does not end');
}

async function replayable(backups: readonly PostgresState[], store: LogStore): Promise<readonly PostgresState[]> {
  const pieces = await store.list();
  const found: PostgresState[] = [];
  for (const backup of backups) {
    const wal = archivedWal(pieces, backup.systemId, backup.segmentBytes);
    const path = await newestPath(wal, store);
    if (path === undefined || stretchAt(path, backup.timeline, logFrom(backup)) === undefined) continue;
    const { segments, resumesAt } = coverage(wal, path, logFrom(backup));
    if (segments.length > 0 && resumesAt === undefined) found.push(backup);
  }
  return found;
}
