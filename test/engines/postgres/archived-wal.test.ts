/** What an archive says by the names of its pieces: where it goes on, what leads where, and what may go. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StoredPiece } from '../../../src/engine/driver/log-archive.ts';
import {
  type ArchivedWal,
  archivedWal,
  continuation,
  coverage,
  historyPiece,
  logFrom,
  segmentPiece,
  unneededPieces,
} from '../../../src/engines/postgres/agent/archived-wal.ts';
import { stretchAt, type TimelinePath, timelinePath } from '../../../src/engines/postgres/agent/timeline-path.ts';
import { chosenBase, neededFor, padded } from '../../../src/engines/postgres/agent/wal-restore.ts';
import type { PostgresState } from '../../../src/engines/postgres/backup/schemas.ts';
import { formatLsn, type Lsn } from '../../../src/engines/postgres/client/lsn.ts';

const systemId = '7001';
const size = 2 ** 20;
const at = (segment: number, offset = 0): Lsn => BigInt(segment * size + offset);
const piece = (timeline: number, segment: number, isWhole = true): StoredPiece => ({
  name: segmentPiece(systemId, timeline, at(segment), size),
  isWhole,
});
const history = (timeline: number): StoredPiece => ({ name: historyPiece(systemId, timeline), isWhole: true });
const walOf = (...pieces: readonly StoredPiece[]): ArchivedWal => archivedWal(pieces, systemId, size);
const names = (wal: ArchivedWal, path: TimelinePath, from: Lsn) =>
  coverage(wal, path, from).segments.map(({ timeline, start }) => `${timeline}:${start / BigInt(size)}`);
const stateOf = (timeline: number, start: Lsn, more: Partial<PostgresState> = {}): PostgresState => ({
  engine: 'postgres',
  systemId,
  timeline,
  startLsn: formatLsn(start),
  endLsn: formatLsn(start + 100n),
  segmentBytes: size,
  files: 1,
  bytes: 1,
  ...more,
});

const alone = timelinePath(1, undefined);
/** Timeline 1 ends within segment 5, timeline 2 at the end of segment 7. */
const third = timelinePath(3, `1\t${formatLsn(at(5, 100))}\tno recovery target\n\n2\t${formatLsn(at(8))}\tpromoted\n`);

describe('the path of timelines', () => {
  it('is that of the history file', () => {
    expect(third).toEqual([
      { timeline: 1, begin: 0n, end: at(5, 100) },
      { timeline: 2, begin: at(5, 100), end: at(8) },
      { timeline: 3, begin: at(8), end: undefined },
    ]);
  });

  it.each(['2\t0/1\tx\n1\t0/2\tx', '1\t0/2\tx\n2\t0/1\tx', '3\t0/1\tx', '0\t0/1\tx', 'one\t0/1', '1\tzero'])(
    'is refused of %j',
    (text) => {
      expect(() => timelinePath(3, text)).toThrow(/history of timeline 3/);
    },
  );
});

describe('where the log goes on', () => {
  it.each([
    ['nowhere, of an empty archive', walOf(), alone, undefined],
    ['behind the last whole segment', walOf(piece(1, 3), piece(1, 4)), alone, { timeline: 1, position: at(5) }],
    [
      'with the segment of which there is a part',
      walOf(piece(1, 3), piece(1, 4, false)),
      alone,
      { timeline: 1, position: at(4) },
    ],
    [
      'on the next timeline, once all of one is there',
      walOf(piece(1, 4), piece(1, 5)),
      third,
      { timeline: 2, position: at(5, 100) },
    ],
    [
      'with the part in which a timeline ends',
      walOf(piece(1, 4), piece(1, 5, false)),
      third,
      { timeline: 1, position: at(5) },
    ],
    ['at the end of a timeline that ended with a segment', walOf(piece(2, 7)), third, { timeline: 3, position: at(8) }],
    // A primary that was cut off has written on.
    [
      'without what comes behind the end of a timeline',
      walOf(piece(1, 4), piece(1, 6), piece(1, 7)),
      third,
      { timeline: 1, position: at(5) },
    ],
    ['nowhere, of timelines that do not lead here', walOf(piece(9, 4)), third, undefined],
  ] as const)('is %s', (_, wal, path, expected) => {
    expect(continuation(wal, path)).toEqual(expected);
  });
});

describe('what leads on from a position', () => {
  it('is each segment once, from the timeline that has all of it', () => {
    const wal = walOf(
      piece(1, 4),
      piece(1, 5, false),
      piece(2, 5),
      piece(2, 6),
      piece(2, 7),
      piece(3, 8, false),
      history(2),
    );
    expect(names(wal, third, at(4, 50))).toEqual(['1:4', '2:5', '2:6', '2:7', '3:8']);
  });

  it('ends with a part of a segment, and goes on where only its timeline does', () => {
    expect(names(walOf(piece(1, 4, false), piece(1, 5)), alone, at(4))).toEqual(['1:4']);
    expect(names(walOf(piece(1, 5, false), piece(2, 6)), third, at(5))).toEqual(['1:5', '2:6']);
  });

  it('never has a hole, and says where the log goes on behind one', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { minLength: 1 }), fc.nat(30), (stored, from) => {
        const found = coverage(walOf(...stored.map((each) => piece(1, each))), alone, at(from, 7));
        const numbers = found.segments.map(({ start }) => Number(start / BigInt(size)));
        expect(numbers).toEqual(numbers.map((_, index) => from + index));
        const next = from + numbers.length;
        expect(stored).not.toContain(next);
        expect(found.end).toBe(at(next));
        const behind = stored.filter((each) => each > next).sort((a, b) => a - b)[0];
        expect(found.resumesAt).toBe(behind === undefined ? undefined : at(behind));
      }),
    );
  });
});

describe('what may go', () => {
  const all = [
    piece(1, 3),
    piece(1, 4),
    piece(1, 5),
    piece(2, 5),
    piece(2, 6, false),
    history(2),
    { name: 'other', isWhole: true },
  ];

  it('is what ends before every backup does: that much of the log is in the backup', () => {
    expect(unneededPieces([stateOf(1, at(4, 10)), stateOf(2, at(6))], all)).toEqual([piece(1, 3).name]);
    expect(unneededPieces([stateOf(2, at(6, 10))], all)).toEqual(
      [piece(1, 3), piece(1, 4), piece(1, 5), piece(2, 5)].map(({ name }) => name),
    );
  });

  it('is nothing where there is no backup, or only those of another database cluster', () => {
    expect(unneededPieces([], all)).toEqual([]);
    expect(unneededPieces([stateOf(9, at(9), { systemId: '8' })], all)).toEqual([]);
  });

  it('is never anything that leads on from a backup', () => {
    const segments = fc.uniqueArray(fc.integer({ min: 0, max: 12 }), { minLength: 1 });
    const backups = fc.array(
      fc.record({ timeline: fc.constantFrom(1, 2, 3), segment: fc.nat(12), offset: fc.nat(size - 1) }),
      { minLength: 1 },
    );
    fc.assert(
      fc.property(segments, segments, segments, backups, (one, two, three, taken) => {
        const pieces = [one, two, three].flatMap((list, index) => list.map((each) => piece(index + 1, each)));
        const states = taken.map(({ timeline, segment, offset }) => stateOf(timeline, at(segment, offset)));
        const gone = unneededPieces(states, pieces);
        const left = walOf(...pieces.filter(({ name }) => !gone.includes(name)));
        for (const state of states) {
          const from = logFrom(state);
          const stretch = stretchAt(third, state.timeline, from);
          // Nobody has taken a backup of a timeline before it began.
          if (stretch === undefined || from < stretch.begin) continue;
          expect(names(left, third, from)).toEqual(names(walOf(...pieces), third, from));
        }
      }),
    );
  });
});

describe('a restore', () => {
  const dated = (id: string, completedAt: string, state: PostgresState) => ({ id, completedAt, state });
  const backups = [
    dated('c', '2026-01-03T00:00:00Z', stateOf(1, at(30))),
    dated('b', '2026-01-02T00:00:00Z', stateOf(1, at(20))),
    dated('a', '2026-01-01T00:00:00Z', stateOf(1, at(10))),
  ];
  const wanting = (until?: object) =>
    chosenBase(
      { engine: 'postgres', directory: '/d', log: { directory: '/w', ...(until === undefined ? {} : { until }) } },
      {},
      backups,
    );

  it.each([
    [undefined, { kind: 'any' }],
    [{ time: '2026-01-02T12:00:00Z' }, { kind: 'one', id: 'b' }],
    [{ time: '2026-01-02T00:00:00Z' }, { kind: 'one', id: 'b' }],
    [{ lsn: formatLsn(at(30, 99)) }, { kind: 'one', id: 'b' }],
    [{ lsn: formatLsn(at(30, 100)) }, { kind: 'one', id: 'c' }],
    [{ time: '2025-12-31T00:00:00Z' }, { kind: 'none', reason: 'NotFound' }],
    [{ name: 'release' }, { kind: 'none', reason: 'Ambiguous' }],
    [{ xid: '7' }, { kind: 'none', reason: 'Ambiguous' }],
  ] as const)('until %j begins with the newest backup before it', (until, expected) => {
    expect(wanting(until)).toMatchObject(expected);
  });

  it('needs nothing of the log that is in the backup itself, which a standby may have begun long before', () => {
    const backup = stateOf(1, at(1), { endLsn: formatLsn(at(5, 10)) });
    expect(neededFor(backup, walOf(piece(1, 5), piece(1, 6, false)), alone, undefined).segments).toHaveLength(2);
    const upToTheEnd = stateOf(1, at(1), { endLsn: formatLsn(at(5)) });
    expect(neededFor(upToTheEnd, walOf(piece(1, 4)), alone, undefined).segments).toHaveLength(1);
  });

  it('is refused where the log that it needs has a gap', () => {
    const wal = walOf(piece(1, 1), piece(1, 2), piece(1, 5));
    const backup = stateOf(1, at(1));
    expect(() => neededFor(backup, wal, alone, undefined)).toThrow(/is missing from 0\/300000 to 0\/500000/);
    expect(() => neededFor(backup, wal, alone, { lsn: formatLsn(at(5)) })).toThrow(/is missing/);
    expect(neededFor(backup, wal, alone, { lsn: formatLsn(at(2)) }).segments).toHaveLength(2);
  });

  it('is refused where the timelines of the archive do not lead on from the backup', () => {
    expect(() => neededFor(stateOf(4, at(1)), walOf(piece(1, 1)), alone, undefined)).toThrow(/timeline 4/);
    expect(() => neededFor(stateOf(1, at(4)), walOf(piece(1, 4), history(3)), third, undefined)).toThrow(
      /00000002.history is not in the archive/,
    );
  });

  it('gives a server whole files, without what came behind the end of a timeline', () => {
    const content = Buffer.alloc(200, 1);
    const file = padded(content, { timeline: 1, start: at(5) }, third, size);
    expect(file).toHaveLength(size);
    expect(file.subarray(0, 100).every((byte) => byte === 1)).toBe(true);
    expect(file.subarray(100).every((byte) => byte === 0)).toBe(true);
    expect(
      padded(content, { timeline: 3, start: at(9) }, third, size)
        .subarray(0, 200)
        .equals(content),
    ).toBe(true);
  });
});
