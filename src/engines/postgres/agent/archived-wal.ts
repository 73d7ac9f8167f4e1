/**
 * What an archive holds of the log, by the names of its pieces: where it goes on, which part of it leads from a backup to its end, and
 * which part nobody needs. Pure.
 *
 *     SYSTEM-IDENTIFIER/TIMELINE/SEGMENT    SYSTEM-IDENTIFIER/TIMELINE.history
 */
import type { StoredPiece } from '../../../engine/driver/log-archive.ts';
import type { PostgresState } from '../backup/schemas.ts';
import { historyName, type Lsn, parseLsn, segmentName, segmentStart } from '../client/lsn.ts';
import type { TimelinePath } from './timeline-path.ts';

const hex8 = (value: number): string => value.toString(16).toUpperCase().padStart(8, '0');

export function segmentPiece(systemId: string, timeline: number, start: Lsn, segmentBytes: number): string {
  return `${systemId}/${hex8(timeline)}/${segmentName(timeline, start, segmentBytes)}`;
}

export function historyPiece(systemId: string, timeline: number): string {
  return `${systemId}/${historyName(timeline)}`;
}

export interface ArchivedSegment {
  readonly piece: string;
  readonly timeline: number;
  readonly start: Lsn;
  readonly isWhole: boolean;
}

/** What there is of one database cluster. */
export interface ArchivedWal {
  readonly systemId: string;
  readonly segmentBytes: number;
  readonly segments: readonly ArchivedSegment[];
  /** Timelines with a history file. */
  readonly histories: readonly number[];
}

/** Pieces with other names, and those of other database clusters, are left out. */
export function archivedWal(pieces: readonly StoredPiece[], systemId: string, segmentBytes: number): ArchivedWal {
  const segments: ArchivedSegment[] = [];
  const histories: number[] = [];
  for (const { name, isWhole } of pieces) {
    const [, history] = new RegExp(`^${systemId}/([0-9A-F]{8})\\.history$`).exec(name) ?? [];
    if (history !== undefined && isWhole) histories.push(Number.parseInt(history, 16));
    const found = segmentIn(name, segmentBytes);
    if (found !== undefined && found.systemId === systemId) {
      segments.push({ piece: name, timeline: found.timeline, start: found.start, isWhole });
    }
  }
  return { systemId, segmentBytes, segments, histories };
}

const shape = /^(\d{1,20})\/([0-9A-F]{8})\/([0-9A-F]{8})([0-9A-F]{8})([0-9A-F]{8})$/;

function segmentIn(name: string, segmentBytes: number) {
  const [, systemId, folder, timeline, high, low] = shape.exec(name) ?? [];
  if (systemId === undefined || folder !== timeline) return undefined;
  const start = (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`) * BigInt(segmentBytes);
  return { systemId, timeline: Number.parseInt(timeline ?? '', 16), start };
}

export interface Position {
  readonly timeline: number;
  readonly position: Lsn;
}

/** Where the log has to go on so that none is missing; undefined where the archive has nothing of this path. */
export function continuation(wal: ArchivedWal, path: TimelinePath): Position | undefined {
  const size = BigInt(wal.segmentBytes);
  for (const [at, stretch] of [...path.entries()].toReversed()) {
    const own = wal.segments.filter(
      ({ timeline, start }) => timeline === stretch.timeline && (stretch.end === undefined || start < stretch.end),
    );
    const last = own.reduce<ArchivedSegment | undefined>(
      (a, b) => (a !== undefined && a.start > b.start ? a : b),
      undefined,
    );
    if (last === undefined) continue;
    // Of a part of a segment the whole is asked for again: it replaces the part.
    const position = last.isWhole ? last.start + size : last.start;
    const next = path[at + 1];
    if (next !== undefined && stretch.end !== undefined && position >= stretch.end) {
      return { timeline: next.timeline, position: stretch.end };
    }
    return { timeline: stretch.timeline, position };
  }
  return undefined;
}

export interface Coverage {
  /** From the one with the first position on, in order, and each position once. */
  readonly segments: readonly ArchivedSegment[];
  /** Where the stored log ends: of a part of a segment, its beginning. */
  readonly end: Lsn;
  /** Where it goes on behind the end, if it does: what is between is missing. */
  readonly resumesAt?: Lsn;
}

/**
 * The log from a position on, along the path. A segment in which a timeline ends is taken from the next timeline, which has all of it,
 * where that is stored.
 */
export function coverage(wal: ArchivedWal, path: TimelinePath, from: Lsn): Coverage {
  const size = BigInt(wal.segmentBytes);
  const begin = segmentStart(from, wal.segmentBytes);
  const byStart = new Map<Lsn, ArchivedSegment>();
  for (const stretch of path) {
    for (const segment of wal.segments) {
      const isWithin =
        segment.timeline === stretch.timeline &&
        segment.start >= segmentStart(stretch.begin, wal.segmentBytes) &&
        (stretch.end === undefined || segment.start < stretch.end);
      if (isWithin && segment.start >= begin) byStart.set(segment.start, segment);
    }
  }
  const segments: ArchivedSegment[] = [];
  let at = begin;
  for (let next = byStart.get(at); next !== undefined; next = byStart.get(at)) {
    segments.push(next);
    if (!next.isWhole && !endsWithin(path, next, size)) break;
    at += size;
  }
  const last = segments.at(-1);
  const behind = [...byStart.keys()].filter((start) => start > (last?.start ?? begin - 1n));
  const resumesAt = behind.reduce<Lsn | undefined>((a, b) => (a !== undefined && a < b ? a : b), undefined);
  return { segments, end: at, ...(resumesAt === undefined ? {} : { resumesAt }) };
}

/** A part of a segment is all there is of it where its timeline ends within it. */
function endsWithin(path: TimelinePath, { timeline, start }: ArchivedSegment, size: bigint): boolean {
  const end = path.find((stretch) => stretch.timeline === timeline)?.end;
  return end !== undefined && end <= start + size;
}

/** What a backup needs of the archived log begins with its own last byte: the log up to there is in the backup. */
export function logFrom({ endLsn }: PostgresState): Lsn {
  const end = parseLsn(endLsn) ?? 0n;
  return end > 0n ? end - 1n : end;
}

/**
 * Segments that end before each backup does, and are of no later timeline. Nothing is
 * said of database clusters of which there is no backup, and history files stay.
 */
export function unneededPieces(backups: readonly PostgresState[], pieces: readonly StoredPiece[]): readonly string[] {
  return pieces.flatMap(({ name }) => {
    const [systemId] = name.split('/');
    const own = backups.filter((backup) => backup.systemId === systemId);
    const isNeeded = own.some((backup) => {
      const segment = segmentIn(name, backup.segmentBytes);
      if (segment === undefined) return true;
      // It may have branched off before the backup ended.
      if (segment.timeline > backup.timeline) return true;
      return segment.start + BigInt(backup.segmentBytes) > logFrom(backup);
    });
    return own.length === 0 || isNeeded ? [] : [name];
  });
}
